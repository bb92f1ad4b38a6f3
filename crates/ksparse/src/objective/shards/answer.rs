//! Answers on their way: what is 0 need not travel.

/// Answers shorter than this travel as they are: what is spared is no matter beside a round.
const LONG: usize = 1 << 20;

/// A list of numbers: all of them, or where most are 0 those that are not. A shard of sparse rows has entries in few of
/// very many columns; the gradient is 0 in the others, unless columns are centred.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    All(Vec<f64>),
    Touched { length: usize, places: Vec<u32>, values: Vec<f64> },
}

impl Answer {
    /// As it takes less room.
    pub fn of(numbers: Vec<f64>) -> Self {
        let length = numbers.len();
        // A number with its place takes half as much again.
        if length < LONG || length > u32::MAX as usize || 3 * numbers.iter().filter(|v| **v != 0.0).count() > length {
            return Self::All(numbers);
        }
        let touched = numbers.into_iter().zip(0u32..).filter(|(value, _)| *value != 0.0);
        let (values, places) = touched.unzip();
        Self::Touched { length, places, values }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::All(numbers) => numbers.len(),
            Self::Touched { length, .. } => *length,
        }
    }

    /// What it takes to send it.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::All(numbers) => 8 * numbers.len() as u64,
            Self::Touched { values, .. } => 12 * values.len() as u64,
        }
    }

    pub fn numbers(self) -> Vec<f64> {
        match self {
            Self::All(numbers) => numbers,
            Self::Touched { length, places, values } => {
                let mut numbers = vec![0.0; length];
                places.iter().zip(values).for_each(|(&place, value)| numbers[place as usize] = value);
                numbers
            }
        }
    }

    /// The sum with an answer of the same length: the bits are those of all numbers added, but for the sign of a 0.
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Touched { length, places, values }, Self::Touched { places: others, values: added, .. }) => {
                merged(length, (&places, &values), (&others, &added))
            }
            (Self::All(mut sum), Self::Touched { places, values, .. }) => {
                places.iter().zip(values).for_each(|(&place, value)| sum[place as usize] += value);
                Self::All(sum)
            }
            (touched @ Self::Touched { .. }, Self::All(added)) => Self::All(touched.numbers()).plus(Self::All(added)),
            (Self::All(mut sum), Self::All(added)) => {
                sum.iter_mut().zip(&added).for_each(|(s, a)| *s += a);
                Self::All(sum)
            }
        }
    }
}

/// Two lists of places, ascending, with their values.
fn merged(length: usize, a: (&[u32], &[f64]), b: (&[u32], &[f64])) -> Answer {
    let most = a.0.len() + b.0.len();
    let (mut places, mut values) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() || j < b.0.len() {
        let at = |list: &[u32], place: usize| list.get(place).copied().unwrap_or(u32::MAX);
        let (left, right) = (at(a.0, i), at(b.0, j));
        let place = left.min(right);
        let mut value = 0.0;
        if left == place && i < a.0.len() {
            value += a.1[i];
            i += 1;
        }
        if right == place && j < b.0.len() {
            value += b.1[j];
            j += 1;
        }
        places.push(place);
        values.push(value);
    }
    let sum = Answer::Touched { length, places, values };
    if 2 * sum.bytes() > 8 * length as u64 { Answer::All(sum.numbers()) } else { sum }
}
