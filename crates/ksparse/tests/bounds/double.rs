//! Double-double arithmetic: a number as the unevaluated sum of two, about 32 digits.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Double {
    pub high: f64,
    pub low: f64,
}

/// The sum of two numbers without an error.
fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let back = high - a;
    Double { high, low: (a - (high - back)) + (b - back) }
}

/// The same for |a| >= |b|.
fn quick(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, t) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let first = quick(s.high, s.low + t.high);
        quick(first.high, first.low + t.low)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let low = self.high.mul_add(other.high, -high);
        quick(high, low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * Self::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        quick(first, second) + Self::from(rest.high / other.high)
    }
}

impl Double {
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::default();
        }
        let guess = Self::from(self.high.sqrt());
        (guess + self / guess) * Self::from(0.5)
    }

    pub fn max(self, other: Self) -> Self {
        if (self - other).high >= 0.0 { self } else { other }
    }

    pub fn to_f64(self) -> f64 {
        self.high + self.low
    }
}

pub fn sum(terms: impl IntoIterator<Item = Double>) -> Double {
    terms.into_iter().fold(Double::default(), |total, term| total + term)
}

#[test]
fn thirty_digits() {
    let third = Double::from(1.0) / Double::from(3.0);
    let one = third + third + third;
    assert!((one - Double::from(1.0)).to_f64().abs() < 1e-31);
    let root = Double::from(2.0).sqrt();
    assert!((root * root - Double::from(2.0)).to_f64().abs() < 1e-31);
    let offset = Double::from(1e16) + Double::from(1e-10) - Double::from(1e16);
    assert!((offset.to_f64() - 1e-10).abs() < 1e-25);
}
