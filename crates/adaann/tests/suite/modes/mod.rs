//! Modes are found from draws: as many as there are, and where they are.

mod refusals;
mod widths;

use crate::support::common;
use adaann::{
    Batch, Expr, Program,
    modes::{self, Modes, Settings, shares},
    registry::{self, Problem, mode_weights},
    target::{Target, Unconstrained},
};
use common::Numbers;
use std::f64::consts::{PI, TAU};

fn build(name: &str) -> Problem {
    registry::find(name).unwrap().build(&[]).unwrap()
}

fn in_dimension(name: &str, dim: f64) -> Problem {
    registry::find(name).unwrap().build(&[("dim".to_string(), dim)]).unwrap()
}

/// Normal points around the origin, or wherever `middle` is.
fn cloud(dim: usize, count: usize, middle: f64, sd: f64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(17);
    (0..count).map(|_| (0..dim).map(|_| middle + sd * numbers.normal()).collect()).collect()
}

/// Modes from points of the target's own coordinates, within the evaluations allowed.
fn find(target: &dyn Target, points: &[Vec<f64>], settings: &Settings) -> Modes {
    let target = Unconstrained::new(target).unwrap();
    let starts = target.unconstrain(&Batch::from_points(target.dim(), points)).unwrap();
    let modes = modes::find(&target, &starts, settings).unwrap();
    assert!(modes.evaluations() <= settings.evaluations, "{}", modes.evaluations());
    modes
}

fn find_from(problem: &Problem, points: &[Vec<f64>]) -> Modes {
    find(&*problem.target, points, &Settings::default())
}

/// Each known mode has one peak within `tolerance`, and there are no others.
#[track_caller]
fn assert_found(modes: &Modes, locations: &[Vec<f64>], tolerance: f64) {
    assert_eq!(modes.len(), locations.len(), "{:?}", modes.peaks());
    for at in locations {
        let is_near = |z: &[f64]| z.iter().zip(at).all(|(z, at)| (z - at).abs() <= tolerance);
        let near = modes.peaks().iter().filter(|peak| is_near(&peak.z)).count();
        assert_eq!(near, 1, "peaks at {at:?}");
    }
}

fn locations(problem: &Problem) -> Vec<Vec<f64>> {
    problem.known.modes.iter().map(|mode| mode.location.clone()).collect()
}

#[test]
fn peaks_are_where_they_are_known_to_be() {
    // log p is right to 1e-12 nats at a peak, and so the place to 1.4e-6 standard deviations, if
    // the climb knew the curvature; 1e-3 is far less than any width and leaves room for it.
    let cases = [("bimodal", cloud(1, 256, -2.0, 2.0)), ("mixture2d", cloud(2, 256, 0.0, 1.5))];
    for (name, points) in cases {
        let problem = build(name);
        assert_found(&find_from(&problem, &points), &locations(&problem), 1e-3);
    }
    // Overlap moves peaks of the mixtures off the means, by less than a hundredth of the radius.
    let eight = build("eight-gaussians");
    assert_found(&find_from(&eight, &cloud(2, 256, 0.0, 2.0)), &locations(&eight), 0.02);
}

#[test]
fn crescents_are_two_and_a_bent_valley_is_one() {
    let moons = find_from(&build("two-moons"), &cloud(2, 256, 0.0, 2.0));
    // Along a moon log p falls like −y⁴, so that y is less well known than x.
    assert_found(&moons, &[vec![2.0, 0.0], vec![-2.0, 0.0]], 0.02);
    let valley = find_from(&build("rosenbrock"), &cloud(2, 256, 0.0, 2.0));
    assert_found(&valley, &[vec![1.0, 1.0]], 1e-3);
}

#[test]
fn forty_gaussians_are_forty_modes() {
    let problem = build("mixture40");
    let mut numbers = Numbers(17);
    let mut side = || 90.0 * numbers.uniform() - 45.0;
    let points: Vec<_> = (0..512).map(|_| vec![side(), side()]).collect();
    // A mode that no start is nearest to can only be met by chance.
    let nearest = mode_weights(&problem.known, &Batch::from_points(2, &points));
    assert!(nearest.iter().all(|share| *share > 0.0));
    let settings = Settings { starts: 512, ..Settings::default() };
    let modes = find(&*problem.target, &points, &settings);
    // Means 3 standard deviations apart draw each other's peaks nearer by a tenth.
    assert_found(&modes, &locations(&problem), 0.2);
    // A start has the mode that it climbed to.
    let points = Batch::from_points(2, &points);
    let of = modes.assign(&points);
    for (mode, peak) in modes.peaks().iter().enumerate() {
        assert_eq!(of.iter().filter(|of| **of == Some(mode)).count(), peak.climbs);
    }
    // Uphill is towards the nearest mean: only at the borders of cells may a step cross them.
    let leaps = |i: &usize| {
        let peak = &modes.peaks()[of[*i].unwrap()];
        problem.known.mode_of(&points.point(*i)) != problem.known.mode_of(&peak.z)
    };
    let leaps = (0..512).filter(leaps).count();
    assert!(leaps < 10, "{leaps} of 512 climbs left their cell");
}

#[test]
fn eggs_at_the_edges_are_found_too() {
    let mut numbers = Numbers(3);
    let mut side = || 10.0 * PI * numbers.uniform();
    let points: Vec<_> = (0..512).map(|_| vec![side(), side()]).collect();
    let problem = build("eggbox");
    let settings = Settings { starts: 512, ..Settings::default() };
    let modes = find(&*problem.target, &points, &settings);
    assert_eq!(modes.len(), 18);
    // At an edge log|J| moves the peak inwards: 2 c x = 1/x with c = 5 · 3⁴/8 puts it at x = 0.1.
    let target = Unconstrained::new(&*problem.target).unwrap();
    for peak in modes.peaks() {
        let theta = target.constrain(&Batch::from_points(2, &[&peak.z])).0.point(0);
        let off = |location: &Vec<f64>| {
            theta.iter().zip(location).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(locations(&problem).iter().any(|at| off(at) < 0.11), "{theta:?}");
    }
}

/// Exact draws of the rings, the inner ones rarer.
fn ring_draws(count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(seed);
    let mut draw = || {
        let share = 10.0 * numbers.uniform();
        let ring = [1.0, 3.0, 6.0].iter().filter(|&&below| share > below).count() as f64 + 1.0;
        // r times a normal density around the ring: the factor r by rejection from r ≤ 2 k.
        let radius = loop {
            let radius = ring + 0.15 * numbers.normal();
            if numbers.uniform() * 2.0 * ring < radius {
                break radius;
            }
        };
        let angle = TAU * numbers.uniform();
        vec![radius * angle.cos(), radius * angle.sin()]
    };
    (0..count).map(|_| draw()).collect()
}

#[test]
fn a_ring_is_one_mode_and_has_its_share() {
    let problem = build("rings");
    let draws = ring_draws(20_000, 5);
    let modes = find_from(&problem, &draws);
    assert_eq!(modes.len(), 4);
    let points = Batch::from_points(2, &draws);
    let found = shares(4, &modes.assign(&points), &vec![1.0; draws.len()]).unwrap();
    let nearest = mode_weights(&problem.known, &points);
    for (peak, share) in modes.peaks().iter().zip(&found) {
        let radius = peak.z[0].hypot(peak.z[1]);
        assert!((radius - radius.round()).abs() < 1e-3, "{radius}");
        // A place stands for 1/256 of the draws; two may be missing in gaps between a ring's own.
        let off = (share.value - nearest[radius.round() as usize - 1]).abs();
        assert!(off < 2.0 / 256.0, "{radius}: {share:?}");
        let off = (share.value - radius.round() / 10.0).abs();
        assert!(off < 4.0 * share.error + 2.0 / 256.0, "{radius}: {share:?}");
    }
}

/// Draws of two spherical shells around ±3.5 on the first axis.
fn shell_draws(dim: usize, count: usize) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(29);
    let mut draw = |i: usize| {
        let mut x: Vec<f64> = (0..dim).map(|_| numbers.normal()).collect();
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let radius = 2.0 + 0.1 * numbers.normal();
        x.iter_mut().for_each(|x| *x *= radius / norm);
        x[0] += if i.is_multiple_of(2) { 3.5 } else { -3.5 };
        x
    };
    (0..count).map(&mut draw).collect()
}

#[test]
fn shells_in_a_box_are_two() {
    // log|J| tilts the shells, so that each has a peak where it faces the other.
    for dim in [2, 10] {
        let modes = find_from(&in_dimension("shells", dim as f64), &shell_draws(dim, 256));
        assert_eq!(modes.len(), 2, "{dim} dimensions: {:?}", modes.peaks());
    }
}

#[test]
fn a_level_sphere_is_one_mode_though_chords_pass_below_it() {
    // Neighbours among 256 ends on a sphere in ten dimensions are about 50 degrees apart: a chord
    // is 2 (1 - cos 25°) = 1.9 widths below it, which is 1.8 nats.
    let sphere = Program::record(10, |x| {
        let square: Expr<'_> = x.iter().map(|x| x.square()).sum();
        -50.0 * (square.sqrt() - 2.0).square()
    });
    let modes = find(&sphere, &cloud(10, 256, 0.0, 0.7), &Settings::default());
    assert_eq!(modes.len(), 1);
    assert_eq!(modes.peaks()[0].climbs, 256);
}

#[test]
fn wells_multiply() {
    let modes = find_from(&in_dimension("many-well", 4.0), &cloud(4, 256, 0.0, 1.5));
    // Where 4 x³ − 12 x − 1/2 = 0.
    let (low, high) = (-1.710_829, 1.752_520);
    let wells = [[low, low], [low, high], [high, low], [high, high]];
    let wells = wells.map(|[a, b]| vec![a, 0.0, b, 0.0]);
    assert_found(&modes, &wells, 1e-3);
}

#[test]
fn many_dimensions_and_one_mode() {
    for dim in [30, 100] {
        let problem = in_dimension("gaussian", dim as f64);
        let modes = find_from(&problem, &cloud(dim, 256, 0.0, 2.0));
        // 60 evaluations may not suffice to peak; ends are merged all the same.
        assert_found(&modes, &locations(&problem), 0.05);
        assert_eq!(modes.peaks()[0].climbs, 256);
    }
}

#[test]
fn a_funnel_is_one_mode_though_nobody_reaches_its_peak() {
    // The neck narrows by e^(-20) on the way to the peak at x1 = -40.5, 91 nats above the mouth.
    let mut numbers = Numbers(11);
    let mut draw = || {
        let first = 3.0 * numbers.normal();
        let mut x = vec![first];
        x.extend((0..9).map(|_| (0.5 * first).exp() * numbers.normal()));
        x
    };
    let draws: Vec<_> = (0..256).map(|_| draw()).collect();
    let modes = find_from(&in_dimension("funnel", 10.0), &draws);
    assert_eq!(modes.len(), 1);
    assert!(modes.peaks()[0].z[0] < -15.0);
    assert!(modes.assign(&Batch::from_points(10, &draws)).iter().all(|mode| *mode == Some(0)));
}

#[test]
fn both_modes_of_the_hiv_posterior() {
    let problem = build("hiv");
    let known = &problem.known.modes;
    let mut numbers = Numbers(2);
    let mut near = |i: usize| {
        let sd = known[i % 2].sd.as_ref().unwrap();
        let around = known[i % 2].location.iter().zip(sd);
        around.map(|(x, sd)| x + 2.0 * sd * numbers.normal()).collect::<Vec<f64>>()
    };
    let draws: Vec<_> = (0..200).map(&mut near).collect();
    let modes = find_from(&problem, &draws);
    assert_found(&modes, &locations(&problem), 1e-3);
    assert!(modes.peaks().iter().all(|peak| peak.climbs == 100));
    let of = modes.assign(&Batch::from_points(3, &draws));
    assert!((0..200).all(|i| of[i] == of[i % 2]) && of[0] != of[1]);
}

#[test]
fn threads_change_no_bit() {
    let problem = build("rings");
    let target = Unconstrained::new(&*problem.target).unwrap();
    let draws = Batch::from_points(2, &ring_draws(1_000, 6));
    let on = |threads: usize| {
        let pool = rayon_pool(threads);
        pool.install(|| {
            let modes = modes::find(&target, &draws, &Settings::default()).unwrap();
            (modes.peaks().to_vec(), modes.assign(&draws), modes.evaluations())
        })
    };
    assert_eq!(on(1), on(2));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}
