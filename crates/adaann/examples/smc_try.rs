//! trial
use adaann::{
    registry::{self, Choices, mode_weights},
    sample::{Move, Settings, smc},
};
use std::ops::ControlFlow;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let name = &args[1];
    let seeds: u64 = args[2].parse().unwrap();
    let mut params = vec![];
    let mut verbose = false;
    let mut edit: Vec<(String, String)> = vec![];
    for a in &args[3..] {
        if a == "-v" {
            verbose = true;
            continue;
        }
        let (k, v) = a.split_once('=').unwrap();
        if let Some(k) = k.strip_prefix("p:") {
            params.push((k.to_string(), v.parse().unwrap()))
        } else {
            edit.push((k.into(), v.into()))
        }
    }
    let problem = registry::find(name)
        .unwrap()
        .choose(&Choices { parameters: params, ..Choices::default() })
        .unwrap();
    let mut errs = vec![];
    let mut zs = vec![];
    let mut sdw = vec![];
    for seed in 1..=seeds {
        let mut s = Settings { seed, ..Settings::of_fit(&problem.settings) };
        for (k, v) in &edit {
            match k.as_str() {
                "n" => s.particles = v.parse().unwrap(),
                "move" => s.moves = Move::named(v).unwrap(),
                "jumps" => s.jumps = v == "1",
                "fresh" => s.freshness = v.parse().unwrap(),
                "sweeps" => s.most_sweeps = v.parse().unwrap(),
                "below" => s.resample_below = v.parse().unwrap(),
                "tau" => {
                    if let adaann::schedule::Schedule::Guarded { tau, .. } = &mut s.schedule {
                        *tau = v.parse().unwrap()
                    }
                }
                _ => panic!("{k}"),
            }
        }
        let start = std::time::Instant::now();
        let mut obs = |st: &adaann::sample::Stage| {
            if verbose && seed == 1 {
                println!(
                    "t={:.3e} s={:?} ess={:.2} rs={} sweeps={} acc={:.2} jump={:.2?} scale={:.3} K={} moved={:.2} ev={} logz={:.3}",
                    st.t,
                    st.start,
                    st.ess,
                    st.resampled,
                    st.sweeps,
                    st.acceptance,
                    st.jump_acceptance,
                    st.scale,
                    st.components,
                    st.moved,
                    st.evaluations,
                    st.log_z
                );
            }
            ControlFlow::Continue(())
        };
        let pop = match smc(&*problem.target, &s, &mut obs) {
            Ok(p) => p,
            Err(e) => {
                println!("seed {seed}: {e}");
                continue;
            }
        };
        let took = start.elapsed().as_secs_f64();
        let w = mode_weights(&problem.known, &pop.points);
        let werr = problem
            .known
            .modes
            .iter()
            .zip(&w)
            .map(|(m, w)| (m.weight - w).abs())
            .fold(0.0, f64::max);
        // sds of abs values within first mode for hiv
        let mut sderr: f64 = f64::NAN;
        if let Some(mode) = problem.known.modes.first() {
            if let (Some(mean), Some(sd)) = (&mode.mean, &mode.sd) {
                let _ = mean;
                let idx: Vec<usize> = (0..pop.points.len())
                    .filter(|&i| problem.known.mode_of(&pop.points.point(i)) == Some(0))
                    .collect();
                sderr = 0.0;
                for d in 0..sd.len() {
                    let r = pop.points.row(d);
                    let m: f64 = idx.iter().map(|&i| r[i]).sum::<f64>() / idx.len() as f64;
                    let v: f64 = idx.iter().map(|&i| (r[i] - m).powi(2)).sum::<f64>()
                        / (idx.len() as f64 - 1.0);
                    sderr = sderr.max((v.sqrt() / sd[d] - 1.0).abs());
                }
            }
        }
        let z = (pop.log_z - problem.known.log_z.unwrap_or(f64::NAN)) / pop.log_z_error;
        println!(
            "seed {seed}: stages {} ev {} logZ err {:+.4} se {:.4} z {:+.2} K {} werr {:.4} sderr {:.4} splits {:?} time {:.2}s",
            pop.stages.len(),
            pop.evaluations,
            pop.log_z - problem.known.log_z.unwrap_or(f64::NAN),
            pop.log_z_error,
            z,
            pop.shape().len(),
            werr,
            sderr,
            registry::split_shares(&problem.known, &pop.points).first(),
            took
        );
        errs.push(werr);
        zs.push(z);
        sdw.push(sderr);
    }
    errs.sort_by(f64::total_cmp);
    sdw.sort_by(f64::total_cmp);
    let rms = (zs.iter().map(|z| z * z).sum::<f64>() / zs.len() as f64).sqrt();
    println!(
        "{name}: median werr {:.4} median sderr {:.4} rms z {:.2}",
        errs[errs.len() / 2],
        sdw[sdw.len() / 2],
        rms
    );
}
