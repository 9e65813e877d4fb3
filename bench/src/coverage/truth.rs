//! Exact answers: marginals from mixtures of normals, or by integration over a grid.

use adaann::{
    Batch, Result,
    target::{Evaluation, Support, Target},
};

/// The exact values for comparison with an answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    pub(super) log_z: f64,
    pub(super) marginals: Vec<Marginal>,
}

/// Exact values of one coordinate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marginal {
    pub(super) mean: f64,
    pub(super) sd: f64,
    /// The 5 % and the 95 % quantile.
    pub(super) quantiles: [f64; 2],
}

const LEVELS: [f64; 2] = [0.05, 0.95];

impl Truth {
    /// The exact values of a product of independent parts.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.log_z += other.log_z;
        self.marginals.extend(other.marginals);
        self
    }
}

/// Σ w N(mean, sd²), with weights that sum to 1.
pub(super) struct Normals(pub(super) Vec<[f64; 3]>);

impl Normals {
    pub(super) fn marginal(&self) -> Marginal {
        let sum = |f: &dyn Fn(&[f64; 3]) -> f64| -> f64 { self.0.iter().map(f).sum() };
        let mean = sum(&|[w, m, _]| w * m);
        let sd = sum(&|[w, m, s]| w * (s * s + (m - mean).powi(2))).sqrt();
        let below = |x: f64| sum(&|[w, m, s]| w * cdf((x - m) / s));
        let quantile = |p: f64| {
            let (mut low, mut high) = (mean - 60.0 * sd, mean + 60.0 * sd);
            for _ in 0..80 {
                let middle = 0.5 * (low + high);
                (low, high) = if below(middle) < p { (middle, high) } else { (low, middle) };
            }
            0.5 * (low + high)
        };
        Marginal { mean, sd, quantiles: LEVELS.map(quantile) }
    }
}

/// The standard normal distribution function.
fn cdf(x: f64) -> f64 {
    0.5 * adaann::support::simd::Special::Erfc.at(-x / std::f64::consts::SQRT_2)
}

/// The number of points of a grid on a line.
const NODES: usize = 40_000;

/// The number of cells along each side of a grid in a box.
const CELLS: usize = 600;

/// Integrates a target in one dimension by the trapezoidal rule, after a map onto the whole line, where the integrand
/// decays at least exponentially. For a target on the whole line, `middle` and `scale` are its location and width.
pub(super) fn of_line(target: &dyn Target, middle: f64, scale: f64) -> Result<Truth> {
    let (from, to) = match target.support(0) {
        Support::Real => (-11.0, 11.0),
        Support::Between(..) => (-90.0, 36.0),
        _ => (-120.0, 45.0),
    };
    let step = (to - from) / (NODES - 1) as f64;
    let place = |i: usize| -> (f64, f64) {
        let t = from + step * i as f64;
        match target.support(0) {
            Support::Real => (middle + scale * t.sinh(), scale * t.cosh()),
            Support::Between(low, high) => {
                let share = 1.0 / (1.0 + (-t).exp());
                (low + (high - low) * share, (high - low) * share / (1.0 + t.exp()))
            }
            Support::Above(low) => (low + t.exp(), t.exp()),
            other => unreachable!("no line of the bench lives on {other}"),
        }
    };
    let (points, slopes): (Vec<f64>, Vec<f64>) = (0..NODES).map(place).unzip();
    let log_p = evaluate(target, NODES, &|i| vec![points[i]])?;
    let log_masses: Vec<f64> =
        log_p.iter().zip(&slopes).map(|(p, slope)| finite(p + slope.ln()) + step.ln()).collect();
    let log_z = adaann::importance::log_sum_exp(log_masses.iter().copied());
    let masses: Vec<f64> = log_masses.iter().map(|m| (m - log_z).exp()).collect();
    // A node lies in the middle of its mass.
    let mut edges: Vec<f64> = Vec::with_capacity(NODES);
    let mut before = 0.0;
    for mass in &masses {
        edges.push(before + 0.5 * mass);
        before += mass;
    }
    Ok(Truth { log_z, marginals: vec![marginal(&points, &masses, &points, &edges)] })
}

/// Integrates a target in a two-dimensional box by the midpoint rule.
pub(super) fn of_box(target: &dyn Target) -> Result<Truth> {
    let sides = [0, 1].map(|d| target.support(d).bounds());
    let cell = sides.map(|[low, high]| (high - low) / CELLS as f64);
    let middle = |d: usize, i: usize| sides[d][0] + cell[d] * (i as f64 + 0.5);
    let place = |i: usize| vec![middle(0, i / CELLS), middle(1, i % CELLS)];
    let log_p: Vec<f64> =
        evaluate(target, CELLS * CELLS, &place)?.into_iter().map(finite).collect();
    let log_sum = adaann::importance::log_sum_exp(log_p.iter().copied());
    let mut rows = [vec![0.0; CELLS], vec![0.0; CELLS]];
    for (i, log_p) in log_p.iter().enumerate() {
        let mass = (log_p - log_sum).exp();
        rows[0][i / CELLS] += mass;
        rows[1][i % CELLS] += mass;
    }
    let of_side = |d: usize| {
        let middles: Vec<f64> = (0..CELLS).map(|i| middle(d, i)).collect();
        let edges: Vec<f64> = (0..=CELLS).map(|i| sides[d][0] + cell[d] * i as f64).collect();
        let mut below = vec![0.0];
        rows[d].iter().for_each(|mass| below.push(below[below.len() - 1] + mass));
        marginal(&middles, &rows[d], &edges, &below)
    };
    Ok(Truth { log_z: log_sum + (cell[0] * cell[1]).ln(), marginals: vec![of_side(0), of_side(1)] })
}

/// Moments from masses at points, and quantiles from the mass below given edges.
fn marginal(points: &[f64], masses: &[f64], edges: &[f64], below: &[f64]) -> Marginal {
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        points.iter().zip(masses).filter(|(_, m)| **m > 0.0).map(|(x, m)| m * f(*x)).sum()
    };
    let mean = sum(&|x| x);
    let sd = sum(&|x| (x - mean).powi(2)).sqrt();
    let quantile = |p: f64| {
        let after = below.partition_point(|b| *b < p).clamp(1, below.len() - 1);
        let t = (p - below[after - 1]) / (below[after] - below[after - 1]);
        edges[after - 1] + t * (edges[after] - edges[after - 1])
    };
    Marginal { mean, sd, quantiles: LEVELS.map(quantile) }
}

/// Rounding may put a point onto a bound, where the density is zero.
fn finite(log_p: f64) -> f64 {
    if log_p.is_finite() { log_p } else { f64::NEG_INFINITY }
}

/// The number of points of a call.
const PIECE: usize = 4_096;

/// log p at points given by index.
fn evaluate(
    target: &dyn Target,
    count: usize,
    place: &dyn Fn(usize) -> Vec<f64>,
) -> Result<Vec<f64>> {
    let mut log_p = Vec::with_capacity(count);
    for from in (0..count).step_by(PIECE) {
        let points: Vec<Vec<f64>> = (from..count.min(from + PIECE)).map(place).collect();
        let points = Batch::from_points(target.dim(), &points);
        let mut out = Evaluation::zeros(target.dim(), points.len());
        target.evaluate(&points, None, &mut out)?;
        log_p.extend((0..points.len()).map(|i| out.log_prior[i] + out.log_likelihood[i]));
    }
    Ok(log_p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::model::Model;

    fn line(text: &str) -> Truth {
        of_line(&*Model::parse("line", text).unwrap().target(), 0.0, 1.0).unwrap()
    }

    fn assert_marginal(marginal: Marginal, exact: [f64; 4], within: f64) {
        let Marginal { mean, sd, quantiles: [low, high] } = marginal;
        for (found, exact) in [mean, sd, low, high].into_iter().zip(exact) {
            assert!((found - exact).abs() < within, "{found} is not {exact}");
        }
    }

    /// An exponential prior of rate 1 and a likelihood e^(−x): rate 2, and the integral is ½.
    #[test]
    fn an_exponential_is_integrated() {
        let truth = line("density = \"-x\"\n[parameters]\nx = \"exponential(1)\"");
        assert!((truth.log_z + 2_f64.ln()).abs() < 1e-9, "{}", truth.log_z);
        let quantile = |p: f64| -0.5 * (1.0 - p).ln();
        // Interpolation between nodes 0.004 apart on the log scale is off by 10^−5 at most.
        assert_marginal(truth.marginals[0], [0.5, 0.5, quantile(0.05), quantile(0.95)], 2e-5);
    }

    #[test]
    fn a_uniform_box_and_one_normal_are_themselves() {
        let text =
            "density = \"0 * x * y\"\n[parameters]\nx = \"uniform(0, 1)\"\ny = \"uniform(2, 4)\"";
        let truth = of_box(&*Model::parse("box", text).unwrap().target()).unwrap();
        assert!(truth.log_z.abs() < 1e-12);
        assert_marginal(truth.marginals[1], [3.0, (1.0_f64 / 3.0).sqrt(), 2.1, 3.9], 1e-6);
        let normal = Normals(vec![[0.25, 1.0, 2.0], [0.75, 1.0, 2.0]]).marginal();
        let reach = 2.0 * 1.644_853_626_951_472;
        assert_marginal(normal, [1.0, 2.0, 1.0 - reach, 1.0 + reach], 1e-9);
    }
}
