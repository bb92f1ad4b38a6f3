//! What the rows say, beside the paper.

use super::{AS_SPARSE, METHODS, WITH_MORE};
use crate::frame::{Curves, Finding, Row, Verdict, summarise, verdict};
use crate::methods;

/// The findings asked of `rows`, where GraHTP and GraSP may be others under their names; `all` has the tests with more
/// samples.
pub(super) fn asked(rows: &[Row], all: &[Row], name: &str) -> Vec<Finding> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.cell.variant == "simulation").collect();
    let of = |record: &str, value: fn(&Row) -> f64| {
        let own: Vec<&Row> = rows.iter().copied().filter(|row| row.record == record).collect();
        Curves::new(&own, &METHODS, |row| row.cell.p, value)
    };
    let (score, error) = (&of("tuned", |r| r.measures[1]), &of("tuned", |r| r.measures[0]));
    let (seconds, as_sparse) = (&of("tuned", |r| r.seconds), &of(AS_SPARSE, |r| r.seconds));
    let more: Vec<&Row> = all.iter().filter(|row| row.cell.variant == WITH_MORE).collect();
    let with_more = |value: fn(&Row) -> f64| Curves::new(&more, &METHODS, |row| row.cell.p, value);
    let (more_score, more_error) = (&with_more(|r| r.measures[1]), &with_more(|r| r.measures[0]));
    let better = |curves: &Curves, higher: bool| {
        curves.count(|c, p| {
            let (own, rival) = (c.at("grahtp", p)?, c.at("glasso", p)?);
            Some(if higher { own > rival } else { own < rival })
        })
    };
    let shown = |curves: &Curves, method: &str, digits: usize| {
        let values: Vec<String> = curves.of(method).iter().map(|(p, s)| format!("{p}: {:.digits$}", s.mean)).collect();
        format!("{} {}", methods::label(method), values.join(", "))
    };
    let list = |curves: &Curves, method: &str| shown(curves, method, 2);
    let times = |methods: &[&str]| methods.iter().map(|m| shown(seconds, m, 3)).collect::<Vec<_>>().join("; ");
    let both = |curves: &Curves| format!("{}; {}", list(curves, "grahtp"), list(curves, "glasso"));
    let faster = |rival: &str| seconds.count(|c, p| Some(c.at("grahtp", p)? < c.at(rival, p)?));
    let sparser = METHODS[..3].iter().map(|m| {
        let own = rows.iter().filter(|r| r.record == "tuned" && r.cell.method == *m);
        own.map(|r| r.measures[2]).sum::<f64>()
            / rows.iter().filter(|r| r.record == "tuned" && r.cell.method == *m).count() as f64
    });
    let sparser: Vec<f64> = sparser.collect();
    let lasso =
        summarise(rows.iter().filter(|r| r.record == "tuned" && r.cell.method == "glasso").map(|r| r.measures[2]));
    let fewer = lasso.map(|lasso| {
        let yes = sparser.iter().filter(|mean| **mean < lasso.mean).count();
        let agrees = verdict((yes, sparser.len())).unwrap_or(Verdict::Differs);
        let means: Vec<String> = sparser.iter().map(|m| format!("{m:.0}")).collect();
        (format!("mean edges {} against {:.0}", means.join(", "), lasso.mean), agrees)
    });
    let wider = |curves: &Curves| {
        let sd = |method: &str, p: usize| curves.of(method).iter().find(|(at, _)| *at == p).map(|(_, s)| s.sd);
        let count = curves.count(|_, p| Some(sd("grahtp", p)? > sd("glasso", p)?));
        let list = |method: &str| {
            let values: Vec<String> = curves.of(method).iter().map(|(p, s)| format!("{p}: {:.3}", s.sd)).collect();
            format!("{} {}", methods::label(method), values.join(", "))
        };
        (count, format!("{}; {}", list("grahtp"), list("glasso")))
    };
    let ((score_wider, score_sd), (error_wider, error_sd)) = (wider(score), wider(error));
    let spread = (score_wider.0 + error_wider.0, score_wider.1 + error_wider.1);
    vec![
        Finding::new(
            format!("{name}GraHTP spreads wider than GLasso."),
            verdict(spread).map(|v| (format!("deviations of the F-score: {score_sd}; of the error: {error_sd}"), v)),
        ),
        Finding::new(
            format!("{name}GraHTP has the better F-score."),
            verdict(better(score, true)).map(|v| (both(score), v)),
        )
        .because(format!(
            "with 100 samples of 120 or 200 variables entries that are not shrunk overfit early: the likelihood stops \
             at a third of the true edges or fewer, EBIC and stability at fewer still. Tested with 1000 samples and \
             this library's search: {}",
            both(more_score)
        )),
        Finding::new(
            format!("{name}GraHTP has the smaller error."),
            verdict(better(error, false)).map(|v| (both(error), v)),
        )
        .because(format!(
            "on its support every entry of GraHTP is a maximum of the likelihood, and with 100 samples its variance \
             outweighs the bias of the penalty. Tested with 1000 samples and this library's search: {}",
            both(more_error)
        )),
        Finding::new(
            format!("{name}GraHTP is much faster than GraSP."),
            verdict(faster("grasp")).map(|v| (times(&["grahtp", "grasp"]), v)),
        ),
        Finding::new(
            format!("{name}GraHTP is much faster than FBS."),
            verdict(faster("fbs")).map(|v| (times(&["grahtp", "fbs"]), v)),
        )
        .because(
            "forward selection passes through all k of the path in one run of small refits, where every k is a \
            fit of its own for GraHTP",
        ),
        Finding::new(
            format!("{name}GLasso is the fastest."),
            verdict(seconds.best(&["glasso"], &["grahtp", "grasp", "fbs"], 1.0))
                .map(|v| (times(&["glasso", "grahtp"]), v)),
        )
        .because(format!(
            "the path of penalties goes on to networks that the greedy paths do not reach; tested: as far as it has \
             no more edges than they, it takes {}",
            shown(as_sparse, "glasso", 3)
        )),
        Finding::new(format!("{name}The greedy methods are sparser than GLasso."), fewer),
    ]
}
