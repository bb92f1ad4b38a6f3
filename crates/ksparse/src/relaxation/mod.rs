//! The convex problem behind the dual bound: the perspective relaxation.
//!
//! The largest D(a) equals
//!
//! ```text
//! min over w of  R(w) = sum_i c_i l_i(x_i'w) + lambda N(w),     N half the squared k-support norm,
//! ```
//!
//! the convex problem in which a coordinate may be "in" by a share z_j between 0 and 1 at the price `w_j^2 / z_j`
//! instead of `w_j^2`. So the best bound is found by minimising R and taking the derivatives of the losses there as the
//! dual vector. Argyriou, Foygel, Srebro 2012 (the norm); Frangioni, Gentile 2006 (perspectives).

pub(crate) mod part;
pub(crate) mod solve;
pub(crate) mod support_norm;
