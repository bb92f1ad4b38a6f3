//! The inverse of a small symmetric matrix that gains and loses lines.

/// Line by line, both triangles.
#[derive(Clone, Default)]
pub(super) struct Inverse {
    size: usize,
    entries: Vec<f64>,
}

impl Inverse {
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub fn line(&self, a: usize) -> &[f64] {
        &self.entries[a * self.size..(a + 1) * self.size]
    }

    pub fn diagonal(&self) -> impl Iterator<Item = f64> {
        self.entries.iter().copied().step_by(self.size + 1)
    }

    /// Minus its product with a vector, and 1: what turns a newcomer with these entries beside the lines into what they
    /// leave of it.
    pub fn factors(&self, vector: &[f64]) -> Vec<f64> {
        let mut factors = vec![0.0; self.size + 1];
        // Line after line, since sums along a line would wait for each other.
        for (line, v) in self.entries.chunks_exact(self.size.max(1)).zip(vector) {
            factors.iter_mut().zip(line).for_each(|(factor, entry)| *factor -= v * entry);
        }
        factors[self.size] = 1.0;
        factors
    }

    /// With one more line, for the newcomer of these factors; `pivot` is what the others leave of it.
    pub fn enter(&mut self, factors: &[f64], pivot: f64) {
        let (before, size) = (self.size, factors.len());
        self.entries.resize(size * size, 0.0);
        // The last line first, since lines move over those behind them.
        for a in (0..size).rev() {
            if a < before {
                self.entries.copy_within(a * before..(a + 1) * before, a * size);
                self.entries[a * size + before] = 0.0;
            } else {
                self.entries[a * size..].fill(0.0);
            }
            let share = factors[a] / pivot;
            let line = &mut self.entries[a * size..(a + 1) * size];
            line.iter_mut().zip(factors).for_each(|(entry, other)| *entry += share * other);
        }
        self.size = size;
    }

    /// Without the line at a place, of which a copy is given.
    pub fn leave(&mut self, place: usize, gone: &[f64]) {
        let mut end = 0;
        for a in (0..self.size).filter(|a| *a != place) {
            let (start, share) = (a * self.size, gone[a] / gone[place]);
            let line = &mut self.entries[start..start + self.size];
            line.iter_mut().zip(gone).for_each(|(entry, other)| *entry -= share * other);
            self.entries.copy_within(start..start + place, end);
            self.entries.copy_within(start + place + 1..start + self.size, end + place);
            end += self.size - 1;
        }
        self.entries.truncate(end);
        self.size -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix less than half of whose diagonal stands beside it: lines enter, lines leave, and it is the inverse.
    #[test]
    fn what_entered_and_left_is_inverted() {
        let entry = |a: usize, b: usize| if a == b { 3.0 } else { 1.0 / (1.0 + a as f64 + b as f64) };
        let (mut inverse, mut members) = (Inverse::default(), Vec::new());
        for step in 0..40 {
            if step % 3 == 2 {
                let place = step % members.len();
                let gone = inverse.line(place).to_vec();
                inverse.leave(place, &gone);
                members.remove(place);
            } else {
                let crosses: Vec<f64> = members.iter().map(|&a| entry(a, step)).collect();
                let factors = inverse.factors(&crosses);
                let pivot = entry(step, step) + crosses.iter().zip(&factors).map(|(c, f)| c * f).sum::<f64>();
                inverse.enter(&factors, pivot);
                members.push(step);
            }
            for a in 0..members.len() {
                for (b, &other) in members.iter().enumerate() {
                    let product: f64 =
                        inverse.line(a).iter().zip(&members).map(|(v, &member)| v * entry(member, other)).sum();
                    assert!((product - f64::from(u8::from(a == b))).abs() < 1e-12, "step {step}");
                }
            }
        }
    }
}
