//! The methods that experiments compare: names, colours, and the settings of the papers.

use crate::frame::{Cell, Row};
use ksparse::solver::{Auto, Fbs, Foba, Grahtp, Grasp, Limits, Step};
use ksparse::{Objective, Risk, Solver};

/// The methods of the GraHTP papers, in their order, and this library's default.
pub const GREEDY: [&str; 6] = ["grahtp", "fgrahtp", "grasp", "fbs", "foba", "auto"];

/// GraHTP and FGraHTP with a constant step of 4/L, as the papers state the methods (their constant they do not state).
pub const CONSTANT: [&str; 2] = ["grahtp-constant", "fgrahtp-constant"];

/// FBS ended before it has k coordinates, by either rule that ends the other methods in the arXiv text: after 50
/// iterations, or when one changes less than 1e-4 (here: lowers the loss by less).
pub const HALTED: [&str; 2] = ["fbs-50", "fbs-small"];

/// GraSP with coordinates compared in units of curvature: what its choice of features depends on.
pub const GRASP_SCALED: &str = "grasp-scaled";

/// The minimiser on the true support: what an oracle would return.
pub const TRUTH: &str = "truth";

/// The name in figures and tables.
pub fn label(method: &str) -> &str {
    match method {
        "grahtp" => "GraHTP",
        "fgrahtp" => "FGraHTP",
        "grasp" => "GraSP",
        "fbs" => "FBS",
        "foba" => "FoBa",
        "auto" => "auto (ksparse's own)",
        GRASP_SCALED => "GraSP, units of curvature",
        TRUTH => "fit on the true support",
        "grahtp-constant" => "GraHTP, constant step",
        "fbs-50" => "FBS, 50 iterations at most",
        "fbs-small" => "FBS, ended by a fall below 1e-4",
        "fgrahtp-constant" => "FGraHTP, constant step",
        "glasso" => "GLasso",
        "independent" => "no edges",
        "grasp-longer" => "GraSP, 20 iterations",
        "grasp-50" => "GraSP, 50 iterations",
        "grahtp-published" => "GraHTP, as published",
        "fgrahtp-published" => "FGraHTP, as published",
        "grahtp-icml" => "GraHTP, k iterations",
        "fgrahtp-icml" => "FGraHTP, k iterations",
        "grasp-icml" => "GraSP, k iterations",
        "grahtp-published-icml" => "GraHTP, as published, k iterations",
        "fgrahtp-published-icml" => "FGraHTP, as published, k iterations",
        "iht" => "IHT",
        "iht-constant" => "IHT, constant step",
        "htp-constant" => "HTP, constant step",
        "htp" => "HTP",
        "diht" => "DIHT",
        "diht-refit" => "DIHT, refit",
        "diht-published" => "DIHT, as published",
        "sdiht-published" => "SDIHT, as published",
        "sdiht" => "SDIHT",
        "svrght" => "SVR-GHT",
        "chosen" => "chosen by ksparse",
        "relaxed" => "relaxed lasso",
        other => other,
    }
}

/// The number of its colour, the same in every figure; from 8 on the colours come again, dashed.
pub fn colour(method: &str) -> usize {
    match method {
        "grahtp" | "diht" => 0,
        "fgrahtp" | "sdiht" => 1,
        "grasp" | "svrght" => 2,
        "fbs" | "htp" => 3,
        "foba" | "iht" => 4,
        "glasso" | "diht-refit" => 5,
        "auto" | "chosen" => 7,
        "relaxed" => 0,
        "lasso" => 3,
        "grahtp-constant" | "grahtp-published" => 8,
        "grasp-50" => 10,
        "htp-constant" => 11,
        "diht-published" => 13,
        "iht-constant" => 12,
        "fgrahtp-constant" => 9,
        "fbs-50" => 11,
        "fbs-small" => 12,
        _ => 6,
    }
}

/// The rows of some methods under the names of others, in the place of theirs: what is asked of GraHTP is asked of
/// GraHTP as published.
pub fn renamed(rows: &[Row], names: &[(&str, &str)]) -> Vec<Row> {
    let kept = rows.iter().filter(|row| !names.iter().any(|(_, to)| row.cell.method == *to));
    let rename = |row: &Row| {
        let to = names.iter().find(|(from, _)| row.cell.method == *from).map(|(_, to)| to.to_string());
        let method = to.unwrap_or_else(|| row.cell.method.clone());
        Row { cell: Cell { method, ..row.cell.clone() }, ..row.clone() }
    };
    kept.map(rename).collect()
}

/// The papers' halting rules: iterates that move less than 1e-4 of their length, or `most` iterations.
pub fn limits(most: usize) -> Limits {
    Limits { tolerance: 1e-4, max_iterations: most, ..Limits::default() }
}

/// A method of [`GREEDY`] or [`CONSTANT`] under the papers' halting rules. The forward methods end when they have k
/// coordinates.
pub fn greedy(method: &str, most: usize, risk: &Risk, k: usize) -> Option<Box<dyn Solver>> {
    let limits = limits(most);
    let constant = || Some(Step::Fixed(4.0 / risk.smoothness(2 * k).ok()?.bound()?));
    Some(match method {
        "grahtp" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::default() }),
        "fgrahtp" => Box::new(Grahtp { limits: limits.clone(), ..Grahtp::fast() }),
        "grahtp-constant" => Box::new(Grahtp { limits: limits.clone(), step: constant()?, ..Grahtp::default() }),
        "fgrahtp-constant" => Box::new(Grahtp { limits: limits.clone(), step: constant()?, ..Grahtp::fast() }),
        // It need not settle: its f may rise, and the best point seen is returned.
        "grasp" => Box::new(Grasp { limits: self::limits(most.min(50)), ..Grasp::default() }),
        GRASP_SCALED => Box::new(Grasp { scaled: true, limits: self::limits(most.min(50)), ..Grasp::default() }),
        "fbs" | "fbs-small" => Box::new(Fbs::default()),
        "fbs-50" => Box::new(Fbs { limits: self::limits(50) }),
        "foba" => Box::new(Foba::default()),
        "auto" => Box::new(Auto::default()),
        _ => return None,
    })
}
