//! GraSP, FoBa and the variants of S3, iterate by iterate, against plain loops written from the papers.

use super::{at_most, largest, watched};
use ksparse::loss::{Huber, Logistic, Loss, Squared, SquaredHinge};
use ksparse::simulate::{Correlation, linear, logistic};
use ksparse::solver::{Debias, Foba, ForwardRule, Grahtp, Grasp, Step};
use ksparse::{Risk, SparseRef, design::Dense};

const N: usize = 40;
const P: usize = 12;
const K: usize = 3;
const LAMBDA: f64 = 0.1;

/// A mean loss with a ridge, by loops over rows and columns.
struct Plain {
    rows: Vec<Vec<f64>>,
    y: Vec<f64>,
    loss: Box<dyn Loss>,
}

impl Plain {
    fn local(&self, x: &[f64]) -> impl Iterator<Item = (&Vec<f64>, ksparse::loss::Local)> {
        let z = self.rows.iter().map(|row| row.iter().zip(x).map(|(u, x)| u * x).sum::<f64>()).collect::<Vec<_>>();
        self.rows.iter().zip(z).zip(&self.y).map(|((row, z), &y)| (row, self.loss.at(z, y)))
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.local(x).map(|(_, local)| local.value).sum::<f64>() / N as f64
            + 0.5 * LAMBDA * x.iter().map(|x| x * x).sum::<f64>()
    }

    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut g: Vec<f64> = x.iter().map(|x| LAMBDA * x).collect();
        for (row, local) in self.local(x) {
            g.iter_mut().zip(row).for_each(|(g, u)| *g += local.derivative * u / N as f64);
        }
        g
    }

    /// A Newton direction on some coordinates: the system by Gaussian elimination.
    fn newton(&self, x: &[f64], support: &[usize]) -> Vec<f64> {
        let (k, g) = (support.len(), self.gradient(x));
        let mut a = vec![vec![0.0; k + 1]; k];
        for (row, local) in self.local(x) {
            for (r, &i) in support.iter().enumerate() {
                for (c, &j) in support.iter().enumerate() {
                    a[r][c] += local.curvature * row[i] * row[j] / N as f64;
                }
            }
        }
        for (r, &i) in support.iter().enumerate() {
            a[r][r] += LAMBDA;
            a[r][k] = -g[i];
        }
        for pivot in 0..k {
            let line = a[pivot].clone();
            for (r, row) in a.iter_mut().enumerate().filter(|(r, _)| *r != pivot) {
                let factor = row[pivot] / line[pivot];
                row.iter_mut().zip(&line).for_each(|(v, l)| *v -= factor * l);
                assert!(r < k);
            }
        }
        let mut direction = vec![0.0; P];
        support.iter().enumerate().for_each(|(r, &j)| direction[j] = a[r][k] / a[r][r]);
        direction
    }

    /// The minimum over some coordinates, by damped Newton steps.
    fn minimise(&self, support: &[usize]) -> Vec<f64> {
        let mut x = vec![0.0; P];
        for _ in 0..200 {
            let direction = self.newton(&x, support);
            let moved = |t: f64| x.iter().zip(&direction).map(|(x, d)| x + t * d).collect::<Vec<_>>();
            let before = self.value(&x);
            let Some(t) = (0..40).map(|i| 0.5f64.powi(i)).find(|&t| self.value(&moved(t)) < before) else { break };
            x = moved(t);
        }
        x
    }

    fn risk(&self) -> Risk<'static> {
        let rows: Vec<f64> = self.rows.iter().flatten().copied().collect();
        let design = Dense::from_rows(N, P, &rows).unwrap();
        let loss = self.loss_again();
        Risk::new(design, self.y.clone(), loss).unwrap().with_ridge(LAMBDA).unwrap()
    }

    fn loss_again(&self) -> Box<dyn Loss> {
        ksparse::loss::by_name(self.loss.name()).unwrap()
    }
}

fn problems() -> Vec<Plain> {
    let (numbers, labels) =
        (linear(N, P, K, Correlation::Ar1(0.6), 0.5, 2), logistic(N, P, K, Correlation::Ar1(0.6), 2));
    let losses: [Box<dyn Loss>; 4] = [
        Box::new(Squared::default()),
        Box::new(Logistic::default()),
        Box::new(SquaredHinge),
        Box::new(Huber::default()),
    ];
    let plain = |loss: Box<dyn Loss>| {
        let data = if loss.name() == "squared" { &numbers } else { &labels };
        let rows = (0..N).map(|i| (0..P).map(|j| data.design.column(j)[i]).collect()).collect();
        Plain { rows, y: data.target.clone(), loss }
    };
    losses.into_iter().map(plain).collect()
}

fn cut(x: &[f64], k: usize) -> Vec<f64> {
    let mut kept = vec![0.0; P];
    largest(x, k).into_iter().filter(|&j| x[j] != 0.0).for_each(|j| kept[j] = x[j]);
    kept
}

fn support(x: &[f64]) -> Vec<usize> {
    (0..P).filter(|&j| x[j] != 0.0).collect()
}

fn assert_near(what: &str, found: SparseRef, expected: &[f64], tolerance: f64) {
    for (j, (a, b)) in found.to_dense(P).iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{what}, coordinate {j}: {a} against {b}");
    }
}

#[test]
fn grasp_takes_the_steps_of_its_paper() {
    for plain in problems() {
        for debias in [false, true] {
            let solver = Grasp { debias, limits: at_most(6), ..Grasp::default() };
            let (_, iterates) = watched(&solver, &plain.risk(), K, None);
            let mut x = vec![0.0; P];
            for (t, iterate) in iterates.iter().enumerate() {
                let mut merged = largest(&plain.gradient(&x), 2 * K);
                merged.extend(support(&x));
                merged.sort_unstable();
                merged.dedup();
                x = cut(&plain.minimise(&merged), K);
                if debias {
                    x = plain.minimise(&support(&x));
                }
                let what = format!("{}, debias {debias}, iteration {t}", plain.loss.name());
                assert_near(&what, iterate.as_sparse(), &x, 1e-6);
            }
            assert!(!iterates.is_empty());
        }
    }
}

#[test]
fn the_variants_of_s3_take_the_steps_of_the_paper() {
    for plain in problems() {
        let risk = plain.risk();
        let eta = 0.9 / ksparse::theory::risk_curvature(&risk, 2 * K).unwrap().smooth;
        for debias in [Debias::Exact, Debias::NewtonStep, Debias::GradientStep, Debias::Nothing] {
            // Where rows leave the curved piece of their loss a whole Newton step may raise f, and is shortened here.
            if plain.loss.name() == "huber" && debias == Debias::NewtonStep {
                continue;
            }
            let solver = Grahtp { step: Step::Fixed(eta), debias, limits: at_most(8), ..Grahtp::default() };
            let (_, iterates) = watched(&solver, &risk, K, None);
            let mut x = vec![0.0; P];
            for (t, iterate) in iterates.iter().enumerate() {
                let moved: Vec<f64> = x.iter().zip(plain.gradient(&x)).map(|(x, g)| x - eta * g).collect();
                let kept = cut(&moved, K);
                let inside = support(&kept);
                x = match debias {
                    Debias::Exact => plain.minimise(&inside),
                    Debias::NewtonStep => {
                        let direction = plain.newton(&kept, &inside);
                        kept.iter().zip(direction).map(|(x, d)| x + d).collect()
                    }
                    Debias::GradientStep => {
                        let g = plain.gradient(&kept);
                        (0..P).map(|j| if inside.contains(&j) { kept[j] - eta * g[j] } else { 0.0 }).collect()
                    }
                    Debias::Nothing => kept,
                };
                let what = format!("{}, {debias:?}, iteration {t}", plain.loss.name());
                assert_near(&what, iterate.as_sparse(), &x, 1e-6);
            }
            assert!(iterates.len() >= 2);
        }
    }
}

/// FoBa on its way to k columns, from the papers: forward by a rule, then backward while a column is cheap.
fn foba(plain: &Plain, rule: ForwardRule, steps: usize) -> Vec<Vec<f64>> {
    let (mut inside, mut x): (Vec<usize>, Vec<f64>) = (Vec::new(), vec![0.0; P]);
    let (mut decrease, mut out) = ([0.0; P + 1], Vec::new());
    for _ in 0..steps {
        let outside: Vec<usize> = (0..P).filter(|j| !inside.contains(j)).collect();
        let g = plain.gradient(&x);
        // How far f falls along one coordinate, by a fine search between ends that hold the minimum.
        let fall = |j: usize| {
            let along = |t: f64| {
                let mut moved = x.clone();
                moved[j] += t;
                plain.value(&moved)
            };
            let (mut low, mut high) = (-50.0, 50.0);
            for _ in 0..200 {
                let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if along(a) < along(b) { high = b } else { low = a }
            }
            plain.value(&x) - along(0.5 * (low + high))
        };
        let score = |j: usize| if rule == ForwardRule::Gradient { g[j].abs() } else { fall(j) };
        let winner = outside.iter().copied().reduce(|a, b| if score(b) > score(a) { b } else { a }).unwrap();
        let before = plain.value(&x);
        inside.push(winner);
        x = plain.minimise(&inside);
        decrease[inside.len()] = before - plain.value(&x);
        loop {
            let rise = |j: &usize| {
                let mut without = x.clone();
                without[*j] = 0.0;
                plain.value(&without) - plain.value(&x)
            };
            let cheapest = *inside.iter().min_by(|a, b| rise(a).total_cmp(&rise(b))).unwrap();
            if rise(&cheapest) >= 0.5 * decrease[inside.len()] {
                break;
            }
            inside.retain(|j| *j != cheapest);
            x = plain.minimise(&inside);
        }
        out.push(x.clone());
    }
    out
}

#[test]
fn foba_takes_the_steps_of_its_papers() {
    let mut orders = Vec::new();
    for plain in problems() {
        for forward in [ForwardRule::Gradient, ForwardRule::Decrease] {
            // Far from k, where the papers, which have none, and this library agree.
            let solver = Foba { forward, limits: at_most(5), ..Foba::default() };
            let (_, iterates) = watched(&solver, &plain.risk(), P, None);
            let expected = foba(&plain, forward, 5);
            assert_eq!(iterates.len(), expected.len());
            for (t, (iterate, expected)) in iterates.iter().zip(&expected).enumerate() {
                let what = format!("{}, {forward:?}, iteration {t}", plain.loss.name());
                assert_near(&what, iterate.as_sparse(), expected, 1e-6);
            }
            orders.push(expected);
        }
    }
    assert!(orders.chunks(2).any(|pair| pair[0] != pair[1]), "the two rules are never apart: too easy");
}
