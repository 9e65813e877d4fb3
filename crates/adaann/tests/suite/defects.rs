//! Defects of targets: noise, wrong gradients, and non-finite values.

use adaann::{
    Batch, Program, Result,
    support::rng::{Purpose, Stream},
    target::{Defects, Evaluation, Target, Unconstrained, Weights, find_defects},
};
use std::sync::atomic::{AtomicU64, Ordering};

/// A correlated Gaussian, with a defect.
struct Defective {
    density: Program,
    calls: AtomicU64,
    noise: f64,
    /// The factor that multiplies the gradient.
    factor: f64,
    /// The log density is undefined if the first coordinate exceeds this.
    above: f64,
}

impl Defective {
    fn new(noise: f64, factor: f64, above: f64) -> Self {
        let density = Program::record(3, |x| {
            let y = (x[0] - 40.0) / 0.01;
            -0.5 * (y.square() + (x[1] - y).square() + (x[2] / 1e3).square())
        });
        Self { density, calls: AtomicU64::new(0), noise, factor, above }
    }
}

impl Target for Defective {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, x: &Batch, of: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        self.density.evaluate(x, of, out)?;
        let stream = Stream::new(5, Purpose::Data);
        let first = self.calls.fetch_add(x.len() as u64, Ordering::Relaxed);
        for i in 0..x.len() {
            out.log_likelihood[i] += self.noise * stream.normal_at(first + i as u64);
            if x.row(0)[i] > self.above {
                out.log_likelihood[i] = f64::NAN;
            }
        }
        for d in 0..if of.is_some() { 3 } else { 0 } {
            out.gradient.row_mut(d).iter_mut().for_each(|g| *g *= self.factor);
        }
        Ok(())
    }
}

fn found(noise: f64, factor: f64, above: f64) -> Defects {
    let target = Defective::new(noise, factor, above);
    let mut points = Batch::zeros(3, 64);
    Stream::new(3, Purpose::Data).fill_normals(0, 0, &mut points);
    let mean = [40.0, 0.0, 0.0];
    for (d, sd) in [0.01, 1.4, 1e3].into_iter().enumerate() {
        points.row_mut(d).iter_mut().for_each(|x| *x = mean[d] + sd * *x);
    }
    let found = find_defects(&Unconstrained::new(&target).unwrap(), &points, 1).unwrap();
    assert!(found.evaluations <= 100, "{}", found.evaluations);
    found
}

#[test]
fn a_sound_target_has_none() {
    let found = found(0.0, 1.0, f64::INFINITY);
    assert_eq!((found.points, &found.noise, &found.not_a_number), (8, &None, &None));
    let slope = found.gradient.unwrap();
    assert!(slope.error < 1e-6, "{slope:?}");
}

/// 16 normal variates: the relative error of their standard deviation is a fifth.
#[test]
fn noise_is_measured() {
    let found = found(1.0, 1.0, f64::INFINITY);
    let noise = found.noise.as_ref().unwrap();
    assert!((0.4..1.6).contains(&noise.sd) && noise.largest > noise.sd, "{noise:?}");
    // Noise hides the gradient.
    assert!(found.gradient.as_ref().unwrap().error < 1e-2, "{found:?}");
    assert!(found.to_string().contains("noise of standard deviation"), "{found}");
}

#[test]
fn wrong_gradients_are_seen() {
    for factor in [-1.0, 0.5, 1.1, 0.0] {
        let slope = found(0.0, factor, f64::INFINITY).gradient.unwrap();
        assert!(slope.error > 0.05, "{factor}: {slope:?}");
    }
}

#[test]
fn the_first_point_without_a_number_is_named() {
    let found = found(0.0, 1.0, 40.015);
    let lost = found.not_a_number.as_ref().unwrap();
    assert!(lost.count >= 1 && lost.count < lost.of && lost.at[0] > 40.015, "{lost:?}");
    assert!(found.to_string().contains("not a number at"), "{found}");
}
