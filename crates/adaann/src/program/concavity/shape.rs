//! The known properties of a value as a function of the parameters, and their arithmetic.

use crate::target::Support;

/// The known properties of a value as a function of the parameters. Unknown flags are false.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// Whether it is independent of the parameters. It may still differ between rows.
    pub(super) is_constant: bool,
    pub(super) is_convex: bool,
    pub(super) is_concave: bool,
    /// Whether it is positive with a convex logarithm. It is then convex itself.
    pub(super) is_log_convex: bool,
    /// Whether it is nonnegative with a concave logarithm.
    pub(super) is_log_concave: bool,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Shape {
    /// Nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        is_constant: false,
        is_convex: false,
        is_concave: false,
        is_log_convex: false,
        is_log_concave: false,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// The logarithm of a probability that is log-concave.
    pub(super) const LOG_PROBABILITY: Self = Self { is_concave: true, high: 0.0, ..Self::UNKNOWN };

    /// A number that does not depend on parameters, between two bounds.
    pub(crate) fn number(low: f64, high: f64) -> Self {
        Self { is_constant: true, is_convex: true, is_concave: true, ..Self::between(low, high) }
            .with_logs()
    }

    /// A parameter itself.
    pub(crate) fn line([low, high]: [f64; 2]) -> Self {
        Self { is_convex: true, is_concave: true, ..Self::between(low, high) }.with_logs()
    }

    /// A parameter with this support, as a function of itself or of its value on the whole line.
    pub(crate) fn of_parameter(support: &Support, on_the_line: bool) -> Self {
        let unknown = Self::between(support.bounds()[0], support.bounds()[1]);
        match *support {
            _ if !on_the_line => Self::line(support.bounds()),
            Support::Real => Self::line(support.bounds()),
            // b + eᶻ is convex; with b = 0 its logarithm is z, which is affine.
            Support::Above(bound) => Self {
                is_convex: true,
                is_log_convex: bound >= 0.0,
                is_log_concave: bound == 0.0,
                ..unknown
            },
            Support::Below(_) => Self { is_concave: true, ..unknown },
            // 1/(1 + e⁻ᶻ) has a concave logarithm.
            Support::Between(low, _) => Self { is_log_concave: low == 0.0, ..unknown },
            _ => unknown,
        }
    }

    /// Whether log|J| of the map onto a support is known to be a concave function on the line.
    pub(crate) fn has_concave_jacobian(support: &Support) -> bool {
        use Support::{Above, Below, Between, Real};
        matches!(support, Real | Above(_) | Below(_) | Between(..))
    }

    /// The shape of a value that is one of the two.
    pub(crate) fn either(self, other: Self) -> Self {
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_convex: self.is_convex && other.is_convex,
            is_concave: self.is_concave && other.is_concave,
            is_log_convex: self.is_log_convex && other.is_log_convex,
            is_log_concave: self.is_log_concave && other.is_log_concave,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    pub(crate) fn is_concave(self) -> bool {
        self.is_concave
    }

    pub(super) fn between(low: f64, high: f64) -> Self {
        let is_interval = low <= high;
        let (low, high) =
            if is_interval { (low, high) } else { (f64::NEG_INFINITY, f64::INFINITY) };
        Self { low, high, ..Self::UNKNOWN }
    }

    /// Completes the flags: those of the logarithm from the other flags and the interval, and vice
    /// versa.
    pub(super) fn with_logs(mut self) -> Self {
        self.is_convex |= self.is_constant;
        self.is_concave |= self.is_constant;
        self.is_log_concave |= self.is_concave && self.low >= 0.0;
        self.is_log_convex |= self.is_constant && self.low > 0.0;
        self.is_convex |= self.is_log_convex;
        self
    }

    pub(super) fn is_affine(self) -> bool {
        self.is_convex && self.is_concave
    }

    /// −x
    pub(super) fn negated(self) -> Self {
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_concave,
            is_concave: self.is_convex,
            ..Self::between(-self.high, -self.low)
        }
    }

    /// c·x for a number c.
    pub(super) fn scaled(self, by: Self) -> Self {
        let interval = product(by, self);
        let shape = if by.low >= 0.0 {
            self
        } else if by.high <= 0.0 {
            self.negated()
        } else if self.is_affine() {
            // Even if its sign differs between rows, a scaled affine value stays affine.
            Self { is_log_convex: false, is_log_concave: false, ..self }
        } else {
            Self::UNKNOWN
        };
        let is_positive = by.low > 0.0;
        Self {
            is_log_convex: shape.is_log_convex && is_positive,
            is_log_concave: shape.is_log_concave && by.low >= 0.0,
            is_constant: self.is_constant,
            low: interval.low,
            high: interval.high,
            ..shape
        }
        .with_logs()
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_convex: self.is_convex && other.is_convex,
            is_concave: self.is_concave && other.is_concave,
            is_log_convex: self.is_log_convex && other.is_log_convex,
            ..Self::between(self.low + other.low, self.high + other.high)
        }
        .with_logs()
    }

    pub(super) fn squared(self) -> Self {
        let (a, b) = (self.low * self.low, self.high * self.high);
        let low = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { a.min(b) };
        let grows = self.is_convex && self.low >= 0.0 || self.is_concave && self.high <= 0.0;
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_affine() || grows,
            is_log_convex: self.is_log_convex,
            is_log_concave: self.is_log_concave,
            ..Self::between(low, a.max(b))
        }
        .with_logs()
    }

    pub(super) fn times(self, other: Self) -> Self {
        if self.is_constant {
            return other.scaled(self);
        }
        if other.is_constant {
            return self.scaled(other);
        }
        Self {
            is_log_convex: self.is_log_convex && other.is_log_convex,
            is_log_concave: self.is_log_concave && other.is_log_concave,
            ..product(self, other)
        }
        .with_logs()
    }

    /// 1/x
    pub(super) fn inverse(self) -> Self {
        let interval = match () {
            () if self.low > 0.0 || self.high < 0.0 => {
                Self::between(self.high.recip(), self.low.recip())
            }
            () if self.low >= 0.0 => Self::between(self.high.recip().max(0.0), f64::INFINITY),
            () => Self::UNKNOWN,
        };
        if self.is_constant {
            return Self::number(interval.low, interval.high);
        }
        if self.low < 0.0 {
            return Self::UNKNOWN;
        }
        Self {
            is_convex: self.is_concave,
            is_log_convex: self.is_log_concave,
            is_log_concave: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    pub(super) fn exp(self) -> Self {
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_convex,
            is_log_convex: self.is_convex,
            is_log_concave: self.is_concave,
            ..Self::between(self.low.exp(), self.high.exp())
        }
        .with_logs()
    }

    /// An increasing concave function, such as √x, with its interval.
    pub(super) fn growing_concave(self, low: f64, high: f64) -> Self {
        let interval = Self::between(low, high);
        Self { is_constant: self.is_constant, is_concave: self.is_concave, ..interval }.with_logs()
    }

    pub(super) fn ln(self) -> Self {
        let interval = Self::between(self.low.max(0.0).ln(), self.high.max(0.0).ln());
        Self {
            is_constant: self.is_constant,
            is_concave: self.is_concave || self.is_log_concave,
            is_convex: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    /// ln(1 + x)
    pub(super) fn ln_1p(self) -> Self {
        let interval = Self::between(self.low.max(-1.0).ln_1p(), self.high.max(-1.0).ln_1p());
        Self {
            is_constant: self.is_constant,
            is_concave: self.is_concave,
            is_convex: self.is_log_convex,
            ..interval
        }
        .with_logs()
    }

    /// The larger of two. If one never exceeds the other, up to the next number, it is the other
    /// one.
    pub(super) fn max(self, other: Self) -> Self {
        for (one, another) in [(self, other), (other, self)] {
            let next = one.low.next_up().max(one.low + f64::MIN_POSITIVE);
            if one.low.is_finite() && another.high <= next {
                return one;
            }
        }
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_convex: self.is_convex && other.is_convex,
            is_log_convex: self.is_log_convex && other.is_log_convex,
            ..Self::between(self.low.max(other.low), self.high.max(other.high))
        }
        .with_logs()
    }

    /// The smaller of two, in the same way.
    pub(super) fn min(self, other: Self) -> Self {
        for (one, another) in [(self, other), (other, self)] {
            let next = one.high.next_down().min(one.high - f64::MIN_POSITIVE);
            if another.low >= next {
                return one;
            }
        }
        Self {
            is_constant: self.is_constant && other.is_constant,
            is_concave: self.is_concave && other.is_concave,
            ..Self::between(self.low.min(other.low), self.high.min(other.high))
        }
        .with_logs()
    }

    pub(super) fn abs(self) -> Self {
        if self.low >= 0.0 {
            return self;
        }
        if self.high <= 0.0 {
            return self.negated().with_logs();
        }
        Self {
            is_constant: self.is_constant,
            is_convex: self.is_affine(),
            ..Self::between(0.0, self.high.max(-self.low))
        }
        .with_logs()
    }
}

/// The interval of a product; 0·∞ is 0, since no number is infinite.
fn product(a: Shape, b: Shape) -> Shape {
    let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let corners =
        [times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)];
    let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
    let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Shape::between(low, high)
}
