//! Networks: the fast minimiser against the reference, a large fit, and scikit-learn's graphical lasso beside a fit and
//! a path.
//!
//! The clocks are processor seconds on one thread, but for the large fit: two threads, the wall.

use crate::Outcome;
use crate::child::{self, Ended};
use crate::fit::{cpu_seconds, resident};
use crate::goals::Goal;
use ksparse::design::Dense;
use ksparse::graphical::{Covariance, Method, Precision, Units};
use ksparse::restricted::{InnerOptions, minimise};
use ksparse::solver::{Auto, Grahtp, Solver};
use ksparse::{Objective, Path as Ks, Sparsity, Threads, simulate};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// What every door takes for a network of this size.
pub fn solver() -> Box<dyn Solver> {
    Box::new(Auto::default())
}

fn model(rows: usize, p: usize) -> Outcome<(Precision, Dense<'static>)> {
    let sample = simulate::precision(rows, 1, p, 1);
    Ok((Precision::new(Covariance::from_samples(&sample.train, Units::Original)?)?, sample.train))
}

/// Processor seconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let used = cpu_seconds();
    let found = work();
    (found, cpu_seconds() - used)
}

/// Prints the figures as JSON; without an interpreter the peer's are left out.
pub fn graphs(dir: &Path, python: Option<&Path>, quick: bool) -> Outcome {
    std::fs::create_dir_all(dir)?;
    let one = Threads::new(1)?;
    let mut found = vec![one.run(minimisers)?];
    let sizes: &[usize] = if quick { &[30, 60] } else { &[30, 60, 120, 200] };
    found.push(one.run(|| fit(dir, python))?);
    for &p in sizes {
        found.push(one.run(|| path(p, dir, python))?);
    }
    if !quick {
        found.push(Threads::new(2)?.run(large)?);
    }
    println!("{}", Value::Array(found));
    Ok(())
}

/// S3 on the support of a fit, from the diagonal, by both methods.
fn minimisers() -> Outcome<Value> {
    let (p, k) = (200, 200);
    let (model, _) = model(400, p)?;
    let support = solver().fit(&model, &Sparsity::new(k))?.support;
    let run = |model: &Precision| -> Outcome<(f64, f64)> {
        let mut x = vec![0.0; support.len()];
        let (found, seconds) = timed(|| minimise(&mut *model.restrict(&support)?, &mut x, &InnerOptions::EXACT));
        Ok((found?.value, seconds))
    };
    let (newton, fast) = run(&model)?;
    let (adm, slow) = run(&model.clone().with_method(Method::Adm))?;
    Ok(json!({"what": "minimisers", "p": p, "k": k, "newton": fast, "adm": slow, "apart": (newton - adm).abs()}))
}

/// One fit, by GraHTP as published and in units of curvature, beside the graphical lasso with about as many edges; the
/// best of three each.
fn fit(dir: &Path, python: Option<&Path>) -> Outcome<Value> {
    let (p, k) = (200, 200);
    let (model, samples) = model(400, p)?;
    let best = |solver: &dyn Solver| -> Outcome<(f64, f64)> {
        let (mut value, mut seconds) = (f64::NAN, f64::INFINITY);
        for _ in 0..3 {
            let (solution, used) = timed(|| solver.fit(&model, &Sparsity::new(k)));
            (value, seconds) = (solution?.value, seconds.min(used));
        }
        Ok((value, seconds))
    };
    let (plain, own) = best(&Grahtp::default())?;
    let (lower, scaled) = best(&*solver())?;
    let peer = peer(&samples, dir, python, "fit", k)?;
    Ok(json!({
        "what": "fit", "p": p, "k": k, "own": own, "value": plain, "scaled": scaled, "scaled_value": lower,
        "peer": peer,
    }))
}

/// Twenty points beside twenty penalties, on the papers' simulation.
fn path(p: usize, dir: &Path, python: Option<&Path>) -> Outcome<Value> {
    let (model, samples) = model(100, p)?;
    let most = (p * (p - 1) / 8).min(5 * p);
    let ks = (1..=20).map(|i| (i * most).div_ceil(20));
    let (solved, own) = timed(|| Ks { sweeps: 0, ..Ks::over(ks) }.fit(&model, &*solver()));
    solved?;
    let peer = peer(&samples, dir, python, "path", most)?;
    Ok(json!({"what": "path", "p": p, "k": most, "own": own, "peer": peer}))
}

/// p = 1000, k = 2000 on two threads.
fn large() -> Outcome<Value> {
    let (p, k) = (1000, 2000);
    let (model, samples) = model(1000, p)?;
    drop(samples);
    let (clock, used) = (Instant::now(), cpu_seconds());
    let solution = solver().fit(&model, &Sparsity::new(k))?;
    let (wall, cpu) = (clock.elapsed().as_secs_f64(), cpu_seconds() - used);
    let edges = model.network(&solution).edges().len();
    let status = solution.status.to_string();
    Ok(json!({
        "what": "large", "p": p, "k": k, "edges": edges, "status": status, "wall": wall, "cpu": cpu,
        "peak": resident("VmHWM")?,
    }))
}

/// What scikit-learn says and takes; `null` without it.
fn peer(samples: &Dense, dir: &Path, python: Option<&Path>, task: &str, k: usize) -> Outcome<Value> {
    use ksparse::design::Design;
    let Some(python) = python else { return Ok(Value::Null) };
    let file = dir.join("samples.txt");
    let mut text = String::new();
    for i in 0..samples.nrows() {
        for j in 0..samples.ncols() {
            write!(text, "{:e} ", samples.column(j)[i])?;
        }
        text.push('\n');
    }
    std::fs::write(&file, text)?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/graphical_lasso.py");
    let arguments = [script, &file.to_string_lossy(), task, &k.to_string()];
    let ended = child::run(python, &arguments, "", Duration::from_secs(300))?;
    std::fs::remove_file(&file)?;
    Ok(match ended {
        Ended::Printed(out) => serde_json::from_str(&out)?,
        Ended::TimeOut => json!({"failed": "time-out"}),
        Ended::Failed(why) => json!({"failed": why}),
    })
}

/// What the figures are held to.
pub fn goals(found: &Value) -> Vec<Goal> {
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    let goal = |row: &Value| {
        let (p, k) = (&row["p"], &row["k"]);
        let (own, peer) = (number(row, "own"), number(&row["peer"], "seconds"));
        Some(match row["what"].as_str()? {
            "minimisers" => {
                let (ratio, apart) = (number(row, "adm") / number(row, "newton"), number(row, "apart"));
                Goal {
                    asked: format!(
                        "network, p={p}, k={k}, one support: 5 times as fast as ADM, the same minimum (1e-7)"
                    ),
                    found: format!("{ratio:.1} times, {apart:.1e} apart"),
                    met: ratio >= 5.0 && apart <= 1e-7,
                }
            }
            "fit" => Goal {
                asked: format!("network, p={p}, k={k}: faster than scikit-learn's GraphicalLasso with as many edges"),
                found: format!(
                    "{own:.3} s (in units of curvature {:.3} s), {peer:.3} s for {} edges (CPU)",
                    number(row, "scaled"),
                    row["peer"]["edges"]
                ),
                met: own < peer,
            },
            "path" => Goal {
                asked: format!("network, p={p}: 20 points up to k={k} faster than 20 penalties of scikit-learn"),
                found: format!("{own:.3} s, {peer:.3} s (CPU)"),
                met: own < peer,
            },
            _ => {
                let peak = number(row, "peak") / 1e9;
                Goal {
                    asked: format!("network, p={p}, k={k} on two threads: solved below 1 GB"),
                    found: format!(
                        "{}, {:.1} s wall, {:.1} s CPU, peak {peak:.2} GB",
                        row["status"],
                        number(row, "wall"),
                        number(row, "cpu")
                    ),
                    met: row["edges"] == row["k"] && peak < 1.0,
                }
            }
        })
    };
    let compared = |row: &&Value| !row["peer"].is_null() || row.get("peer").is_none();
    found.as_array().into_iter().flatten().filter(compared).filter_map(goal).collect()
}
