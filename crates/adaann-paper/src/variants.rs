//! Example 3 as in the authors' notebooks: a floor under p, and annealing inside the components.

use adaann::{
    Batch, Result,
    target::{Evaluation, Target, Weights},
};
use serde::Deserialize;

/// A modification of the registered density.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// log(p + 1e-20) in place of log p.
    Floor,
    /// Tempers the exponent of each component, not their sum: Σ e^(t e_k) in place of (Σ e^e_k)^t.
    Inside,
    /// Both.
    InsideFloor,
}

/// The floor that the notebooks add to the density.
const FLOOR: f64 = 1e-20;

/// −1/(2σ²) and the height of a component of Example 3.
const STEEPNESS: f64 = 16.0;
const HEIGHT: f64 = 8.0 / std::f64::consts::PI;

/// The density of Example 3, altered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Altered {
    pub(crate) mu: f64,
    pub(crate) variant: Variant,
}

impl Altered {
    fn means(&self) -> [[f64; 2]; 2] {
        [[-self.mu - 1.0, self.mu], [self.mu + 1.0, self.mu]]
    }

    /// log p_t and its gradient. With t = 1 this is log p, except for the floor.
    fn tempered(&self, t: f64, z: [f64; 2]) -> (f64, [f64; 2]) {
        let inside = if self.variant == Variant::Floor { 1.0 } else { t };
        let mut p = if self.variant == Variant::Inside { 0.0 } else { FLOOR };
        let mut slope = [0.0; 2];
        // Shift by the larger exponent, so that p does not underflow far from the modes.
        let exponent =
            |m: [f64; 2]| -STEEPNESS * inside * ((z[0] - m[0]).powi(2) + (z[1] - m[1]).powi(2));
        let means = self.means();
        let shift = if self.variant == Variant::Inside {
            exponent(means[0]).max(exponent(means[1]))
        } else {
            0.0
        };
        for m in means {
            let part = HEIGHT * (exponent(m) - shift).exp();
            p += part;
            for d in 0..2 {
                slope[d] -= part * 2.0 * STEEPNESS * inside * (z[d] - m[d]);
            }
        }
        let outside = if self.variant == Variant::Floor { t } else { 1.0 };
        (outside * (p.ln() + shift), slope.map(|g| outside * g / p))
    }
}

impl Target for Altered {
    fn dim(&self) -> usize {
        2
    }

    /// On the power path the weight of the likelihood is t. The draws for the schedule need no gradient and get log p
    /// itself.
    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let t = gradient.map_or(1.0, |weights| weights.likelihood);
        for i in 0..points.len() {
            let z = [points.row(0)[i], points.row(1)[i]];
            let (log_p, slope) = self.tempered(t, z);
            out.log_prior[i] = 0.0;
            out.log_likelihood[i] = log_p / t;
            for d in 0..2 {
                out.gradient.row_mut(d)[i] = slope[d];
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_the_tempered_density() {
        for variant in [Variant::Floor, Variant::Inside, Variant::InsideFloor] {
            let density = Altered { mu: 0.5, variant };
            for (t, z) in [(0.03, [0.4, -0.3]), (0.5, [-1.2, 0.9]), (1.0, [1.4, 0.6])] {
                let (_, slope) = density.tempered(t, z);
                for d in 0..2 {
                    let h = 1e-6;
                    let at = |x: f64| {
                        let mut z = z;
                        z[d] += x;
                        density.tempered(t, z).0
                    };
                    let difference = (at(h) - at(-h)) / (2.0 * h);
                    assert!((difference - slope[d]).abs() < 1e-5 * (1.0 + slope[d].abs()));
                }
            }
        }
    }

    /// At t = 1, and without the floor, the density is the registered one.
    #[test]
    fn at_one_it_is_example_3() {
        let problem = adaann::registry::find("mixture2d").unwrap().build(&[]).unwrap();
        let z = Batch::from_points(2, &[[0.3, 0.2], [-1.4, 0.5], [9.0, 9.0]]);
        let mut exact = Evaluation::zeros(2, 3);
        problem.target.evaluate(&z, None, &mut exact).unwrap();
        let mut own = Evaluation::zeros(2, 3);
        Altered { mu: 0.5, variant: Variant::Inside }.evaluate(&z, None, &mut own).unwrap();
        for i in 0..3 {
            let (a, b) = (exact.log_likelihood[i], own.log_likelihood[i]);
            assert!((a - b).abs() < 1e-10 * a.abs().max(1.0), "{a} {b}");
        }
        let floor = Altered { mu: 0.5, variant: Variant::Floor }.tempered(1.0, [9.0, 9.0]).0;
        assert!((floor - FLOOR.ln()).abs() < 1e-12);
    }
}
