//! Models with at most k non-zero coefficients, found directly under that constraint.
//!
//! # The problem
//!
//! ```text
//! minimise  f(x)   subject to   ||x||_0 <= k,      f: R^p -> R smooth and convex
//! ```
//!
//! `||x||_0` counts the non-zero entries. Some coordinates may be *free*: never thresholded and not counted in k (an
//! intercept, variables that must be in). For data, f is the empirical risk of a linear predictor, in **one
//! normalisation throughout**:
//!
//! ```text
//! f(w) = ( sum_i c_i l(x_i'w + b, y_i) ) / ( sum_i c_i )  +  (lambda / 2) ||w||^2
//! ```
//!
//! with rows x_i, targets y_i, sample weights c_i (1 by default), a loss l and a ridge lambda (0 by default). The
//! intercept b, where there is one, is the last coordinate (index p), free and unpenalised. Steps, tolerances and
//! reported values all refer to this f: a mean, not a sum.
//!
//! The problem is NP-hard: a solver returns the best point its moves lead to, without a proof that there is no better
//! one. With a ridge, the dual of the problem bounds how far from the best that point can be ([`certificate`]), and
//! moderate problems can be solved to proven optimality ([`Exact`](solver::Exact)). The theorems under which a method
//! recovers a sparse target are in [`theory`], with their constants computed from data.
//!
//! # From data to predictions
//!
//! ```
//! use ksparse::{Auto, Risk, Solver, Sparsity, loss::Squared, simulate};
//!
//! // 200 rows, 1000 correlated columns, 10 true coefficients, noise.
//! let data = simulate::linear(200, 1000, 10, simulate::Correlation::Ar1(0.9), 0.5, 1);
//!
//! let risk = Risk::new(&data.design, &data.target, Squared::default())?.with_ridge(1e-4)?.with_intercept();
//! let solution = Auto::default().fit(&risk, &Sparsity::new(10))?;
//! println!("f = {}, {}", solution.value, solution.status);
//!
//! let model = risk.model(&solution); // the intercept apart from the coefficients
//! assert_eq!(model.support, data.support);
//! let predictions = model.predict(&data.design)?;
//! assert_eq!(predictions.len(), 200);
//! # Ok::<(), ksparse::Error>(())
//! ```
//!
//! Data of one's own come in as [`Dense`](design::Dense) or [`Sparse`](design::Sparse), owned or borrowed, in f64 or
//! f32; a function of one's own comes in as a [`Custom`] closure or an [`Objective`].
//!
//! # The modules
//!
//! ```text
//! Design + Loss -> Objective -> Solver -> Solution -> LinearModel
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`design`] | the data, seen through products: dense, sparse, standardised, row subsets |
//! | [`loss`] | numbers: squared, robust, Poisson, gamma; labels: logistic, squared hinge, Huber, hinge; conjugates |
//! | [`objective`] | what is minimised: [`Risk`], [`Custom`], the trait [`Objective`]; [`LinearModel`] |
//! | [`sparsity`] | k, free coordinates, groups, the k largest with deterministic ties |
//! | [`restricted`] | minimising on a fixed support: Newton, conjugate gradients, L-BFGS |
//! | [`solver`] | the algorithms, [`Solution`], [`Status`], limits and progress |
//! | [`path`] | all k of a sequence, each started from its neighbours; the same for several ridges |
//! | [`select`] | the choice of k: information criteria, cross-validation |
//! | [`certificate`] | how far a fit can be from the best of all, proven |
//! | [`dual`] | the dual of a risk with a ridge: lower bounds on the k-sparse optimum |
//! | [`graphical`] | sparse precision matrices: networks of k edges, graphical lasso, discriminant analysis |
//! | [`theory`] | constants and bounds of the theorems |
//! | [`simulate`] | the data models of the papers, seeded |
//!
//! # Which solver
//!
//! | for | take | it |
//! |---|---|---|
//! | an answer | [`Auto`] | starts like GraHTP, goes on with moves that need second derivatives where affordable |
//! | the published method, few steps | [`Grahtp`](solver::Grahtp) | minimises on the k largest of a gradient step |
//! | very cheap iterations, many of them | [`Grahtp::fast`](solver::Grahtp::fast) | the same, not minimised on them |
//! | least squares by the textbook | [`Grahtp::htp`], [`Grahtp::iht`] | HTP and IHT, the step on the sum of squares |
//! | another way through the supports | [`Grasp`](solver::Grasp) | minimises on up to 3k coordinates, then cuts to k |
//! | an order of importance | [`Fbs`](solver::Fbs) | adds one coordinate at a time and never drops one |
//! | the same with second thoughts | [`Foba`](solver::Foba) | drops coordinates again that have become cheap |
//! | the hinge loss; a bound with every step | [`Diht`], [`Sdiht`] | climbs the dual, at once or by blocks; a ridge |
//! | steps on few rows at a time | [`Svrght`](solver::Svrght) | stochastic gradients of reduced variance, cut to k |
//! | rows in shards, files larger than memory | [`WorkingSet`](solver::WorkingSet) | takes few evaluations of f |
//! | a proof of optimality | [`Exact`](solver::Exact) | branch and bound: hundreds of columns, k up to 15 |
//!
//! [`Grahtp::htp`]: solver::Grahtp::htp
//! [`Grahtp::iht`]: solver::Grahtp::iht
//! [`Diht`]: solver::Diht
//! [`Sdiht`]: solver::Sdiht
//!
//! Down to FoBa every solver takes every smooth objective; the others need a [`Risk`]. All take a start
//! ([`Solver::fit_from`]), free coordinates ([`Sparsity::keep`]) and a watcher that may end the run
//! ([`Solver::solve`]). The example `demo` runs them side by side.
//!
//! # What a status means
//!
//! A run that was not finished is no error: the best point so far comes back, and [`Status`] says why it is the last.
//!
//! | status | meaning | to do |
//! |---|---|---|
//! | `SupportStable`, `Tolerance`, `Complete` | the method's own end | nothing |
//! | `Optimal` | proven: no k-sparse point is better, to the tolerance | nothing |
//! | `Unattained` | f falls for ever on this support (separable classes) | add a ridge |
//! | `Cycled`, `Diverged` | a fixed step was too long | the adaptive step (the default), or a shorter one |
//! | `MaxIterations`, `TimeLimit`, `Stopped` | a limit, or the watcher | start again from the solution |
//!
//! [`Error`] is for what cannot be answered at all: shapes that disagree, numbers that are not finite, options out of
//! range.
//!
//! # Threads and determinism
//!
//! The products run on rayon's current pool; [`Threads`] fixes its size. Work is split by output entry, never by
//! summand, ties go to the smaller index, and random numbers are seeded: on one machine the same call gives the same
//! bits, **whatever the number of threads**. The clock is the exception: a time limit may end a run anywhere, and
//! `seconds` are what they are. Processors with other vector instructions may differ in the last bits. Sums are in f64,
//! also over f32 storage.
//!
//! # Features
//!
//! `serde` (off by default) derives `Serialize` and `Deserialize` for what comes out: [`Solution`], [`LinearModel`],
//! paths, grids, folds and tables of cross-validation.
//!
//! # Papers
//!
//! * GraHTP, FGraHTP: X.-T. Yuan, P. Li, T. Zhang, "Gradient Hard Thresholding Pursuit for Sparsity-Constrained
//!   Optimization", ICML 2014; the longer text is arXiv 1311.5750.
//! * HTP: S. Foucart, "Hard Thresholding Pursuit: An Algorithm for Compressive Sensing", SIAM Journal on Numerical
//!   Analysis 49, 2011.
//! * IHT: T. Blumensath, M. Davies, "Iterative hard thresholding for compressed sensing", Applied and Computational
//!   Harmonic Analysis 27, 2009.
//! * GraSP: S. Bahmani, B. Raj, P. Boufounos, "Greedy Sparsity-Constrained Optimization", JMLR 14, 2013.
//! * FBS: X. Yuan, S. Yan, "Forward Basis Selection for Pursuing Sparse Representations over a Dictionary", IEEE TPAMI
//!   35, 2013.
//! * The dual and its bound: B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding: From
//!   Non-convex Sparse Minimization to Non-smooth Concave Maximization", ICML 2017.
//! * The relaxation behind it: A. Argyriou, R. Foygel, N. Srebro, "Sparse Prediction with the k-Support Norm", NIPS
//!   2012; A. Frangioni, C. Gentile, "Perspective cuts for a class of convex 0-1 mixed integer programs", Mathematical
//!   Programming 106, 2006.
//! * FoBa: T. Zhang, "Adaptive Forward-Backward Greedy Algorithm for Learning Sparse Representations", NeurIPS 2008;
//!   for general losses J. Liu, J. Ye, R. Fujimaki, "Forward-Backward Greedy Algorithms for General Convex Smooth
//!   Functions over A Cardinality Constraint", ICML 2014.
//! * DIHT, SDIHT: B. Liu, X.-T. Yuan, L. Wang, Q. Liu, D. Metaxas, "Dual Iterative Hard Thresholding: From Non-convex
//!   Sparse Minimization to Non-smooth Concave Maximization", ICML 2017.
//! * SVR-GHT: X. Li, R. Arora, H. Liu, J. Haupt, T. Zhao, "Nonconvex Sparse Learning via Stochastic Optimization with
//!   Progressive Variance Reduction", arXiv 1605.02711, 2016.
//!
//! Where an implementation differs from its paper, the head of its file says how.

mod cancel;
pub mod certificate;
pub mod design;
pub mod dual;
mod error;
pub mod graphical;
mod kernels;
mod linalg;
pub mod loss;
pub mod objective;
pub mod path;
mod relaxation;
pub mod restricted;
pub mod select;
#[cfg(feature = "simulate")]
pub mod simulate;
pub mod solver;
pub mod sparsity;
pub mod theory;
mod threads;

pub use cancel::Cancel;
pub use error::{Cause, Error, Remedy, Result};
pub use linalg::MatrixMut;
pub use objective::{Custom, LinearModel, Objective, Risk};
pub use path::{Grid, Path};
pub use solver::{Auto, Progress, Solution, Solver, Status};
pub use sparsity::{SparseRef, Sparsity};
pub use threads::Threads;

// The README's examples are tests too, and those of the page for newcomers.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/start/rust.md")]
struct Start;
