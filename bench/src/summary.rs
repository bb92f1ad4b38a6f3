//! The rows of a workload in brief: one line per solver, medians over the seeds.

use crate::contest::{Row, Score};

/// One solver on one workload.
#[derive(Debug, Clone)]
pub struct Line {
    /// The solver.
    pub solver: String,
    /// Seeds it answered, of how many.
    pub answered: (usize, usize),
    /// What went wrong on another seed, if on any.
    pub failure: Option<String>,
    /// Medians over the seeds it answered; NaN without an answer.
    pub cpu: f64,
    /// See `cpu`.
    pub wall: f64,
    /// See `cpu`.
    pub cold_cpu: f64,
    /// See `cpu`.
    pub cold_wall: f64,
    /// See `cpu`; bytes.
    pub peak: f64,
    /// See `cpu`; counts are those of the first seed.
    pub score: Score,
}

impl Line {
    /// The package it is from.
    pub fn package(&self) -> &'static str {
        match self.solver.split(['-', ',']).next().unwrap_or("") {
            "ksparse" => "ksparse",
            "abess" => "abess",
            "scope" | "htp" | "iht" | "grasp" | "foba" => "skscope",
            "l0learn" => "L0Learn",
            "omp" | "sklearn" => "scikit-learn",
            "skglm" => "skglm",
            "celer" => "celer",
            "liblinear" => "liblinear",
            _ => "",
        }
    }

    /// Its name with the package's before it.
    pub fn full_name(&self) -> String {
        let (package, solver) = (self.package(), self.solver.as_str());
        match package {
            "skscope" => format!("skscope {}", solver.trim_start_matches("scope-")),
            "scikit-learn" => format!("scikit-learn {}", solver.trim_start_matches("sklearn-")),
            "L0Learn" => format!("L0Learn {}", solver.trim_start_matches("l0learn-")),
            "" | "ksparse" | "celer" | "liblinear" => solver.to_string(),
            _ => solver.replacen('-', " ", 1),
        }
    }

    /// Whether it is a peer that answered.
    pub fn is_peer(&self) -> bool {
        self.answered.0 > 0 && !matches!(self.package(), "" | "ksparse")
    }

    /// The better of the errors on the rows held out, as returned and after a refit.
    pub fn test(&self) -> f64 {
        self.score.test.min(self.score.test_returned)
    }

    /// The same of the estimation errors.
    pub fn estimation(&self) -> f64 {
        self.score.estimation.min(self.score.estimation_returned)
    }
}

/// The lines of a workload, in the order in which the solvers first ran.
pub fn lines(rows: &[Row], workload: &str) -> Vec<Line> {
    let of: Vec<&Row> = rows.iter().filter(|row| row.workload == workload).collect();
    let mut solvers: Vec<&str> = Vec::new();
    for row in &of {
        if !solvers.contains(&row.solver.as_str()) {
            solvers.push(&row.solver);
        }
    }
    solvers
        .into_iter()
        .map(|solver| line(solver, of.iter().filter(|r| r.solver == solver).copied().collect()))
        .collect()
}

fn line(solver: &str, rows: Vec<&Row>) -> Line {
    let good: Vec<&Row> = rows.iter().filter(|row| row.ok()).copied().collect();
    let middle = |what: fn(&Row) -> f64| median(good.iter().map(|row| what(row)).collect());
    Line {
        solver: solver.to_string(),
        answered: (good.len(), rows.len()),
        failure: rows.iter().find(|row| !row.ok()).map(|row| row.outcome.clone()),
        cpu: middle(|r| r.cpu),
        wall: middle(|r| r.wall),
        cold_cpu: middle(|r| r.cold_cpu),
        cold_wall: middle(|r| r.cold_wall),
        peak: middle(|r| r.peak),
        score: Score {
            value: middle(|r| r.score.value),
            as_returned: middle(|r| r.score.as_returned),
            precision: middle(|r| r.score.precision),
            recall: middle(|r| r.score.recall),
            test: middle(|r| r.score.test),
            test_returned: middle(|r| r.score.test_returned),
            estimation: middle(|r| r.score.estimation),
            estimation_returned: middle(|r| r.score.estimation_returned),
            ..good.first().map(|row| row.score.clone()).unwrap_or_default()
        },
    }
}

/// The middle one, or the mean of the two in the middle; NaN of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.retain(|v| !v.is_nan());
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_leave_out_what_is_missing() {
        assert_eq!(median(vec![3.0, f64::NAN, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 2.0]), 3.0);
        assert!(median(vec![f64::NAN]).is_nan());
    }

    #[test]
    fn every_peer_has_a_package() {
        for (solver, name) in [
            ("abess-wide", "abess wide"),
            ("scope-omp", "skscope omp"),
            ("htp-tuned", "skscope htp-tuned"),
            ("omp", "scikit-learn omp"),
            ("sklearn-saga", "scikit-learn saga"),
            ("l0learn-l0l2", "L0Learn l0l2"),
            ("skglm-mcp", "skglm mcp"),
            ("ksparse", "ksparse"),
            ("truth", "truth"),
        ] {
            assert_eq!(line(solver, Vec::new()).full_name(), name);
        }
    }
}
