//! Targets without bounds under a random shift, scale and rotation. They are normal conditional on one number, so every
//! marginal is a mixture of normals over that number.

use super::{
    numbers::Numbers,
    truth::{Normals, Truth},
};
use adaann::{Error, Result, model::Model};

/// A target before the transformation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Gaussian,
    Skewed,
    Student,
    /// This number of separate components.
    Mixture(usize),
    Banana,
    Funnel,
}

pub(super) const ALL: [(&str, Kind, usize); 22] = [
    ("gaussian-1", Kind::Gaussian, 1),
    ("gaussian-2", Kind::Gaussian, 2),
    ("gaussian-4", Kind::Gaussian, 4),
    ("gaussian-8", Kind::Gaussian, 8),
    ("skewed-1", Kind::Skewed, 1),
    ("skewed-2", Kind::Skewed, 2),
    ("skewed-4", Kind::Skewed, 4),
    ("student-1", Kind::Student, 1),
    ("student-2", Kind::Student, 2),
    ("student-5", Kind::Student, 5),
    ("mixture2-1", Kind::Mixture(2), 1),
    ("mixture2-2", Kind::Mixture(2), 2),
    ("mixture2-3", Kind::Mixture(2), 3),
    ("mixture2-5", Kind::Mixture(2), 5),
    ("mixture3-2", Kind::Mixture(3), 2),
    ("mixture3-4", Kind::Mixture(3), 4),
    ("banana-2", Kind::Banana, 2),
    ("banana-3", Kind::Banana, 3),
    ("banana-4", Kind::Banana, 4),
    ("funnel-2", Kind::Funnel, 2),
    ("funnel-3", Kind::Funnel, 3),
    ("funnel-4", Kind::Funnel, 4),
];

/// u conditional on one number: its weight, and means and standard deviations of the coordinates of u.
struct Given {
    weight: f64,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

/// Quadrature nodes of the conditioning number.
const NODES: usize = 2_000;

/// A model and its exact answer: x = m + A u with A = diag(s) R.
pub(super) fn build(
    name: &str,
    kind: Kind,
    dim: usize,
    numbers: &mut Numbers,
) -> Result<(Model, Truth)> {
    let (density, given) = before(kind, dim, numbers);
    let unit = numbers.scale(0.1, 30.0);
    let scales: Vec<f64> = (0..dim).map(|_| unit * numbers.scale(0.3, 3.0)).collect();
    let shift: Vec<f64> = scales.iter().map(|s| 3.0 * s * numbers.normal()).collect();
    let rotation = numbers.rotation(dim);
    let marginal = |i: usize| {
        let row: Vec<f64> = rotation[i].iter().map(|r| scales[i] * r).collect();
        let normal = |given: &Given| {
            let mean: f64 = row.iter().zip(&given.mean).map(|(a, m)| a * m).sum();
            let sd = row.iter().zip(&given.sd).map(|(a, s)| (a * s).powi(2)).sum::<f64>().sqrt();
            [given.weight, shift[i] + mean, sd]
        };
        Normals(given.iter().map(normal).collect()).marginal()
    };
    let marginals: Vec<_> = (0..dim).map(marginal).collect();
    // u = Rᵀ diag(1/s) (x − m)
    let u = |k: usize| {
        let term = |i: usize| {
            format!("({:?}) * (x[{}] - ({:?}))", rotation[i][k] / scales[i], i + 1, shift[i])
        };
        let sum = (0..dim).map(term).collect::<Vec<_>>().join(" + ");
        format!("u{} = {{ formula = \"{sum}\", hidden = true }}\n", k + 1)
    };
    let mut log_z: f64 = scales.iter().map(|s| s.ln()).sum();
    // The prior tells the search where to look for other components.
    let prior = match kind {
        Kind::Mixture(_) => {
            let reach = marginals.iter().map(|m| m.mean.abs() + 12.0 * m.sd).fold(0.0, f64::max);
            log_z -= dim as f64 * (2.0 * reach).ln();
            format!("{{ prior = \"uniform({:?}, {reach:?})\", size = {dim} }}", -reach)
        }
        _ => format!("{{ size = {dim} }}"),
    };
    let quantities: String = (0..dim).map(u).collect();
    let text =
        format!("density = \"{density}\"\n[parameters]\nx = {prior}\n[quantities]\n{quantities}");
    let model =
        Model::parse(name, &text).map_err(|faults| Error::Data(format!("{faults}\n{text}")))?;
    Ok((model, Truth { log_z, marginals }))
}

/// The normalised log density of u as a formula, and u conditional on its number.
fn before(kind: Kind, dim: usize, numbers: &mut Numbers) -> (String, Vec<Given>) {
    let normals = |from: usize| -> String {
        (from..=dim).map(|k| format!(" + logpdf(normal(0, 1), u{k})")).collect()
    };
    let standard = |weight: f64| Given { weight, mean: vec![0.0; dim], sd: vec![1.0; dim] };
    match kind {
        Kind::Gaussian => (format!("0{}", normals(1)), vec![standard(1.0)]),
        Kind::Skewed => {
            // u₁ = δ |g| + √(1 − δ²) h with g and h normal, δ = α/√(1 + α²)
            let alpha = numbers.between(1.0, 6.0);
            let delta = alpha / (1.0 + alpha * alpha).sqrt();
            let given = nodes(|g| (g > 0.0).then_some(2.0)).into_iter().map(|[weight, g]| {
                let mut given = standard(weight);
                (given.mean[0], given.sd[0]) = (delta * g, (1.0 - delta * delta).sqrt());
                given
            });
            let density = format!("logpdf(skew_normal(0, 1, {alpha:?}), u1){}", normals(2));
            (density, given.collect())
        }
        Kind::Student => {
            let nu = numbers.between(6.0, 15.0);
            let half = 0.5 * dim as f64;
            let squares: String = (1..=dim).map(|k| format!(" + u{k}^2")).collect();
            let density = format!(
                "lgamma({:?}) - lgamma({:?}) - {half:?} * log({nu:?} * pi) - {:?} * log1p((0{squares}) / {nu:?})",
                0.5 * nu + half,
                0.5 * nu,
                0.5 * nu + half
            );
            // A normal vector over √(χ²/ν), with log χ² at the nodes.
            let log_density = |t: f64| 0.5 * nu * t - 0.5 * t.exp();
            let terms: Vec<[f64; 2]> = (0..NODES)
                .map(|i| nu.ln() - 12.0 + 16.0 * (i as f64 + 0.5) / NODES as f64)
                .map(|t| [(log_density(t) - log_density(nu.ln())).exp(), t])
                .collect();
            let total: f64 = terms.iter().map(|[w, _]| w).sum();
            let given = |[w, t]: [f64; 2]| Given {
                sd: vec![(nu / t.exp()).sqrt(); dim],
                ..standard(w / total)
            };
            (density, terms.into_iter().map(given).collect())
        }
        Kind::Mixture(count) => separate(count, dim, numbers),
        Kind::Banana => {
            let (bend, sd) = (numbers.between(0.4, 1.2), numbers.between(0.3, 1.0));
            let density = format!(
                "logpdf(normal(0, 1), u1) + logpdf(normal({bend:?} * u1^2, {sd:?}), u2){}",
                normals(3)
            );
            let given = nodes(|_| Some(1.0)).into_iter().map(|[weight, g]| {
                let mut given = standard(weight);
                (given.mean[0], given.sd[0]) = (g, 0.0);
                (given.mean[1], given.sd[1]) = (bend * g * g, sd);
                given
            });
            (density, given.collect())
        }
        Kind::Funnel => {
            let slope = numbers.between(0.3, 0.6);
            let ruled: String = (2..=dim)
                .map(|k| format!(" + logpdf(normal(0, exp({slope:?} * u1)), u{k})"))
                .collect();
            let given = nodes(|_| Some(1.0)).into_iter().map(|[weight, g]| {
                let mut given = standard(weight);
                given.sd.fill((slope * g).exp());
                (given.mean[0], given.sd[0]) = (g, 0.0);
                given
            });
            (format!("logpdf(normal(0, 1), u1){ruled}"), given.collect())
        }
    }
}

/// Components of unequal width, separated by 8 to 12 times the largest width.
fn separate(count: usize, dim: usize, numbers: &mut Numbers) -> (String, Vec<Given>) {
    let weights: Vec<f64> = (0..count).map(|_| numbers.between(0.5, 1.5)).collect();
    let total: f64 = weights.iter().sum();
    let mut given: Vec<Given> = Vec::new();
    for (k, weight) in weights.iter().enumerate() {
        let mut mean = vec![0.0; dim];
        if k > 0 {
            let far = numbers.between(8.0, 12.0) * if k == 2 { -1.0 } else { 1.0 };
            let direction: Vec<f64> = (0..dim).map(|_| numbers.normal()).collect();
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            // The third is opposite the second, for any direction.
            let sign = if k == 2 && direction[0] * given[1].mean[0] < 0.0 { -1.0 } else { 1.0 };
            mean = direction.iter().map(|x| sign * far * x / norm).collect();
        }
        let sd = vec![numbers.between(0.6, 1.0); dim];
        given.push(Given { weight: weight / total, mean, sd });
    }
    let term = |given: &Given| {
        let squares: String = (given.mean.iter().enumerate())
            .map(|(k, m)| format!(" + logpdf(normal({m:?}, {:?}), u{})", given.sd[k], k + 1))
            .collect();
        format!("{:?}{squares}", given.weight.ln())
    };
    let terms = given.iter().map(term).collect::<Vec<_>>().join(", ");
    (format!("logsumexp([{terms}])"), given)
}

/// Quadrature nodes of the standard normal density, with weights that sum to 1.
fn nodes(factor: impl Fn(f64) -> Option<f64>) -> Vec<[f64; 2]> {
    let (reach, step) = (8.0, 16.0 / NODES as f64);
    let normal = |g: f64| (-0.5 * g * g).exp() / std::f64::consts::TAU.sqrt();
    (0..NODES)
        .map(|i| (i as f64 + 0.5) * step - reach)
        .filter_map(|g| Some([factor(g)? * normal(g) * step, g]))
        .collect()
}
