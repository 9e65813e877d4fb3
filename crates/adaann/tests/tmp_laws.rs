//! Temporary.
mod flows;
use adaann::Batch;
use flows::{Case, Random, families};

fn value(case: &Case, z: &Batch, g: &Batch, k: &[f64], back: bool) -> f64 {
    let (image, log_det) = if back { case.inverse(z) } else { case.forward(z) };
    let mut sum = 0.0;
    for d in 0..z.dim() {
        for n in 0..z.len() { sum += g.row(d)[n] * image.row(d)[n]; }
    }
    sum + k.iter().zip(&log_det).map(|(k, l)| k * l).sum::<f64>()
}

#[test]
fn both_ways() {
    for spec in families().into_iter().skip(5) {
        for dim in [1, 2, 3, 10, 32] {
            for scale in [0.1, 1.0] {
                let mut random = Random(dim as u64 * 7 + 1);
                let stack = spec.build(dim).unwrap();
                let mut parameters = vec![0.0; stack.parameter_len()];
                stack.initialise(scale, &mut || random.normal(), &mut parameters);
                for p in &mut parameters { *p += 0.1 * random.normal(); }
                let mut case = Case::new(&spec, dim, &parameters, "");
                let n = 37;
                let z = random.batch(dim, n, 2.0);
                let (image, ld) = case.forward(&z);
                let (again, ld2) = case.inverse(&image);
                let mut worst: f64 = 0.0;
                for d in 0..dim { for i in 0..n { worst = worst.max((again.row(d)[i]-z.row(d)[i]).abs()); } }
                for i in 0..n { worst = worst.max((ld[i]-ld2[i]).abs()); }
                let g = random.batch(dim, n, 1.0);
                let k = random.normals(n, 1.0);
                for back in [false, true] {
                    let mut x = z.clone();
                    let mut log_det = vec![0.0; x.padded_len()];
                    let mut tape = vec![0.0; case.stack.tape_len(x.padded_len())];
                    let mut gz = g.clone();
                    let mut gl = vec![0.0; x.padded_len()];
                    gl[..n].copy_from_slice(&k);
                    let mut sums = vec![0.0; case.stack.sums_len()];
                    if back {
                        case.stack.inverse(case.weights(), &mut x, &mut log_det, Some(&mut tape));
                        case.stack.backward_inverse(case.weights(), &mut x, &mut gz, &gl, &tape, &mut sums);
                    } else {
                        case.stack.forward(case.weights(), &mut x, &mut log_det, Some(&mut tape));
                        case.stack.backward(case.weights(), &mut x, &mut gz, &gl, &tape, &mut sums);
                    }
                    let mut gradient = vec![0.0; parameters.len()];
                    case.stack.gradient(&parameters, &mut case.derived, &sums, &mut gradient);
                    let mut zback: f64 = 0.0;
                    for d in 0..dim { for i in 0..n { zback = zback.max((x.row(d)[i]-z.row(d)[i]).abs()); } }
                    let h = 1e-6;
                    let mut bad = 0.0f64;
                    let step = (parameters.len() / 60).max(1);
                    for p in (0..parameters.len()).step_by(step) {
                        let mut q = parameters.clone();
                        q[p] += h;
                        let up = value(&Case::new(&spec, dim, &q, ""), &z, &g, &k, back);
                        q[p] -= 2.0 * h;
                        let down = value(&Case::new(&spec, dim, &q, ""), &z, &g, &k, back);
                        let fd = (up - down) / (2.0 * h);
                        bad = bad.max((fd - gradient[p]).abs() / (1.0 + fd.abs()));
                    }
                    let mut badz = 0.0f64;
                    for d in 0..dim.min(6) {
                        for i in [0, 5, 36] {
                            let mut q = z.clone();
                            q.row_mut(d)[i] += h;
                            let up = value(&case, &q, &g, &k, back);
                            q.row_mut(d)[i] -= 2.0 * h;
                            let down = value(&case, &q, &g, &k, back);
                            let fd = (up - down) / (2.0 * h);
                            badz = badz.max((fd - gz.row(d)[i]).abs() / (1.0 + fd.abs()));
                        }
                    }
                    println!("{:>24} d={dim:2} scale {scale} back {back}: trip {worst:.1e} restored {zback:.1e} params {bad:.1e} points {badz:.1e} {}", spec.name(), if bad > 1e-4 || badz > 1e-4 { "BAD" } else { "" });
                }
            }
        }
    }
}
