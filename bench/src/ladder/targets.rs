//! The targets with known answers, by groups.

use super::{
    components::{Component, Mixture, Shape},
    frame::Frame,
    logistic, matrices, models, registered, rosenbrock,
    subject::{Built, Subject, normal},
};
use crate::dice::Dice;
use adaann::{Result, flow::BaseSpec, model::Model, registry::Known};

/// Separates the random matrices of different targets.
const SEED: u64 = 16_000;

/// log Z of the densities: not 0, which an error might give by chance.
const LOG_Z: f64 = 1.5;

/// Skewness and tails of non-normal components.
const ALPHA: f64 = 4.0;
const DEGREES: f64 = 5.0;

/// All targets.
pub(super) fn all() -> Vec<Subject> {
    let mut all = Vec::new();
    for dim in [2, 5, 10, 20, 50, 100] {
        all.push(two_components("mixture", dim, Shape::Normal));
    }
    for (group, shape) in [("skewed", Shape::Skewed(ALPHA)), ("student", Shape::Student(DEGREES))] {
        all.extend([2, 5, 10, 20, 50].map(|dim| two_components(group, dim, shape)));
    }
    all.push(framed("half-width-20".into(), "half-width", || half_as_wide(20)));
    for dim in [10, 100, 300] {
        all.push(framed(format!("gaussian-{dim}"), "gaussian", move || uneven(dim)));
    }
    all.push(Subject::new("logistic-50", "logistic", |seed| {
        let frame = Frame::new("logistic-50", logistic::DIM, seed);
        // Start at the prior, as a user would.
        let sd = frame.scale.iter().map(|scale| scale.abs()).collect();
        let base = BaseSpec { mean: frame.shift.clone(), sd, ..BaseSpec::default() };
        let known = frame.known(&logistic::known());
        Ok(Built::known(logistic::target(&frame), base, known))
    }));
    all.push(Subject::new("rosenbrock-10", "rosenbrock", |seed| {
        let frame = Frame::new("rosenbrock-10", rosenbrock::DIM, seed);
        let known = frame.known(&rosenbrock::known());
        // Mapped to the whole line, a uniform number between two bounds is nearly N(0, 1.7²).
        Ok(Built::known(rosenbrock::target(&frame), normal(1.7), known))
    }));
    all.push(Subject::new("priors", "priors", priors));
    all.extend(registered::all());
    all
}

fn two_components(group: &'static str, dim: usize, shape: Shape) -> Subject {
    framed(format!("{group}-{dim}"), group, move || unequal(dim, shape))
}

/// A mixture in a random frame. The base is the default one, because the location is unknown.
fn framed(
    name: String,
    group: &'static str,
    mixture: impl Fn() -> Mixture + Sync + 'static,
) -> Subject {
    let label = name.clone();
    Subject::new(name, group, move |seed| {
        let mixture = mixture().framed(&label, seed);
        let known = mixture.known();
        Ok(Built::known(mixture, BaseSpec::default(), known))
    })
}

/// Two components with weights 0.2 and 0.8, ten apart on the diagonal. The lighter one is narrower, with covariance
/// I/4 + A Aᵀ/10. The other has I + 3 Aᵀ A/10, where A is normal/√d.
pub(super) fn unequal(dim: usize, shape: Shape) -> Mixture {
    let scale = (dim as f64).sqrt();
    let numbers = matrices::normals(SEED + dim as u64, dim * dim);
    let a: Vec<f64> = numbers.iter().map(|x| x / scale).collect();
    let plus = |identity: f64, factor: f64, mut matrix: Vec<f64>| {
        matrix.iter_mut().for_each(|x| *x *= factor);
        (0..dim).for_each(|d| matrix[d * dim + d] += identity);
        matrix
    };
    let light = plus(0.25, 0.1, matrices::with_transpose(dim, &a));
    let heavy = plus(1.0, 0.3, matrices::with_transpose(dim, &matrices::transpose(dim, &a)));
    let components = vec![
        Component::new(0.2, vec![-5.0 / scale; dim], &light, shape),
        Component::new(0.8, vec![5.0 / scale; dim], &heavy, shape),
    ];
    Mixture { components, log_z: LOG_Z, side: None }
}

/// Two components of equal weight, ten apart, one half as wide as the other, so its density is 2^d times as high.
fn half_as_wide(dim: usize) -> Mixture {
    let scale = (dim as f64).sqrt();
    let identity = |variance: f64| -> Vec<f64> {
        (0..dim * dim).map(|at| if at % (dim + 1) == 0 { variance } else { 0.0 }).collect()
    };
    let components = vec![
        Component::new(0.5, vec![-5.0 / scale; dim], &identity(1.0), Shape::Normal),
        Component::new(0.5, vec![5.0 / scale; dim], &identity(0.25), Shape::Normal),
    ];
    Mixture { components, log_z: LOG_Z, side: None }
}

/// A Gaussian in a random rotation, with variances from 10⁻³ to 10³.
fn uneven(dim: usize) -> Mixture {
    let rotation = matrices::rotation(dim, SEED + 1_000 + dim as u64);
    let variance = |k: usize| 10_f64.powf(6.0 * k as f64 / (dim - 1) as f64 - 3.0);
    // Rows of Rᵀ √Λ: the covariance is Rᵀ Λ R.
    let root: Vec<f64> = (0..dim * dim)
        .map(|at| rotation[at % dim * dim + at / dim] * variance(at % dim).sqrt())
        .collect();
    let mean = matrices::normals(SEED + 2_000 + dim as u64, dim);
    let covariance = matrices::with_transpose(dim, &root);
    let components = vec![Component::new(1.0, mean, &covariance, Shape::Normal)];
    Mixture { components, log_z: LOG_Z, side: None }
}

/// A model without likelihood, in which one prior depends on another, with location and scale from the seed.
fn priors(seed: u64) -> Result<Built> {
    let mut dice = Dice::new("priors", seed);
    let sd_a = 3.0 * 10_f64.powf(dice.uniform(-1.0, 1.5));
    let (mean_a, sd_f) = (3.0 * sd_a * dice.normal(), sd_a / 3.0);
    let (log_mean_b, rate_c) = (2.0 * dice.normal(), 10_f64.powf(dice.uniform(-1.0, 1.5)));
    let text = format!(
        r#"
        density = "0"
        [parameters]
        a = "normal({mean_a:?}, {sd_a:?})"
        b = "lognormal({log_mean_b:?}, 0.5)"
        c = "gamma(3, {rate_c:?})"
        d = "beta(2, 5)"
        f = "normal(a, {sd_f:?})"
    "#
    );
    let model = Model::parse("priors.toml", &text).expect("tested");
    let (mean_b, square_b) = ((log_mean_b + 0.125).exp(), 0.25_f64.exp());
    let known = Known {
        log_z: Some(0.0),
        mean: Some(vec![mean_a, mean_b, 3.0 / rate_c, 2.0 / 7.0, mean_a]),
        sd: Some(vec![
            sd_a,
            mean_b * (square_b - 1.0).sqrt(),
            3.0_f64.sqrt() / rate_c,
            (10.0 / (49.0 * 8.0_f64)).sqrt(),
            sd_a.hypot(sd_f),
        ]),
        ..Known::default()
    };
    Ok(models::built(model, |_| super::subject::Truth::Known(known.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::target::Target;

    #[test]
    fn means_are_ten_apart_and_the_lighter_component_is_narrower() {
        for dim in [2, 20] {
            let known = unequal(dim, Shape::Normal).known();
            let [light, heavy] = &known.modes[..] else { panic!("two modes") };
            let square: f64 =
                light.location.iter().zip(&heavy.location).map(|(a, b)| (a - b).powi(2)).sum();
            assert!((square - 100.0).abs() < 1e-9);
            let widths = light.sd.iter().flatten().zip(heavy.sd.iter().flatten());
            assert!(widths.into_iter().all(|(light, heavy)| light < heavy));
        }
    }

    /// The trace of a rotated covariance is the sum of the eigenvalues.
    #[test]
    fn the_uneven_gaussian_has_its_condition_number() {
        let gaussian = uneven(10);
        let trace: f64 = gaussian.known().sd.unwrap().iter().map(|sd| sd * sd).sum();
        let sum: f64 = (0..10).map(|k| 10_f64.powf(6.0 * f64::from(k) / 9.0 - 3.0)).sum();
        assert!((trace / sum - 1.0).abs() < 1e-12);
        assert_eq!(gaussian.dim(), 10);
    }

    #[test]
    fn names_are_all_different_and_everything_can_be_built() {
        let all = all();
        let mut names: Vec<&str> = all.iter().map(|subject| subject.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
        for subject in &all {
            let built = (subject.build)(1).unwrap();
            assert!(built.target.dim() > 0, "{}", subject.name);
        }
    }
}
