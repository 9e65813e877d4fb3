//! The distribution of one coordinate as a mixture of normals, fitted by expectation–maximisation.

use crate::{linear, weight::ess};

/// Largest number of components.
pub(super) const MOST: usize = 4;

/// Largest number of points, and rounds.
const MOST_POINTS: usize = 2_000;
const ROUNDS: usize = 30;

/// Least width of a component, as a fraction of the total.
const THINNEST: f64 = 0.02;

/// One component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hump {
    pub(super) weight: f64,
    pub(super) mean: f64,
    pub(super) sd: f64,
}

/// A distribution, and its gain over a single normal.
pub(super) struct Law {
    pub(super) humps: Vec<Hump>,
    /// In nats, minus half of the log number of points per additional parameter.
    pub(super) gain: f64,
}

/// Fits the distribution of weighted numbers.
pub(super) fn fit(values: &[f64], weights: &[f64]) -> Law {
    let every = values.len().div_ceil(MOST_POINTS).max(1);
    let chosen = |row: &[f64]| -> Vec<f64> { row.iter().step_by(every).copied().collect() };
    let (values, mut weights) = (chosen(values), chosen(weights));
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    let effective = ess(&weights);
    let one = moments(&values, &weights, 1.0, 0.0);
    let normal = log_likelihood(&[one], &values, &weights);
    let mut best = Law { humps: vec![one], gain: 0.0 };
    for count in 2..=MOST {
        let humps = maximise(start(&values, &weights, count), &values, &weights, THINNEST * one.sd);
        let cost = 0.5 * 3.0 * (count - 1) as f64 * effective.ln() / effective;
        let gain = log_likelihood(&humps, &values, &weights) - normal - cost;
        if gain.is_nan() || gain <= best.gain {
            break;
        }
        best = Law { humps, gain };
    }
    best
}

/// The mean and the spread of points with weights that sum to `weight`.
fn moments(values: &[f64], weights: &[f64], weight: f64, thinnest: f64) -> Hump {
    let mean = linear::dot(values, weights) / weight;
    let square: f64 = values.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum();
    Hump { weight, mean, sd: (square / weight).sqrt().max(thinnest).max(f64::MIN_POSITIVE) }
}

/// Starting components: equal parts of the points, in ascending order.
fn start(values: &[f64], weights: &[f64], count: usize) -> Vec<Hump> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let (mut below, mut parts) = (0.0, vec![vec![0.0; values.len()]; count]);
    for i in order {
        let part = ((below * count as f64) as usize).min(count - 1);
        parts[part][i] = weights[i];
        below += weights[i];
    }
    let hump = |own: &Vec<f64>| {
        let total: f64 = own.iter().sum();
        (total > 0.0).then(|| moments(values, own, total, f64::MIN_POSITIVE))
    };
    parts.iter().filter_map(hump).collect()
}

/// A component in the form that sums over points need.
#[derive(Clone, Copy)]
struct Term {
    log_height: f64,
    mean: f64,
    per_sd: f64,
}

impl From<&Hump> for Term {
    fn from(hump: &Hump) -> Self {
        let Hump { weight, mean, sd } = *hump;
        Self { log_height: weight.ln() - sd.ln(), mean, per_sd: 1.0 / sd }
    }
}

/// The log density at x, without the constant that all normals share, and each component's
/// responsibility.
fn parts(terms: &[Term], x: f64) -> (f64, [f64; MOST]) {
    let mut parts = [0.0; MOST];
    let mut largest = f64::MIN;
    for (part, term) in parts.iter_mut().zip(terms) {
        *part = term.log_height - 0.5 * ((x - term.mean) * term.per_sd).powi(2);
        largest = largest.max(*part);
    }
    let mut sum = 0.0;
    for part in &mut parts[..terms.len()] {
        *part = (*part - largest).exp();
        sum += *part;
    }
    parts.iter_mut().for_each(|part| *part /= sum);
    (largest + sum.ln(), parts)
}

fn log_likelihood(humps: &[Hump], values: &[f64], weights: &[f64]) -> f64 {
    let terms: Vec<Term> = humps.iter().map(Term::from).collect();
    values.iter().zip(weights).map(|(x, w)| w * parts(&terms, *x).0).sum()
}

fn maximise(mut humps: Vec<Hump>, values: &[f64], weights: &[f64], thinnest: f64) -> Vec<Hump> {
    for _ in 0..ROUNDS {
        let terms: Vec<Term> = humps.iter().map(Term::from).collect();
        // Sums of w, w x and w x² for each component, relative to its own mean.
        let mut sums = [[0.0; 3]; MOST];
        for (x, w) in values.iter().zip(weights) {
            let (_, parts) = parts(&terms, *x);
            for ((sums, part), term) in sums.iter_mut().zip(&parts).zip(&terms) {
                let (own, y) = (w * part, x - term.mean);
                sums[0] += own;
                sums[1] += own * y;
                sums[2] += own * y * y;
            }
        }
        for (hump, [weight, first, second]) in humps.iter_mut().zip(sums) {
            if weight > 0.0 {
                let moved = first / weight;
                let variance = (second / weight - moved * moved).max(0.0);
                let sd = variance.sqrt().max(thinnest).max(f64::MIN_POSITIVE);
                *hump = Hump { weight, mean: hump.mean + moved, sd };
            }
        }
    }
    humps
}
