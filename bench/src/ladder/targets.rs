//! The targets with known answers, by groups.

use super::{
    components::{Component, Mixture, Shape},
    logistic, matrices, models, registered, rosenbrock,
    subject::{Built, Subject, normal},
};
use adaann::{Result, model::Model, registry::Known};

/// Tells the matrices of one target from those of another.
const SEED: u64 = 16_000;

/// The densities e^this is the integral of: not 1, which an error might give by chance.
const LOG_Z: f64 = 1.5;

/// Skewness and tails of components that are not normal.
const ALPHA: f64 = 4.0;
const DEGREES: f64 = 5.0;

/// All of them.
pub(super) fn all() -> Vec<Subject> {
    let mut all = Vec::new();
    for dim in [2, 5, 10, 20, 50, 100] {
        all.push(two_components("mixture", dim, Shape::Normal));
    }
    for (group, shape) in [("skewed", Shape::Skewed(ALPHA)), ("student", Shape::Student(DEGREES))] {
        all.extend([2, 5, 10, 20, 50].map(|dim| two_components(group, dim, shape)));
    }
    all.push(Subject::new("half-width-20", "half-width", || {
        let mixture = half_as_wide(20);
        let known = mixture.known();
        Ok(Built::known(mixture, normal(3.0), known))
    }));
    for dim in [10, 100, 300] {
        all.push(Subject::new(format!("gaussian-{dim}"), "gaussian", move || {
            let mixture = uneven(dim);
            let known = mixture.known();
            Ok(Built::known(mixture, normal(2.0), known))
        }));
    }
    all.push(Subject::new("logistic-50", "logistic", || {
        Ok(Built::known(logistic::target(), normal(1.0), logistic::known()))
    }));
    all.push(Subject::new("rosenbrock-10", "rosenbrock", || {
        // On the whole line a uniform number between two bounds is nearly N(0, 1.7²).
        Ok(Built::known(rosenbrock::target(), normal(1.7), rosenbrock::known()))
    }));
    all.push(Subject::new("priors", "priors", priors));
    all.extend(registered::all());
    all
}

fn two_components(group: &'static str, dim: usize, shape: Shape) -> Subject {
    Subject::new(format!("{group}-{dim}"), group, move || {
        let mixture = unequal(dim, shape);
        let known = mixture.known();
        Ok(Built::known(mixture, normal(3.0), known))
    })
}

/// Two components of weights 0.2 and 0.8, ten apart on the diagonal: the lighter one is narrower, with
/// covariance I/4 + A Aᵀ/10, the other has I + 3 Aᵀ A/10, where A is normal/√d.
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

/// Two components of equal weight, ten apart, one half as wide as the other: a density 2^d as high.
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

/// A Gaussian in a random rotation whose variances go from 10⁻³ to 10³.
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

/// A model of priors alone, one of which depends on another.
fn priors() -> Result<Built> {
    const TEXT: &str = r#"
        density = "0"
        [parameters]
        a = "normal(2, 3)"
        b = "lognormal(0, 0.5)"
        c = "gamma(3, 2)"
        d = "beta(2, 5)"
        f = "normal(a, 1)"
    "#;
    let model = Model::parse("priors.toml", TEXT).expect("tested");
    let (mean_b, square_b) = (0.125_f64.exp(), 0.25_f64.exp());
    let known = Known {
        log_z: Some(0.0),
        mean: Some(vec![2.0, mean_b, 1.5, 2.0 / 7.0, 2.0]),
        sd: Some(vec![
            3.0,
            mean_b * (square_b - 1.0).sqrt(),
            0.75_f64.sqrt(),
            (10.0 / (49.0 * 8.0_f64)).sqrt(),
            10.0_f64.sqrt(),
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

    /// Of a rotated covariance the trace is the sum of the eigenvalues.
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
            let built = (subject.build)().unwrap();
            assert!(built.target.dim() > 0, "{}", subject.name);
        }
    }
}
