//! Networks: precision matrices with at most k edges, and the rule that tells classes apart by one.

use crate::args::Args;
use crate::matrix::Matrix;
use crate::search::Search;
use crate::supervise::{Watch, print, supervise};
use crate::value::Value;
use faer::Mat;
use ksparse::graphical::{
    self, Classes, Covariance, Network, Precision, Rule, Stability, Tuned, Units, cross_validate, cross_validate_within,
};
use ksparse::path::PathProgress;
use ksparse::select::Folds;
use ksparse::{Path, Sparsity, Status};
use savvy::{ListSexp, savvy};

fn units(standardize: bool) -> Units {
    if standardize { Units::Standardized } else { Units::Original }
}

fn path(search: &Search, pairs: usize) -> Path {
    let ks: Vec<usize> = search.ks.clone().unwrap_or_default().iter().map(|&k| k.min(pairs)).collect();
    search.grid(ks, vec![0.0]).path
}

/// Networks for every k, and which of them a criterion or cross-validation takes.
#[savvy]
fn core_graph(samples: ListSexp, search: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (args, (search, manner)) = (Args::new(samples), Search::new(search)?);
    let (matrix, solver) = (Matrix::named(&args, "x")?, search.solver()?);
    let (view, units) = (matrix.view(), units(args.flag("standardize")?));
    let (folds, criterion) = (args.maybe_counts("foldid")?, args.word("criterion")?);
    let (count, resamples) = (args.maybe_number("nfolds")?.map(|n| n as usize), args.count("resamples")?);
    let work = |watch: &Watch<String>| {
        let design = view.design()?;
        let model = Precision::new(Covariance::from_samples(&design, units)?)?;
        let path = path(&search, model.pairs());
        let mut report = |at: &PathProgress| watch.tell(&at.solver, || format!("{} edges: ", at.k));
        let solved = path.solve(&model, &*solver, &mut report)?;
        let networks: Vec<Network> = solved.solutions.iter().map(|solution| model.network(solution)).collect();
        let folds = match (folds, count) {
            (Some(of_row), _) => Some(Folds::given(of_row)?),
            (None, Some(count)) => Some(Folds::seeded(design.nrows(), count, search.seed)?),
            (None, None) => None,
        };
        let tuned = match &folds {
            Some(folds) => {
                let family = graphical::by_edges(path, &*solver);
                Some(cross_validate(&design, units, folds, &family)?)
            }
            None if networks.len() > 1 => {
                let gamma = if criterion == "bic" { 0.0 } else { 0.5 };
                Some(graphical::ebic(&networks, model.covariance(), gamma)?)
            }
            None => None,
        };
        let index = tuned.as_ref().map_or(networks.len() - 1, |tuned| tuned.index);
        let k = solved.ks[index];
        let stability = Stability { resamples, seed: search.seed, ..Stability::default() };
        let fit = |s: &Covariance| {
            let model = Precision::new(s.clone())?;
            let solution = solver.solve(&model, &Sparsity::new(k), None, &mut |_| watch.go_on())?;
            Ok((solution.status != Status::Stopped).then(|| model.network(&solution)))
        };
        let stop = || watch.go_on().is_break();
        let frequencies = match resamples {
            0 => None,
            _ => Some(stability.frequencies_until(&design, units, &fit, &stop)?.0),
        };
        let values = solved.solutions.iter().map(|solution| solution.value).collect();
        let statuses = solved.solutions.iter().map(|solution| solution.status.to_string()).collect();
        Ok((model.covariance().clone(), networks, solved.ks, index, tuned, frequencies, values, statuses))
    };
    let (covariance, networks, ks, index, tuned, frequencies, values, statuses) =
        supervise(&manner, &search.cancel, work, print)?;
    Value::Record(vec![
        ("k", Value::Counts(ks)),
        ("index", Value::indices(&[index])),
        ("objective", Value::Reals(values)),
        ("message", Value::Words(statuses)),
        ("networks", Value::List(networks.iter().map(|network| described(network, &covariance)).collect())),
        ("scores", Value::maybe(tuned.as_ref(), |tuned| Value::Reals(tuned.scores.clone()))),
        ("errors", Value::maybe(tuned.and_then(errors), Value::Reals)),
        ("frequencies", Value::maybe(frequencies, |found| square(&found))),
        ("means", Value::Reals(covariance.mean().to_vec())),
    ])
    .into_sexp()
}

fn errors(tuned: Tuned) -> Option<Vec<f64>> {
    tuned.standard_errors
}

fn square(matrix: &Mat<f64>) -> Value {
    let values = (0..matrix.ncols()).flat_map(|j| (0..matrix.nrows()).map(move |i| matrix[(i, j)])).collect();
    Value::Matrix { rows: matrix.nrows(), values }
}

/// A network in the units of the samples.
fn described(network: &Network, covariance: &Covariance) -> Value {
    let (o, scale, p) = (network.precision(), covariance.scale(), covariance.variables());
    let inner = Mat::from_fn(p, p, |i, j| o[(i, j)] / (scale[i] * scale[j]));
    let nodes = |of: &dyn Fn((usize, usize)) -> usize| network.edges().iter().map(|edge| of(edge.nodes)).collect();
    let (from, to): (Vec<usize>, Vec<usize>) = (nodes(&|pair| pair.0), nodes(&|pair| pair.1));
    Value::Record(vec![
        ("precision", square(&inner)),
        ("from", Value::indices(&from)),
        ("to", Value::indices(&to)),
        ("partial", Value::Reals(network.edges().iter().map(|edge| edge.partial_correlation).collect())),
    ])
}

/// Means, a shared precision matrix of k edges, and the rule they make; of several k the likeliest held out.
#[savvy]
fn core_lda(samples: ListSexp, search: ListSexp) -> savvy::Result<savvy::Sexp> {
    let (args, (search, manner)) = (Args::new(samples), Search::new(search)?);
    let (matrix, solver) = (Matrix::named(&args, "x")?, search.solver()?);
    let (view, labels) = (matrix.view(), args.reals("labels")?);
    let (labels, folds) = (labels.as_slice(), args.maybe_counts("foldid")?);
    let count = args.count("nfolds")?;
    let work = |_: &Watch<String>| {
        let design = view.design()?;
        let classes = Classes::of(&design, labels)?;
        let model = Precision::new(classes.covariance(&design, Units::Standardized)?)?;
        let path = path(&search, model.pairs());
        let ks = path.ks.clone();
        let family = graphical::by_edges(path, &*solver);
        let tuned = match (ks.len(), folds) {
            (0 | 1, _) => None,
            (_, Some(of_row)) => Some(Folds::given(of_row)?),
            (_, None) => Some(Folds::stratified(labels, count, search.seed)?),
        };
        let tuned: Option<Tuned> = tuned
            .map(|folds| cross_validate_within(&design, labels, Units::Standardized, &folds, &family))
            .transpose()?;
        let index = tuned.as_ref().map_or(0, |tuned| tuned.index);
        let networks: Vec<Network> = family(model.covariance())?;
        let rule = classes.rule(&networks[index], model.covariance());
        let network = networks.into_iter().nth(index);
        Ok::<_, ksparse::Error>((ks, index, rule, network, model.covariance().clone(), tuned))
    };
    let (ks, index, rule, network, covariance, tuned) = supervise(&manner, &search.cancel, work, print)?;
    let Rule { labels, directions, offsets } = rule;
    Value::Record(vec![
        ("k", Value::Counts(ks)),
        ("index", Value::indices(&[index])),
        ("labels", Value::Reals(labels)),
        ("directions", Value::Matrix { rows: directions[0].len(), values: directions.concat() }),
        ("offsets", Value::Reals(offsets)),
        ("network", Value::maybe(network, |network| described(&network, &covariance))),
        ("scores", Value::maybe(tuned, |tuned| Value::Reals(tuned.scores))),
    ])
    .into_sexp()
}
