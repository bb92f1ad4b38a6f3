//! Fits to a number per row, and how far they can be from the best model of their size.

use crate::args::Args;
use crate::outcome::{self, Fitted};
use crate::problem::Data;
use crate::search::Search;
use crate::supervise::{Watch, print, supervise};
use crate::value::Value;
use ksparse::certificate::{Certificate, CertifyOptions, certify};
use ksparse::path::PathProgress;
use ksparse::select::{Criterion, Training, ranges};
use ksparse::{LinearModel, Result, Risk, Solution, Solver, Sparsity};
use savvy::{ListSexp, savvy};

/// For k from the data: beyond this the price of a coefficient has long settled the matter.
const MOST_PRICED: usize = 64;

/// A model for every k of the search: one alone as the command's `fit` finds it, several as its `path` does.
#[savvy]
fn core_fit(data: ListSexp, search: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (data, (search, manner)) = (Data::new(data)?, Search::new(search)?);
    let (view, solver) = (data.view()?, search.solver()?);
    let lambda = search.lambda.unwrap_or(view.ridge);
    let work = |watch: &Watch<String>| {
        let design = view.matrix.design()?;
        let problem = view.rest.over(&*design, &search);
        let training = problem.on_all_rows()?;
        let risk = training.risk.reridged(lambda)?;
        let nothing = solver.solve(&risk, &Sparsity::new(0), None, &mut |_| watch.go_on())?;
        let from_data = || -> Result<Vec<usize>> {
            let most = ranges::largest_k(&risk, problem.units(&search.keep)).min(MOST_PRICED);
            Ok(ranges::ks_from(training.least_k(&search.sparsity(0))?, most))
        };
        let ks = search.ks.clone().map_or_else(from_data, Ok)?;
        let fitted = match ks[..] {
            [k] => vec![one(&training, k, lambda, &search, &*solver, watch)?],
            _ => path(&training, ks, lambda, &search, &*solver, watch)?,
        };
        let criteria = criteria(&risk, &fitted);
        Ok((fitted, training.risk.value(nothing.as_sparse()), criteria))
    };
    let (fitted, null_loss, criteria) = supervise(&manner, &search.cancel, work, print)?;
    Value::Record(vec![("models", outcome::table(fitted, lambda, null_loss)), ("criteria", criteria)]).into_sexp()
}

/// Every k from its neighbours.
fn path(
    training: &Training,
    ks: Vec<usize>,
    lambda: f64,
    search: &Search,
    solver: &dyn Solver,
    watch: &Watch<String>,
) -> Result<Vec<Fitted>> {
    let mut report = |at: &PathProgress| watch.tell(&at.solver, || format!("k = {}: ", at.k));
    let grid = search.grid(ks, vec![lambda]);
    let solved = grid.solve_under(&|lambda| training.objective(lambda), solver, &mut report)?;
    let cells = solved.paths.into_iter().flat_map(|path| path.ks.into_iter().zip(path.solutions));
    cells.map(|(k, solution)| fitted(training, k, lambda, solution)).collect()
}

/// One k.
fn one(
    training: &Training,
    k: usize,
    lambda: f64,
    search: &Search,
    solver: &dyn Solver,
    watch: &Watch<String>,
) -> Result<Fitted> {
    let mut report = |at: &ksparse::Progress| watch.tell(at, || format!("k = {k}: "));
    let solution = training.solve(lambda, solver, &search.sparsity(k), None, &mut report)?;
    fitted(training, k, lambda, solution)
}

/// A solution under a ridge as a model, with the columns that a bound holds back.
pub fn fitted(training: &Training, k: usize, lambda: f64, solution: Solution) -> Result<Fitted> {
    let (models, held) = (vec![training.model(&solution)], training.held_back(lambda, &solution)?.unwrap_or_default());
    Ok(Fitted { held, ..Fitted::new(k, solution, models, &training.risk)? })
}

/// What information criteria say, a column each; nothing where the loss is no likelihood.
fn criteria(risk: &Risk, fitted: &[Fitted]) -> Value {
    let score = |name: &str| -> Result<Vec<f64>> {
        let criterion = Criterion::by_name(name)?;
        fitted.iter().map(|one| criterion.score(risk, &one.solution)).collect()
    };
    let columns: Result<Vec<Vec<f64>>> = Criterion::NAMES.iter().map(|name| score(name)).collect();
    match columns {
        Ok(columns) => {
            let names = Criterion::NAMES.iter().map(|name| name.to_string()).collect();
            let scores = Value::Matrix { rows: fitted.len(), values: columns.concat() };
            Value::Record(vec![("names", Value::Words(names)), ("scores", scores)])
        }
        Err(_) => Value::Null,
    }
}

/// The certificate of a model of these data: support, coefficients and intercept in the units of the columns.
#[savvy]
fn core_certify(data: ListSexp, search: ListSexp, model: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (data, (search, manner), model) = (Data::new(data)?, Search::new(search)?, Args::new(model));
    let view = data.view()?;
    let (k, lambda) = (model.count("k")?, search.lambda.unwrap_or(view.ridge));
    let (tolerance, max_epochs) = (model.number("tolerance")?, model.count("max_epochs")?);
    let found = LinearModel {
        support: model.counts("support")?,
        coefficients: model.reals("coef")?.to_vec(),
        intercept: model.number("intercept")?,
    };
    let options = CertifyOptions {
        tolerance,
        max_epochs,
        time_limit: search.time_limit(),
        cancel: search.cancel.clone(),
        ..CertifyOptions::default()
    };
    let work = |watch: &Watch<String>| {
        let design = view.matrix.design()?;
        let training = view.rest.over(&*design, &search).on_all_rows()?;
        let risk = training.risk.reridged(lambda)?;
        certify(&risk, &search.sparsity(k), &training.start(&found), &options, &mut |_| watch.go_on())
    };
    described(supervise(&manner, &search.cancel, work, print)?).into_sexp()
}

fn described(found: Certificate) -> Value {
    let column = |of: fn(&ksparse::certificate::Epoch) -> f64| Value::Reals(found.history.iter().map(of).collect());
    let history = vec![
        ("seconds", column(|row| row.seconds)),
        ("objective", column(|row| row.primal)),
        ("lower_bound", column(|row| row.dual)),
    ];
    Value::Record(vec![
        ("objective", Value::Real(found.value)),
        ("lower_bound", Value::Real(found.lower_bound)),
        ("gap", Value::Real(found.gap)),
        ("relative_gap", Value::Real(found.relative_gap)),
        ("certified", Value::Flag(found.certified)),
        ("seconds", Value::Real(found.seconds)),
        ("message", Value::Word(found.verdict())),
        ("history", Value::Record(history)),
    ])
}
