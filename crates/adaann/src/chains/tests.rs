//! Chains on densities with known moments and integrals, and their failures.

use super::*;
use crate::{
    Batch, Result,
    importance::{Estimate, Mixing, Sample},
    path::lopsided::{Lopsided, MOMENTS},
    rng::{Purpose, Stream},
    target::{Evaluation, Target, Unconstrained, Weights},
};
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

fn quick() -> Settings {
    Settings { target_ess: 2_000.0, max_evaluations: 2_000_000, ..Settings::default() }
}

fn starts(dim: usize, scale: f64) -> Batch {
    let mut z = Batch::zeros(dim, 64);
    Stream::new(77, Purpose::Data).fill_normals(0, 0, &mut z);
    for d in 0..dim {
        z.row_mut(d).iter_mut().for_each(|z| *z *= scale);
    }
    z
}

/// The mean of f over the draws, with its Monte Carlo error.
fn mean_of(found: &Chains, f: impl Fn(&[f64]) -> f64) -> Estimate {
    let values: Vec<f64> = (0..found.z.len()).map(|i| f(&found.z.point(i))).collect();
    let count = values.len() as f64;
    let value = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (count - 1.0);
    let ess = rank::mean_ess(&values, found.chains).min(count);
    Estimate { value, error: (variance / ess).sqrt() }
}

/// N(1, H D H), where H = I − 2 w wᵀ mirrors and D has variances from 1 to 1/condition.
struct Mirrored {
    w: Vec<f64>,
    variance: Vec<f64>,
}

impl Mirrored {
    fn new(dim: usize, condition: f64) -> Self {
        let stream = Stream::new(5, Purpose::Data);
        let w: Vec<f64> = (0..dim).map(|d| stream.normal_at(d as u64)).collect();
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let variance = |d: usize| condition.powf(-(d as f64) / (dim - 1) as f64);
        Self { w: w.iter().map(|w| w / norm).collect(), variance: (0..dim).map(variance).collect() }
    }

    fn mirror(&self, x: &mut [f64]) {
        let dot: f64 = x.iter().zip(&self.w).map(|(x, w)| x * w).sum();
        x.iter_mut().zip(&self.w).for_each(|(x, w)| *x -= 2.0 * dot * w);
    }

    fn log_z(&self) -> f64 {
        self.variance.iter().map(|v| 0.5 * (TAU * v).ln()).sum()
    }
}

impl Target for Mirrored {
    fn dim(&self) -> usize {
        self.w.len()
    }

    fn evaluate(&self, points: &Batch, _: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        for i in 0..points.len() {
            let mut x: Vec<f64> = points.point(i).iter().map(|x| x - 1.0).collect();
            self.mirror(&mut x);
            let squares = x.iter().zip(&self.variance).map(|(x, v)| x * x / v);
            (out.log_prior[i], out.log_likelihood[i]) = (0.0, -0.5 * squares.sum::<f64>());
            x.iter_mut().zip(&self.variance).for_each(|(x, v)| *x /= -v);
            self.mirror(&mut x);
            out.gradient.set_point(i, &x);
        }
        Ok(())
    }
}

#[test]
fn an_asymmetric_density_has_its_moments_and_its_integral() {
    for seed in 1..=3 {
        let target = Lopsided::default();
        let unconstrained = Unconstrained::new(&target).unwrap();
        let settings = Settings { target_ess: 8_000.0, seed, ..quick() };
        let found = run(&unconstrained, &starts(2, 1.0), None, &settings, &mut ()).unwrap();
        assert!(found.has_converged && !found.stopped, "{:?}", found.bulk_ess);
        assert_eq!(target.count(), found.evaluations);
        assert_eq!((found.z.len(), found.r_hat.len()), (64 * found.iterations, 3));
        assert!((found.acceptance - 0.8).abs() < 0.1, "{}", found.acceptance);
        for (name, f, exact) in MOMENTS {
            let mean = mean_of(&found, |z| f(z[0], z[1]));
            // Of 21 numbers the furthest is beyond 4.5 standard errors with a probability of 1e-4.
            let score = (mean.value - exact) / mean.error;
            assert!(score.abs() < 4.5, "{name}, seed {seed}: {mean:?} is not {exact}");
        }
        let outcome = evidence(&unconstrained, &found, seed).unwrap();
        assert_eq!(target.count(), outcome.evaluations);
        let log_z = outcome.log_z.unwrap();
        // Γ(3) √(π/2)
        let exact = (2.0 * (0.5 * PI).sqrt()).ln();
        assert!((log_z.value - exact).abs() < 4.0 * log_z.error, "{log_z:?} is not {exact}");
        assert!(log_z.error < 0.02, "{log_z:?}");
    }
}

/// Chains start in a cloud that is ten times as wide as the density at its widest, and in a narrow one.
#[test]
fn a_gaussian_of_many_scales_is_learned_from_poor_starts() {
    for (scale, seed) in [(10.0, 1), (1e-3, 2)] {
        let target = Mirrored::new(50, 1e6);
        let unconstrained = Unconstrained::new(&target).unwrap();
        let settings = Settings { seed, ..quick() };
        let found = run(&unconstrained, &starts(50, scale), None, &settings, &mut ()).unwrap();
        assert!(
            found.has_converged,
            "R-hat {}, ESS {}",
            found.worst_r_hat(),
            found.worst_bulk_ess()
        );
        assert!(found.steps < 12.0, "{} steps: the metric is not learned", found.steps);
        for d in [0, 25, 49] {
            let mirrored = |z: &[f64]| {
                let mut x: Vec<f64> = z.iter().map(|z| z - 1.0).collect();
                target.mirror(&mut x);
                x[d]
            };
            let (mean, square) =
                (mean_of(&found, mirrored), mean_of(&found, |z| mirrored(z).powi(2)));
            let variance = target.variance[d];
            assert!(mean.value.abs() < 4.5 * mean.error, "{d}: {mean:?}");
            let off = (square.value - variance).abs();
            assert!(off < 4.5 * square.error, "{d}: {square:?} is not {variance}");
        }
        let log_z = evidence(&unconstrained, &found, seed).unwrap().log_z.unwrap();
        let off = (log_z.value - target.log_z()).abs();
        assert!(off < 4.0 * log_z.error, "{log_z:?} is not {}", target.log_z());
        assert!(log_z.error < 0.1, "{log_z:?}");
    }
}

#[test]
fn the_evidence_of_a_gaussian_over_seeds() {
    let target = Mirrored::new(5, 10.0);
    let unconstrained = Unconstrained::new(&target).unwrap();
    for seed in 1..=4 {
        let settings = Settings { seed, ..quick() };
        let found = run(&unconstrained, &starts(5, 1.0), None, &settings, &mut ()).unwrap();
        let log_z = evidence(&unconstrained, &found, seed).unwrap().log_z.unwrap();
        let off = (log_z.value - target.log_z()).abs();
        assert!(off < 4.0 * log_z.error, "{log_z:?} is not {}", target.log_z());
    }
}

/// log of e^(−|z − 15|²/2) + e^(−|z + 15|²/2), which no trajectory crosses.
#[test]
fn chains_that_two_modes_keep_apart_are_told_of() {
    let target = crate::Program::record(3, |z| {
        let side = |sign: f64| {
            z.iter().map(|z| -0.5 * (*z - 15.0 * sign).square()).reduce(|a, b| a + b).unwrap()
        };
        let (left, right) = (side(-1.0), side(1.0));
        let high = left.gt(right).select(left, right);
        high + ((left - high).exp() + (right - high).exp()).ln()
    });
    let target = Unconstrained::new(&target).unwrap();
    let starts = Batch::from_points(3, &[[15.0; 3], [-15.0; 3]]);
    let settings = Settings { max_warm_up: 150, max_iterations: 100, ..quick() };
    let found = run(&target, &starts, None, &settings, &mut ()).unwrap();
    assert!(found.worst_r_hat() > 1.5 && !found.has_converged, "{:?}", found.r_hat);
    assert!(found.worst_bulk_ess() < 200.0);
}

#[test]
fn threads_and_batches_never_change_a_result() {
    let target = Mirrored::new(6, 100.0);
    let target = Unconstrained::new(&target).unwrap();
    let settings = Settings { max_warm_up: 120, max_iterations: 60, chains: 70, ..quick() };
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let found = run(&target, &starts(6, 1.0), None, &settings, &mut ()).unwrap();
            let log_z = evidence(&target, &found, 1).unwrap().log_z;
            let rows: Vec<Vec<f64>> = (0..6).map(|d| found.z.row(d).to_vec()).collect();
            (rows, found.log_density, found.bulk_ess, log_z)
        })
    };
    assert_eq!(bits(1), bits(2));
}

/// A normal truncated at −0.5, where the log density is NaN: its mean is φ(0.5)/Φ(0.5).
#[test]
fn regions_without_a_density_are_never_entered() {
    let target = crate::Program::record(2, |z| {
        let value = -0.5 * (z[0].square() + z[1].square());
        z[0].gt(-0.5).select(value, f64::NAN)
    });
    let target = Unconstrained::new(&target).unwrap();
    let found = run(&target, &starts(2, 1.0), None, &quick(), &mut ()).unwrap();
    assert!(found.z.row(0).iter().all(|x| *x > -0.5) && found.divergences > 0);
    assert!(found.log_density.iter().all(|l| l.is_finite()));
    let mean = mean_of(&found, |z| z[0]);
    let exact = 0.352_065_326_764_299_5 / 0.691_462_461_274_013_1;
    assert!((mean.value - exact).abs() < 4.5 * mean.error, "{mean:?} is not {exact}");
}

#[test]
fn starts_without_a_density_are_left_out_or_refused() {
    let target = crate::Program::record(1, |z| z[0].gt(0.0).select(-z[0], f64::NEG_INFINITY));
    let target = Unconstrained::new(&target).unwrap();
    let begin = |starts: &[[f64; 1]], shape: Option<&[f64]>| {
        let starts = Batch::from_points(1, starts);
        run(&target, &starts, shape, &Settings { max_iterations: 20, ..quick() }, &mut ())
    };
    assert!(begin(&[[-1.0], [2.0]], None).unwrap().z.row(0).iter().all(|z| *z > 0.0));
    let error = begin(&[[-1.0], [-2.0]], None).unwrap_err().to_string();
    assert!(
        error.contains("none of the 2 starts") && error.contains("inside its support"),
        "{error}"
    );
    assert!(begin(&[[1.0]], Some(&[-1.0])).unwrap_err().to_string().contains("positive definite"));
    let error = run(&target, &Batch::zeros(2, 1), None, &quick(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("1 points of 2 coordinates"), "{error}");
    assert!(begin(&[], None).is_err());
}

#[test]
fn an_observer_sees_every_iteration_and_can_stop() {
    let target = Lopsided::default();
    let unconstrained = Unconstrained::new(&target).unwrap();
    let watch = |warm_up: bool, last: usize| {
        let mut seen = Vec::new();
        let mut observer = |progress: &Progress| {
            seen.push(*progress);
            let is_last = progress.is_warm_up == warm_up && progress.iteration == last;
            if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = run(&unconstrained, &starts(2, 1.0), None, &quick(), &mut observer).unwrap();
        assert_eq!(seen.last().unwrap().evaluations, found.evaluations);
        assert_eq!(target.count(), found.evaluations);
        assert!(found.stopped && !found.has_converged);
        let numbers: Vec<usize> =
            seen.iter().filter(|p| p.is_warm_up == warm_up).map(|p| p.iteration).collect();
        assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
        found
    };
    assert_eq!(watch(false, 30).iterations, 30);
    let early = watch(true, 5);
    assert_eq!((early.iterations, early.z.len()), (1, 64));
    assert!(early.worst_r_hat().is_nan() && early.worst_bulk_ess().is_nan());
    assert_eq!(evidence(&unconstrained, &early, 1).unwrap().log_z, None);
}

#[test]
fn evaluations_are_never_more_than_allowed() {
    let target = Lopsided::default();
    let unconstrained = Unconstrained::new(&target).unwrap();
    for most in [64, 1_000, 30_000] {
        let settings = Settings { max_evaluations: most, ..quick() };
        let found = run(&unconstrained, &starts(2, 1.0), None, &settings, &mut ()).unwrap();
        assert_eq!(target.count(), found.evaluations);
        assert!(found.evaluations <= most && !found.has_converged, "{}", found.evaluations);
    }
}

#[test]
fn more_starts_than_chains_are_used_evenly() {
    let target = Lopsided::default();
    let unconstrained = Unconstrained::new(&target).unwrap();
    let settings = Settings { chains: 16, max_iterations: 5, max_warm_up: 1, ..quick() };
    let found = run(&unconstrained, &starts(2, 1.0), None, &settings, &mut ()).unwrap();
    assert_eq!((target.count(), found.z.len()), (found.evaluations, 80));
}

/// Stationary AR(1) chains, iteration by iteration, of variance 1.
fn autoregressive(phi: f64, chains: usize, iterations: usize, seed: u64) -> Vec<f64> {
    let mut noise = Batch::zeros(1, chains * iterations);
    Stream::new(seed, Purpose::MonteCarlo).fill_normals(0, 0, &mut noise);
    let mut x = noise.row(0)[..chains * iterations].to_vec();
    for i in chains..x.len() {
        x[i] = phi * x[i - chains] + (1.0 - phi * phi).sqrt() * x[i];
    }
    x
}

/// The errors of estimates from correlated draws follow their effective sample sizes, even if only every second
/// or fourth draw is kept.
#[test]
fn errors_of_correlated_draws_cover() {
    const RUNS: u64 = 200;
    let (phi, chains, iterations) = (0.8, 8, 500);
    for thinning in [1, 2, 4] {
        // Squared errors in units of the stated ones: mean, sd, median, and the quantile of 5 per cent.
        let mut squares = [0.0; 4];
        let mut of_independent = 0.0;
        for seed in 0..RUNS {
            let all = autoregressive(phi, chains, iterations, seed);
            let ess = [rank::bulk_ess(&all, chains)];
            let tail_ess = [rank::tail_ess(&all, chains)];
            let kept: Vec<[f64; 1]> =
                all.chunks(chains).step_by(thinning).flatten().map(|x| [*x]).collect();
            let mixing = Mixing::new((1.0, 0.0), &ess, &tail_ess, (all.len(), kept.len()));
            let x = Batch::from_points(1, &kept);
            let zeros = || vec![0.0; kept.len()];
            let sample = Sample::of_particles(x.clone(), x, zeros(), zeros()).unwrap();
            let found = sample.clone().of_chains(mixing).coordinates().unwrap()[0];
            let exact = [(found.mean, 0.0), (found.sd, 1.0)];
            let exact = exact
                .into_iter()
                .chain([(found.quantiles[2], 0.0), (found.quantiles[0], -1.644_854)]);
            for (sum, (found, exact)) in squares.iter_mut().zip(exact) {
                *sum += ((found.value - exact) / found.error).powi(2) / RUNS as f64;
            }
            let naive = sample.coordinates().unwrap()[0].mean;
            of_independent += (naive.value / naive.error).powi(2) / RUNS as f64;
        }
        // The mean of 200 squares of standard normals has a standard deviation of 0.1; the interval allows
        // four. Effective sample sizes are off by a few per cent. For tails the smaller of two effective sample
        // sizes is used, which may overstate the variance up to twofold.
        let [mean, sd, median, low] = squares;
        assert!((0.55..1.45).contains(&mean), "every {thinning}: mean {mean}");
        assert!((0.3..1.45).contains(&sd), "every {thinning}: sd {sd}");
        assert!((0.4..1.45).contains(&median), "every {thinning}: median {median}");
        assert!((0.3..1.45).contains(&low), "every {thinning}: low quantile {low}");
        // Treated as independent, the draws understate the variance by the factor (1 + φ^k)/(1 − φ^k): 9, 4.6
        // and 2.4.
        let lag = phi.powi(thinning as i32);
        let missing = (1.0 + lag) / (1.0 - lag);
        assert!(of_independent > 0.55 * missing, "every {thinning}: {of_independent}");
    }
}
