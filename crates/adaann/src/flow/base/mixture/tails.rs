//! Student tails: a normal vector divided by the root of χ²/ν.

use super::Mixture;
use crate::{distribution::ln_gamma_draw, flow::base::Noise, rng::Stream};

impl Mixture {
    /// Stretches the noise of points that belong to Student components. The components must be
    /// assigned first.
    pub(in super::super) fn stretch_tails(
        &self,
        stream: &Stream,
        draw: u64,
        first_point: u64,
        noise: &mut Noise,
    ) {
        if self.degrees.is_empty() {
            return;
        }
        let (dim, len) = (noise.normal.dim(), noise.normal.len());
        for n in 0..len {
            let Some(nu) = self.degrees_of(noise.component[n]) else { continue };
            let mut used = 0;
            let mut uniform = || {
                used += 1;
                stream.point_uniform_of(draw, first_point + n as u64, used)
            };
            // χ² with ν degrees of freedom is twice a gamma variable of shape ν/2.
            let stretch = (0.5 * ((0.5 * nu).ln() - ln_gamma_draw(0.5 * nu, &mut uniform))).exp();
            for d in 0..dim {
                noise.normal.row_mut(d)[n] *= stretch;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Batch,
        flow::{Base, Noise},
        rng::{Purpose, Stream},
    };

    /// Four degrees of freedom have the distribution function ½ + ⅜ s (1 − s²/12), s = x/√(1 + x²/4).
    #[test]
    fn shares_of_four_degrees_of_freedom_are_those_of_its_distribution_function() {
        let base = Base::student_mixture(&[1.0], &[1.0], &[4.0], &[Some(4.0)]).unwrap();
        let mut noise = Noise::zeros(1, 40_000);
        let (mut z, mut log_q) = (Batch::zeros(1, 40_000), vec![0.0; 40_000]);
        base.draw(&Stream::new(5, Purpose::MonteCarlo), 0, 0, &mut noise);
        base.forward(&noise, &mut z, &mut log_q);
        for x in [-6.0_f64, -2.0, -0.5, 0.0, 1.0, 3.0, 8.0] {
            let s = x / (1.0 + 0.25 * x * x).sqrt();
            let exact = 0.5 + 0.375 * s * (1.0 - s * s / 12.0);
            let below = z.row(0).iter().filter(|z| **z < 1.0 + 2.0 * x).count() as f64 / 4e4;
            // Four standard errors of a proportion.
            let allowed = 4.0 * (exact * (1.0 - exact) / 4e4).sqrt();
            assert!((below - exact).abs() < allowed, "{x}: {below} is not {exact}");
        }
    }

    /// Importance weights of a Gaussian have mean 1 under the density that the draws report.
    #[test]
    fn the_density_integrates_to_1_and_its_gradient_is_its_slope() {
        let (means, shapes) = ([0.0, 0.5, 2.0, -1.0], [1.0, 0.3, 0.3, 0.5, 2.0, -0.4, -0.4, 1.0]);
        let degrees = [Some(5.0), None];
        let base = Base::student_mixture(&[0.7, 0.3], &means, &shapes, &degrees).unwrap();
        let count = 20_000;
        let mut noise = Noise::zeros(2, count);
        let (mut z, mut log_q) = (Batch::zeros(2, count), vec![0.0; count]);
        base.draw(&Stream::new(6, Purpose::MonteCarlo), 0, 0, &mut noise);
        base.forward(&noise, &mut z, &mut log_q);
        let ratios: Vec<f64> = (0..count)
            .map(|i| {
                let (x, y) = (z.row(0)[i] - 0.5, z.row(1)[i]);
                (-0.5 * (x * x + y * y) - (std::f64::consts::TAU).ln() - log_q[i]).exp()
            })
            .collect();
        let mean = ratios.iter().sum::<f64>() / count as f64;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / count as f64;
        assert!((mean - 1.0).abs() < 4.0 * (variance / count as f64).sqrt(), "{mean}");

        let points = Batch::from_points(2, &[[0.3, -2.0], [5.0, 4.0], [-3.0, 0.1]]);
        let log_density = |points: &Batch| {
            let mut log_q = vec![0.0; points.padded_len()];
            base.log_density(points, &mut points.clone(), &mut log_q);
            log_q[..3].to_vec()
        };
        let mut gradient = Batch::zeros(2, 3);
        base.add_log_density_gradient(2.0, &points, &mut points.clone(), &mut gradient);
        for d in 0..2 {
            let moved = |by: f64| {
                let mut moved = points.clone();
                moved.row_mut(d).iter_mut().for_each(|x| *x += by);
                log_density(&moved)
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            for i in 0..3 {
                let slope = (up[i] - down[i]) / 1e-5;
                // Central differences: rounding 1e-15/1e-5 and the third derivative times 1e-10.
                assert!((gradient.row(d)[i] - slope).abs() < 1e-8, "{d} {i}: {slope}");
            }
        }
    }
}
