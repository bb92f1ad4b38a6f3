//! What the size of a problem allows.

use crate::restricted::InnerOptions;
use crate::solver::descent::Descent;
use crate::solver::exchange::Reach;
use crate::solver::plan::{Plan, around};
use crate::solver::prune::Drop;
use crate::solver::run::Run;

pub(super) struct Means {
    pub plan: Plan,
    /// Whether there are second derivatives, and whether leaps and exchanges are affordable.
    pub has_hessian: bool,
    pub second_order: bool,
    /// Whether the quadratic model is all there is to work with: its Hessian costs no pass over data, and there are
    /// many coordinates (networks).
    pub model_alone: bool,
    /// Whether a table of the quadratic model is affordable, and worth more than an exact search.
    pub table: bool,
    /// Leaps to try, longest first, and the shortest.
    pub leaps: Vec<usize>,
    pub short_leap: usize,
    /// Whom leaps drop. The smallest first, and the cheapest by the model from there, where a block of the Hessian
    /// costs no pass over data and refits are all that counts.
    pub drop: Drop,
    /// Candidates of an ordinary exchange round, and of the last.
    pub reach: Reach,
    /// Swaps where little else is affordable.
    pub brisk: Descent,
    /// Which other starts are cheap too: forward selection, or at least by blocks, backward elimination, forward
    /// selection from each coordinate.
    forward: bool,
    pub blocks: bool,
    backward: bool,
    each_coordinate: bool,
}

impl Means {
    pub fn new(plan: &Plan, run: &Run) -> Self {
        let k = run.budget.full();
        let profile = run.objective.profile();
        let gradient = profile.gradient;
        let budget = (plan.affordable * gradient).max(plan.affordable_work);
        let narrow = plan.candidates(run.budget.k);
        let (k_f, p) = (k as f64, run.objective.dim() as f64);
        let every_pair = k_f * p <= plan.pairs && k_f * k_f * gradient <= plan.small;
        let small = k_f * gradient <= plan.small;
        let affordable = |extra: &usize| {
            let wide = run.budget.most(run.budget.k + extra);
            profile.hessian.is_some_and(|cost| cost.of(wide, wide) + (wide as f64).powi(3) / 6.0 <= budget)
        };
        // A quadratic f is explored well enough by exact exchanges.
        let blocks = !profile.quadratic && k_f * gradient <= plan.several_work;
        let counted = run.budget.k;
        let leap = |share: f64| ((share * counted as f64) as usize).max(1);
        // Leaps in between gain little for their time: they are for problems that have it.
        let between = blocks.then_some(counted);
        let short_leap = leap(plan.short_leap);
        let leaps = [Some(leap(plan.long_leap)), between, Some(short_leap)];
        let leaps: Vec<usize> = leaps.into_iter().flatten().filter(affordable).collect();
        // The last look takes as many candidates as its share of the budget pays for.
        let size = (k - run.budget.free.len()) as f64 / run.budget.k.max(1) as f64;
        let one = size * (profile.hessian.map_or(f64::INFINITY, |cost| cost.of(k, 1)) + (k * k) as f64 / 6.0);
        let without_data = profile.hessian.is_some_and(|cost| cost.column == 0.0);
        let table = k_f * k_f * (k_f + around(plan.table_narrow, k, plan.candidates_more) as f64);
        Self {
            plan: *plan,
            has_hessian: profile.hessian.is_some(),
            second_order: !leaps.is_empty(),
            model_alone: without_data && p > plan.few_entries,
            table: !run.budget.is_grouped() && !profile.quadratic && table <= plan.table_work,
            leaps,
            short_leap,
            drop: if without_data { Drop::Smallest } else { Drop::Cheapest },
            reach: Reach {
                narrow,
                wide: narrow.max((plan.last_look * budget / one) as usize),
                tries: plan.tries as usize,
                every_pair,
                refit: if small { InnerOptions::EXACT } else { to(plan.loose) },
            },
            brisk: Descent {
                stale: plan.brisk_stale,
                refit: to(plan.brisk_refit),
                trifle: plan.brisk_trifle,
                ..Descent::BRISK
            },
            forward: k_f * gradient <= plan.forward_work,
            blocks,
            backward: small && p.powi(3) <= plan.small,
            each_coordinate: !run.budget.is_grouped() && every_pair && k_f * p * gradient <= plan.small,
        }
    }

    /// Precision of refits on a widened support.
    pub fn leap_refit(&self) -> InnerOptions<'static> {
        InnerOptions { max_iterations: self.plan.leap_steps as usize, ..self.reach.refit }
    }

    /// Candidates of the model's table for so many members, and the precision of refits on that way.
    pub fn around_table(&self, members: usize) -> (usize, InnerOptions<'static>) {
        let (each, tolerance) = match self.second_order {
            true => (self.plan.table_wide, self.plan.table_refit),
            false => (self.plan.table_narrow, self.plan.brisk_refit),
        };
        (around(each, members, self.plan.candidates_more), to(tolerance))
    }

    pub fn other_starts(&self, dim: usize, free: &[usize]) -> Vec<OtherStart> {
        let mut starts = Vec::new();
        if self.forward {
            starts.push(OtherStart::Forward);
        } else if self.blocks {
            starts.push(OtherStart::Blocks);
        }
        if self.backward {
            starts.push(OtherStart::Backward);
        }
        if self.each_coordinate {
            starts.extend((0..dim).filter(|j| !free.contains(j)).map(OtherStart::ForwardFrom));
        }
        starts
    }
}

/// Refits that stop so far (relatively) from the minimum.
fn to(tolerance: f64) -> InnerOptions<'static> {
    InnerOptions { tolerance, ..InnerOptions::EXACT }
}

/// Where else a search may start.
#[derive(Clone, Copy)]
pub(super) enum OtherStart {
    /// The answer of forward selection.
    Forward,
    /// The answer of forward selection by tenths of k, ten times cheaper.
    Blocks,
    /// What backward elimination leaves.
    Backward,
    /// The answer of forward selection begun with this coordinate: a good pair may have no good member.
    ForwardFrom(usize),
}
