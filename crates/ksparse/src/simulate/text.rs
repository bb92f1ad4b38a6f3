//! Bags of words: sparse rows with the shape of the text collections the papers use, when the files are not at hand.

use super::{DESIGN, NOISE, Simulated, TRUTH, draw_labels, stream};
use crate::design::Sparse;
use rand::{Rng, seq::index};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

/// The shape of a text collection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Text {
    /// Documents.
    pub n: usize,
    /// Words in the dictionary.
    pub p: usize,
    /// Mean number of words in a document, repetitions counted. Must be positive (a smaller number counts as 5).
    pub mean_tokens: f64,
}

impl Text {
    /// The shape of rcv1.binary: 20000 x 47236, some 75 entries a row.
    pub fn rcv1() -> Self {
        Self { n: 20_000, p: 47_236, mean_tokens: 80.0 }
    }

    /// The shape of news20.binary: 20000 x 1355191, some 450 entries a row.
    pub fn news20() -> Self {
        Self { n: 20_000, p: 1_355_191, mean_tokens: 480.0 }
    }
}

/// A word has this many more popular "virtual" words before the first: popularity is `1 / (j + HEAD)`.
const HEAD: f64 = 10.0;
/// A document has at least so many words.
const FEWEST_TOKENS: usize = 5;
/// The truth has so many weights...
const WEIGHTS: usize = 500;
/// ...among so many of the commonest words.
const COMMON: usize = 5000;
/// Standard deviation of w'x over the documents.
const SPREAD: f64 = 2.5;

/// Classified documents.
///
/// ```text
/// tokens in a row ~ max(5, Poisson(mean_tokens)), each word j with probability proportional to 1 / (j + 10)
/// x_ij  proportional to (1 + log tf_ij) (1 + log((1 + n) / (1 + df_j))),  rows scaled to norm 1
/// w: 500 weights N(0, 1) among the 5000 commonest words, scaled so that sd(w'x) = 2.5;   P(v = +1) = sigma(2 w'x)
/// ```
///
/// with tf how often word j stands in row i and df in how many rows. With fewer than 5000 (500) words all are
/// candidates (have a weight).
///
/// ```
/// use ksparse::design::Design;
/// use ksparse::simulate::{Text, text};
/// let data = text(&Text { n: 100, p: 2000, mean_tokens: 30.0 }, 1);
/// assert_eq!((data.design.nrows(), data.design.ncols()), (100, 2000));
/// assert!(data.design.nnz() < 100 * 40);
/// ```
pub fn text(shape: &Text, seed: u64) -> Simulated<Sparse<'static>> {
    let Text { n, p, .. } = *shape;
    let counts = Counts::draw(shape, &mut stream(seed, DESIGN));
    let mut frequency = vec![0u32; p];
    counts.words.iter().for_each(|&j| frequency[j as usize] += 1);
    let idf: Vec<f64> = frequency.iter().map(|&df| ((1 + n) as f64 / (1.0 + f64::from(df))).ln() + 1.0).collect();

    let mut rng = stream(seed, TRUTH);
    let common = COMMON.min(p);
    let mut support = index::sample(&mut rng, common, WEIGHTS.min(common)).into_vec();
    support.sort_unstable();
    let mut coefficients: Vec<f64> = support.iter().map(|_| rng.sample(StandardNormal)).collect();
    let mut weights = vec![0.0; common];
    support.iter().zip(&coefficients).for_each(|(&j, c)| weights[j] = *c);

    // Straight from the counts to compressed columns: the tf-idf values are never held by rows.
    let mut pointers = vec![0u64; p + 1];
    for j in 0..p {
        pointers[j + 1] = pointers[j] + u64::from(frequency[j]);
    }
    let mut next = pointers.clone();
    let mut indices = vec![0u32; counts.words.len()];
    let mut values = vec![0.0; counts.words.len()];
    let mut z = vec![0.0; n];
    for (i, z) in z.iter_mut().enumerate() {
        let value = |(j, tf): (u32, u16)| (1.0 + f64::from(tf).ln()) * idf[j as usize];
        let norm = counts.row(i).map(|entry| value(entry).powi(2)).sum::<f64>().sqrt();
        for (j, tf) in counts.row(i) {
            let v = value((j, tf)) / norm;
            let slot = &mut next[j as usize];
            indices[*slot as usize] = i as u32;
            values[*slot as usize] = v;
            *slot += 1;
            *z += v * weights.get(j as usize).unwrap_or(&0.0);
        }
    }
    drop(counts);

    let mean = z.iter().sum::<f64>() / n.max(1) as f64;
    let sd = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n.max(1) as f64).sqrt();
    let scale = if sd > 0.0 { SPREAD / sd } else { 1.0 };
    coefficients.iter_mut().chain(&mut z).for_each(|c| *c *= scale);
    let target = draw_labels(&z, &mut stream(seed, NOISE));
    let design = Sparse::from_columns(n, p, pointers, indices, values).expect("columns filled row by row");
    Simulated { design, target, support, coefficients }
}

/// Word counts by row, words ascending within a row: six bytes an entry.
struct Counts {
    ends: Vec<usize>,
    words: Vec<u32>,
    counts: Vec<u16>,
}

impl Counts {
    fn draw(shape: &Text, rng: &mut ChaCha8Rng) -> Self {
        let length = Poisson::new(shape.mean_tokens).ok();
        let expected = (shape.n as f64 * shape.mean_tokens.max(0.0)) as usize;
        let mut out = Self {
            ends: Vec::with_capacity(shape.n),
            words: Vec::with_capacity(expected),
            counts: Vec::with_capacity(expected),
        };
        let mut tokens: Vec<u32> = Vec::new();
        for _ in 0..shape.n {
            let length = length.map_or(0, |poisson| poisson.sample(rng) as usize).max(FEWEST_TOKENS);
            tokens.clear();
            if shape.p > 0 {
                tokens.extend((0..length).map(|_| draw_word(shape.p, rng)));
            }
            tokens.sort_unstable();
            for run in tokens.chunk_by(|a, b| a == b) {
                out.words.push(run[0]);
                out.counts.push(run.len().min(usize::from(u16::MAX)) as u16);
            }
            out.ends.push(out.words.len());
        }
        out
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (u32, u16)> + '_ {
        let range = if i == 0 { 0 } else { self.ends[i - 1] }..self.ends[i];
        self.words[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }
}

/// A word with probability proportional to `1 / (j + HEAD)`.
///
/// The density `1 / (x + HEAD)` on (0, p) is inverted in closed form; its cell j has mass `log(1 + 1/m)`, m = j + HEAD,
/// which is a little less than the wanted `1/m`: rejection (one draw in twenty) makes it exact. No table, whatever p.
fn draw_word(p: usize, rng: &mut ChaCha8Rng) -> u32 {
    let excess = |m: f64| 1.0 / (m * (1.0 / m).ln_1p());
    let (reach, most) = ((p as f64 / HEAD).ln_1p(), excess(HEAD));
    loop {
        let x = HEAD * (rng.random::<f64>() * reach).exp_m1();
        let word = x as usize;
        if word < p && rng.random::<f64>() * most < excess(word as f64 + HEAD) {
            return word as u32;
        }
    }
}
