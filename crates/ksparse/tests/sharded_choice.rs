//! Cross-validation over shards: fits side by side are told what each would be told alone, in fewer passes.
use ksparse::design::{Dense, Rows};
use ksparse::loss::{self, Loss};
use ksparse::objective::{Asked, Passes, Shard, Summed, SummedOptions, Tree, side_by_side};
use ksparse::select::{FoldedShards, Folds, Metric, Problem, ShardedValidation, scores_of};
use ksparse::simulate::{self, Correlation, Simulated};
use ksparse::solver::WorkingSet;
use ksparse::{Error, LinearModel, Result, Solver, Sparsity};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows in memory, three shards, dealt to folds; one pass may fail.
struct Here<'a> {
    data: &'a Simulated<Dense<'static>>,
    loss: &'a dyn Loss,
    folds: Folds,
    passes: AtomicUsize,
    fails: Option<usize>,
}

impl<'a> Here<'a> {
    fn new(data: &'a Simulated<Dense<'static>>, loss: &'a dyn Loss, count: usize) -> Self {
        let folds = Folds::seeded(data.target.len(), count, 1).unwrap();
        Self { data, loss, folds, passes: AtomicUsize::new(0), fails: None }
    }

    fn rows(&self, s: usize) -> Vec<usize> {
        let n = self.data.target.len();
        (n * s / 3..n * (s + 1) / 3).collect()
    }

    fn weights(&self, s: usize, fold: usize, held: bool) -> Vec<f64> {
        let of_row = &self.folds.deals()[0];
        self.rows(s).iter().map(|&i| f64::from(u8::from((of_row[i] == fold) == held))).collect()
    }

    fn answer(&self, s: usize, asked: &Asked) -> Result<Vec<f64>> {
        let rows = self.rows(s);
        let target = &self.data.target[rows[0]..=rows[rows.len() - 1]];
        let weights = asked.without.map(|fold| self.weights(s, fold, false).into());
        let shard = Shard::new(Box::new(Rows::new(&self.data.design, rows.clone())?), target)?.with_weights(weights)?;
        shard.answer(self.loss, &asked.frame, &asked.question)
    }
}

impl Passes for Here<'_> {
    fn shards(&self) -> usize {
        3
    }

    fn ask(&self, asked: &[Asked]) -> Result<Vec<Vec<f64>>> {
        if Some(self.passes.fetch_add(1, Ordering::Relaxed)) == self.fails {
            return Err(Error::evaluation("part 7 cannot be read"));
        }
        let sum = |asked: &Asked| {
            let mut tree = Tree::default();
            (0..3).try_for_each(|s| tree.add(self.answer(s, asked)?))?;
            Ok(tree.sum())
        };
        asked.iter().map(sum).collect()
    }

    fn each(&self, asked: &Asked) -> Result<Vec<Vec<f64>>> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        (0..3).map(|s| self.answer(s, asked)).collect()
    }
}

impl FoldedShards for Here<'_> {
    fn folds(&self) -> usize {
        self.folds.count()
    }

    fn scores(&self, models: &[Vec<LinearModel>]) -> Result<Vec<Vec<f64>>> {
        let of_fold = |(fold, models): (usize, &Vec<LinearModel>)| {
            let mut tree = Tree::default();
            for s in 0..3 {
                let rows = self.rows(s);
                let target = &self.data.target[rows[0]..=rows[rows.len() - 1]];
                let design = Rows::new(&self.data.design, rows)?;
                let problem = Problem::new(&design, target, self.loss);
                tree.add(scores_of(&problem, &self.weights(s, fold, true), Metric::Deviance, models)?)?;
            }
            Ok(tree.sum())
        };
        models.iter().enumerate().map(of_fold).collect()
    }
}

/// What one fit finds does not depend on those beside it, and a pass answers all that wait for one.
#[test]
fn fits_side_by_side_are_the_fits_alone() {
    let data = simulate::logistic(900, 40, 4, Correlation::Ar1(0.4), 2);
    let loss = loss::by_name("logistic").unwrap();
    let shards = Here::new(&data, &*loss, 3);
    let fit = |without: &[Option<usize>]| {
        let work = |_: usize, seat: &ksparse::objective::Seat<()>| {
            let summed = Summed::new(seat, &*loss, SummedOptions { ridge: 1e-3, ..SummedOptions::default() })?;
            let found = WorkingSet::default().fit(&summed, &Sparsity::new(4))?;
            Ok((found.support, found.coefficients, found.value, summed.communication().rounds))
        };
        side_by_side(&shards, without, work, &mut |()| ()).unwrap()
    };
    let all = [Some(0), Some(1), Some(2), None];
    let (together, passed) = fit(&all);
    let alone: Vec<_> = all.iter().map(|without| fit(&[*without]).0.remove(0)).collect();
    assert_eq!(together, alone);
    let (longest, sum) = (alone.iter().map(|one| one.3).max().unwrap(), alone.iter().map(|one| one.3).sum::<u64>());
    assert!(passed.passes >= longest && passed.passes <= longest + 4 && passed.passes < sum, "{passed:?} {sum}");
}

#[test]
fn a_choice_its_end_and_its_failures() {
    let data = simulate::logistic(600, 30, 3, Correlation::Ar1(0.3), 1);
    let loss = loss::by_name("logistic").unwrap();
    let mut shards = Here::new(&data, &*loss, 3);
    let validation = ShardedValidation { ks: Some(vec![6, 0, 3, 3]), path: true, ..ShardedValidation::default() };
    let solver = WorkingSet::default();
    let mut heard = Vec::new();
    let chosen = validation.solve(&shards, &*loss, &solver, &mut |done| {
        heard.push((done.done, done.total));
        ControlFlow::Continue(())
    });
    let chosen = chosen.unwrap();
    // Three folds and all rows, four ridges, three sizes.
    assert_eq!(heard, (1..=48).map(|done| (done, 48)).collect::<Vec<_>>());
    assert_eq!(chosen.table.cells().len(), 12);
    assert!(chosen.k >= 3 && data.support.iter().all(|j| chosen.model.support.contains(j)), "{:?}", chosen.model);
    assert_eq!(chosen.communication.rounds, shards.passes.load(Ordering::Relaxed) as u64 + 1);
    assert_eq!(chosen.path.paths.len(), 4);
    // Without the path: fewer fits, the same choice.
    let alone = ShardedValidation { path: false, ..validation.clone() };
    let alone = alone.solve(&shards, &*loss, &solver, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((alone.k, alone.lambda, &alone.table), (chosen.k, chosen.lambda, &chosen.table));
    assert!(alone.models.is_empty() && alone.path.paths.is_empty());
    // In waves of three chains: more passes, the same choice.
    let waves = ShardedValidation { at_once: 3, ..validation.clone() };
    let again = waves.solve(&shards, &*loss, &solver, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        (again.k, again.lambda, &again.model, &again.table),
        (chosen.k, chosen.lambda, &chosen.model, &chosen.table)
    );
    assert!(again.communication.rounds > chosen.communication.rounds);
    // Whoever has heard enough: every chain ends the fit it is at, or its first.
    let stopped = validation.solve(&shards, &*loss, &solver, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!((stopped.k, stopped.table.cells().len()), (0, 4));
    // What fails in any pass is what the choice fails with.
    for fails in [0, 1, 2, 3, 5, 8, 13, 21] {
        shards.fails = Some(shards.passes.load(Ordering::Relaxed) + fails);
        let refused = validation.solve(&shards, &*loss, &solver, &mut |_| ControlFlow::Continue(())).unwrap_err();
        assert!(refused.to_string().contains("part 7 cannot be read"), "{fails}: {refused}");
    }
    shards.fails = None;
    let wrong = ShardedValidation { metric: Metric::Auc, ..validation };
    assert!(wrong.solve(&shards, &*loss, &solver, &mut |_| ControlFlow::Continue(())).is_err());
}
