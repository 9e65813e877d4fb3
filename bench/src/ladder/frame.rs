//! Random frames: the location, scale and rotation of a target.

use super::{
    components::{Component, Mixture, Shape},
    matrices::with_transpose,
};
use crate::dice::Dice;
use adaann::{Expr, registry::Known};

/// The standard deviation of the normal shift of each coordinate, in units of the target.
const SHIFT: f64 = 3.0;

/// 10^U(−1, 1.5)
fn scale(dice: &mut Dice) -> f64 {
    10_f64.powf(dice.uniform(-1.0, 1.5))
}

/// x_k = shift_k + scale_k y_order(k): a map for targets with only known moments of coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    order: Vec<usize>,
    /// With signs.
    pub(super) scale: Vec<f64>,
    pub(super) shift: Vec<f64>,
}

impl Frame {
    /// The frame of a target, determined by a seed.
    pub(super) fn new(target: &str, dim: usize, seed: u64) -> Self {
        let mut dice = Dice::new(target, seed);
        let order = dice.order(dim);
        let scale: Vec<f64> =
            (0..dim).map(|_| scale(&mut dice) * dice.one_of(&[-1.0, 1.0])).collect();
        let shift = scale.iter().map(|scale| SHIFT * scale * dice.normal()).collect();
        Self { order, scale, shift }
    }

    /// y at a recorded x.
    pub(super) fn inverse<'g>(&self, x: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let mut y = x.to_vec();
        for (k, at) in self.order.iter().enumerate() {
            y[*at] = (x[k] - self.shift[k]) * (1.0 / self.scale[k]);
        }
        y
    }

    /// log |dx/dy|
    pub(super) fn log_volume(&self) -> f64 {
        self.scale.iter().map(|scale| scale.abs().ln()).sum()
    }

    /// Evidence, means and standard deviations of x from those of y.
    pub(super) fn known(&self, of: &Known) -> Known {
        let rows = || self.order.iter().zip(&self.scale).zip(&self.shift);
        let means =
            |y: &Vec<f64>| rows().map(|((&at, scale), shift)| shift + scale * y[at]).collect();
        let sds = |y: &Vec<f64>| rows().map(|((&at, scale), _)| scale.abs() * y[at]).collect();
        Known {
            log_z: of.log_z,
            mean: of.mean.as_ref().map(means),
            sd: of.sd.as_ref().map(sds),
            ..Known::default()
        }
    }
}

impl Mixture {
    /// The mixture, scaled, rotated and shifted by the seed, with the same integral. Skewed components keep their axes,
    /// because these belong to the coordinates.
    pub(super) fn framed(&self, target: &str, seed: u64) -> Self {
        let dim = self.components[0].mean.len();
        let mut dice = Dice::new(target, seed);
        let scale = scale(&mut dice);
        let shift: Vec<f64> = (0..dim).map(|_| SHIFT * scale * dice.normal()).collect();
        let is_turned = !self.components.iter().any(|c| matches!(c.shape, Shape::Skewed(_)));
        let rotation = is_turned.then(|| dice.rotation(dim));
        let turned = |x: &[f64]| -> Vec<f64> {
            let Some(rotation) = &rotation else { return x.iter().map(|x| scale * x).collect() };
            let dot = |row: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            rotation.chunks_exact(dim).map(|row| scale * dot(row)).collect()
        };
        let component = |of: &Component| {
            let mean = turned(&of.mean).iter().zip(&shift).map(|(x, shift)| x + shift).collect();
            // Columns of the factor are directions. After rotation they are a root of the covariance, but not
            // triangular.
            let mut root = vec![0.0; dim * dim];
            for column in 0..dim {
                let direction: Vec<f64> = (0..dim).map(|d| of.factor[d * dim + column]).collect();
                for (d, x) in turned(&direction).into_iter().enumerate() {
                    root[d * dim + column] = x;
                }
            }
            match rotation {
                None => Component { mean, factor: root, ..of.clone() },
                Some(_) => Component::new(of.weight, mean, &with_transpose(dim, &root), of.shape),
            }
        };
        Self { components: self.components.iter().map(component).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::{
        Batch,
        target::{Evaluation, Target},
    };

    /// The log density at the mean of a component is that of the original minus d log scale.
    #[test]
    fn a_framed_mixture_keeps_its_integral() {
        for shape in [Shape::Normal, Shape::Skewed(4.0), Shape::Student(5.0)] {
            let one = Component::new(0.3, vec![-1.0, 0.5], &[0.5, 0.1, 0.1, 0.3], shape);
            let other = Component::new(0.7, vec![1.0, -0.5], &[1.0, -0.4, -0.4, 2.0], shape);
            let mixture = Mixture { components: vec![one, other], log_z: 1.5, side: None };
            let framed = mixture.framed("test", 3);
            assert_eq!(framed.components, mixture.framed("test", 3).components);
            assert_ne!(framed.components, mixture.framed("test", 4).components);
            let height = |mixture: &Mixture, at: usize| {
                let mut out = Evaluation::zeros(2, 1);
                let points = Batch::from_points(2, &[&mixture.components[at].mean]);
                mixture.evaluate(&points, None, &mut out).unwrap();
                out.log_likelihood[0]
            };
            let log_det = |mixture: &Mixture| {
                let factor = &mixture.components[0].factor;
                (factor[0] * factor[3]).ln()
            };
            let volume = log_det(&framed) - log_det(&mixture);
            for at in 0..2 {
                let off = height(&framed, at) + volume - height(&mixture, at);
                assert!(off.abs() < 1e-10, "{shape:?}: {off}");
            }
        }
    }

    #[test]
    fn moments_go_with_their_coordinates() {
        let frame = Frame { order: vec![1, 0], scale: vec![-2.0, 3.0], shift: vec![1.0, 10.0] };
        let of = Known {
            log_z: Some(0.5),
            mean: Some(vec![4.0, 5.0]),
            sd: Some(vec![1.0, 0.1]),
            ..Known::default()
        };
        let known = frame.known(&of);
        assert_eq!((known.log_z, known.mean), (Some(0.5), Some(vec![-9.0, 22.0])));
        assert_eq!(known.sd, Some(vec![0.2, 3.0]));
        assert!((frame.log_volume() - 6.0_f64.ln()).abs() < 1e-12);
    }
}
