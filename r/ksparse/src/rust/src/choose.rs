//! The choice of a whole model by cross-validation: k and two ridges.

use crate::args::Args;
use crate::error::to_r;
use crate::evidence;
use crate::fit::fitted;
use crate::outcome::{self, Fitted};
use crate::problem::Data;
use crate::search::Search;
use crate::supervise::{Watch, print, supervise};
use crate::value::Value;
use ksparse::select::{Choose, CvCell, CvProgress, CvTable, Deal, Folds, Metric, Problem, Refits, Rule, Training};
use ksparse::{Objective, Result, Solution, Solver, Sparsity};
use savvy::{ListSexp, savvy};
use std::ops::ControlFlow;

/// What to compare, read from a list with these names; what is missing is from the data.
pub struct Comparison {
    pub ks: Option<Vec<usize>>,
    pub lambdas: Option<Vec<f64>>,
    refits: Option<Vec<f64>>,
    count: Option<usize>,
    /// Of every row the fold that holds it out, counted from 0.
    given: Option<Vec<usize>>,
    pub metric: Option<Metric>,
    pub rule: Rule,
    resamples: usize,
    rows: usize,
}

impl Comparison {
    pub fn new(list: ListSexp) -> savvy::Result<Self> {
        let args = Args::new(list);
        let numbers = |name: &str| Ok::<_, savvy::Error>(args.maybe_reals(name)?.map(|numbers| numbers.to_vec()));
        Ok(Self {
            ks: args.maybe_counts("k")?,
            lambdas: numbers("lambda")?,
            refits: numbers("refit")?,
            count: args.maybe_number("nfolds")?.map(|count| count as usize),
            given: args.maybe_counts("foldid")?,
            metric: args.maybe_word("metric")?.map(|name| Metric::by_name(&name)).transpose().map_err(to_r)?,
            rule: Rule::by_name(&args.word("rule")?).map_err(to_r)?,
            resamples: args.count("resamples")?,
            rows: args.count("rows")?,
        })
    }

    /// The folds that are given, a column for each time they were dealt, or as many as are asked for, dealt as the
    /// command deals them.
    pub fn folds(&self, deal: impl FnOnce(Deal) -> Result<Folds>) -> Result<Folds> {
        match &self.given {
            Some(given) => {
                let deals = given.chunks(self.rows.max(1)).map(|of_row| Folds::given(of_row.to_vec()));
                Folds::repeated(deals.collect::<Result<_>>()?)
            }
            None => deal(self.count.map_or(Deal::of(self.rows), Deal::from)),
        }
    }

    pub fn choose(&self, search: &Search) -> Choose {
        let refits = match (&self.lambdas, &self.refits) {
            (_, Some(given)) => Refits::Given(given.clone()),
            (Some(_), None) => Refits::Same,
            (None, None) => Refits::FromData,
        };
        Choose {
            ks: self.ks.clone(),
            lambdas: self.lambdas.clone(),
            refits,
            keep: search.keep.clone(),
            metric: self.metric,
            rule: self.rule,
            thorough: search.solver != "auto" || self.lambdas.is_some(),
            resamples: self.resamples,
            time_limit: search.time_limit(),
            cancel: search.cancel.clone(),
        }
    }
}

/// A line about where a cross-validation is.
pub fn report(watch: &Watch<String>, at: &CvProgress) -> ControlFlow<()> {
    let fold = at.fold.map_or("all rows".to_string(), |fold| format!("fold {}", fold + 1));
    watch.tell(&at.path.solver, || format!("{fold}, k = {}: ", at.path.k))
}

/// What the best mean, the lean rule and that of one standard error take, each fitted to all rows.
pub struct Winners {
    rule: Rule,
    of: Vec<(Rule, CvCell, Fitted)>,
}

pub fn winners(table: &CvTable, rule: Rule, mut fit: impl FnMut(&CvCell) -> Result<Fitted>) -> Result<Winners> {
    let mut of = Vec::new();
    for name in Rule::NAMES {
        let rule = Rule::by_name(name)?;
        let cell = table.winner(rule);
        of.push((rule, cell.clone(), fit(cell)?));
    }
    Ok(Winners { rule, of })
}

/// Everything about a choice, `more` being what only some know.
pub fn described(
    table: &CvTable,
    winners: Winners,
    folds: &Folds,
    null_loss: f64,
    more: Vec<(&'static str, Value)>,
) -> Value {
    let cells = table.cells();
    let column = |of: &dyn Fn(&CvCell) -> f64| Value::Reals(cells.iter().map(of).collect());
    let scores = cells.iter().flat_map(|cell| cell.scores.clone()).collect();
    let rules = winners.of.iter().map(|(rule, ..)| rule.name().to_string()).collect();
    let chosen = winners.of.iter().position(|(rule, ..)| *rule == winners.rule).unwrap_or(0);
    let models = winners.of.into_iter().map(|(_, cell, fitted)| {
        let model = outcome::table(vec![fitted], cell.refit, null_loss);
        Value::Record(vec![("k", Value::Counts(vec![cell.k])), ("lambda", Value::Real(cell.lambda)), ("model", model)])
    });
    let mut fields = vec![
        ("metric", Value::Word(table.metric().name().to_string())),
        ("gain", Value::Flag(table.metric().is_gain())),
        ("k", Value::Counts(cells.iter().map(|cell| cell.k).collect())),
        ("lambda", column(&|cell| cell.lambda)),
        ("refit", column(&|cell| cell.refit)),
        ("mean", column(&|cell| cell.mean)),
        ("error", column(&|cell| cell.standard_error)),
        ("scores", Value::Matrix { rows: table.folds().len(), values: scores }),
        ("folds", Value::indices(&folds.deals().concat())),
        ("rules", Value::Words(rules)),
        ("chosen", Value::indices(&[chosen])),
        ("models", Value::List(models.collect())),
    ];
    fields.extend(more);
    Value::Record(fields)
}

/// Chooses k and the ridges by the folds, and fits what each rule takes to all rows.
#[savvy]
fn core_choose(data: ListSexp, search: ListSexp, comparison: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (data, (search, manner)) = (Data::new(data)?, Search::new(search)?);
    let (view, solver, comparison) = (data.view()?, search.solver()?, Comparison::new(comparison)?);
    let ridge = search.lambda.unwrap_or(view.ridge);
    let work = |watch: &Watch<String>| {
        let design = view.matrix.design()?;
        let problem = view.rest.over(&*design, &search);
        let folds = comparison.folds(|deal| problem.folds(deal, search.seed))?;
        let training = problem.on_all_rows()?;
        let made = Made::new(&problem, &training, &comparison, &search, &folds, &*solver, watch)?;
        let nothing = solver.solve(&training.risk.reridged(ridge)?, &Sparsity::new(0), None, &mut |_| watch.go_on())?;
        Ok((made, folds, training.risk.value(nothing.as_sparse())))
    };
    let (made, folds, null_loss) = supervise(&manner, &search.cancel, work, print)?;
    described(&made.table, made.winners, &folds, null_loss, made.more).into_sexp()
}

/// A choice, fitted.
struct Made {
    table: CvTable,
    winners: Winners,
    more: Vec<(&'static str, Value)>,
}

impl Made {
    fn new(
        problem: &Problem,
        training: &Training,
        comparison: &Comparison,
        search: &Search,
        folds: &Folds,
        solver: &dyn Solver,
        watch: &Watch<String>,
    ) -> Result<Self> {
        let choose = comparison.choose(search);
        choose.metric.map_or(Ok(()), |metric| metric.check(problem.loss))?;
        let chosen = choose.solve(&[*problem], &folds.splits(), None, solver, &mut |at| report(watch, at))?;
        let predictor = &chosen.predictors[0];
        let winners = winners(&chosen.table, comparison.rule, |cell| {
            let same = (cell.k, cell.lambda, cell.refit) == (chosen.k, chosen.lambda, chosen.refit);
            let solution = match same {
                true => predictor.solution.clone(),
                false => {
                    let columns = |solution: &Solution| training.model(solution).support;
                    let sparsity = |k: usize, keep: &[usize]| problem.sparsity(k, keep);
                    let of = Refit {
                        objective: &|lambda| training.objective(lambda),
                        columns: &columns,
                        sparsity: &sparsity,
                    };
                    of.refitted(cell, &search.keep, solver, watch)?
                }
            };
            fitted(training, cell.k, cell.refit, solution)
        })?;
        let more = evidence::of_choice(predictor, &chosen.edges, |solution| vec![training.model(solution)]);
        Ok(Self { table: chosen.table, winners, more })
    }
}

/// What a cell is solved by on all rows.
pub struct Refit<'a> {
    pub objective: &'a dyn Fn(f64) -> Result<Box<dyn Objective + 'a>>,
    /// The columns of a solution.
    pub columns: &'a dyn Fn(&Solution) -> Vec<usize>,
    /// The constraint for k columns beside some.
    pub sparsity: &'a dyn Fn(usize, &[usize]) -> Sparsity,
}

impl Refit<'_> {
    /// A cell: its columns selected under one ridge, their coefficients fitted under the other.
    pub fn refitted(
        &self,
        cell: &CvCell,
        keep: &[usize],
        solver: &dyn Solver,
        watch: &Watch<String>,
    ) -> Result<Solution> {
        let selecting = (self.objective)(cell.lambda)?;
        let selected = solver.solve(&*selecting, &(self.sparsity)(cell.k, keep), None, &mut |_| watch.go_on())?;
        if cell.refit == cell.lambda {
            return Ok(selected);
        }
        let all_of_them = (self.sparsity)(0, &(self.columns)(&selected));
        solver.solve(&*(self.objective)(cell.refit)?, &all_of_them, Some(&selected), &mut |_| watch.go_on())
    }
}
