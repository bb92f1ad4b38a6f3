//! A function of R as an objective. R is called on its own thread alone: the solver asks, R's thread evaluates and
//! answers. An error there ends the search and is R's again, as it was raised.

use crate::args::Args;
use crate::search::Search;
use crate::supervise::{Watch, print, supervise};
use crate::value::Value;
use ksparse::objective::Custom;
use ksparse::{Error, Path, Progress, Solution};
use savvy::{FunctionArgs, FunctionSexp, ListSexp, OwnedRealSexp, RealSexp, Sexp, savvy, savvy_err};
use std::sync::mpsc::{self, SyncSender};

/// What the search asks of R.
enum Request {
    Line(String),
    /// The value and the gradient at a point.
    Evaluate {
        x: Vec<f64>,
        answer: SyncSender<(f64, Vec<f64>)>,
    },
}

impl From<String> for Request {
    fn from(line: String) -> Self {
        Self::Line(line)
    }
}

/// Minimises a function with at most k non-zero coordinates beside those kept, for every k of the search.
#[savvy]
fn core_minimize(function: ListSexp, search: ListSexp) -> savvy::Result<Sexp> {
    let (args, (search, manner)) = (Args::new(function), Search::new(search)?);
    let (solver, dim, both) = (search.solver()?, args.count("dim")?, args.function("both")?);
    let start = args.maybe_reals("start")?.map(|start| start.to_vec());
    let work = |watch: &Watch<Request>| {
        let objective = Custom::fallible(dim, |x, gradient| {
            let (answer, answered) = mpsc::sync_channel(1);
            watch.ask(Request::Evaluate { x: x.to_vec(), answer });
            let (value, slope) = answered.recv().map_err(|_| Error::Cancelled)?;
            gradient.copy_from_slice(&slope);
            Ok(value)
        });
        let ks = search.ks.clone().unwrap_or_default();
        let mut report = |at: &Progress| watch.tell(at, String::new);
        if let [k] = ks[..] {
            let start = start.map(|x| {
                let support: Vec<usize> = (0..dim).filter(|&j| x[j] != 0.0).collect();
                Solution::guess(support.clone(), support.iter().map(|&j| x[j]).collect())
            });
            return Ok(vec![(k, solver.solve(&objective, &search.sparsity(k), start.as_ref(), &mut report)?)]);
        }
        let path: Path = search.grid(ks, vec![0.0]).path;
        let solved = path.solve(&objective, &*solver, &mut |at| report(&at.solver))?;
        Ok(solved.ks.into_iter().zip(solved.solutions).collect())
    };
    let serve = |request: Request| match request {
        Request::Line(line) => print(line),
        Request::Evaluate { x, answer } => {
            let evaluated = evaluate(&both, x, dim)?;
            // The solver waits for this; should it have gone, nobody minds.
            let _ = answer.send(evaluated);
            Ok(())
        }
    };
    let found: Vec<(usize, Solution)> = supervise(&manner, &search.cancel, work, serve)?;
    Value::List(found.into_iter().map(|(k, solution)| described(k, &solution)).collect()).into_sexp()
}

fn evaluate(both: &FunctionSexp, x: Vec<f64>, dim: usize) -> savvy::Result<(f64, Vec<f64>)> {
    let x = OwnedRealSexp::try_from_slice(x)?;
    let mut args = FunctionArgs::new();
    args.add("x", x)?;
    let returned = both.call(args)?;
    let pair = RealSexp::try_from(Sexp(returned.inner()))?;
    match pair.as_slice() {
        [value, gradient @ ..] if gradient.len() == dim => Ok((*value, gradient.to_vec())),
        other => Err(savvy_err!("the gradient has length {}, expected {dim}", other.len().saturating_sub(1))),
    }
}

fn described(k: usize, solution: &Solution) -> Value {
    Value::Record(vec![
        ("k", Value::Counts(vec![k])),
        ("support", Value::indices(&solution.support)),
        ("coef", Value::Reals(solution.coefficients.clone())),
        ("objective", Value::Real(solution.value)),
        ("iterations", Value::Counts(vec![solution.iterations])),
        ("status", Value::Word(solution.status.code().to_string())),
        ("message", Value::Word(solution.status.to_string())),
        ("remedy", Value::Word(solution.status.remedy().map_or("", |remedy| remedy.code()).to_string())),
    ])
}
