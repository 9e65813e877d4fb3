//! Modes are found from draws: as many as there are, where they are, and with their shares.

mod common;

use adaann::{
    Batch, Expr, Program, Result,
    check::modes::{self, Modes, Settings, differences, shares},
    program::log_sum_exp,
    registry::{self, Problem, mode_weights},
    target::{Evaluation, Target, Unconstrained, Weights},
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
    for (peak, share) in modes.peaks().iter().zip(&found) {
        let radius = peak.z[0].hypot(peak.z[1]);
        assert!((radius - radius.round()).abs() < 1e-3, "{radius}");
        // The tails beyond the middle between rings, 3.3 standard deviations, are 1e-3 of a ring.
        let off = (share.value - radius.round() / 10.0).abs();
        assert!(off < 4.0 * share.error + 1e-3, "{radius}: {share:?}");
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
        x[0] += if i % 2 == 0 { 3.5 } else { -3.5 };
        x
    };
    (0..count).map(&mut draw).collect()
}

#[test]
fn shells_are_two_even_where_ends_are_far_apart() {
    // In ten dimensions neighbours on a shell are more than half a radius apart, and the chord
    // between them is many widths below it: the ways over the shell have to be found.
    for dim in [2, 10] {
        let modes = find_from(&in_dimension("shells", dim as f64), &shell_draws(dim, 256));
        assert_eq!(modes.len(), 2, "{dim} dimensions: {:?}", modes.peaks());
        let of = modes.assign(&Batch::from_points(dim, &[vec![0.4; dim]]));
        assert!(of[0].is_some());
    }
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

/// Σ w_k N(m_k, s_k² I), normalised.
struct Mixture {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    sds: Vec<f64>,
}

impl Mixture {
    fn record(&self) -> Program {
        let dim = self.means[0].len();
        Program::record(dim, |x| {
            let term = |k: usize| {
                let square: Expr<'_> =
                    x.iter().zip(&self.means[k]).map(|(x, m)| (x - *m).square()).sum();
                let scale = -(dim as f64) * self.sds[k].ln() + self.weights[k].ln();
                square * (-0.5 / self.sds[k].powi(2)) + scale
            };
            log_sum_exp(&(0..self.means.len()).map(term).collect::<Vec<_>>())
        })
    }

    fn draws(&self, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut numbers = Numbers(seed);
        let mut draw = || {
            let mut left = numbers.uniform();
            let is_it = |w: &f64| {
                left -= w;
                left < 0.0
            };
            let k = self.weights.iter().position(is_it).unwrap_or(self.weights.len() - 1);
            self.means[k].iter().map(|m| m + self.sds[k] * numbers.normal()).collect()
        };
        (0..count).map(|_| draw()).collect()
    }
}

#[test]
fn a_narrow_mode_does_not_reach_into_a_wide_one() {
    // In the plane, and in twenty dimensions, where the midplane cuts off 2% of the wide one.
    for (dim, apart) in [(2, 1.5), (20, 4.0)] {
        let mut there = vec![0.0; dim];
        there[0] = apart;
        let mixture = Mixture {
            weights: vec![0.3, 0.7],
            means: vec![vec![0.0; dim], there],
            sds: vec![0.05, 1.0],
        };
        let draws = mixture.draws(20_000, 7);
        let modes = find(&mixture.record(), &draws, &Settings::default());
        assert_eq!(modes.len(), 2, "{:?}", modes.peaks());
        // The narrow peak is the higher one by far.
        let points = Batch::from_points(dim, &draws);
        let found = shares(2, &modes.assign(&points), &vec![1.0; draws.len()]).unwrap();
        // What lies under the narrow one, within four of its widths, is 1% of the wide one.
        let off = (found[0].value - 0.3).abs();
        assert!(off < 4.0 * found[0].error + 0.01, "{dim} dimensions: {found:?}");
    }
}

#[test]
fn shares_of_equal_modes_are_equal_and_samples_agree() {
    let means: Vec<_> = (0..5).map(|k| vec![4.0 * f64::from(k), f64::from(k * k)]).collect();
    let mixture = Mixture { weights: vec![0.2; 5], means, sds: vec![0.5; 5] };
    let [first, second] = [1, 2].map(|seed| mixture.draws(10_000, seed));
    let modes = find(&mixture.record(), &first, &Settings::default());
    assert_eq!(modes.len(), 5);
    let share = |draws: &[Vec<f64>]| {
        shares(5, &modes.assign(&Batch::from_points(2, draws)), &vec![1.0; draws.len()]).unwrap()
    };
    let (a, b) = (share(&first), share(&second));
    for share in a.iter().chain(&b) {
        // The means are at least eight standard deviations apart: nothing but counting is noisy.
        assert!((share.value - 0.2).abs() < 4.0 * share.error, "{share:?}");
        assert!((share.error - (0.16 / 10_000.0_f64).sqrt()).abs() < 1e-4, "{share:?}");
    }
    assert!(differences(&a, &b).unwrap().iter().all(|difference| difference.z_score().abs() < 4.0));
    // Weights that count one mode's draws twice move its share to 1/3.
    let of = modes.assign(&Batch::from_points(2, &first));
    let twice: Vec<f64> = of.iter().map(|m| if *m == Some(3) { 2.0 } else { 1.0 }).collect();
    let tilted = shares(5, &of, &twice).unwrap();
    let exact = 2.0 * a[3].value / (1.0 + a[3].value);
    assert!((tilted[3].value - exact).abs() < 1e-12);
    assert!(differences(&a, &tilted).unwrap()[3].z_score() > 10.0);
}

#[test]
fn points_have_the_modes_that_are_known() {
    let problem = build("eight-gaussians");
    let mut numbers = Numbers(8);
    let sd = 2.0 / 3.0 * (PI / 8.0).sin();
    let around = |i: usize| -> Vec<f64> {
        problem.known.modes[i % 8].location.iter().map(|m| m + sd * numbers.normal()).collect()
    };
    let draws: Vec<_> = (0..4_000).map(around).collect();
    let modes = find_from(&problem, &draws);
    let points = Batch::from_points(2, &draws);
    let target = Unconstrained::new(&*problem.target).unwrap();
    let summaries = modes.summarise(&target, &points, &vec![1.0; 4_000]).unwrap();
    let known = mode_weights(&problem.known, &points);
    for summary in &summaries {
        let mode = problem.known.mode_of(&summary.position).unwrap();
        // Beyond three standard deviations, where the midplanes are, is 0.5% of a mode's mass.
        assert!((summary.share.value - known[mode]).abs() < 0.005 / 8.0 + 1e-3);
        let mean = summary.mean.as_ref().unwrap();
        for (mean, exact) in mean.iter().zip(&problem.known.modes[mode].location) {
            assert!((mean - exact).abs() < 5.0 * sd / 500.0_f64.sqrt());
        }
        let covariance = summary.covariance.as_ref().unwrap();
        for (entry, exact) in covariance.iter().zip([1.0, 0.0, 0.0, 1.0]) {
            // √(2/500) for a variance, √(1/500) for a covariance; and what the midplanes cut off.
            assert!((entry / (sd * sd) - exact).abs() < 5.0 * 0.064, "{covariance:?}");
        }
    }
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
