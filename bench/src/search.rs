//! How good the search is where columns outnumber rows.
//!
//! `genes` fits every k up to 20 on six sets of gene expression and mass spectra and compares f with the best that
//! anything has found, which `best-known.csv` remembers: a run with a large effort lowers it. `simulated` draws the
//! regression problems of Hastie, Tibshirani and Tibshirani (2020), compares with greedy methods at every k up to 30,
//! and says how often ten times the effort finds lower still. `signs` recovers sparse vectors of +-1 from few products
//! with Gaussian rows: up to how many non-zeros?

use crate::Outcome;
use ksparse::design::{Dense, Design, Scaled};
use ksparse::loss::{Logistic, Squared};
use ksparse::solver::{Effort, Fbs, Foba, Grasp, Solver};
use ksparse::{Auto, Path, Risk, Sparsity, Threads};
use ksparse_io::{ReadOptions, Storage};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path as File;
use std::time::Instant;

const SETS: [(&str, &str, usize); 6] = [
    ("riboflavin", "riboflavin.csv.xz", 4088),
    ("leukemia", "leukemia.svm.xz", 7129),
    ("colon", "colon-cancer.svm.xz", 2000),
    ("prostate", "prostate-singh.svm.xz", 12_600),
    ("arcene", "arcene.svm.xz", 10_000),
    ("chowdary", "breast-colon-chowdary.svm.xz", 22_283),
];

/// A problem: set, loss, whether columns are standardised. Without a ridge that changes nothing under the squared loss.
fn problems() -> Vec<(usize, &'static str, bool)> {
    let mut all: Vec<(usize, &'static str, bool)> = (0..SETS.len()).map(|set| (set, "squared", false)).collect();
    // The first has no classes.
    all.extend((1..SETS.len()).flat_map(|set| [(set, "logistic", false), (set, "logistic", true)]));
    all
}

/// Fits all k of all problems with one thread each, side by side on `threads`; lowers what `known` says.
pub fn genes(folder: &File, known: &File, effort: Effort, threads: usize) -> Outcome {
    let mut best = read(known)?;
    let found: Vec<Outcome<(String, Vec<f64>, f64)>> = Threads::new(threads)?
        .run(|| problems().into_par_iter().with_max_len(1).map(|problem| fit_all(folder, problem, effort)).collect());
    println!("| problem | seconds | above the best known at k = 2, 4, ..., 20 (%) |\n|---|---|---|");
    for row in found {
        let (name, values, seconds) = row?;
        let mut cells = String::new();
        for (k, value) in (1..).zip(values) {
            let known = best.entry((name.clone(), k)).or_insert(f64::INFINITY);
            if k % 2 == 0 {
                write!(cells, " {:.2}", 100.0 * (value / known.min(value) - 1.0))?;
            }
            *known = known.min(value);
        }
        println!("| {name} | {seconds:.2} | {cells} |");
    }
    let mut text = "problem,k,f\n".to_string();
    for ((name, k), value) in best {
        writeln!(text, "{name},{k},{value:e}")?;
    }
    Ok(std::fs::write(known, text)?)
}

fn read(known: &File) -> Outcome<BTreeMap<(String, usize), f64>> {
    let Ok(text) = std::fs::read_to_string(known) else { return Ok(BTreeMap::new()) };
    let mut best = BTreeMap::new();
    for line in text.lines().skip(1) {
        let [name, k, value] = line.split(',').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        best.insert((name.to_string(), k.parse()?), value.parse()?);
    }
    Ok(best)
}

fn fit_all(
    folder: &File,
    (set, loss, standardised): (usize, &'static str, bool),
    effort: Effort,
) -> Outcome<(String, Vec<f64>, f64)> {
    let (name, file, features) = SETS[set];
    let options = ReadOptions { features: Some(features), storage: Storage::Dense, ..ReadOptions::default() };
    let table = ksparse_io::read(&folder.join(file), &options)?;
    let target = table.target()?.numbers()?.to_vec();
    let data = table.design();
    let design: Box<dyn Design + '_> =
        if standardised { Box::new(Scaled::standardize(data, None)?) } else { Box::new(data) };
    let risk = if loss == "squared" {
        Risk::new(design, target, Squared::default())?
    } else {
        Risk::new(design, target, Logistic::default())?.with_ridge(0.01)?
    }
    .with_intercept();
    let started = Instant::now();
    let path = Path::over(1..=20).fit(&risk, &Auto { effort, ..Auto::default() })?;
    let label = format!("{name} {loss}{}", if standardised { " standardised" } else { "" });
    Ok((label, path.solutions.iter().map(|s| s.value).collect(), started.elapsed().as_secs_f64()))
}

/// Sizes, correlations of neighbours, kinds of coefficients and signal-to-noise ratios of the simulation.
const SIZES: [(usize, usize); 3] = [(50, 1000), (100, 1000), (500, 100)];
const CORRELATIONS: [f64; 3] = [0.0, 0.35, 0.7];
const KINDS: [usize; 3] = [1, 2, 5];
const RATIOS: [f64; 10] = [0.05, 0.09, 0.14, 0.25, 0.42, 0.71, 1.22, 2.07, 3.52, 6.0];
const LARGEST: usize = 30;

/// One drawn problem: f at every k by each method.
struct Drawn {
    size: (usize, usize),
    normal: Vec<f64>,
    thorough: Vec<f64>,
    others: Vec<(&'static str, Vec<f64>)>,
}

/// The simulation; `share` of its problems, one repetition each.
pub fn simulated(share: usize, threads: usize) -> Outcome {
    let mut cells = Vec::new();
    for size in SIZES {
        for correlation in CORRELATIONS {
            for kind in KINDS {
                cells.extend(RATIOS.map(|ratio| (size, correlation, kind, ratio)));
            }
        }
    }
    let cells: Vec<_> = cells.into_iter().enumerate().filter(|(seed, _)| seed % share == 0).collect();
    let drawn: Vec<Outcome<Drawn>> = Threads::new(threads)?
        .run(|| cells.into_par_iter().with_max_len(1).map(|(seed, cell)| draw(seed, cell)).collect());
    let drawn: Vec<Drawn> = drawn.into_iter().collect::<Outcome<_>>()?;
    println!("| n, p | sets | cells | above a rival | thorough lower by 0.01 % and more: cells, median, largest (%) |");
    println!("|---|---|---|---|---|");
    for size in SIZES {
        let sets: Vec<&Drawn> = drawn.iter().filter(|set| set.size == size).collect();
        let (mut cells, mut above, mut lower) = (0, Vec::new(), Vec::new());
        for set in &sets {
            for (i, value) in set.normal.iter().enumerate() {
                cells += 1;
                lower.extend(Some(100.0 * (value / set.thorough[i] - 1.0)).filter(|gap| *gap >= 0.01));
                let beaten = set.others.iter().filter(|(_, theirs)| *value > theirs[i] * (1.0 + 1e-9));
                above.extend(beaten.map(|(name, theirs)| {
                    format!("{name} k = {} by {:.2} %", i + 1, 100.0 * (value / theirs[i] - 1.0))
                }));
            }
        }
        lower.sort_by(f64::total_cmp);
        let median = lower.get(lower.len() / 2).copied().unwrap_or(0.0);
        let largest = lower.last().copied().unwrap_or(0.0);
        let share = 100.0 * lower.len() as f64 / f64::from(cells.max(1));
        let above = if above.is_empty() { "none".to_string() } else { above.join(", ") };
        let (n, p) = size;
        println!(
            "| {n}, {p} | {} | {cells} | {above} | {} ({share:.1} %), {median:.2}, {largest:.2} |",
            sets.len(),
            lower.len()
        );
    }
    Ok(())
}

/// Rows and columns of `signs`.
const PRODUCTS: (usize, usize) = (200, 1000);
/// The numbers of non-zeros.
const COUNTS: [usize; 6] = [40, 44, 46, 48, 50, 52];

/// How many of so many vectors of +-1 come back exactly, by the number of their non-zeros.
pub fn signs(trials: u64, threads: usize) -> Outcome {
    println!("| non-zeros | recovered by auto | by grasp | auto, seconds |\n|---|---|---|---|");
    for count in COUNTS {
        let once = |seed: u64| -> Outcome<(bool, bool, f64)> {
            let ((n, p), rng) = (PRODUCTS, &mut ChaCha8Rng::seed_from_u64(1000 * seed + count as u64));
            let columns: Vec<f64> = (0..n * p).map(|_| normal(rng)).collect();
            let mut support: Vec<usize> = (0..p).collect();
            (0..count).for_each(|i| support.swap(i, rng.random_range(i..p)));
            support.truncate(count);
            support.sort_unstable();
            let signs: Vec<f64> = support.iter().map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
            let x = Dense::from_columns(n, p, columns)?;
            let mut target = vec![0.0; n];
            x.mul(ksparse::SparseRef::new(&support, &signs), &mut target);
            let risk = Risk::new(&x, &target, Squared::default())?;
            let recovers = |solver: &dyn Solver| -> Outcome<bool> {
                Ok(solver.fit(&risk, &Sparsity::new(count))?.support == support)
            };
            let started = Instant::now();
            let auto = recovers(&Auto::default())?;
            let seconds = started.elapsed().as_secs_f64();
            Ok((auto, recovers(&Grasp::default())?, seconds))
        };
        let seeds: Vec<u64> = (0..trials).collect();
        let all: Vec<Outcome<_>> =
            Threads::new(threads)?.run(|| seeds.into_par_iter().with_max_len(1).map(once).collect());
        let all: Vec<(bool, bool, f64)> = all.into_iter().collect::<Outcome<_>>()?;
        let share = |of: fn(&(bool, bool, f64)) -> bool| all.iter().filter(|one| of(one)).count();
        let seconds = all.iter().map(|one| one.2).sum::<f64>() / trials.max(1) as f64;
        println!("| {count} | {} of {trials} | {} | {seconds:.2} |", share(|one| one.0), share(|one| one.1));
    }
    Ok(())
}

fn draw(seed: usize, (size, correlation, kind, ratio): ((usize, usize), f64, usize, f64)) -> Outcome<Drawn> {
    let ((n, p), rng) = (size, &mut ChaCha8Rng::seed_from_u64(seed as u64));
    let truth = coefficients(p, kind);
    let spread = (1.0 - correlation * correlation).sqrt();
    let mut columns = vec![0.0; n * p];
    let (mut target, mut noise) = (vec![0.0; n], variance(&truth, correlation));
    noise = (noise / ratio).sqrt();
    for i in 0..n {
        let mut last: f64 = normal(rng);
        for j in 0..p {
            if j > 0 {
                last = correlation * last + spread * normal(rng);
            }
            columns[j * n + i] = last;
            target[i] += last * truth[j];
        }
        target[i] += noise * normal(rng);
    }
    let x = Dense::from_columns(n, p, columns)?;
    let risk = Risk::new(&x, &target, Squared::default())?;
    let by = |effort| -> Outcome<Vec<f64>> {
        let path = Path::over(1..=LARGEST).fit(&risk, &Auto { effort, ..Auto::default() })?;
        Ok(path.solutions.iter().map(|s| s.value).collect())
    };
    let one_by_one = |solver: &dyn Solver| -> Outcome<Vec<f64>> {
        (1..=LARGEST).map(|k| Ok(solver.fit(&risk, &Sparsity::new(k))?.value)).collect()
    };
    let others = vec![
        ("stepwise", stepwise(&x, &target)),
        ("fbs", one_by_one(&Fbs::default())?),
        ("foba", one_by_one(&Foba::default())?),
        ("grasp", one_by_one(&Grasp::default())?),
    ];
    Ok(Drawn { size, normal: by(Effort::NORMAL)?, thorough: by(Effort::THOROUGH)?, others })
}

/// Five coefficients of 1, evenly spaced (1) or first (2), or the first with a tail that halves (5).
fn coefficients(p: usize, kind: usize) -> Vec<f64> {
    let mut truth = vec![0.0; p];
    for i in 0..5 {
        truth[if kind == 1 { i * (p - 1) / 4 } else { i }] = 1.0;
    }
    if kind == 5 {
        (5..p).for_each(|j| truth[j] = 0.5f64.powi(j as i32 - 4));
    }
    truth
}

/// The variance of the signal: neighbours are correlated, and theirs by powers of that.
fn variance(truth: &[f64], correlation: f64) -> f64 {
    // What each coefficient adds by those before it, whose pull fades.
    let (mut sum, mut pull) = (0.0, 0.0);
    for b in truth {
        sum += b * (b + 2.0 * pull);
        pull = correlation * (pull + b);
    }
    sum
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Forward selection by the best decrease, on columns made orthogonal to those chosen.
fn stepwise(x: &Dense, target: &[f64]) -> Vec<f64> {
    let n = target.len();
    let mut columns: Vec<Vec<f64>> = (0..x.ncols()).map(|j| x.column(j).to_vec()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut rest, mut values) = (target.to_vec(), Vec::new());
    for _ in 0..LARGEST {
        let gain = |c: &Vec<f64>| dot(c, &rest).powi(2) / dot(c, c).max(1e-9);
        let best = columns.iter().enumerate().max_by(|a, b| gain(a.1).total_cmp(&gain(b.1)));
        let Some(best) = best.map(|(j, c)| (j, c.clone())) else { break };
        let unit: Vec<f64> = best.1.iter().map(|v| v / dot(&best.1, &best.1).sqrt()).collect();
        columns.swap_remove(best.0);
        for column in columns.iter_mut().chain([&mut rest]) {
            let share = dot(column, &unit);
            column.iter_mut().zip(&unit).for_each(|(v, u)| *v -= share * u);
        }
        values.push(0.5 * dot(&rest, &rest) / n as f64);
    }
    values
}
