//! The capabilities of flow families: a correlated Gaussian, and both modes of the paper's Example
//! 3.

use adaann::{Settings, fit::fit, flow::FlowSpec, registry};

/// In ten dimensions with neighbours correlated by 0.8, the flows that can represent a linear map
/// are within 0.01 nats of the target after the preset's updates: KL(q‖p) = E_q[log q − log p] + log
/// Z, plus four standard errors of its estimate.
#[test]
fn correlated_gaussian() {
    let entry = registry::find("gaussian").unwrap();
    let problem = entry.build(&[("dim".into(), 10.0)]).unwrap();
    let log_z = problem.known.log_z.unwrap();
    for name in ["linear", "realnvp", "maf", "iaf", "glow", "linear+spline"] {
        let settings = problem.settings.clone().with_flow(FlowSpec::named(name).unwrap());
        let outcome = fit(&*problem.target, &settings, &mut ()).unwrap();
        let draws = 100_000;
        let sample = outcome.approximation(&*problem.target).unwrap().sample(draws, 7).unwrap();
        let losses: Vec<f64> = sample.log_weights().iter().map(|log_weight| -log_weight).collect();
        let mean = losses.iter().sum::<f64>() / draws as f64;
        let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / draws as f64;
        let (kl, error) = (mean + log_z, (variance / draws as f64).sqrt());
        assert!(kl + 4.0 * error < 0.01, "{name}: KL {kl:.4} ± {error:.4}");
        // A flow with a wrong log q could report any KL, but its draws reveal their true spread.
        // Five standard errors of an SD from 100,000 draws are 0.011, and an SD that is wrong by 0.1
        // alone costs a KL of 0.1² = 0.01.
        for (d, truth) in problem.known.sd.as_ref().unwrap().iter().enumerate() {
            let row = sample.x().row(d);
            let mean = row.iter().sum::<f64>() / draws as f64;
            let sd = (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws as f64).sqrt();
            assert!((sd / truth - 1.0).abs() < 0.111, "{name}: SD {sd} for {truth}");
        }
    }
}

/// Planar layers with AdaAnn find both modes, nearest and farthest. For all trials of the paper and
/// the other flows see `adaann-bench example3`.
#[test]
fn example_3() {
    for mu in [0.0, 2.5] {
        let entry = registry::find("mixture2d").unwrap();
        let problem = entry.build(&[("mu".into(), mu)]).unwrap();
        for seed in 1..=3 {
            let settings = Settings { seed, ..problem.settings.clone() };
            let outcome = fit(&*problem.target, &settings, &mut ()).unwrap();
            let draws = outcome.flow.sample(10_000, 7).points;
            let weights = registry::mode_weights(&problem.known, &draws);
            assert!(
                weights.iter().all(|weight| *weight > 0.05),
                "mu {mu}, seed {seed}: {weights:?}"
            );
        }
    }
}
