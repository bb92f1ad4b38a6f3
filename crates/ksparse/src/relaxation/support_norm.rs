//! The penalty of the relaxation, half the squared k-support norm, written with shares z:
//!
//! ```text
//! N(w) = min over z in [0, 1]^p, sum z <= k of  (1/2) sum_j w_j^2 / z_j          N*(u) = (1/2) ||H_k(u)||^2
//! prox in the metric h:  argmin over x of  sum_j (h_j/2) (x_j - v_j)^2 + lambda N(x)
//! ```
//!
//! Minimising over x first leaves one unknown: `z_j = clamp(theta |v_j| - lambda/h_j, 0, 1)` with theta such that the
//! shares add up to k, and then `x_j = v_j z_j / (z_j + lambda/h_j)`. N itself is the same with lambda = 0: `z_j =
//! min(1, theta |w_j|)`. Coordinates that stay whole have z = 1 and are not counted.
//!
//! Where k counts groups, a group has one share, and all of this holds of the lengths of groups in place of `|w_j|`: in
//! a metric that is the same within a group its prox moves no direction.

use crate::sparsity::Budget;

/// Half the squared k-support norm of the coordinates that are not whole, plus half the squares of those that are.
#[derive(Debug, Clone)]
pub(crate) struct SupportNorm {
    pub k: usize,
    /// For each coordinate of the working set, whether it stays whole.
    pub whole: Vec<bool>,
    groups: Option<Groups>,
}

/// Coordinates that have a share together.
#[derive(Debug, Clone)]
struct Groups {
    /// Positions in the working set, ascending, by unit; of a coordinate that is alone, one.
    members: Vec<Vec<usize>>,
    /// The norm of the lengths of units.
    lengths: Box<SupportNorm>,
}

impl Groups {
    fn lengths_of(&self, w: &[f64]) -> Vec<f64> {
        self.members.iter().map(|members| length(members, w)).collect()
    }
}

fn length(members: &[usize], w: &[f64]) -> f64 {
    match members {
        [j] => w[*j].abs(),
        many => many.iter().map(|&j| w[j] * w[j]).sum::<f64>().sqrt(),
    }
}

impl SupportNorm {
    /// With a share for every coordinate.
    pub fn single(k: usize, whole: Vec<bool>) -> Self {
        Self { k, whole, groups: None }
    }

    /// With a share for every unit of the budget, for these coordinates (ascending, units complete).
    pub fn of(budget: &Budget, working: &[usize], k: usize, whole: Vec<bool>) -> Self {
        if !budget.is_grouped() {
            return Self::single(k, whole);
        }
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut place = vec![usize::MAX; budget.units()];
        for (position, &j) in working.iter().enumerate() {
            match budget.unit(j) {
                Some(unit) if place[unit] < usize::MAX => members[place[unit]].push(position),
                unit => {
                    unit.into_iter().for_each(|unit| place[unit] = members.len());
                    members.push(vec![position]);
                }
            }
        }
        let lengths = Box::new(Self::single(k, members.iter().map(|unit| whole[unit[0]]).collect()));
        Self { k, whole, groups: Some(Groups { members, lengths }) }
    }

    /// How many shares there are, those of whole coordinates included.
    pub fn units(&self) -> usize {
        self.groups.as_ref().map_or(self.whole.len(), |groups| groups.members.len())
    }

    /// The positions that have a share together, ascending.
    pub fn members(&self, unit: usize) -> impl Iterator<Item = usize> + '_ {
        let (alone, together) = match &self.groups {
            None => (Some(unit), &[][..]),
            Some(groups) => (None, &groups.members[unit][..]),
        };
        alone.into_iter().chain(together.iter().copied())
    }

    /// The first of them.
    pub fn head(&self, unit: usize) -> usize {
        self.groups.as_ref().map_or(unit, |groups| groups.members[unit][0])
    }

    /// Their length.
    pub fn length(&self, unit: usize, w: &[f64]) -> f64 {
        self.groups.as_ref().map_or_else(|| w[unit].abs(), |groups| length(&groups.members[unit], w))
    }

    /// The square of their length.
    pub fn square(&self, unit: usize, w: &[f64]) -> f64 {
        match &self.groups {
            None => w[unit] * w[unit],
            Some(groups) => groups.members[unit].iter().map(|&j| w[j] * w[j]).sum(),
        }
    }

    /// A metric raised to be the same within units, as [`prox`](Self::prox) needs it.
    pub fn evened(&self, metric: &[f64]) -> Vec<f64> {
        let mut evened = metric.to_vec();
        for members in self.groups.iter().flat_map(|groups| &groups.members).filter(|members| members.len() > 1) {
            let largest = members.iter().fold(0.0, |most: f64, &j| most.max(metric[j]));
            members.iter().for_each(|&j| evened[j] = largest);
        }
        evened
    }

    /// N(w).
    pub fn value(&self, w: &[f64]) -> f64 {
        if let Some(groups) = &self.groups {
            return groups.lengths.value(&groups.lengths_of(w));
        }
        if self.k == 0 {
            // The norm of anything but 0 is infinite; nobody hands that in.
            return 0.5 * self.whole_square(w);
        }
        let theta = self.threshold(w, |_| 0.0);
        let part = |w: f64| if theta * w.abs() >= 1.0 { w * w } else { w.abs() / theta };
        0.5 * w.iter().zip(&self.whole).map(|(&w, &whole)| if whole { w * w } else { part(w) }).sum::<f64>()
    }

    /// N*(u) for every u at once: half the sum of the k largest squares and of those that stay whole.
    pub fn conjugate(&self, u: &[f64]) -> f64 {
        let counted = (0..self.units()).filter(|&unit| !self.whole[self.head(unit)]);
        let mut squares: Vec<f64> = counted.map(|unit| self.square(unit, u)).collect();
        if squares.len() > self.k && self.k > 0 {
            squares.select_nth_unstable_by(self.k - 1, |a, b| b.total_cmp(a));
        }
        0.5 * (squares.iter().take(self.k).sum::<f64>() + self.whole_square(u))
    }

    fn whole_square(&self, w: &[f64]) -> f64 {
        w.iter().zip(&self.whole).filter(|(_, whole)| **whole).map(|(w, _)| w * w).sum()
    }

    /// The prox of lambda N at v in the metric `h`, which is the same within units, written over v; the shares to `z`.
    pub fn prox(&self, v: &mut [f64], lambda: f64, h: &[f64], z: &mut [f64]) {
        if let Some(groups) = &self.groups {
            let metric: Vec<f64> = groups.members.iter().map(|members| h[members[0]]).collect();
            let (mut lengths, mut shares) = (groups.lengths_of(v), vec![0.0; groups.members.len()]);
            groups.lengths.prox(&mut lengths, lambda, &metric, &mut shares);
            for ((members, share), h) in groups.members.iter().zip(shares).zip(metric) {
                for &j in members {
                    z[j] = share;
                    v[j] *= share / (share + lambda / h);
                }
            }
            return;
        }
        let theta = if self.k == 0 { 0.0 } else { self.threshold(v, |j| lambda / h[j]) };
        for j in 0..v.len() {
            let t = lambda / h[j];
            z[j] = if self.whole[j] { 1.0 } else { (theta * v[j].abs() - t).clamp(0.0, 1.0) };
            // An infinite theta times 0.
            if z[j].is_nan() {
                z[j] = 0.0;
            }
            v[j] *= z[j] / (z[j] + t);
        }
    }

    /// theta with `sum_j clamp(theta |v_j| - t_j, 0, 1) = k` over the coordinates that are not whole; infinite when no
    /// more than k of them are not 0. The sum is piecewise linear and does not fall: Newton's method within a bracket
    /// ends after a few passes.
    fn threshold(&self, v: &[f64], t: impl Fn(usize) -> f64) -> f64 {
        let k = self.k as f64;
        let counted = |j: usize| !self.whole[j] && v[j] != 0.0;
        let (mut count, mut size) = (0, 0.0);
        for j in (0..v.len()).filter(|&j| counted(j)) {
            count += 1;
            size += v[j].abs();
        }
        if count <= self.k {
            return f64::INFINITY;
        }
        let sum = |theta: f64| {
            let (mut sum, mut slope) = (0.0, 0.0);
            for j in (0..v.len()).filter(|&j| !self.whole[j]) {
                let z = theta * v[j].abs() - t(j);
                if z >= 1.0 {
                    sum += 1.0;
                } else if z > 0.0 {
                    sum += z;
                    slope += v[j].abs();
                }
            }
            (sum, slope)
        };
        // At k / sum |v| the shares add up to no more than k.
        let (mut low, mut high) = (k / size, f64::INFINITY);
        let mut theta = low;
        for _ in 0..300 {
            let (total, slope) = sum(theta);
            if (total - k).abs() <= 1e-14 * k {
                break;
            }
            if total < k {
                low = theta
            } else {
                high = theta
            }
            let newton = theta + (k - total) / slope;
            let next = if newton > low && newton < high {
                newton
            } else if high.is_finite() {
                low.sqrt() * high.sqrt()
            } else {
                4.0 * theta
            };
            if next == theta || next <= low || next >= high || !next.is_finite() {
                break;
            }
            theta = next;
        }
        theta
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::sparsity::{Partition, Sparsity};

    fn norm(k: usize, p: usize) -> SupportNorm {
        SupportNorm::single(k, vec![false; p])
    }

    #[test]
    fn between_the_lasso_and_the_ridge() {
        let w = [3.0, -4.0, 0.0, 1.0];
        assert!((norm(1, 4).value(&w) - 32.0).abs() < 1e-12); // (|3| + |4| + |1|)^2 / 2
        assert!((norm(4, 4).value(&w) - 13.0).abs() < 1e-12);
        // Sparse enough: the ridge itself.
        assert!((norm(3, 4).value(&w) - 13.0).abs() < 1e-12);
        assert_eq!(norm(2, 4).conjugate(&w), 12.5);
        let forced = SupportNorm::single(1, vec![true, false, false, false]);
        assert!((forced.value(&w) - (4.5 + 12.5)).abs() < 1e-12);
        assert_eq!(forced.conjugate(&w), 12.5);
        assert_eq!(SupportNorm::single(0, vec![true, false]).conjugate(&[2.0, 3.0]), 2.0);
    }

    #[test]
    fn norm_and_conjugate_meet_in_fenchel_young() {
        let mut state = 12345u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64 * 2.0 - 1.0
        };
        for round in 0..300 {
            let p = 2 + round % 9;
            let k = 1 + round % p;
            let whole: Vec<bool> = (0..p).map(|j| j == 0 && round % 5 == 0).collect();
            // Coordinates by themselves, and in twos and threes beside some that are alone.
            let sparsity = Sparsity::new(k).keep((0..p).filter(|&j| whole[j]));
            let labels: Vec<usize> = (0..p).map(|j| if round % 3 == 0 { j } else { j / (1 + round % 3) }).collect();
            let budget = Budget::new(&sparsity.in_groups(Partition::of_labels(&labels)), &[], p).unwrap();
            let norm = SupportNorm::of(&budget, &(0..p).collect::<Vec<_>>(), budget.k, whole);
            let k = budget.k;
            let w: Vec<f64> = (0..p).map(|_| draw()).collect();
            let u: Vec<f64> = (0..p).map(|_| draw()).collect();
            let product: f64 = w.iter().zip(&u).map(|(w, u)| w * u).sum();
            assert!(norm.value(&w) + norm.conjugate(&u) >= product - 1e-12);
            // The prox is the point whose residual is a subgradient: Fenchel-Young is tight there.
            let (lambda, h): (f64, Vec<f64>) = (0.1 + draw().abs(), (0..p).map(|_| 0.1 + draw().abs()).collect());
            let (mut x, mut z) = (w.clone(), vec![0.0; p]);
            let h = norm.evened(&h);
            norm.prox(&mut x, lambda, &h, &mut z);
            let residual: Vec<f64> = (0..p).map(|j| h[j] * (w[j] - x[j]) / lambda).collect();
            let product: f64 = x.iter().zip(&residual).map(|(x, r)| x * r).sum();
            let excess = norm.value(&x) + norm.conjugate(&residual) - product;
            assert!(excess.abs() < 1e-11, "round {round}: {excess}");
            let heads = (0..norm.units()).map(|unit| norm.head(unit));
            let counted: f64 = heads.filter(|&j| !norm.whole[j]).map(|j| z[j]).sum();
            assert!(counted <= k as f64 + 1e-9);
        }
    }

    #[test]
    fn extremes_do_not_break_it() {
        let norm = norm(2, 4);
        assert_eq!(norm.value(&[0.0; 4]), 0.0);
        assert!(
            norm.value(&[1e-300, 1e300, 0.0, 1.0]).is_infinite() || norm.value(&[1e-300, 1e150, 0.0, 1.0]).is_finite()
        );
        let mut v = [1e-200, -1e-180, 1e100, 3.0];
        let mut z = [0.0; 4];
        norm.prox(&mut v, 1e-6, &[1.0; 4], &mut z);
        assert!(v.iter().chain(&z).all(|v| v.is_finite()), "{v:?} {z:?}");
    }
}
