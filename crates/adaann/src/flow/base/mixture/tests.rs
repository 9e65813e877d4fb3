//! Laws of mixtures, checked on asymmetric cases.

mod full;

use super::{super::tests::check_gradient, *};
use crate::rng::Purpose;

const COMPONENTS: usize = 3;
const DIM: usize = 2;
const WEIGHTS: [f64; COMPONENTS] = [1.0, 2.5, 0.7];

/// Three different, overlapping components in the plane.
fn plane() -> Mixture {
    let means = [-1.0, 0.5, 1.2, -0.7, 0.3, 2.0];
    let sds = [0.6, 1.3, 0.9, 0.4, 1.7, 0.8];
    Mixture::new(&WEIGHTS, &means, &sds).unwrap().trained()
}

/// Covariances with different correlations.
const LEANING: [[f64; 4]; COMPONENTS] =
    [[0.5, 0.4, 0.4, 1.2], [0.8, -0.3, -0.3, 0.4], [2.5, 0.2, 0.2, 0.6]];

/// The same means with full covariances.
fn leaning() -> Mixture {
    let means = [-1.0, 0.5, 1.2, -0.7, 0.3, 2.0];
    Mixture::full(&WEIGHTS, &means, &LEANING.concat()).unwrap().trained()
}

/// Full covariances where a substitution has more than one step.
fn space() -> Mixture {
    let means = [-1.4, 0.5, 0.2, 1.2, -0.7, 1.0, 0.3, 1.1, -0.4];
    let covariances = [
        [1.5, 0.4, -0.6, 0.4, 1.2, 0.3, -0.6, 0.3, 1.1],
        [0.8, -0.3, 0.2, -0.3, 0.9, 0.4, 0.2, 0.4, 1.6],
        [2.5, 0.2, 1.0, 0.2, 0.7, -0.1, 1.0, -0.1, 1.3],
    ];
    Mixture::full(&WEIGHTS, &means, &covariances.concat()).unwrap().trained()
}

fn with(mixture: &Mixture, parameters: &[f64]) -> Mixture {
    let mut mixture = mixture.clone();
    mixture.set_parameters(parameters);
    mixture
}

fn log_density(mixture: &Mixture, z: &Batch) -> Vec<f64> {
    let mut log_q = vec![0.0; z.padded_len()];
    mixture.log_density(z, &mut log_q);
    log_q.truncate(z.len());
    log_q
}

#[test]
fn the_density_is_the_sum_of_its_components() {
    let mixture = plane();
    let points = [[0.0, 0.0], [1.0, -2.0], [-30.0, 4.0], [1e200, 0.0]];
    let log_q = log_density(&mixture, &Batch::from_points(DIM, &points));
    for (point, log_q) in points.iter().zip(&log_q).take(2) {
        let mut sum = 0.0;
        for (k, weight) in [1.0 / 4.2, 2.5 / 4.2, 0.7 / 4.2].into_iter().enumerate() {
            let mut density = weight;
            for i in 0..DIM {
                let sd = mixture.log_scale[k * DIM + i].exp();
                let e = (point[i] - mixture.mean[k * DIM + i]) / sd;
                density *= (-0.5 * e * e).exp() / (sd * std::f64::consts::TAU.sqrt());
            }
            sum += density;
        }
        assert!((log_q - sum.ln()).abs() < 1e-14 * 10.0, "{log_q} {}", sum.ln());
    }
    // Where every component's density underflows, the log density stays finite.
    assert!((-2000.0..-100.0).contains(&log_q[2]), "{}", log_q[2]);
    assert_eq!(log_q[3], f64::NEG_INFINITY);
}

/// The trapezoid rule on a sum of Gaussians, with a spacing of a twentieth of the narrowest, has
/// only rounding error. The grid ends 12 standard deviations out.
#[test]
fn the_density_integrates_to_1() {
    let mixture = Mixture::new(&[0.2, 1.4, 0.4], &[-3.0, 0.1, 2.0], &[0.5, 0.2, 1.5]).unwrap();
    let spacing = 0.01;
    let grid: Vec<_> = (-2000..=2200).map(|i| [f64::from(i) * spacing]).collect();
    let log_q = log_density(&mixture, &Batch::from_points(1, &grid));
    let (mut mass, mut mean) = (0.0, 0.0);
    for (z, log_q) in grid.iter().zip(&log_q) {
        mass += log_q.exp() * spacing;
        mean += z[0] * log_q.exp() * spacing;
    }
    assert!((mass - 1.0).abs() < 1e-12, "{mass}");
    assert!((mean - mixture.mean()[0]).abs() < 1e-12, "{mean} {:?}", mixture.mean());
}

/// The gradient of Σ k_n log q₀(z_n) in the parameters and in the points; an infinite point with k
/// = 0 adds nothing.
#[test]
fn the_log_density_is_differentiated_in_all_it_depends_on() {
    for mixture in [plane(), leaning(), space()] {
        let dim = mixture.dim();
        let point = |n: i32| {
            let rest = 0.3 * f64::from(n % 4) - 0.5;
            [f64::from(n % 7) - 3.1, 0.2 * f64::from(n % 11) - 0.4, rest][..dim].to_vec()
        };
        let mut points: Vec<_> = (0..45).map(point).collect();
        let mut k: Vec<_> = (0..45).map(|n| 0.3 * f64::from(n % 5) - 0.5).collect();
        points[40][..2].copy_from_slice(&[f64::INFINITY, f64::NAN]);
        k[40] = 0.0;
        let z = Batch::from_points(dim, &points);
        let mut g_z = Batch::zeros(dim, z.len());
        let mut gradient = vec![0.0; mixture.parameter_len()];
        mixture.pull_log_density(&z, &k, &mut g_z, &mut gradient);

        let objective = |mixture: &Mixture, z: &Batch| -> f64 {
            let terms = log_density(mixture, z).into_iter().zip(&k);
            terms.filter(|(_, k)| **k != 0.0).map(|(log_q, k)| k * log_q).sum()
        };
        let value = |theta: &[f64]| objective(&with(&mixture, theta), &z);
        check_gradient(value, &mixture.to_parameters(), &gradient);
        for n in [0, 3, 31, 32, 44] {
            let moved = |point: &[f64]| {
                let mut z = z.clone();
                z.set_point(n, point);
                objective(&mixture, &z)
            };
            check_gradient(moved, &points[n], &g_z.point(n));
        }
        assert_eq!(g_z.point(40), vec![0.0; dim]);

        // The reference of a tempering path has one weight for all points.
        let z = Batch::from_points(dim, &points[..33]);
        let (mut all, mut one) = (Batch::zeros(dim, 33), Batch::zeros(dim, 33));
        mixture.add_log_density_gradient(0.3, &z, &mut all);
        mixture.pull_log_density(&z, &[0.3; 33], &mut one, &mut gradient);
        assert!((0..dim).all(|i| all.row(i) == one.row(i)));
    }
}

/// A loss unlike that of a Gaussian, with its gradient.
fn minus_log_p(z: &[f64]) -> (f64, Vec<f64>) {
    let (x, y, w) = (z[0], z[1], z.get(2).copied().unwrap_or(0.0));
    let value = 0.1 * x.powi(4) + (0.7 * y).sin() + 0.3 * x * y + 0.2 * w * w * y + 40.0;
    let slope =
        [0.4 * x.powi(3) + 0.3 * y, 0.7 * (0.7 * y).cos() + 0.3 * x + 0.2 * w * w, 0.4 * w * y];
    (value, slope[..z.len()].to_vec())
}

/// The training objective for fixed noise, in tiles, without the non-finite points: its value, and
/// its gradient by [`Mixture::backward`] and [`Mixture::gradient`].
fn objective(mixture: &Mixture, lost: &[usize]) -> (f64, Vec<f64>) {
    const N: usize = 100;
    let dim = mixture.dim();
    let stream = Stream::new(11, Purpose::Training);
    let mut sums = vec![0.0; mixture.sums_len()];
    let (mut total, mut kept) = (0.0, 0.0);
    for (at, len) in [(0, 32), (32, 32), (64, 32), (96, 4)] {
        let mut noise = Noise::zeros(dim, 32);
        noise.truncate(len);
        stream.fill_normals(3, at as u64, &mut noise.normal);
        let mut weight = vec![f64::NAN; 32];
        mixture.stratify(at as u64, N, &mut noise, &mut weight);
        let mut z = Batch::zeros(dim, len);
        let mut log_q = vec![0.0; 32];
        mixture.forward(&noise, &mut z, &mut log_q);
        let mut g_z = Batch::zeros(dim, len);
        let mut loss = vec![0.0; 32];
        let mut g_log_q = vec![0.0; 32];
        for n in (0..len).filter(|n| !lost.contains(&(at + n))) {
            let (value, slope) = minus_log_p(&z.point(n));
            loss[n] = weight[n] * (log_q[n] + value);
            g_log_q[n] = weight[n];
            let slope: Vec<_> = slope.iter().map(|slope| weight[n] * slope).collect();
            g_z.set_point(n, &slope);
        }
        total += loss.iter().sum::<f64>();
        kept += g_log_q.iter().sum::<f64>();
        mixture.backward(&noise, &mut z, &mut g_z, &g_log_q, &loss, &mut sums);
    }
    let mut gradient = vec![0.0; mixture.parameter_len()];
    mixture.gradient(&sums, &mut gradient);
    if lost.is_empty() {
        assert!((kept - N as f64).abs() < 1e-12, "the weights add up to the points: {kept}");
    }
    (total / kept, gradient.iter().map(|g| g / kept).collect())
}

/// A hundred points for three components, 34, 33 and 33; then the same with non-finite points, most
/// of them in one component.
#[test]
fn the_training_objective_is_differentiated_in_all_it_depends_on() {
    for mixture in [plane(), leaning(), space()] {
        for lost in [&[][..], &[1, 4, 7, 10, 30, 99]] {
            let (_, gradient) = objective(&mixture, lost);
            let value = |theta: &[f64]| objective(&with(&mixture, theta), lost).0;
            check_gradient(value, &mixture.to_parameters(), &gradient);
            let logits = &gradient[..COMPONENTS];
            assert!(
                logits.iter().all(|g| g.abs() > 1e-3),
                "a logit of {mixture:?} is at rest: {logits:?}"
            );
            assert!(logits.iter().sum::<f64>().abs() < 1e-12, "only differences of logits matter");
        }
    }
}

/// Independent draws: the frequencies of the components are within 4 standard errors √(w(1−w)/N),
/// and the choices are independent of the normals.
#[test]
fn components_are_drawn_by_their_weights() {
    const N: usize = 40_000;
    let mixture = plane();
    let stream = Stream::new(5, Purpose::Posterior);
    let mut noise = Noise::zeros(DIM, N);
    stream.fill_normals(0, 0, &mut noise.normal);
    mixture.choose(&stream, 0, 0, &mut noise);
    for (k, w) in mixture.weights().iter().enumerate() {
        let own: Vec<_> = (0..N).filter(|n| noise.component[*n] == k).collect();
        let off = (own.len() as f64 / N as f64 - w) / (w * (1.0 - w) / N as f64).sqrt();
        assert!(off.abs() < 4.0, "component {k}: {off} standard errors off");
        for i in 0..DIM {
            let sum: f64 = own.iter().map(|n| noise.normal.row(i)[*n]).sum();
            let off = sum / (own.len() as f64).sqrt();
            assert!(off.abs() < 4.0, "component {k}, coordinate {i}: normals {off} off");
        }
    }
    // The result does not depend on where a tile begins.
    let mut tile = Noise::zeros(DIM, 50);
    mixture.choose(&stream, 0, 333, &mut tile);
    assert_eq!(tile.component[..50], noise.component[333..383]);
    mixture.choose(&stream, 1, 333, &mut tile);
    assert_ne!(tile.component[..50], noise.component[333..383], "another draw is another choice");
}

#[test]
fn what_is_no_mixture_is_refused() {
    let refused = |weights: &[f64], means: &[f64], sds: &[f64]| {
        Mixture::new(weights, means, sds).unwrap_err().to_string()
    };
    assert!(refused(&[], &[0.0], &[1.0]).contains("base-components"));
    assert!(refused(&[1.0, 0.0], &[0.0; 2], &[1.0; 2]).contains("weight"));
    assert!(refused(&[1.0, 1.0], &[0.0; 3], &[1.0; 3]).contains("multiple of 2"));
    assert!(refused(&[1.0, 1.0], &[0.0; 2], &[1.0; 1]).contains("base-sd"));
    assert!(refused(&[1.0, 1.0], &[0.0; 2], &[1.0, -1.0]).contains("base-sd"));
    assert!(refused(&[1.0, 1.0], &[0.0, f64::NAN], &[1.0; 2]).contains("base-mean"));
    let file = |logit: &[f64], mean: &[f64], log_scale: &[f64]| {
        let (logit, mean, log_scale) = (logit.to_vec(), mean.to_vec(), log_scale.to_vec());
        let (below, degrees) = (Vec::new(), Vec::new());
        Mixture::from_file(logit, mean, log_scale, below, Covariance::Diagonal, degrees, false)
    };
    assert!(file(&[0.0, 0.0], &[0.0; 2], &[0.0; 2]).is_ok());
    assert!(file(&[], &[0.0; 2], &[0.0; 2]).unwrap_err().contains("logits"));
    assert!(file(&[0.0, f64::NAN], &[0.0; 2], &[0.0; 2]).unwrap_err().contains("logits"));
    assert!(file(&[0.0, 0.0], &[0.0; 3], &[0.0; 3]).unwrap_err().contains("3 means"));
    assert!(file(&[0.0, 0.0], &[0.0; 2], &[0.0; 3]).unwrap_err().contains("log scales"));
    assert!(file(&[0.0, 0.0], &[0.0; 2], &[0.0, 1e4]).unwrap_err().contains("log scales"));
}
