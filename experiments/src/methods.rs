//! The methods that experiments compare: names, colours, and the settings of the papers.

use ksparse::Solver;
use ksparse::solver::{Auto, Fbs, Foba, Grahtp, Grasp, Limits};

/// The methods of the GraHTP papers, in their order, and this library's default.
pub const GREEDY: [&str; 6] = ["grahtp", "fgrahtp", "grasp", "fbs", "foba", "auto"];

/// The name in figures and tables.
pub fn label(method: &str) -> &str {
    match method {
        "grahtp" => "GraHTP",
        "fgrahtp" => "FGraHTP",
        "grasp" => "GraSP",
        "fbs" => "FBS",
        "foba" => "FoBa",
        "auto" => "auto (ksparse's own)",
        "glasso" => "GLasso",
        "iht" => "IHT",
        "htp" => "HTP",
        "diht" => "DIHT",
        "sdiht" => "SDIHT",
        "svrght" => "SVR-GHT",
        other => other,
    }
}

/// The number of its colour, the same in every figure.
pub fn colour(method: &str) -> usize {
    match method {
        "grahtp" | "diht" => 0,
        "fgrahtp" | "sdiht" => 1,
        "grasp" | "svrght" => 2,
        "fbs" | "htp" => 3,
        "foba" | "iht" => 4,
        "glasso" => 5,
        "auto" => 7,
        _ => 6,
    }
}

/// The papers' halting rules: iterates that move less than 1e-4 of their length, or `most` iterations.
pub fn limits(most: usize) -> Limits {
    Limits { tolerance: 1e-4, max_iterations: most, ..Limits::default() }
}

/// A method of [`GREEDY`] under the papers' halting rules. The forward methods end when they have k coordinates.
///
/// GraHTP and FGraHTP take the library's adaptive step: the papers do not state theirs, and no single constant serves all the problems.
pub fn greedy(method: &str, most: usize) -> Option<Box<dyn Solver>> {
    let limits = limits(most);
    Some(match method {
        "grahtp" => Box::new(Grahtp { limits, ..Grahtp::default() }),
        "fgrahtp" => Box::new(Grahtp { limits, ..Grahtp::fast() }),
        // It need not settle: its f may rise, and the best point seen is returned.
        "grasp" => Box::new(Grasp { limits: self::limits(most.min(50)), ..Grasp::default() }),
        "fbs" => Box::new(Fbs::default()),
        "foba" => Box::new(Foba::default()),
        "auto" => Box::new(Auto::default()),
        _ => return None,
    })
}
