//! Densities that are not finite everywhere, plateaus, and what is too little to find modes from.

use super::{assert_found, build, cloud, find};
use adaann::{
    Batch, Result,
    modes::{self, Settings},
    target::{Evaluation, Target, Unconstrained, Weights},
};

/// log p = −x²/2 where `rule` finds nothing else to say.
struct Broken(fn(f64) -> Option<(f64, f64)>);

impl Target for Broken {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(&self, points: &Batch, _: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        for (i, &x) in points.row(0).iter().enumerate() {
            let (height, slope) = (self.0)(x).unwrap_or((-0.5 * x * x, -x));
            out.log_prior[i] = 0.0;
            out.log_likelihood[i] = height;
            out.gradient.row_mut(0)[i] = slope;
        }
        Ok(())
    }
}

#[test]
fn what_is_not_finite_is_skipped_and_refused_only_if_nothing_is_left() {
    let points = cloud(1, 64, 0.0, 2.0);
    let below = points.iter().filter(|x| x[0] < 0.3).count();
    let no_slope = Broken(|x| (x < 0.3).then_some((-0.5 * x * x, f64::NAN)));
    let no_height = Broken(|x| (x < 0.3).then_some((f64::NEG_INFINITY, 0.0)));
    for target in [no_slope, no_height] {
        let modes = find(&target, &points, &Settings::default());
        assert_eq!((modes.len(), modes.lost()), (1, below));
        // The peak is cut off; the climb comes as near as its steps allow.
        let at = modes.peaks()[0].z[0];
        assert!((0.3..0.5).contains(&at), "{at}");
    }
    for said in [Broken(|_| Some((f64::NAN, 0.0))), Broken(|_| Some((f64::INFINITY, 0.0)))] {
        let target = Unconstrained::new(&said).unwrap();
        let starts = Batch::from_points(1, &points);
        let error = modes::find(&target, &starts, &Settings::default()).unwrap_err().to_string();
        assert!(error.contains("none of the 64"), "{error}");
    }
}

#[test]
fn a_plateau_is_no_mode_and_links_none() {
    // Two peaks over a floor on which all climbs from outside are stuck.
    let floor = Broken(|x| {
        let height = -8.0 * (x.abs() - 3.0).powi(2);
        Some(if height < -40.0 { (-40.0, 0.0) } else { (height, -16.0 * (x - 3.0 * x.signum())) })
    });
    let modes = find(&floor, &cloud(1, 256, 0.0, 6.0), &Settings::default());
    assert_found(&modes, &[vec![3.0], vec![-3.0]], 1e-3);
    // A ledge behind a moat, far below, with one start on it.
    let ledge = Broken(|x| match x {
        10.0..12.0 => Some((-200.0, 0.0)),
        12.0.. => Some((-100.0, 0.0)),
        _ => None,
    });
    let mut points = cloud(1, 99, 0.0, 2.0);
    points.push(vec![15.0]);
    let modes = find(&ledge, &points, &Settings::default());
    assert_found(&modes, &[vec![0.0]], 1e-3);
    assert_eq!(modes.assign(&Batch::from_points(1, &[[15.0]])), [Some(0)]);
}

#[test]
fn few_starts_and_few_evaluations() {
    let problem = build("mixture2d");
    let target = Unconstrained::new(&*problem.target).unwrap();
    let one = modes::find(&target, &Batch::from_points(2, &[[-1.0, 0.0]]), &Settings::default());
    let one = one.unwrap();
    assert_found(&one, &[vec![-1.5, 0.5]], 1e-3);
    let odd = Batch::from_points(2, &[[f64::NAN, 0.0], [9.0, 9.0], [f64::INFINITY, 1.0]]);
    assert_eq!(one.assign(&odd), [None, Some(0), None]);

    for evaluations in [1, 7, 64, 700] {
        let settings = Settings { evaluations, ..Settings::default() };
        find(&*problem.target, &cloud(2, 400, 0.0, 1.5), &settings);
    }
}

#[test]
fn what_cannot_be_sought_is_refused() {
    let problem = build("mixture2d");
    let target = Unconstrained::new(&*problem.target).unwrap();
    let points = Batch::from_points(2, &cloud(2, 8, 0.0, 1.5));
    let refused = |starts: &Batch, settings: Settings| {
        modes::find(&target, starts, &settings).unwrap_err().to_string()
    };
    let default = Settings::default();
    assert!(refused(&Batch::zeros(2, 0), default).contains("of 0 draws"));
    assert!(refused(&Batch::zeros(3, 8), default).contains("3 dimensions found, 2 expected"));
    assert!(refused(&points, Settings { starts: 0, ..default }).contains("starts is 0"));
    assert!(refused(&points, Settings { iterations: 0, ..default }).contains("iterations is 0"));
    assert!(refused(&points, Settings { evaluations: 0, ..default }).contains("evaluations is 0"));
    for merge_drop in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(refused(&points, Settings { merge_drop, ..default }).contains("merge_drop is"));
    }
}
