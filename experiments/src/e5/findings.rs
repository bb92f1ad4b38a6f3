//! What the rows say, beside the paper.

use super::{ALONE, BY_EDGES, BY_ERRORS, EVEN, LONGER, MEASURED, METHODS, OVERALL, PATIENT, PUBLISHED, STRONG, WEAK};
use crate::frame::{Finding, Row, Table, Verdict, summarise, verdict};
use crate::methods;

/// Published: specificity, sensitivity, MCC (standard deviations), seconds.
const FIGURES: [(&str, &str); 5] = [
    (PUBLISHED, "0.77 (0.11), 0.77 (0.19), 0.49 (0.19), 1.92 s"),
    (PATIENT, "0.73 (0.10), 0.78 (0.18), 0.45 (0.17), 4.06 s"),
    ("grasp", "0.73 (0.10), 0.78 (0.18), 0.45 (0.17), 4.06 s"),
    ("fbs", "0.78 (0.11), 0.74 (0.18), 0.48 (0.19), 8.73 s"),
    ("glasso", "0.81 (0.11), 0.64 (0.21), 0.45 (0.19), 1.19 s"),
];

/// The rows of a method over splits: from a pool of genes ("" for all), of one of the two rules.
pub(super) struct Scored<'a>(pub Vec<&'a Row>);

impl<'a> Scored<'a> {
    pub fn of(rows: &'a [Row], pool: &str, record: &str, method: &str) -> Self {
        let of_pool = |row: &Row| match pool {
            "" => ![STRONG, WEAK, BY_EDGES, BY_ERRORS, OVERALL, MEASURED]
                .iter()
                .any(|other| row.cell.variant.ends_with(other)),
            pool => row.cell.variant.ends_with(pool),
        };
        Self(rows.iter().filter(|r| of_pool(r) && r.record == record && r.cell.method == method).collect())
    }

    /// On the splits that another has too.
    pub fn shared_with(&self, other: &Self) -> Self {
        let has = |row: &Row| other.0.iter().any(|o| o.cell.seed == row.cell.seed);
        Self(self.0.iter().copied().filter(|row| has(row)).collect())
    }

    /// The mean of a measure.
    pub fn mean(&self, measure: usize) -> f64 {
        summarise(self.0.iter().map(|row| row.measures[measure])).map_or(f64::NAN, |s| s.mean)
    }
}

/// Means and standard deviations of some methods from a pool of genes, by one of the two rules.
pub(super) fn table(rows: &[Row], title: &str, (pool, record): (&str, &str), methods: &[&str]) -> Table {
    let header = ["method", "replicas", "specificity", "sensitivity", "MCC", "edges", "CPU s", "published"];
    let mut table = Table::new(title, &header);
    for &method in methods {
        let own = Scored::of(rows, pool, record, method).0;
        let show = |m: usize| {
            let summary = summarise(own.iter().map(|row| row.measures[m]));
            summary.map_or_else(String::new, |s| format!("{:.2} ({:.2})", s.mean, s.sd))
        };
        let mean = |value: &dyn Fn(&Row) -> f64| {
            summarise(own.iter().map(|row| value(row))).map_or_else(String::new, |s| format!("{:.2}", s.mean))
        };
        let published = FIGURES.iter().find(|(name, _)| *name == method).map_or("", |(_, figures)| figures);
        table.push([
            methods::label(method).to_string(),
            own.len().to_string(),
            show(0),
            show(1),
            show(2),
            mean(&|row| row.measures[3]),
            mean(&|row| row.seconds),
            published.to_string(),
        ]);
    }
    table
}

/// Specificity, sensitivity and MCC of a method by the number of edges, from none on: k and the three.
pub(super) fn curve(rows: &[Row], method: &str) -> Vec<(usize, [f64; 3])> {
    let fits = Scored::of(rows, BY_EDGES, "", method).0;
    let mut ks: Vec<usize> = fits.iter().map(|row| row.cell.k).collect();
    ks.sort_unstable();
    ks.dedup();
    let at = |k: usize| Scored(fits.iter().copied().filter(|row| row.cell.k == k).collect());
    let none = (0, Scored::of(rows, "", "", ALONE));
    let all = std::iter::once(none).chain(ks.into_iter().map(|k| (k, at(k))));
    all.filter(|(_, scored)| !scored.0.is_empty()).map(|(k, s)| (k, [0, 1, 2].map(|m| s.mean(m)))).collect()
}

/// [`curve`] as a table.
pub(super) fn by_edges(rows: &[Row]) -> Table {
    let title = "E5 by the number of edges: means over the same splits";
    let header = ["edges", "specificity", "sensitivity", "MCC", "as published: specificity", "sensitivity", "MCC"];
    let mut table = Table::new(title, &header);
    let published = curve(rows, PUBLISHED);
    for (k, scores) in curve(rows, "grahtp") {
        let beside = published.iter().find(|other| other.0 == k);
        let beside = [0, 1, 2].map(|m| beside.map_or_else(String::new, |other| format!("{:.2}", other.1[m])));
        table.push([k.to_string()].into_iter().chain(scores.map(|s| format!("{s:.2}"))).chain(beside));
    }
    table
}

/// The findings.
pub(super) fn findings(rows: &[Row]) -> Vec<Finding> {
    let mean = |method: &str, value: &dyn Fn(&Row) -> f64| {
        summarise(Scored::of(rows, "", "", method).0.iter().map(|row| value(row))).map(|s| s.mean)
    };
    let mcc = |method: &str| mean(method, &|row| row.measures[2]);
    let compared = |first: &str, rest: &[&str], value: &dyn Fn(&str) -> Option<f64>, higher: bool| {
        let own = value(first)?;
        let others: Vec<f64> = rest.iter().filter_map(|m| value(m)).collect();
        let yes = others.iter().filter(|o| if higher { own >= **o } else { own <= **o }).count();
        let list: Vec<String> =
            METHODS.iter().filter_map(|m| Some(format!("{} {:.2}", methods::label(m), value(m)?))).collect();
        let verdict = match yes {
            y if y == others.len() => Verdict::Agrees,
            0 => Verdict::Differs,
            _ => Verdict::Partly,
        };
        (!others.is_empty()).then(|| (list.join(", "), verdict))
    };
    let seconds = |method: &str| mean(method, &|row| row.seconds);
    let own = |text: &str| format!("With this library's search: {text}");
    vec![
        Finding::new(own("GraHTP has the largest MCC."), compared("grahtp", &["grasp", "fbs", "glasso"], &mcc, true))
            .because(why_grasp(rows)),
        balance(rows),
        Finding::new(
            own("GraHTP is faster than GraSP and FBS."),
            compared("grahtp", &["grasp", "fbs"], &seconds, false),
        )
        .because("forward selection passes through all k of the path in one run"),
        Finding::new(own("GLasso is the fastest."), compared("glasso", &["grahtp", "grasp", "fbs"], &seconds, false)),
        Finding::new(
            own("The loss of GraHTP falls faster with the iterations than that of GraSP and FBS."),
            falls(rows),
        )
        .because(overtakes(rows)),
    ]
}

/// At how many iterations that a rival has a loss for GraHTP's is no higher: the traces are those of one fit each.
fn falls(rows: &[Row]) -> Option<(String, Verdict)> {
    let trace = |method: &str| -> Vec<(usize, f64)> {
        let own = rows.iter().filter(|r| r.record == "trace" && r.cell.method == method);
        own.map(|r| (r.iterations, r.objective)).collect()
    };
    let own = trace("grahtp");
    // What has ended stays where it is.
    let at = |t: usize| own.iter().filter(|(i, _)| *i <= t).max_by_key(|(i, _)| *i).map(|(_, f)| *f);
    let (mut yes, mut of, mut parts) = (0, 0, Vec::new());
    for rival in ["grasp", "fbs"] {
        let points = trace(rival);
        let below = points.iter().filter(|(t, f)| at(*t).is_some_and(|own| own <= *f)).count();
        parts.push(format!("{} at {below} of {}", methods::label(rival), points.len()));
        (yes, of) = (yes + below, of + points.len());
    }
    verdict((yes, of)).map(|v| (format!("GraHTP is as low or lower than {} iterations", parts.join(", than ")), v))
}

/// When GraHTP is below where GraSP is stopped.
fn overtakes(rows: &[Row]) -> String {
    let trace = |method: &'static str| rows.iter().filter(move |r| r.record == "trace" && r.cell.method == method);
    let end = trace("grasp").max_by_key(|r| r.iterations).map_or(f64::NAN, |r| r.objective);
    let passed = trace("grahtp").filter(|r| r.objective <= end).map(|r| r.iterations).min().unwrap_or(0);
    format!("GraSP is stopped after 5 iterations, at a loss of {end:.2}: GraHTP is below that after {passed}")
}

/// Why GraSP may have the largest MCC.
fn why_grasp(rows: &[Row]) -> String {
    let of = |method: &str| Scored::of(rows, "", "", method);
    let (grasp, longer) = (of("grasp"), of(LONGER));
    let list: Vec<String> = curve(rows, "grahtp").iter().map(|(k, [.., mcc])| format!("{mcc:.2} with {k}")).collect();
    format!(
        "Not because GraSP is stopped after 5 iterations: with 20 its MCC is {:.2} on {} splits, where it has {:.2} \
         with 5. What counts is how far correlations are fitted: the MCC of GraHTP is {} edges. The likelihood asks \
         for {:.0} of them, with the lowest loss GraHTP and FBS have fitted most and GraSP, at a loss far above \
         theirs, least.",
        longer.mean(2),
        longer.0.len(),
        grasp.shared_with(&longer).mean(2),
        list.join(", "),
        of("grahtp").mean(3)
    )
}

/// Both kinds of error beside the published ones.
fn balance(rows: &[Row]) -> Finding {
    let scored = |pool: &str, record: &str, method: &str| Scored::of(rows, pool, record, method);
    let own = scored("", "", "grahtp");
    let (specificity, sensitivity) = (own.mean(0), own.mean(1));
    let near = |a: f64, b: f64| (a - b).abs() <= 0.05;
    let verdict = match (near(specificity, 0.77), near(sensitivity, 0.77)) {
        (true, true) => Verdict::Agrees,
        (false, false) => Verdict::Differs,
        _ => Verdict::Partly,
    };
    let show = |pool: &str, record: &str| {
        let s = scored(pool, record, "grahtp");
        format!("{:.2}, {:.2}, {:.2}", s.mean(0), s.mean(1), s.mean(2))
    };
    let ours = format!("GraHTP: specificity {specificity:.2}, sensitivity {sensitivity:.2}");
    let outcome = (!own.0.is_empty()).then_some((ours, verdict));
    let nearest = curve(rows, "grahtp").into_iter().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    let nearest = nearest.map_or_else(String::new, |(k, [a, b, c])| format!("{a:.2}, {b:.2}, {c:.2} with {k} edges"));
    Finding::new("With this library's search: GraHTP: specificity 0.77, sensitivity 0.77 (MCC 0.49).", outcome).because(
        format!(
            "The number of edges counts most. Specificity, sensitivity and MCC of GraHTP: as cross-validation of the \
         likelihood chooses ({:.0} edges) {}; the nearest to the published ones {nearest}. Priors count less (classes \
         taken as equally frequent: {}), and so do the genes unless the best are missing: with the strongest 300 of \
         the 1,400 alone to choose from {}; both {}; without these 300 {}. How many edges the paper's fits had it \
         does not say; its 22,283 genes were not to be had.",
            own.mean(3),
            show("", ""),
            show("", EVEN),
            show(STRONG, ""),
            show(STRONG, EVEN),
            show(WEAK, "")
        ),
    )
}

/// How far from the published specificity, sensitivity and MCC.
pub(super) fn off([specificity, sensitivity, mcc]: [f64; 3]) -> f64 {
    (specificity - 0.77).abs() + (sensitivity - 0.77).abs() + (mcc - 0.49).abs()
}
