//! What `auto` does for a loss with corners (the hinge loss): through the dual.
//!
//! Where l has corners there are no second derivatives to search with. Two ways lead to good supports: the same problem
//! with the corner rounded (Huber's loss), where all of `auto` applies, and the ascent on the dual (`sdiht.rs`), which
//! does not mind corners. The better of the two supports, refitted by dual coordinate ascent, is improved by swaps
//! (GraHTP with subgradients) until none helps.

use super::auto::is_limit;
use super::descent::{Descent, descend};
use super::plan::Plan;
use super::run::{Iterate, Run};
use super::{Auto, Diht, Effort, Limits, Progress, Sdiht, Solution, Solver, Status};
use crate::error::Result;
use crate::loss::Huber;
use crate::objective::{Objective, Risk};
use crate::restricted::InnerOptions;
use crate::sparsity::Sparsity;
use std::ops::ControlFlow;

/// The search from `first`, the start debiased.
pub(super) fn search(
    run: &mut Run,
    risk: &Risk,
    sparsity: &Sparsity,
    first: Iterate,
    plan: &Plan,
) -> Result<(Iterate, Status)> {
    let rounded = risk.with_loss(Box::new(Huber::default()));
    let start = (!first.support.is_empty()).then(|| Solution::guess(first.support.clone(), first.x.clone()));
    let limits = Limits {
        max_iterations: plan.epochs as usize,
        time_limit: run.time_left(),
        tolerance: 1e-4,
        cancel: run.cancel().clone(),
    };
    let auto =
        Auto { limits: Limits { max_iterations: 1000, ..limits.clone() }, effort: Effort::FEW_STARTS, plan: *plan };
    let (whole, blocks) = (
        Diht { limits: limits.clone(), refit: false, ..Diht::default() },
        Sdiht { limits, refit: false, ..Sdiht::default() },
    );
    let small = risk.profile().gradient <= plan.small;
    let mut ways: Vec<(&dyn Solver, &Risk)> = vec![(&auto, &rounded), (&blocks, risk)];
    if small {
        ways.push((&whole, risk));
    }
    // The best first.
    let mut found = vec![first];
    for (solver, risk) in ways {
        let mut ended = None;
        let mut watch = |_: &Progress| {
            ended = run.poll(&found[0], 0, None);
            if ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let answer = solver.solve(risk, sparsity, start.as_ref(), &mut watch)?;
        let next = run.refit(answer.support, answer.coefficients, &InnerOptions::EXACT)?;
        if next.value < found[0].value {
            ended = run.record(&found[0], &next, None).or(ended);
            found.insert(0, next);
        } else {
            found.push(next);
        }
        if let Some(status) = ended {
            return Ok((found.swap_remove(0), status));
        }
    }
    found.truncate(if small { found.len() } else { 1 });
    let mut best = descend(run, found.remove(0), &Descent::CAREFUL)?;
    for from in found {
        if is_limit(best.1) {
            break;
        }
        let (next, status) = descend(run, from, &Descent::CAREFUL)?;
        let at = if next.value < best.0.value { next } else { best.0 };
        best = (at, status);
    }
    Ok(best)
}
