//! trial
use adaann::{
    check,
    fit::{self, Cover, Gradient, Scout, fit},
    flow::FlowSpec,
    optim::RateRule,
    registry::{self, Choices, mode_weights},
    schedule::Schedule,
};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = &args[1];
    let seeds: u64 = args[2].parse().unwrap();
    let mut params = vec![];
    let mut edit: Vec<(String, String)> = vec![];
    for a in &args[3..] {
        let (k, v) = a.split_once('=').unwrap();
        if let Some(k) = k.strip_prefix("p:") {
            params.push((k.to_string(), v.parse().unwrap()))
        } else {
            edit.push((k.into(), v.into()))
        }
    }
    let get = |key: &str, default: &str| {
        edit.iter().find(|(k, _)| k == key).map_or(default.to_string(), |(_, v)| v.clone())
    };
    let num = |key: &str, default: f64| get(key, "").parse::<f64>().unwrap_or(default);
    let problem = registry::find(name)
        .unwrap()
        .choose(&Choices { parameters: params, ..Choices::default() })
        .unwrap();
    for seed in 1..=seeds {
        let auto = get("auto", "1") == "1";
        let mut s = fit::Settings { seed, ..problem.settings.clone() };
        if auto {
            s = s.automatic();
            let sc = s.scout.as_mut().unwrap();
            sc.particles = num("n", 2000.0) as usize;
            sc.rounds = num("rounds", 2.0) as usize;
            sc.draws = num("draws", 10000.0) as usize;
            sc.enough = num("enough", 0.5);
            if get("flow", "") != "" {
                s = s.clone().with_flow(FlowSpec::named(&get("flow", "")).unwrap());
            }
            s.work.refine = num("refine", 2000.0) as usize;
            s.work.anneal = num("anneal", 5.0) as usize;
            s.samples = num("samples", 128.0) as usize;
            s.refine_lr_rule = RateRule::Cosine { over: s.work.refine.max(1), floor: 0.001 };
            if get("grad", "") == "path" {
                s.gradient = Gradient::Path;
            }
            if let Some(c) = &mut s.cover {
                c.rounds = num("cover", 10.0) as usize;
                c.draws = num("cd", 10000.0) as usize;
                c.updates = num("cu", 200.0) as usize;
                c.lr = num("clr", 0.001);
            }
            if let Schedule::Guarded { tau, .. } = &mut s.schedule {
                *tau = num("tau", 0.1);
            }
        }
        let t0 = std::time::Instant::now();
        let outcome = match fit(&*problem.target, &s, &mut ()) {
            Ok(o) => o,
            Err(e) => {
                println!("seed {seed}: {e}");
                continue;
            }
        };
        let t1 = t0.elapsed().as_secs_f64();
        let approx = outcome.approximation(&*problem.target).unwrap();
        let sample = approx.sample(10_000, seed).unwrap();
        let e = check::examine(&approx, &sample, &s, &check::Settings::default(), &mut ()).unwrap();
        let t2 = t0.elapsed().as_secs_f64();
        let raw = mode_weights(&problem.known, &sample.points);
        println!(
            "seed {seed}: scout {:?} fit {t1:.1}s check {:.1}s ev {} + {} kl {:.4} (true {:.4}) ess {:.3} k {:.2} logz err {:+.4}±{:.4} | smc gap {:+.3} lacking {:.4}±{:.4} fkl {:.3} | {} | K {} rounds {:?} raw {:.2?}",
            t2 - t1,
            outcome.target_evaluations,
            e.evaluations,
            e.kl,
            sample.neg_elbo() + problem.known.log_z.unwrap_or(f64::NAN),
            e.ess_share,
            e.k_hat,
            e.log_z.value - problem.known.log_z.unwrap_or(f64::NAN),
            e.log_z.error,
            e.particles.as_ref().map_or(f64::NAN, |p| p.log_z.value - e.log_z.value),
            e.particles.as_ref().map_or(f64::NAN, |p| p.lacking.value),
            e.particles.as_ref().map_or(f64::NAN, |p| p.lacking.error),
            e.particles.as_ref().map_or(f64::NAN, |p| p.forward_kl),
            e.verdict.trust,
            outcome.flow.base().components(),
            outcome.rounds.iter().map(|r| (r.ess * 1000.0).round() / 1000.0).collect::<Vec<_>>(),
            raw.iter().take(4).collect::<Vec<_>>()
        );
        for m in e.modes.iter().take(4) {
            println!(
                "   mode {:.3?} q {:.3} w {:.3}±{:.3} smc {:.3?}",
                m.location.iter().take(4).collect::<Vec<_>>(),
                m.under_q,
                m.weight.value,
                m.weight.error,
                m.particles.map(|p| p.value)
            );
        }
        for r in &e.verdict.reasons {
            println!("   {}: {}", r.trust, r.finding);
        }
        if let Some(sd) = problem.known.modes.first().and_then(|m| m.sd.clone()) {
            if let Some(m) = e.modes.iter().find(|m| problem.known.mode_of(&m.location) == Some(0))
            {
                if let Some(c) = &m.covariance {
                    let d = sd.len();
                    println!(
                        "   sd ratios {:?}",
                        (0..d)
                            .map(|i| (c[i * d + i].sqrt() / sd[i] * 1000.0).round() / 1000.0)
                            .collect::<Vec<_>>()
                    );
                }
            }
        } else if let Some(sd) = &problem.known.sd {
            println!(
                "   sd ratios {:?}",
                sd.iter()
                    .zip(&e.coordinates)
                    .take(4)
                    .map(|(s, c)| (c.sd.value / s * 1000.0).round() / 1000.0)
                    .collect::<Vec<_>>()
            );
        }
    }
}
