//! t
use adaann::{
    Batch,
    flow::{
        Precision, Stack,
        planar::{Activation, Planar},
    },
    simd::Buffer,
};
fn main() {
    for (d, l, n) in [
        (1usize, 50usize, 32usize),
        (1, 50, 20),
        (1, 50, 16),
        (2, 75, 32),
        (3, 250, 32),
        (3, 250, 16),
        (5, 50, 32),
    ] {
        for precision in [Precision::Double, Precision::Single] {
            let stack = Planar::new(d, l, Activation::Tanh, precision).unwrap();
            let mut s = 1u64;
            let mut rnd = || {
                s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((s >> 33) as f64 / (1u64 << 31) as f64) - 0.5
            };
            let par: Vec<f64> = (0..stack.parameter_len()).map(|_| 0.3 * rnd()).collect();
            let mut prep = Buffer::zeros(stack.prepared_len());
            stack.prepare(&par, &mut prep);
            let mut z = Batch::zeros(d, n);
            for i in 0..n {
                let p: Vec<f64> = (0..d).map(|_| 2.0 * rnd()).collect();
                z.set_point(i, &p);
            }
            let mut g = Batch::zeros(d, n);
            let pl = z.padded_len();
            let mut ld = vec![0.0; pl];
            let gl = vec![-1.0; pl];
            let mut tape = Buffer::zeros(stack.tape_len(pl));
            let mut sums = Buffer::zeros(stack.sums_len());
            let (mut best, mut bf) = (f64::MAX, f64::MAX);
            for _ in 0..30 {
                let reps = 200;
                let (mut tf, mut tb) = (0.0, 0.0);
                for _ in 0..reps {
                    for i in 0..n {
                        for k in 0..d {
                            g.row_mut(k)[i] = 0.1;
                        }
                    }
                    let t = std::time::Instant::now();
                    stack.forward(&prep, &mut z, &mut ld, Some(&mut tape));
                    tf += t.elapsed().as_secs_f64();
                    let t = std::time::Instant::now();
                    stack.backward(&prep, &mut z, &mut g, &gl, &tape, &mut sums);
                    tb += t.elapsed().as_secs_f64();
                }
                best = best.min((tf + tb) / reps as f64);
                bf = bf.min(tf / reps as f64);
            }
            println!(
                "d={d} L={l} n={n} {precision:?}: {:.2} us, {:.3} ns per sample-layer, forward {:.3}",
                best * 1e6,
                best * 1e9 / (l * n) as f64,
                bf * 1e9 / (l * n) as f64
            );
        }
    }
}
