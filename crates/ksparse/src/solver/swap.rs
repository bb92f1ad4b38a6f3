//! The step as a number of swaps.
//!
//! After an exact debias the gradient vanishes on the support F, so that `x - eta g` keeps x on F and brings in `-eta
//! g` off F: choosing eta is choosing how many coordinates to swap, the smallest of F against the largest gradients
//! outside. A [`Ranking`] orders both sides once, and any number of swaps can be read off it.

use super::run::Iterate;
use crate::sparsity::Budget;

/// Who would leave and who would enter, best exchange first: units of the budget, coordinates or groups of them.
pub(super) struct Ranking<'a> {
    budget: &'a Budget,
    /// Units of F that may leave, smallest score first.
    leaving: Vec<(f64, usize)>,
    /// Units outside, largest score first.
    entering: Vec<(f64, usize)>,
    /// Free places: |F| may be below k.
    vacancies: usize,
}

impl<'a> Ranking<'a> {
    /// Scores `|x_j|` inside against `|g_j|` outside; with a curvature h, `|x_j| sqrt(h_j)` against `|g_j| /
    /// sqrt(h_j)`, which does not depend on the units of the columns; over a group, the Euclidean length of these. At
    /// most `most` swaps will be asked for.
    pub fn new(budget: &'a Budget, at: &Iterate, gradient: &[f64], curvature: Option<&[f64]>, most: usize) -> Self {
        let mut inside = vec![false; gradient.len()];
        at.support.iter().for_each(|&j| inside[j] = true);
        let outside = |j: usize| {
            if inside[j] || budget.is_free(j) {
                return 0.0;
            }
            match curvature {
                None => gradient[j].abs(),
                Some(h) if h[j] > 0.0 => gradient[j].abs() / h[j].sqrt(),
                Some(_) => 0.0,
            }
        };
        let weight = |j: usize| at.at(j).abs() * curvature.map_or(1.0, |h| h[j].sqrt());
        let mut leaving: Vec<(f64, usize)> =
            budget.units_of(&at.support).into_iter().map(|unit| (budget.score(unit, weight), unit)).collect();
        // Of equal scores the larger index leaves first: ties go to the smaller index.
        leaving.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let vacancies = budget.k - leaving.len();
        let entering = budget.top(most + vacancies, outside);
        let entering = entering.into_iter().map(|unit| (budget.score(unit, outside), unit)).collect();
        Self { budget, leaving, entering, vacancies }
    }

    /// The largest number of swaps there is.
    pub fn most(&self) -> usize {
        self.entering.len().min(self.leaving.len() + self.vacancies)
    }

    /// How many enter at least: the vacant places are always filled.
    pub fn fewest(&self) -> usize {
        self.vacancies.min(self.entering.len()).max(1)
    }

    /// The support after `count` swaps, ascending.
    pub fn support(&self, at: &Iterate, count: usize) -> Vec<usize> {
        let leaving = self.leaving.iter().take(count.saturating_sub(self.vacancies));
        let mut gone: Vec<usize> = leaving.flat_map(|l| self.budget.members(l.1)).collect();
        gone.sort_unstable();
        let mut support: Vec<usize> = at.support.iter().copied().filter(|j| gone.binary_search(j).is_err()).collect();
        self.admit(&mut support, count);
        support
    }

    /// The support with `count` more coordinates and none less, ascending.
    pub fn widened(&self, at: &Iterate, count: usize) -> Vec<usize> {
        let mut support = at.support.clone();
        self.admit(&mut support, count + self.vacancies);
        support
    }

    /// The support with the `count` best newcomers in vacant places, ascending.
    pub fn grown(&self, at: &Iterate, count: usize) -> Vec<usize> {
        let mut support = at.support.clone();
        self.admit(&mut support, count.min(self.vacancies));
        support
    }

    fn admit(&self, support: &mut Vec<usize>, count: usize) {
        support.extend(self.entering.iter().take(count).flat_map(|e| self.budget.members(e.1)));
        support.sort_unstable();
    }

    /// The step length at which exactly `count` swaps win (the smallest one).
    pub fn step(&self, count: usize) -> f64 {
        let entering = self.entering[count - 1].0;
        match count.checked_sub(self.vacancies + 1).map(|i| self.leaving[i].0) {
            Some(leaving) => leaving / entering,
            None => 0.0,
        }
    }
}
