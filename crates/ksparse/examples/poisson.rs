//! An objective of your own: sparse Poisson regression, from a value and a gradient, solved by every solver of the
//! library.
//!
//! Counts y_i with mean exp(x_i'w) have, up to a constant, the negative log-likelihood per row
//!
//! ```text
//! f(w) = (1/n) sum_i ( exp(x_i'w) - y_i x_i'w ) + (lambda/2) ||w||^2
//! ```
//!
//! `cargo run --release --example poisson`
#![allow(clippy::print_stdout)]

use ksparse::design::{Dense, Design};
use ksparse::objective::{FirstOrder, Point};
use ksparse::{Objective, Result, SparseRef, Sparsity, simulate, solver};

struct Poisson<'a> {
    design: &'a Dense<'a>,
    counts: &'a [f64],
    lambda: f64,
}

impl Objective for Poisson<'_> {
    fn dim(&self) -> usize {
        self.design.ncols()
    }

    fn at<'a>(&'a self, w: SparseRef<'_>) -> Result<Box<dyn Point + 'a>> {
        let n = self.counts.len() as f64;
        let mut z = vec![0.0; self.counts.len()];
        self.design.mul(w, &mut z);
        let mut value = 0.0;
        for (z, y) in z.iter_mut().zip(self.counts) {
            let mean = z.exp();
            value += (mean - y * *z) / n;
            *z = (mean - y) / n; // the derivative takes the predictor's place
        }
        let mut gradient = vec![0.0; self.dim()];
        self.design.tmul(&z, &mut gradient);
        for (j, v) in w.iter() {
            gradient[j] += self.lambda * v;
            value += 0.5 * self.lambda * v * v;
        }
        Ok(Box::new(FirstOrder { value, gradient }))
    }
}

fn main() -> Result<()> {
    let (n, p, k) = (400, 100, 5);
    let data = simulate::linear(n, p, k, simulate::Correlation::Ar1(0.5), 0.0, 3);
    // Counts rounded from their means: coefficients of 0.3 to 0.6 on columns of variance 1.
    let counts: Vec<f64> = data.target.iter().map(|z| (0.3 * z).exp().round()).collect();
    let objective = Poisson { design: &data.design, counts: &counts, lambda: 1e-4 };

    println!("true support {:?}", data.support);
    println!("{:<8} {:>12} {:>6}  support", "solver", "f", "iter");
    for name in solver::GENERAL {
        let found = solver::by_name(name)?.fit(&objective, &Sparsity::new(k))?;
        println!("{name:<8} {:>12.8} {:>6}  {:?}", found.value, found.iterations, found.support);
    }
    Ok(())
}
