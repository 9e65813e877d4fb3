//! Laws that every base satisfies, and the gradients of Gaussians.

use super::*;

/// Compares the claimed derivatives with central differences, whose error is h² f‴/6 plus rounding
/// of 1e-16 · |f|/h. With h = 1e-5 both are far below 1e-8 relative to the numbers in these cases.
pub(super) fn check_gradient(f: impl Fn(&[f64]) -> f64, at: &[f64], claimed: &[f64]) {
    assert_eq!(at.len(), claimed.len());
    let size = claimed.iter().fold(1.0_f64, |size, g| size.max(g.abs()));
    for i in 0..at.len() {
        let moved = |h: f64| {
            let mut at = at.to_vec();
            at[i] += h;
            f(&at)
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        let off = (difference - claimed[i]).abs();
        assert!(off < 1e-8 * size, "parameter {i}: {} but {difference}", claimed[i]);
    }
}

/// The gradient of Σ k_n log q₀(z_n) in the parameters and in the points: fixed and trained,
/// diagonal and full.
#[test]
fn the_log_density_of_a_gaussian_is_differentiated_in_all_it_depends_on() {
    let full = Base::full(&[0.3, -1.0, 2.0], &[4.0, 1.0, 0.5, 1.0, 2.0, -0.3, 0.5, -0.3, 0.7]);
    let diagonal = Base::diagonal(&[0.3, -1.0, 2.0], &[0.4, 1.5, 3.0]).unwrap();
    let points: Vec<_> = (0..35)
        .map(|n| [f64::from(n % 7) - 3.1, 0.2 * f64::from(n % 11) - 0.4, f64::from(n % 3)])
        .collect();
    let k: Vec<_> = (0..35).map(|n| 0.3 * f64::from(n % 5) - 0.5).collect();
    let z = Batch::from_points(3, &points);
    let objective = |base: &Base, z: &Batch| -> f64 {
        let mut log_q = vec![0.0; z.padded_len()];
        base.log_density(z, &mut z.clone(), &mut log_q);
        log_q.iter().zip(&k).map(|(log_q, k)| k * log_q).sum()
    };
    for base in [full.unwrap(), diagonal] {
        for base in [base.clone(), base.trained()] {
            let (mut work, mut g_z) = (z.clone(), Batch::zeros(3, z.len()));
            let mut gradient = vec![0.0; base.parameter_len()];
            base.log_density(&z, &mut work, &mut vec![0.0; z.padded_len()]);
            base.pull_log_density(&z, &work, &k, &mut g_z, &mut gradient);
            let with = |theta: &[f64]| {
                let mut base = base.clone();
                base.set_parameters(theta);
                objective(&base, &z)
            };
            check_gradient(with, &base.to_parameters(), &gradient);
            for n in [0, 2, 34] {
                let moved = |point: &[f64]| {
                    let mut z = z.clone();
                    z.set_point(n, point);
                    objective(&base, &z)
                };
                check_gradient(moved, &points[n], &g_z.point(n));
            }
        }
    }
}

#[test]
fn a_file_holds_either_kind() {
    let mixture = Base::mixture(&[1.0, 3.0], &[0.1, 0.2], &[0.3, 0.7]).unwrap();
    let diagonal = Base::diagonal(&[0.1 + 0.2], &[0.7]).unwrap();
    let leaning =
        Base::full_mixture(&[1.0, 3.0], &[0.1; 4], &[2.0, 0.7, 0.7, 1.0].repeat(2)).unwrap();
    // In one dimension a factor has no entries below the diagonal.
    let line = mixture.clone().with_full_factor();
    assert_ne!(line, mixture);
    for base in
        [mixture.clone(), mixture.trained(), diagonal, leaning.clone(), leaning.trained(), line]
    {
        let text = serde_json::to_string(&base).unwrap();
        assert_eq!(serde_json::from_str::<Base>(&text).unwrap(), base, "{text}");
    }
    // The file format from before mixtures could have full covariances; diagonal mixtures still use
    // it.
    let before = r#"{"logit":[0.0,1.5],"mean":[0.5,2.0],"log_scale":[0.0,0.25],"trained":true}"#;
    let base = serde_json::from_str::<Base>(before).unwrap();
    assert_eq!(serde_json::to_string(&base).unwrap(), before);
    let half = r#"{"mean":[0.0],"factor":[1.0],"logit":[0.0],"trained":false}"#;
    let error = serde_json::from_str::<Base>(half).unwrap_err().to_string();
    assert!(error.contains("neither a Gaussian nor a mixture"), "{error}");
    let both = r#"{"mean":[0.0],"factor":[1.0],"covariance":"full","below":[],"trained":false}"#;
    let error = serde_json::from_str::<Base>(both).unwrap_err().to_string();
    assert!(error.contains("neither a Gaussian nor a mixture"), "{error}");
}
