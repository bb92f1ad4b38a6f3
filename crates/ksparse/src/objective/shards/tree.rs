//! Sums in a fixed order.

use super::answer::Answer;
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
    parts: Vec<(u32, Answer)>,
    bytes: u64,
}

impl Tree {
    /// The next answer; `Err` when it is not as long as those before it.
    pub fn add(&mut self, answer: Vec<f64>) -> Result<()> {
        let mut answer = Answer::of(answer);
        self.bytes += answer.bytes();
        if let Some((_, before)) = self.parts.last() {
            check(before.len(), answer.len())?;
        }
        let mut level = 0;
        while let Some((_, before)) = self.parts.pop_if(|part| part.0 == level) {
            answer = before.plus(answer);
            level += 1;
        }
        self.parts.push((level, answer));
        Ok(())
    }

    /// Bytes of all answers, on their way: of those of more than a million numbers what is not 0.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The sum of all; nothing at all for no answers.
    pub fn sum(mut self) -> Vec<f64> {
        let Some((_, mut sum)) = self.parts.pop() else { return Vec::new() };
        while let Some((_, before)) = self.parts.pop() {
            sum = before.plus(sum);
        }
        sum.numbers()
    }
}

fn check(before: usize, after: usize) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let problem = format!("their answers have {before} and {after} numbers");
    Err(Error::Data(format!("shards disagree about the number of columns: {problem}")))
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
        // Long ones, mostly 0: what is sent is less, and the sum is the same.
        let numbers = |s: usize| {
            let mut numbers = vec![0.0; (1 << 20) + 5];
            (0..50_000usize << (s % 4))
                .for_each(|i| numbers[(i * 7919 + s * 31) % ((1 << 20) + 5)] = 1.0 / (i + s) as f64 - 0.3);
            (numbers[s], numbers[77]) = (-0.0, -1.0);
            numbers
        };
        let (mut tree, mut sum) = (Tree::default(), numbers(0));
        for s in 0..5 {
            assert!(tree.add(numbers(s)).is_ok());
        }
        assert!(tree.bytes() < 5 * (8 << 20));
        let plus = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a + b).collect::<Vec<f64>>();
        sum = plus(plus(plus(sum, numbers(1)), plus(numbers(2), numbers(3))), numbers(4));
        assert!(tree.sum() == sum);
        let mut tree = Tree::default();
        assert!(tree.add(vec![1.0]).is_ok() && tree.add(vec![1.0, 2.0]).is_err());
        assert!(Tree::default().sum().is_empty());
    }
}
