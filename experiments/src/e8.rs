//! E8: the choice of a model beside the lasso and the relaxed lasso.
//!
//! The simulation of T. Hastie, R. Tibshirani, R. Tibshirani, "Best Subset, Forward Stepwise or Lasso?", Statistical
//! Science 35, 2020: rows N(0, Sigma) with `Sigma_ij = rho^|i-j|`, `y = x'beta + noise`, the noise such that the
//! signal-to-noise ratio `beta'Sigma beta / sigma^2` is as given. Scored by the relative test error `(error on new
//! rows) / sigma^2`, which is 1 for the truth. There tuning is on a validation set of n further rows; here all methods
//! have the n rows alone and the same folds, as many and as often dealt as the default has it.

mod lasso;

use crate::frame::{Cell, Curves, Experiment, Figure, Finding, Page, Result, Row, Settings, Verdict, cpu, summarise};
use ksparse::design::Dense;
use ksparse::loss::Squared;
use ksparse::select::{Choose, Deal, Problem};
use ksparse::{Auto, LinearModel};
use ksparse_plot::{Axis, Grid};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use std::collections::BTreeMap;

const METHODS: [&str; 3] = ["chosen", "lasso", "relaxed"];
const MEASURES: [&str; 2] = ["relative_error", "nonzeros"];
/// Signal-to-noise ratios, in hundredths.
const RATIOS: [usize; 10] = [5, 9, 14, 25, 42, 71, 122, 207, 352, 600];
/// Coefficients that matter.
const SIGNALS: usize = 5;

/// The experiment.
#[derive(Debug, Default)]
pub struct ModelChoice;

/// What a problem is drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drawn {
    n: usize,
    p: usize,
    rho: f64,
    /// 1: ones, evenly spread; 2: ones, the first; 3: from 10 to 0.5; 5: ones, then halves of halves.
    kind: usize,
    ratio: usize,
}

impl Drawn {
    fn variant(&self) -> String {
        format!("rho={} beta={} snr={}", self.rho, self.kind, self.ratio as f64 / 100.0)
    }

    /// Read back from a cell.
    fn of(cell: &Cell) -> Option<Self> {
        let mut words = cell.variant.split_whitespace().map(|word| word.split_once('=').map_or("", |pair| pair.1));
        let rho = words.next()?.parse().ok()?;
        let kind = words.next()?.parse().ok()?;
        let snr: f64 = words.next()?.parse().ok()?;
        Some(Self { n: cell.n, p: cell.p, rho, kind, ratio: (100.0 * snr).round() as usize })
    }

    fn beta(&self) -> Vec<f64> {
        let mut beta = vec![0.0; self.p];
        for s in 0..SIGNALS.min(self.p) {
            let spread = (s * (self.p - 1) + (SIGNALS - 1) / 2) / (SIGNALS - 1);
            match self.kind {
                1 => beta[spread] = 1.0,
                3 => beta[s] = 10.0 - 9.5 * s as f64 / (SIGNALS - 1) as f64,
                _ => beta[s] = 1.0,
            }
        }
        if self.kind == 5 {
            (SIGNALS..self.p).for_each(|j| beta[j] = 0.5f64.powi((j - SIGNALS + 1).min(60) as i32));
        }
        beta
    }

    /// `a' Sigma a` over the entries that are not 0.
    fn energy(&self, a: &[f64]) -> f64 {
        let entries: Vec<(usize, f64)> = a.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).collect();
        let pair = |(i, a): &(usize, f64), (j, b): &(usize, f64)| a * b * self.rho.powi(i.abs_diff(*j) as i32);
        entries.iter().map(|a| entries.iter().map(|b| pair(a, b)).sum::<f64>()).sum()
    }

    /// Rows by columns, the target, the noise's variance.
    fn draw(&self, seed: u64) -> Result<(Dense<'static>, Vec<f64>, f64)> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let beta = self.beta();
        let variance = 100.0 * self.energy(&beta) / self.ratio as f64;
        let (mut x, mut y) = (vec![0.0; self.n * self.p], vec![0.0; self.n]);
        let fresh = (1.0 - self.rho * self.rho).sqrt();
        for i in 0..self.n {
            let mut last = 0.0;
            for j in 0..self.p {
                let draw: f64 = random.sample(StandardNormal);
                last = if j == 0 { draw } else { self.rho * last + fresh * draw };
                x[j * self.n + i] = last;
                y[i] += beta[j] * last;
            }
            let noise: f64 = random.sample(StandardNormal);
            y[i] += variance.sqrt() * noise;
        }
        Ok((Dense::from_columns(self.n, self.p, x)?, y, variance))
    }

    /// The mean squared error of a model on new rows, by the variance of the noise.
    fn relative_error(&self, model: &LinearModel, variance: f64) -> f64 {
        let mut off = self.beta();
        model.support.iter().zip(&model.coefficients).for_each(|(&j, w)| off[j] -= w);
        1.0 + (self.energy(&off) + model.intercept * model.intercept) / variance
    }
}

/// All problems of a run.
fn problems(quick: bool) -> Vec<Drawn> {
    let shapes: &[(usize, usize)] =
        if quick { &[(40, 10), (30, 60)] } else { &[(100, 10), (500, 100), (50, 1000), (100, 1000)] };
    let (rhos, kinds): (&[f64], &[usize]) = if quick { (&[0.35], &[2]) } else { (&[0.0, 0.35, 0.7], &[1, 2, 3, 5]) };
    let ratios: Vec<usize> = if quick { vec![42, 600] } else { RATIOS.to_vec() };
    let mut all = Vec::new();
    for &(n, p) in shapes {
        for &rho in rhos {
            for &kind in kinds {
                all.extend(ratios.iter().map(|&ratio| Drawn { n, p, rho, kind, ratio }));
            }
        }
    }
    all
}

impl Experiment for ModelChoice {
    fn id(&self) -> &'static str {
        "E8"
    }

    fn title(&self) -> &'static str {
        "The choice of a model beside the lasso and the relaxed lasso"
    }

    fn measures(&self) -> &'static [&'static str] {
        &MEASURES
    }

    fn cells(&self, settings: &Settings) -> Result<Vec<Cell>> {
        let drawn = problems(settings.quick);
        let cell = |seed: u64, of: &Drawn| Cell {
            variant: of.variant(),
            seed,
            // One cell has the rows of all methods: they share their data and folds.
            method: "all".to_string(),
            n: of.n,
            p: of.p,
            ..Cell::default()
        };
        Ok(settings
            .seeds(10, 2)
            .flat_map(|seed| drawn.iter().map(move |of| cell(seed, of)).collect::<Vec<_>>())
            .collect())
    }

    fn run(&self, cell: &Cell, _settings: &Settings) -> Result<Vec<Row>> {
        let Some(drawn) = Drawn::of(cell) else { return Ok(Vec::new()) };
        let (x, y, variance) = drawn.draw(cell.seed)?;
        let folds = Deal::of(drawn.n).out(drawn.n, None, cell.seed)?;
        let loss = Squared::default();
        let (chosen, seconds) = cpu(|| Choose::default().fit(&Problem::new(&x, &y, &loss), &folds, &Auto::default()));
        let (rivals, rival_seconds) = cpu(|| lasso::chosen(&x, &y, &folds));
        let [lasso, relaxed] = rivals?;
        let models = [(chosen?.model().clone(), seconds), (lasso, rival_seconds), (relaxed, rival_seconds)];
        let row = |(method, (model, seconds)): (&str, (LinearModel, f64))| {
            let measures = vec![drawn.relative_error(&model, variance), model.support.len() as f64];
            let cell = Cell { method: method.to_string(), ..cell.clone() };
            Row { cell, seconds, ..Row::default() }.measures(measures)
        };
        Ok(METHODS.into_iter().zip(models).map(row).collect())
    }

    fn page(&self, rows: &[Row]) -> Page {
        let mut page = Page { setting: setting(rows), ..Page::default() };
        let mut shapes: Vec<(usize, usize)> = rows.iter().map(|row| (row.cell.n, row.cell.p)).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let ratio = |row: &Row| Drawn::of(&row.cell).map_or(0, |drawn| drawn.ratio);
        let mut grid = Grid::new("E8: relative test error", 2);
        for &(n, p) in &shapes {
            let own: Vec<&Row> = rows.iter().filter(|row| (row.cell.n, row.cell.p) == (n, p)).collect();
            let errors = Curves::new(&own, &METHODS, ratio, |row| row.measures[0]);
            let title = format!("n = {n}, p = {p}");
            let x = Axis::log("signal-to-noise ratio, hundredths");
            grid = grid.with(errors.chart(&title, x, Axis::linear("relative test error")).size(480.0, 330.0));
            let three = |s: &crate::frame::Summary| format!("{:.3} ({:.3})", s.mean, s.error());
            let caption =
                format!("{title}: relative test error by signal-to-noise ratio in hundredths (standard error)");
            page.tables.push(errors.table(&caption, "method", three));
            let sizes = Curves::new(&own, &METHODS, ratio, |row| row.measures[1]);
            page.tables
                .push(sizes.table(&format!("{title}: coefficients in use"), "method", |s| format!("{:.1}", s.mean)));
        }
        let caption =
            "Means over correlations, kinds of coefficients and replicas, bands of one standard error; 1 is the truth.";
        page.figures.push(Figure::new("error", caption, grid.to_svg()));
        for rival in &METHODS[1..] {
            for allowed in [Allowed::OfDifferences, Allowed::OfRival] {
                page.findings.push(finding(rows, rival, allowed));
            }
        }
        page
    }
}

/// The standard error that a choice may be behind by.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    /// Replica by replica, on the same data: the narrower one.
    OfDifferences,
    /// That of the rival's mean, as figures show it.
    OfRival,
}

/// In how many of the problems the choice is no worse than a rival plus one standard error.
fn finding(rows: &[Row], rival: &str, allowed: Allowed) -> Finding {
    let mut pairs: BTreeMap<(usize, usize, &str), BTreeMap<u64, [f64; 2]>> = BTreeMap::new();
    for row in rows {
        let place = if row.cell.method == METHODS[0] {
            0
        } else if row.cell.method == rival {
            1
        } else {
            continue;
        };
        let problem = pairs.entry((row.cell.n, row.cell.p, &row.cell.variant)).or_default();
        problem.entry(row.cell.seed).or_insert([f64::NAN; 2])[place] = row.measures[0];
    }
    let held: Vec<bool> = pairs
        .values()
        .filter_map(|seeds| {
            let both = seeds.values().filter(|pair| pair.iter().all(|error| error.is_finite()));
            let difference = summarise(both.clone().map(|[own, rival]| own - rival))?;
            let behind = match allowed {
                Allowed::OfDifferences => difference.error(),
                Allowed::OfRival => summarise(both.map(|[_, rival]| *rival))?.error(),
            };
            Some(difference.mean <= behind)
        })
        .collect();
    let (yes, of) = (held.iter().filter(|held| **held).count(), held.len());
    let outcome = (of > 0).then(|| {
        let verdict = if 10 * yes >= 9 * of {
            Verdict::Agrees
        } else if 2 * yes > of {
            Verdict::Partly
        } else {
            Verdict::Differs
        };
        (format!("{yes} of {of} problems ({:.0} %)", 100.0 * yes as f64 / of as f64), verdict)
    });
    Finding::new(
        format!(
            "The choice has a test error of at most the {}'s plus one standard error{} in nine of ten problems.",
            crate::methods::label(rival),
            if allowed == Allowed::OfRival { " of its own mean" } else { " of the differences" }
        ),
        outcome,
    )
}

fn setting(rows: &[Row]) -> Vec<String> {
    let mut seeds: Vec<u64> = rows.iter().map(|row| row.cell.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    vec![format!(
        "Rows N(0, Sigma), Sigma_ij = rho^|i-j|, rho 0, 0.35, 0.7; coefficients of types 1, 2, 3 and 5 (five that \
         matter; 3: from 10 to 0.5; 5: the rest decays); signal-to-noise 0.05 to 6; {} replicas. All methods are tuned \
         on the same folds (five, dealt five times below 250 rows, twice above): \"chosen\" is this library's \
         default choice of k and two ridges, the lasso has fifty penalties, the relaxed lasso ten mixtures with least \
         squares beside. \
         The error is exact, from the true coefficients.",
        seeds.len()
    )]
}
