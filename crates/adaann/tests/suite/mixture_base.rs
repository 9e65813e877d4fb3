//! Flows with a mixture base: their results, reproducibility from a seed, and their files.

use adaann::{
    Batch, Error, Program, Settings,
    fit::fit,
    flow::{Base, BaseSpec, Covariance, Flow, FlowSpec},
    path::PathKind,
    schedule::{AdaAnn, Schedule, Work},
};
use std::path::{Path, PathBuf};

/// Two Gaussians in the plane, 0.3 and 0.7, of different shapes; the log of their sum.
fn two_modes() -> Program {
    Program::record(2, |z| {
        let mode = |weight: f64, mean: [f64; 2], sd: [f64; 2]| {
            let e = [(z[0] - mean[0]) * (1.0 / sd[0]), (z[1] - mean[1]) * (1.0 / sd[1])];
            -0.5 * (e[0].square() + e[1].square()) + (weight / (sd[0] * sd[1])).ln()
        };
        mode(0.3, [-2.5, 1.0], [0.6, 0.4]).log_add_exp(mode(0.7, [2.0, -1.0], [0.8, 0.5]))
    })
}

const SHAPES: [Covariance; 2] = [Covariance::Diagonal, Covariance::Full];

fn mixture(components: usize) -> BaseSpec {
    BaseSpec { components, trained: true, sd: vec![3.0], ..BaseSpec::default() }
}

fn quick() -> Settings {
    Settings {
        flow: FlowSpec::planar(4),
        base: mixture(3),
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.3 }),
        work: Work { warmup: 30, anneal: 2, refine: 50 },
        refine_samples: 200,
        ..Settings::default()
    }
}

fn bits(flow: &Flow) -> Vec<u64> {
    flow.parameters().iter().map(|x| x.to_bits()).collect()
}

/// From means drawn with the seed to the right modes with the right weights.
///
/// The remaining KL(q‖p) bounds the error of the weights. With separate modes, the best weights for
/// components that fit their modes with KL_k are 0.3 and 0.7 times e^(−KL_k). Their error is at most
/// 0.3 · 0.7 · max KL_k, and Σ w_k KL_k = KL implies KL_k ≤ KL/0.3.
#[test]
fn weights_of_modes_are_recovered() {
    const DRAWS: usize = 40_000;
    let target = two_modes();
    for seed in 1..=4 {
        let settings = Settings {
            base: mixture(2),
            initial_scale: 0.01,
            schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.1 }),
            work: Work { warmup: 500, anneal: 2, refine: 3000 },
            lr: 0.01,
            seed,
            ..quick()
        };
        let outcome = fit(&target, &settings, &mut ()).unwrap();
        let draws = outcome.approximation(&target).unwrap().sample(DRAWS, seed).unwrap();
        // p integrates to 2π. The spread of log q − log p is about √(2 KL).
        let kl = draws.neg_elbo() + std::f64::consts::TAU.ln();
        assert!(kl < 0.02, "seed {seed}: KL {kl}");
        let kl = kl + 4.0 * (2.0 * kl.abs() / DRAWS as f64).sqrt();

        let weights = outcome.flow.base().weights();
        let off = weights[0].min(weights[1]) - 0.3;
        assert!(off.abs() < 0.7 * kl, "seed {seed}: {weights:?}, KL {kl}");
        // The modes are 3.2 standard deviations from the dividing line: 0.0002 of p is on the wrong
        // side. One standard error of the fraction of the draws is √(0.3 · 0.7/N) = 0.0023.
        let left = draws.x().row(0).iter().filter(|x| **x < -0.6).count() as f64;
        let off = left / DRAWS as f64 - 0.3;
        let standard_error = (0.21 / DRAWS as f64).sqrt();
        assert!(off.abs() < 0.7 * kl + 4.0 * standard_error, "seed {seed}: {off}");
    }
}

/// Two modes with correlations 0.9 and −0.8. Two components of independent coordinates leave a KL of −½
/// Σ w_k ln(1 − ρ_k²) = 0.3 · 0.83 + 0.7 · 0.51 = 0.61, and a single layer cannot correlate both modes.
#[test]
fn full_covariances_lean_with_their_modes() {
    let target = Program::record(2, |z| {
        let mode = |weight: f64, mean: [f64; 2], sd: [f64; 2], rho: f64| {
            let e = [(z[0] - mean[0]) * (1.0 / sd[0]), (z[1] - mean[1]) * (1.0 / sd[1])];
            let rest = 1.0 - rho * rho;
            let square = e[0].square() + e[1].square() - 2.0 * rho * e[0] * e[1];
            square * (-0.5 / rest) + (weight / (sd[0] * sd[1] * rest.sqrt())).ln()
        };
        let left = mode(0.3, [-3.5, 1.0], [0.6, 0.9], 0.9);
        left.log_add_exp(mode(0.7, [3.0, -1.0], [0.8, 0.5], -0.8))
    });
    let settings = Settings {
        flow: FlowSpec::planar(1),
        base: BaseSpec { covariance: Covariance::Full, ..mixture(2) },
        initial_scale: 0.01,
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.05, tau: 0.1 }),
        work: Work { warmup: 500, anneal: 2, refine: 3000 },
        lr: 0.01,
        ..quick()
    };
    let outcome = fit(&target, &settings, &mut ()).unwrap();
    let draws = outcome.approximation(&target).unwrap().sample(40_000, 5).unwrap();
    // p integrates to 2π.
    let kl = draws.neg_elbo() + std::f64::consts::TAU.ln();
    assert!(kl < 0.02, "KL {kl}");
    // As for uncorrelated modes, the error of the weights is at most 0.7 of the remaining KL.
    let kl = kl + 4.0 * (2.0 * kl.abs() / 40_000.0).sqrt();
    let weights = outcome.flow.base().weights();
    let off = weights[0].min(weights[1]) - 0.3;
    assert!(off.abs() < 0.7 * kl, "{weights:?}, KL {kl}");
}

#[test]
fn a_seed_fixes_the_bits_for_any_number_of_threads() {
    let target = two_modes();
    let paths = [PathKind::Power, PathKind::Bridge];
    for (path, covariance) in paths.into_iter().flat_map(|path| SHAPES.map(|shape| (path, shape))) {
        let run = |threads, seed| {
            let base = BaseSpec { covariance, ..mixture(3) };
            let settings =
                Settings { base, path, samples: 301, refine_samples: 1000, seed, ..quick() };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&target, &settings, &mut ()).unwrap())
        };
        let one = run(1, 7);
        let two = run(2, 7);
        assert_eq!(bits(&one.flow), bits(&two.flow));
        assert_eq!((&one.steps, &one.trace), (&two.steps, &two.trace));
        assert!(one.steps.len() > 3 && one.skipped_updates == 0);
        assert_ne!(bits(&one.flow), bits(&run(1, 8).flow), "another seed is another run");
        assert!(one.flow.base().weights().iter().all(|w| (w - 1.0 / 3.0).abs() > 1e-6));
    }
}

/// Draws come from the components in proportion to their weights, and their log density agrees with the
/// inverse.
#[test]
fn draws_agree_with_the_density() {
    const DRAWS: usize = 10_000;
    let base = Base::mixture(&[0.2, 0.8], &[-20.0, 0.0, 20.0, 1.0], &[1.0, 0.5, 2.0, 3.0]).unwrap();
    let mut flow = Flow::new(&FlowSpec::planar(3), base).unwrap();
    flow.initialise(0.1, 4);
    let draws = flow.sample(DRAWS, 9);
    for (a, b) in flow.log_density(&draws.points).unwrap().iter().zip(&draws.log_q) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} {b}");
    }
    let left = draws.points.row(0).iter().filter(|x| **x < 0.0).count() as f64;
    let off = (left / DRAWS as f64 - 0.2) / (0.16 / DRAWS as f64).sqrt();
    assert!(off.abs() < 4.0, "{off} standard errors off");
    // A draw depends only on its number.
    let fewer = flow.sample(300, 9);
    assert_eq!(fewer.log_q, draws.log_q[..300]);
}

#[test]
fn means_are_given_or_drawn() {
    let start = |base: BaseSpec, seed| {
        let work = Work { warmup: 0, anneal: 1, refine: 0 };
        let settings = Settings { base, schedule: Schedule::None, work, seed, ..quick() };
        let flow = fit(&two_modes(), &settings, &mut ()).unwrap().flow;
        let own = flow
            .blocks()
            .iter()
            .filter(|block| block.name.starts_with("base."))
            .map(|block| block.len())
            .sum();
        flow.parameters()[..own].to_vec()
    };
    let given = BaseSpec { means: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], ..mixture(3) };
    let parameters = start(given, 1);
    assert_eq!(parameters[..3], [0.0; 3]);
    assert_eq!(parameters[3..9], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(parameters[9..], [3.0_f64.ln(); 6]);

    // Full covariances start without correlations, with the same density.
    let full = BaseSpec { covariance: Covariance::Full, ..mixture(3) };
    let (full, diagonal) = (start(full, 1), start(mixture(3), 1));
    assert_eq!((&full[..15], &full[15..]), (&diagonal[..], &[0.0; 3][..]));

    // Drawn means: different for another seed, spread by sd around mean.
    let drawn =
        |seed| start(BaseSpec { mean: vec![100.0, 0.0], ..mixture(3) }, seed)[3..9].to_vec();
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
    for (i, mean) in drawn(1).iter().enumerate() {
        let e = (mean - [100.0, 0.0][i % 2]) / 3.0;
        assert!(e.abs() < 4.0 && e != 0.0, "{mean}");
    }
}

#[test]
fn what_a_mixture_cannot_have_is_refused_by_name() {
    let with = |change: fn(&mut Settings)| {
        let mut settings = quick();
        change(&mut settings);
        match fit(&two_modes(), &settings, &mut ()) {
            Err(Error::Setting { setting, range, .. }) => (setting, range),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(|s| s.base.components = 0).0, "base-components");
    let (setting, range) = with(|s| s.samples = 2);
    assert!(setting == "samples" && range.contains("base-components"), "{setting} {range}");
    assert_eq!(with(|s| s.refine_samples = 2).0, "refine-samples");
    assert_eq!(with(|s| s.base.matrix = vec![1.0, 0.0, 0.0, 1.0]).0, "base-components");
    assert_eq!(with(|s| s.base.start = adaann::flow::Start::Laplace).0, "base-components");
    assert_eq!(with(|s| s.base.means = vec![1.0; 5]).0, "base-means");
    assert_eq!(with(|s| s.base.means = vec![f64::NAN; 6]).0, "base-mean");
    let one = |s: &mut Settings| (s.base.components, s.base.means) = (1, vec![0.0; 2]);
    assert_eq!(with(one).0, "base-means");
}

/// A temporary folder.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("adaann-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_mixture_survives_its_file() {
    let folder = Folder::new("mixture");
    let path = folder.0.join("flow.safetensors");
    for (trained, covariance) in
        [true, false].into_iter().flat_map(|trained| SHAPES.map(|shape| (trained, shape)))
    {
        let base = BaseSpec { trained, covariance, ..mixture(3) };
        let flow = fit(&two_modes(), &Settings { base, ..quick() }, &mut ()).unwrap().flow;
        let names: Vec<_> = flow.blocks().into_iter().map(|block| block.name).collect();
        let own = ["base.logit", "base.mean", "base.log_scale"];
        assert_eq!(trained, names.starts_with(&own.map(String::from)), "{names:?}");
        let is_full = covariance == Covariance::Full;
        assert_eq!(trained && is_full, names.contains(&"base.below".to_owned()), "{names:?}");
        flow.save(&path).unwrap();
        let loaded = Flow::load(&path).unwrap();
        assert_eq!((bits(&loaded), loaded.base()), (bits(&flow), flow.base()));
        let (a, b) = (loaded.sample(100, 3), flow.sample(100, 3));
        assert_eq!((a.points.row(1), a.log_q), (b.points.row(1), b.log_q));

        // A list emptied, or its numbers overwritten with garbage.
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut changes = vec![("logit", " "), ("mean", " "), ("log_scale", " "), ("logit", "x")];
        changes.extend(is_full.then_some(("below", " ")));
        for (list, filling) in changes {
            let at = text.find(&format!("{list}\\\":[")).unwrap();
            let open = at + text[at..].find('[').unwrap();
            let close = at + text[at..].find(']').unwrap();
            let mut changed = bytes.clone();
            changed[open + 1..close].fill(filling.as_bytes()[0]);
            std::fs::write(&path, &changed).unwrap();
            let error = Flow::load(&path).unwrap_err();
            assert!(matches!(error, Error::Load(_)), "{list}: {error}");
        }
    }
}

/// A file from before mixtures existed: a full Gaussian, trained.
#[test]
fn files_of_gaussian_bases_are_read_as_before() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let flow = Flow::load(&fixtures.join("flow_of_version_1.safetensors")).unwrap();
    let mean =
        [0.007_227_283_051_311_218_4, -0.003_053_013_276_284_116, -0.006_966_190_211_756_012];
    assert_eq!((flow.base().mean(), flow.base().components()), (&mean[..], 1));
    // The values from the library version that wrote the file.
    let point = Batch::from_points(3, &[[0.5, -1.0, 0.25]]);
    let log_q = flow.log_density(&point).unwrap()[0];
    assert!((log_q + 3.802_738_170_039_938).abs() < 1e-13, "{log_q}");
}
