//! The questions the GraHTP papers answer, asked of our rows.

use crate::frame::{Curves, Finding, Row, Summary, Verdict, verdict};
use crate::methods::{self, CONSTANT, GRASP_SCALED, GREEDY, HALTED, TRUTH};
use ksparse_plot::{Axis, Chart};

/// GraHTP and its fast version.
pub const GRADIENT: [&str; 2] = ["grahtp", "fgrahtp"];

/// Error and time over n or k.
pub struct Plots {
    /// The first measure of the experiment.
    pub errors: Curves,
    /// CPU seconds.
    pub seconds: Curves,
    /// f at the answers.
    pub objectives: Curves,
    /// Iterations.
    pub iterations: Curves,
}

impl Plots {
    /// Of these rows over `key`.
    pub fn new(rows: &[&Row], key: impl Fn(&Row) -> usize) -> Self {
        let all: Vec<&str> = GREEDY.into_iter().chain(CONSTANT).chain(HALTED).chain([GRASP_SCALED]).collect();
        Self::of(rows, &all, key)
    }

    /// The same of these methods.
    pub fn of(rows: &[&Row], timed: &[&str], key: impl Fn(&Row) -> usize) -> Self {
        let error = |row: &Row| row.measures.first().copied().unwrap_or(f64::NAN);
        // The truth is no method: it has no time.
        let all: Vec<&str> = timed.iter().copied().chain([TRUTH]).collect();
        Self {
            errors: Curves::new(rows, &all, &key, error),
            seconds: Curves::new(rows, timed, &key, |row| row.seconds),
            objectives: Curves::new(rows, &all, &key, |row| row.objective),
            iterations: Curves::new(rows, &all, &key, |row| row.iterations as f64),
        }
    }

    /// Two charts side by side.
    pub fn panels(&self, title: &str, x: &str, error: &str, from_zero: bool) -> [Chart; 2] {
        let axis = if from_zero { Axis::linear(error).from_zero() } else { Axis::linear(error) };
        let errors = self.errors.chart(title, Axis::linear(x), axis);
        let seconds = self.seconds.chart(title, Axis::linear(x), Axis::log("CPU seconds"));
        [errors.size(480.0, 330.0), seconds.size(480.0, 330.0)]
    }
}

/// Seconds for a table.
pub fn seconds(s: &Summary) -> String {
    if s.mean < 0.0995 { format!("{:.4}", s.mean) } else { format!("{:.2}", s.mean) }
}

/// Iterations at the first and at the last point, in words.
pub fn iterations_grow(plots: &Plots, methods: &[&str]) -> String {
    let ends = |m: &&str| {
        let (first, last) = plots.iterations.ends(m)?;
        Some(format!("{} {first:.0} to {last:.0}", methods::label(m)))
    };
    methods.iter().filter_map(ends).collect::<Vec<_>>().join(", ")
}

/// Mean iterations of some methods over all points, in words.
pub fn mean_iterations(plots: &Plots, methods: &[&str]) -> String {
    let mean = |m: &&str| {
        let curve = plots.iterations.of(m);
        let sum: f64 = curve.iter().map(|(_, s)| s.mean).sum();
        (!curve.is_empty()).then(|| format!("{} {:.0}", methods::label(m), sum / curve.len() as f64))
    };
    methods.iter().filter_map(mean).collect::<Vec<_>>().join(", ")
}

fn names(methods: &[&str]) -> String {
    methods.iter().map(|m| methods::label(m)).collect::<Vec<_>>().join(" and ")
}

/// Whether first and last value of every method stand as they should.
pub fn moves(curves: &Curves, methods: &[&str], holds: impl Fn(f64, f64) -> bool) -> Option<(String, Verdict)> {
    let ends: Vec<(&str, (f64, f64))> = methods.iter().filter_map(|m| Some((*m, curves.ends(m)?))).collect();
    let yes = ends.iter().filter(|(_, (first, last))| holds(*first, *last)).count();
    let list: Vec<String> =
        ends.iter().map(|(m, (first, last))| format!("{} {first:.2} to {last:.2}", methods::label(m))).collect();
    Some((format!("from the first point to the last: {}", list.join(", ")), verdict((yes, ends.len()))?))
}

/// The least value of `some` is the least of all, but for `slack`.
pub fn best(curves: &Curves, some: &[&str], others: &[&str], slack: f64, paper: impl Into<String>) -> Finding {
    let count = curves.best(some, others, slack);
    let margin = if slack > 1.0 { format!(" (within {:.0} %)", 100.0 * (slack - 1.0)) } else { String::new() };
    let ours = format!("the better of {} is lowest{margin} at {} of {} points", names(some), count.0, count.1);
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// The geometric means of the ratios between methods, in words.
pub fn factors(curves: &Curves, some: &[&str], others: &[&str]) -> String {
    let pairs = some.iter().flat_map(|a| others.iter().filter(move |b| a != *b).map(move |b| (a, b)));
    let words = pairs.filter_map(|(a, b)| {
        Some(format!("{} takes {:.2} times the time of {}", methods::label(a), curves.ratio(a, b)?, methods::label(b)))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The quickest of `some` is no slower (5 %) than the quickest of `others`.
pub fn faster(curves: &Curves, some: &[&str], others: &[&str], paper: impl Into<String>) -> Finding {
    let count = curves.best(some, others, 1.05);
    let ours = format!("holds at {} of {} points (within 5 %); {}", count.0, count.1, factors(curves, some, others));
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// Every one of `some` is faster than every one of `others`.
pub fn all_faster(curves: &Curves, some: &[&str], others: &[&str], paper: impl Into<String>) -> Finding {
    let count = curves.count(|c, x| {
        let slowest = some.iter().filter_map(|m| c.at(m, x)).reduce(f64::max)?;
        Some(slowest <= others.iter().filter_map(|m| c.at(m, x)).reduce(f64::min)?)
    });
    let ours = format!("holds at {} of {} points; {}", count.0, count.1, factors(curves, others, some));
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// Time at the largest k over time at the smallest: below 3 over a fivefold k counts as insensitive.
pub fn insensitive(curves: &Curves, methods: &[&str], paper: impl Into<String>) -> Finding {
    let growth: Vec<(&str, f64)> =
        methods.iter().filter_map(|m| Some((*m, curves.ends(m)?))).map(|(m, (a, b))| (m, b / a)).collect();
    let yes = growth.iter().filter(|(_, g)| *g < 3.0).count();
    let list: Vec<String> = growth.iter().map(|(m, g)| format!("{} {g:.1}", methods::label(m))).collect();
    let ours = format!("time at the largest k over time at the smallest: {}", list.join(", "));
    Finding::new(paper, verdict((yes, growth.len())).map(|v| (ours, v)))
}

/// The loss after few iterations: GraHTP and GraSP against the others.
pub fn sharper(name: &str, traces: &[&Row]) -> Finding {
    const LOOKS: [usize; 3] = [2, 5, 10];
    let loss = |method: &str, k: usize, t: usize, seed: u64| {
        let own = traces.iter().filter(|r| r.cell.method == method && r.cell.k == k && r.cell.seed == seed);
        // A run that ended earlier stays where it ended.
        own.filter(|r| r.iterations <= t).max_by_key(|r| r.iterations).map(|r| r.objective)
    };
    let mut cases: Vec<(usize, u64)> = traces.iter().map(|r| (r.cell.k, r.cell.seed)).collect();
    cases.sort_unstable();
    cases.dedup();
    let (mut yes, mut of, mut shown, mut missed) = (0, 0, Vec::new(), Vec::new());
    for (k, seed) in cases {
        for t in LOOKS {
            let values = |methods: &[&str]| methods.iter().filter_map(|m| loss(m, k, t, seed)).collect::<Vec<f64>>();
            let (sharp, slow) = (values(&["grahtp", "grasp"]), values(&["fgrahtp", "fbs", "foba"]));
            if let (Some(worst), Some(best)) = (sharp.into_iter().reduce(f64::max), slow.into_iter().reduce(f64::min)) {
                of += 1;
                yes += usize::from(worst <= best);
                if worst > best {
                    missed.push(format!("k = {k}, iteration {t}: {worst:.4} against {best:.4}"));
                }
            }
        }
        if shown.is_empty() {
            let at = |m: &&str| Some(format!("{} {:.4}", methods::label(m), loss(m, k, 5, seed)?));
            shown.push(format!(
                "k = {k}, after 5 iterations: {}",
                GREEDY.iter().filter_map(at).collect::<Vec<_>>().join(", ")
            ));
        }
    }
    let ours = format!("both below all three at {yes} of {of} looks (iterations 2, 5, 10); {}", shown.join("; "));
    let paper = format!("{name}: GraHTP and GraSP converge sharper per iteration than FGraHTP, FBS and FoBa.");
    let reason = format!("Where not, the best of the three has caught up by then ({}).", missed.join("; "));
    Finding::new(paper, verdict((yes, of)).map(|v| (ours, v))).because(reason)
}

/// Test errors of all methods within 0.01, or a tenth, of the least.
pub fn comparable(name: &str, errors: &Curves) -> Finding {
    let all = ["grahtp", "fgrahtp", "grasp", "fbs", "foba"];
    let mut widest = 0f64;
    let count = errors.count(|c, x| {
        let values: Vec<f64> = all.iter().filter_map(|m| c.at(m, x)).collect();
        let (low, high) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some(high - low <= (0.1 * low).max(0.01))
    });
    for x in errors.xs() {
        let values: Vec<f64> = all.iter().filter_map(|m| errors.at(m, x)).collect();
        let (low, high) =
            (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
        widest = widest.max(high - low);
    }
    let lowest = errors.count(|c, x| {
        let others = all.iter().filter(|m| **m != "grasp").filter_map(|m| c.at(m, x)).reduce(f64::min)?;
        Some(c.at("grasp", x)? <= others)
    });
    let ours = format!(
        "the methods lie within 0.01, or a tenth, of the lowest at {} of {} k (largest difference {widest:.3}); GraSP \
         is the lowest at {} of {}",
        count.0, count.1, lowest.0, lowest.1
    );
    let paper = format!("{name}: the test errors are comparable (ICML: GraSP slightly better).");
    Finding::new(paper, verdict(count).map(|v| (ours, v)))
}

/// All test errors of the gradient methods within a range.
pub fn within(name: &str, errors: &Curves, low: f64, high: f64) -> Finding {
    let values: Vec<f64> = GRADIENT.iter().flat_map(|m| errors.of(m).iter().map(|(_, s)| s.mean)).collect();
    let yes = values.iter().filter(|v| (low..=high).contains(*v)).count();
    let (least, most) =
        (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max));
    let ours = format!("GraHTP and FGraHTP: {least:.3} to {most:.3}");
    let paper = format!("{name}: test errors between {low} and {high} over k = 100 to 1000.");
    Finding::new(paper, verdict((yes, values.len())).map(|v| (ours, v)))
}

/// FGraHTP against all others of the papers.
pub fn fastest(name: &str, seconds: &Curves) -> Finding {
    let others = ["grahtp", "grasp", "fbs", "foba"];
    faster(seconds, &["fgrahtp"], &others, format!("{name}: FGraHTP is the fastest."))
}

/// GraHTP against GraSP and FBS: at least a third faster.
pub fn clearly_faster(name: &str, seconds: &Curves) -> Finding {
    let count = seconds.count(|c, x| Some(1.5 * c.at("grahtp", x)? <= c.at("grasp", x)?.min(c.at("fbs", x)?)));
    let ours = format!(
        "at least a third faster than both at {} of {} k; {}",
        count.0,
        count.1,
        factors(seconds, &["grasp", "fbs"], &["grahtp"])
    );
    Finding::new(format!("{name}: GraHTP is clearly faster than GraSP and FBS."), verdict(count).map(|v| (ours, v)))
}

/// The factor between forward selection and FGraHTP on the first and the second collection: the files, or their
/// simulated shapes.
pub fn advantage_grows(plots: &[(&str, Plots)], kind: &str) -> Option<Finding> {
    let of = |start: &str| plots.iter().find(|(name, _)| *name == format!("{start}{kind}"));
    let (rcv1, news20) = (of("rcv1")?, of("news20")?);
    let ratio = |plot: &Plots, a: &str, b: &str| plot.seconds.ratio(a, b);
    let mut parts = Vec::new();
    let (mut yes, mut count) = (0, 0);
    for (slow, quick) in [("fbs", "grahtp"), ("grasp", "grahtp"), ("fbs", "fgrahtp"), ("grasp", "fgrahtp")] {
        let (a, b) = (ratio(&rcv1.1, slow, quick)?, ratio(&news20.1, slow, quick)?);
        count += 1;
        yes += usize::from(b > a);
        parts.push(format!(
            "{} over {}: {a:.1} on {}, {b:.1} on {}",
            methods::label(slow),
            methods::label(quick),
            rcv1.0,
            news20.0
        ));
    }
    let paper = format!("The advantage in time grows on news20{kind}.");
    let agrees = match yes {
        0 => Verdict::Differs,
        y if y == count => Verdict::Agrees,
        _ => Verdict::Partly,
    };
    let found = Some((format!("ratios of CPU time, {}", parts.join("; ")), agrees));
    // Seconds of an iteration of FBS over those of one of FGraHTP, at the largest k.
    let cost = |plot: &Plots| {
        let each = |m: &str| Some(plot.seconds.ends(m)?.1 / plot.iterations.ends(m)?.1);
        Some(each("fbs")? / each("fgrahtp")?)
    };
    let mut reason = format!(
        "An iteration of FBS costs {:.1} of FGraHTP's on {}, {:.1} on {} (largest k): the more of every iteration is \
         the gradient, which all methods pay alike, the nearer the ratios come to those of the iterations.",
        cost(&rcv1.1)?,
        rcv1.0,
        cost(&news20.1)?,
        news20.0
    );
    if kind.is_empty() {
        reason += " The file called news20 here is not the papers' news20.binary (62,061 features instead of \
            1,355,191): the simulated shapes have its size.";
    }
    Some(Finding::new(paper, found).because(reason))
}
