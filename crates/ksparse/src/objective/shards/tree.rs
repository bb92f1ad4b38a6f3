//! Sums in a fixed order.

use crate::error::{Error, Result};

/// Adds up answers in the order of the shards: neighbours first, then pairs of neighbours, and so on, whatever is left
/// over last. A cluster that adds neighbours where they are computed gets the same bits, and one after the other takes
/// no more room than a sum for every level.
///
/// ```
/// use ksparse::objective::Tree;
/// let mut tree = Tree::default();
/// for number in [1e16, 1.0, 1.0] {
///     tree.add(vec![number])?;
/// }
/// assert_eq!(tree.sum(), [(1e16 + 1.0) + 1.0]);
/// # Ok::<(), ksparse::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Tree {
    /// Sums over 2^level answers each, levels falling.
    parts: Vec<(u32, Vec<f64>)>,
}

impl Tree {
    /// The next answer; `Err` when it is not as long as those before it.
    pub fn add(&mut self, mut answer: Vec<f64>) -> Result<()> {
        let mut level = 0;
        while let Some((_, before)) = self.parts.pop_if(|part| part.0 == level) {
            answer = add(before, &answer)?;
            level += 1;
        }
        if let Some((_, before)) = self.parts.last() {
            check(before, &answer)?;
        }
        self.parts.push((level, answer));
        Ok(())
    }

    /// The sum of all; nothing at all for no answers.
    pub fn sum(mut self) -> Vec<f64> {
        let Some((_, mut sum)) = self.parts.pop() else { return Vec::new() };
        while let Some((_, mut before)) = self.parts.pop() {
            before.iter_mut().zip(&sum).for_each(|(b, s)| *b += s);
            sum = before;
        }
        sum
    }
}

fn add(mut before: Vec<f64>, after: &[f64]) -> Result<Vec<f64>> {
    check(&before, after)?;
    before.iter_mut().zip(after).for_each(|(b, a)| *b += a);
    Ok(before)
}

fn check(before: &[f64], after: &[f64]) -> Result<()> {
    if before.len() == after.len() {
        return Ok(());
    }
    let (a, b) = (before.len(), after.len());
    Err(Error::Data(format!("shards disagree about the number of columns: their answers have {a} and {b} numbers")))
}

#[cfg(test)]
mod tests {
    use super::Tree;

    /// Level by level, as workers add neighbours, and one after the other: the same bits for any number of answers.
    #[test]
    fn the_order_is_that_of_levels() {
        for count in 1..40usize {
            let answers: Vec<Vec<f64>> =
                (0..count).map(|i| vec![0.1 * (i as f64).exp(), 1.0 / (i + 3) as f64]).collect();
            let mut level = answers.clone();
            while level.len() > 1 {
                let pair = |p: &[Vec<f64>]| match p {
                    [a, b] => a.iter().zip(b).map(|(a, b)| a + b).collect(),
                    rest => rest[0].clone(),
                };
                level = level.chunks(2).map(pair).collect();
            }
            let mut tree = Tree::default();
            answers.into_iter().for_each(|answer| assert!(tree.add(answer).is_ok()));
            assert_eq!(tree.sum(), level[0], "{count}");
        }
        let mut tree = Tree::default();
        assert!(tree.add(vec![1.0]).is_ok() && tree.add(vec![1.0, 2.0]).is_err());
        assert!(Tree::default().sum().is_empty());
    }
}
