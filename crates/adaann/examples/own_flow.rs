//! A custom layer, written for one point, in a flow that is trained as usual.
//!
//! `cargo run --release --example own_flow -p adaann`

use adaann::{
    Program,
    fit::{Fit, Settings},
    flow::{Base, Flow, Layer, Parameter, PerPoint},
};

/// x = sinh(asinh(z) + skew), coordinate by coordinate: makes one tail heavier.
#[derive(Debug)]
struct Skew {
    dim: usize,
}

impl Layer for Skew {
    fn dim(&self) -> usize {
        self.dim
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::new("skew", &[self.dim])]
    }

    fn forward(&self, skew: &[f64], point: &mut [f64]) -> f64 {
        let mut log_det = 0.0;
        for (z, skew) in point.iter_mut().zip(skew) {
            let u = z.asinh() + skew;
            log_det += u.cosh().ln() - 0.5 * z.mul_add(*z, 1.0).ln();
            *z = u.sinh();
        }
        log_det
    }

    fn inverse(&self, skew: &[f64], point: &mut [f64]) -> f64 {
        let back: Vec<f64> = skew.iter().map(|skew| -skew).collect();
        -self.forward(&back, point)
    }

    fn backward(
        &self,
        skew: &[f64],
        point: &[f64],
        g: &mut [f64],
        g_log_det: f64,
        g_skew: &mut [f64],
    ) {
        for d in 0..self.dim {
            let (z, u) = (point[d], point[d].asinh() + skew[d]);
            let du_dz = z.mul_add(z, 1.0).sqrt().recip();
            // x = sinh u, and the log-determinant is ln cosh u − ln(1 + z²)/2.
            let g_u = g[d] * u.cosh() + g_log_det * u.tanh();
            g_skew[d] += g_u;
            g[d] = g_u * du_dz - g_log_det * z * du_dz * du_dz;
        }
    }
}

fn main() -> adaann::Result<()> {
    // A Gumbel density: a long tail to the right.
    let target = Program::record(1, |z| -z[0] - (-z[0]).exp());
    let mut flow =
        Flow::from_stack(Box::new(PerPoint(Skew { dim: 1 })), Base::standard(1).trained())?;
    flow.initialise(0.1, 1);
    let settings = Settings::default();
    let outcome = Fit::new(&target, &settings).flow(flow).run(&mut ())?;
    let sample = outcome.approximation(&target)?.sample(10_000, 1)?;
    let sums = sample.weight_sums()?;
    // ∫ exp(−z − e^(−z)) dz = 1.
    println!("log Z {:+.4} ± {:.4}", sums.log_z(), sums.log_z_error());
    println!("effective draws {:.1} per cent", 100.0 * sums.ess_share());
    Ok(())
}
