//! Parts, sums and gradients of the tempered density compared with their definitions.

use super::{lopsided::Lopsided, *};
use crate::Program;

fn density(target: &Lopsided, path: PathKind) -> Tempered<'_> {
    let base = Base::diagonal(&[0.4, -0.3], &[0.7, 1.9]).unwrap();
    Tempered { target: Unconstrained::new(target).unwrap(), path, reference: Some(base) }
}

/// The parts at (x, y) by their formulas.
fn parts(x: f64, y: f64) -> Parts {
    let normal = |z: f64, mean: f64, sd: f64| {
        -0.5 * ((z - mean) / sd).powi(2) - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
    };
    Parts {
        prior: -x.exp(),
        likelihood: 2.0 * x - 2.0 * (y - 0.5 * x * x).powi(2),
        jacobian: x,
        reference: normal(x, 0.4, 0.7) + normal(y, -0.3, 1.9),
    }
}

const WEIGHTS: Parts = Parts { prior: 0.7, likelihood: -0.4, jacobian: 1.3, reference: 0.2 };

#[test]
fn parts_and_any_sum_of_them_are_those_of_the_formulas() {
    let target = Lopsided::default();
    let density = density(&target, PathKind::Bridge);
    let z = Lopsided::draws(1, 50);
    let mut tile = Tile::zeros(2, 50);
    density.evaluate(&z, None, &mut tile).unwrap();
    for i in 0..50 {
        let exact = parts(z.row(0)[i], z.row(1)[i]);
        let found = tile.parts().at(i);
        // Several roundings of numbers up to 100.
        for (found, exact) in [
            (found.prior, exact.prior),
            (found.likelihood, exact.likelihood),
            (found.jacobian, exact.jacobian),
            (found.reference, exact.reference),
            (tile.log_density(WEIGHTS, i), exact.dot(WEIGHTS)),
            (tile.a[i], density.path.line(exact).a),
            (tile.b[i], density.path.line(exact).b),
        ] {
            assert!((found - exact).abs() < 1e-12 * (1.0 + exact.abs()), "{found} is not {exact}");
        }
    }
}

/// Central differences with steps of 1e-5 have an error of about 1e-10 for third derivatives up to
/// 100, and as much rounding.
#[test]
fn gradients_are_the_derivatives_of_the_sum() {
    let target = Lopsided::default();
    for path in [PathKind::Power, PathKind::Likelihood, PathKind::Bridge] {
        let density = density(&target, path);
        let z = Lopsided::draws(2, 20);
        let mut tile = Tile::zeros(2, 20);
        let check = |tile: &Tile, weights: Parts| {
            for i in 0..20 {
                let at = |dx: f64, dy: f64| parts(z.row(0)[i] + dx, z.row(1)[i] + dy).dot(weights);
                let h = 1e-5;
                let slopes = [at(h, 0.0) - at(-h, 0.0), at(0.0, h) - at(0.0, -h)];
                for (d, slope) in slopes.into_iter().enumerate() {
                    let (found, slope) = (tile.gradient().row(d)[i], slope / (2.0 * h));
                    assert!((found - slope).abs() < 1e-7 * (1.0 + slope.abs()), "{path:?} {found}");
                }
            }
        };
        density.evaluate_parts(&z, Some(WEIGHTS), &mut tile).unwrap();
        check(&tile, WEIGHTS);
        for t in [0.3, 1.0] {
            density.evaluate(&z, Some(t), &mut tile).unwrap();
            check(&tile, path.weights(t));
        }
    }
}

#[test]
fn without_a_way_there_is_no_reference() {
    let target = Lopsided::default();
    let density = Tempered::untempered(Unconstrained::new(&target).unwrap());
    let z = Lopsided::draws(3, 5);
    let mut tile = Tile::zeros(2, 5);
    density.evaluate_parts(&z, None, &mut tile).unwrap();
    let at = tile.parts().at(4);
    assert_eq!(at.reference, 0.0);
    let sum = at.prior + at.likelihood + at.jacobian;
    assert_eq!(tile.log_density(density.path.weights(1.0), 4), sum);
}

#[test]
fn what_is_no_number_has_no_density() {
    let target = Program::record(1, |z| z[0].ln());
    let density = Tempered::untempered(Unconstrained::new(&target).unwrap());
    let mut tile = Tile::zeros(1, 3);
    let z = Batch::from_points(1, &[[-1.0], [0.0], [1.0]]);
    density.evaluate_parts(&z, None, &mut tile).unwrap();
    let found = [0, 1, 2].map(|i| tile.log_density(density.path.weights(1.0), i));
    assert_eq!(found, [f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0]);
}

#[test]
fn pieces_come_in_order_and_cover_all() {
    let target = Lopsided::default();
    let density = density(&target, PathKind::Power);
    let pieces = density.each_piece(300, 128, |range| Ok((range.start, range.end))).unwrap();
    assert_eq!(pieces, [(0, 128), (128, 256), (256, 300)]);
    assert!(density.each_piece(0, 128, Ok).unwrap().is_empty());
    let failed = density.each_piece(300, 128, |range| match range.start {
        128 => Err(crate::Error::Target("here".into())),
        _ => Ok(()),
    });
    assert!(failed.unwrap_err().to_string().contains("here"));
}
