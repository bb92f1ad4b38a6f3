//! Fits to survival times, classes, ordered or not, and several responses.

use crate::args::Args;
use crate::choose::{self, Comparison, Refit};
use crate::error::to_r;
use crate::evidence;
use crate::matrix::{Matrix, View};
use crate::outcome::{self, Fitted};
use crate::search::Search;
use crate::supervise::{Watch, print, supervise};
use crate::value::Value;
use ksparse::design::Design;
use ksparse::loss::{JOINT_RIDGE, Survival, Ties};
use ksparse::path::PathProgress;
use ksparse::select::{CvProgress, JointProblem, JointTraining, Observed};
use ksparse::{Path, Result, Solution, Sparsity};
use savvy::{ListSexp, RealSexp, savvy};

/// Read from a list with these names; which of them counts is a matter of `kind`.
struct JointData {
    matrix: Matrix,
    /// "cox", "multinomial", "ordinal" or "responses".
    kind: String,
    weights: Option<RealSexp>,
    time: Option<RealSexp>,
    event: Vec<bool>,
    entry: Option<RealSexp>,
    strata: Option<Vec<usize>>,
    ties: Ties,
    /// How many outputs there are, the class of each row, the responses one after the other.
    count: usize,
    classes: Vec<usize>,
    responses: Option<RealSexp>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<RealSexp>,
}

impl JointData {
    fn new(list: ListSexp) -> savvy::Result<Self> {
        let args = Args::new(list);
        Ok(Self {
            matrix: Matrix::named(&args, "x")?,
            kind: args.word("kind")?,
            weights: args.maybe_reals("weights")?,
            time: args.maybe_reals("time")?,
            event: args.counts("event")?.into_iter().map(|event| event == 1).collect(),
            entry: args.maybe_reals("entry")?,
            strata: args.maybe_counts("strata")?,
            ties: args.word("ties")?.parse().map_err(to_r)?,
            count: args.count("count")?,
            classes: args.counts("classes")?,
            responses: args.maybe_reals("responses")?,
            intercept: args.flag("intercept")?,
            standardize: args.flag("standardize")?,
            penalty_factors: args.maybe_reals("penalty_factors")?,
        })
    }

    /// The same without R.
    fn view(&self) -> JointView<'_> {
        let observed = match (self.kind.as_str(), &self.time) {
            ("cox", Some(time)) => Observed::Survival(Survival {
                entry: self.entry.as_ref().map(RealSexp::as_slice),
                strata: self.strata.as_deref(),
                ties: self.ties,
                ..Survival::new(time.as_slice(), &self.event)
            }),
            ("ordinal", _) => Observed::Ordered { of: &self.classes, count: self.count },
            ("multinomial", _) => Observed::Classes { of: &self.classes, count: self.count },
            _ => Observed::Responses {
                values: self.responses.as_ref().map(RealSexp::as_slice).unwrap_or_default(),
                count: self.count,
            },
        };
        let weights = self.weights.as_ref().map(RealSexp::as_slice);
        let (intercept, standardize) = (self.intercept, self.standardize);
        let penalty_factors = self.penalty_factors.as_ref().map(RealSexp::as_slice);
        JointView { matrix: self.matrix.view(), observed, weights, intercept, standardize, penalty_factors }
    }
}

struct JointView<'a> {
    matrix: View<'a>,
    observed: Observed<'a>,
    weights: Option<&'a [f64]>,
    intercept: bool,
    standardize: bool,
    penalty_factors: Option<&'a [f64]>,
}

impl JointView<'_> {
    fn over<'a>(&'a self, design: &'a dyn Design, search: &'a Search) -> JointProblem<'a> {
        JointProblem {
            weights: self.weights,
            intercept: self.intercept,
            standardize: self.standardize,
            penalty_factors: self.penalty_factors,
            groups: search.groups.as_deref(),
            bounds: search.bounds.as_ref(),
            ..JointProblem::new(design, self.observed)
        }
    }
}

/// Models of k columns for every k of the search, one per output.
#[savvy]
fn core_fit_joint(data: ListSexp, search: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (data, (search, manner)) = (JointData::new(data)?, Search::new(search)?);
    let (view, solver) = (data.view(), search.solver()?);
    let lambda = search.lambda.unwrap_or(JOINT_RIDGE);
    let work = |watch: &Watch<String>| {
        let design = view.matrix.design()?;
        let problem = view.over(&*design, &search);
        let training = problem.on_all_rows()?;
        let objective = training.objective(lambda)?;
        let nothing = solver.solve(&*objective, &problem.sparsity(0, &[]), None, &mut |_| watch.go_on())?;
        let null = ksparse::Objective::value(&training.risk, nothing.as_sparse())?;
        let fitted = match search.ks.as_deref().unwrap_or_default() {
            &[k] => {
                let mut report = |at: &ksparse::Progress| watch.tell(at, || format!("k = {k}: "));
                let solution = solver.solve(&*objective, &problem.sparsity(k, &search.keep), None, &mut report)?;
                vec![described(&problem, &training, k, lambda, solution)?]
            }
            ks => {
                let Sparsity { keep, groups, .. } = problem.sparsity(0, &search.keep);
                let path = Path { keep, groups, ..search.grid(ks.to_vec(), vec![lambda]).path };
                let mut report = |at: &PathProgress| watch.tell(&at.solver, || format!("k = {}: ", at.k));
                let solved = path.solve(&*objective, &*solver, &mut report)?;
                let cells = solved.ks.into_iter().zip(solved.solutions);
                cells.map(|(k, solution)| described(&problem, &training, k, lambda, solution)).collect::<Result<_>>()?
            }
        };
        Ok((fitted, null))
    };
    let (fitted, null_loss) = supervise(&manner, &search.cancel, work, print)?;
    Value::Record(vec![("models", outcome::table(fitted, lambda, null_loss))]).into_sexp()
}

fn described(
    problem: &JointProblem,
    training: &JointTraining,
    k: usize,
    lambda: f64,
    solution: Solution,
) -> Result<Fitted> {
    let models = training.models(&solution);
    let held = training.held_back(lambda, &solution)?.unwrap_or_default();
    let (baselines, thresholds) = (problem.baselines(&models[0])?, problem.thresholds(&models[0])?);
    Ok(Fitted { held, baselines, thresholds, ..Fitted::new(k, solution, models, &training.risk)? })
}

/// Chooses k and the ridges by the folds, and fits what each rule takes to all rows.
#[savvy]
fn core_choose_joint(data: ListSexp, search: ListSexp, comparison: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (data, (search, manner)) = (JointData::new(data)?, Search::new(search)?);
    let (view, solver, comparison) = (data.view(), search.solver()?, Comparison::new(comparison)?);
    let work = |watch: &Watch<String>| {
        let design = view.matrix.design()?;
        let problem = view.over(&*design, &search);
        let folds = comparison.folds(|deal| problem.folds(deal, search.seed))?;
        let mut report = |at: &CvProgress| choose::report(watch, at);
        let choose = comparison.choose(&search);
        let chosen = choose.solve_joint(&problem, &folds.splits(), None, &*solver, &mut report)?;
        let (training, predictor) = (problem.on_all_rows()?, &chosen.predictors[0]);
        let winners = choose::winners(&chosen.table, comparison.rule, |cell| {
            let same = (cell.k, cell.lambda, cell.refit) == (chosen.k, chosen.lambda, chosen.refit);
            let solution = match same {
                true => predictor.solution.clone(),
                false => {
                    let columns = |solution: &Solution| training.models(solution).swap_remove(0).support;
                    let sparsity = |k: usize, keep: &[usize]| problem.sparsity(k, keep);
                    let of = Refit {
                        objective: &|lambda| training.objective(lambda),
                        columns: &columns,
                        sparsity: &sparsity,
                    };
                    of.refitted(cell, &search.keep, &*solver, watch)?
                }
            };
            described(&problem, &training, cell.k, cell.refit, solution)
        })?;
        let objective = training.objective(chosen.refit)?;
        let nothing = solver.solve(&*objective, &problem.sparsity(0, &[]), None, &mut |_| watch.go_on())?;
        let null = ksparse::Objective::value(&training.risk, nothing.as_sparse())?;
        let more = evidence::of_choice(predictor, &chosen.edges, |solution| training.models(solution));
        Ok((chosen.table.clone(), winners, folds, null, more))
    };
    let (table, winners, folds, null_loss, more) = supervise(&manner, &search.cancel, work, print)?;
    choose::described(&table, winners, &folds, null_loss, more).into_sexp()
}
