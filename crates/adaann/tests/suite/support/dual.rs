//! Dual numbers: a value with its derivative along one direction, each rule as calculus books have it.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// x + x′ε with ε² = 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual {
    pub(crate) value: f64,
    pub(crate) slope: f64,
}

impl Dual {
    pub(crate) fn new(value: f64, slope: f64) -> Self {
        Self { value, slope }
    }

    /// f(x), from its value and its derivative there.
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self::new(value, derivative * self.slope)
    }

    pub(crate) fn exp(self) -> Self {
        self.chain(self.value.exp(), self.value.exp())
    }

    pub(crate) fn exp_m1(self) -> Self {
        self.chain(self.value.exp_m1(), self.value.exp())
    }

    pub(crate) fn ln(self) -> Self {
        self.chain(self.value.ln(), 1.0 / self.value)
    }

    pub(crate) fn ln_1p(self) -> Self {
        self.chain(self.value.ln_1p(), 1.0 / (1.0 + self.value))
    }

    pub(crate) fn sqrt(self) -> Self {
        self.chain(self.value.sqrt(), 0.5 / self.value.sqrt())
    }

    pub(crate) fn tanh(self) -> Self {
        self.chain(self.value.tanh(), 1.0 - self.value.tanh().powi(2))
    }

    pub(crate) fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }

    pub(crate) fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }

    pub(crate) fn recip(self) -> Self {
        self.chain(self.value.recip(), -self.value.powi(-2))
    }

    pub(crate) fn powi(self, n: i32) -> Self {
        // Without the first case 0⁰ would have the slope 0 · ∞.
        let derivative = if n == 0 { 0.0 } else { f64::from(n) * self.value.powi(n - 1) };
        self.chain(self.value.powi(n), derivative)
    }

    pub(crate) fn powf(self, c: f64) -> Self {
        let derivative = if c == 0.0 { 0.0 } else { c * self.value.powf(c - 1.0) };
        self.chain(self.value.powf(c), derivative)
    }
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self::new(value, 0.0)
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self::new(self.value + b.value, self.slope + b.slope)
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self::new(self.value - b.value, self.slope - b.slope)
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self::new(self.value * b.value, self.slope * b.value + self.value * b.slope)
    }
}

impl Div for Dual {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let slope = (self.slope * b.value - self.value * b.slope) / (b.value * b.value);
        Self::new(self.value / b.value, slope)
    }
}

impl Neg for Dual {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.value, -self.slope)
    }
}
