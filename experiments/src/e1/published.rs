//! The papers' findings asked of GraHTP and FGraHTP with a constant step.

use crate::compare::{self, Plots, moves};
use crate::frame::{Finding, Row, verdict};
use crate::methods::{self, CONSTANT};

/// The same rows, with the constant steps under the methods' names.
pub(super) fn renamed(rows: &[Row]) -> Vec<Row> {
    methods::renamed(rows, &[(CONSTANT[0], "grahtp"), (CONSTANT[1], "fgrahtp")])
}

/// The findings of one of the two texts; the plots are those of [`renamed`] rows.
pub(super) fn findings(text: &str, case1: &Plots, case2: &Plots) -> Vec<Finding> {
    let rivals: &[&str] = if text == "arxiv" { &["grasp", "fbs"] } else { &["grasp", "fbs", "foba"] };
    let name = if text == "arxiv" { "arXiv, constant steps" } else { "ICML, constant steps" };
    let both = ["grahtp", "fgrahtp"];
    let ends = |methods: &[&str]| {
        let list = methods.iter().filter_map(|m| {
            let (first, last) = case1.errors.ends(m)?;
            let most = case1.errors.of(m).iter().map(|(_, s)| s.mean).fold(0.0, f64::max);
            Some((last < first, format!("{} {first:.2} to {last:.2} (at most {most:.2})", methods::label(m))))
        });
        let list: Vec<(bool, String)> = list.collect();
        let words = list.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>().join(", ");
        let yes = list.iter().filter(|(falls, _)| *falls).count();
        verdict((yes, list.len())).map(|v| (format!("from the first n to the last: {words}"), v))
    };
    let near = case1.errors.count(|c, x| {
        let ratio = c.at("grahtp", x)? / c.at("fgrahtp", x)?;
        Some((1.0 / 1.2..=1.2).contains(&ratio))
    });
    let ratio = case1.errors.ratio("grahtp", "fgrahtp").unwrap_or(f64::NAN);
    let close = format!("within a fifth of each other at {} of {} points; {ratio:.2} times", near.0, near.1);
    let early = |case: &Plots| {
        format!(
            "One constant served both: GraHTP ends where a support comes again, which with this step is after few \
             iterations and, with few samples for its k, far from the truth (mean iterations: {})",
            compare::mean_iterations(case, &both)
        )
    };
    let mut out = vec![
        Finding::new(format!("{name}, case 1: the errors of GraHTP and FGraHTP fall with n."), ends(&both)),
        Finding::new(format!("{name}, case 1: GraHTP and FGraHTP are comparable."), verdict(near).map(|v| (close, v)))
            .because(early(case1)),
        Finding::new(
            format!("{name}, case 2: the error rises with k."),
            moves(&case2.errors, &both, |first, last| last > first),
        )
        .because(early(case2)),
    ];
    for (case_name, case) in [("case 1", case1), ("case 2", case2)] {
        let iterations = compare::mean_iterations(case, &["grahtp", "fgrahtp", "grasp"]);
        let reason = format!("Mean iterations: {iterations}");
        let paper = format!("{name}, {case_name}: GraHTP and FGraHTP are no slower than GraSP.");
        out.push(compare::all_faster(&case.seconds, &both, &["grasp"], paper).because(reason.clone()));
        if text == "icml" {
            let paper = format!("{name}, {case_name}: GraHTP and FGraHTP are faster than FBS and FoBa.");
            out.push(compare::all_faster(&case.seconds, &both, &rivals[1..], paper).because(reason));
        } else {
            let paper = format!("{name}, {case_name}: FBS is the fastest in most cases.");
            out.push(compare::faster(&case.seconds, &["fbs"], &["grahtp", "fgrahtp", "grasp"], paper).because(reason));
        }
    }
    out
}
