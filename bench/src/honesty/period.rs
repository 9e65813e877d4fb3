//! Velocities of a star with one or two planets, with a wide prior on their periods.

use crate::dice::Dice;
use crate::ladder::{matrices::cholesky, subject::Reference};
use std::f64::consts::TAU;

const ROWS: usize = 60;
const DAYS: f64 = 2_000.0;
const AMPLITUDE: f64 = 8.0;

/// Bounds of the prior of a period, and of the true ones.
const PRIOR: (f64, f64) = (1.0, 2_000.0);
const TRUE_PERIODS: (f64, f64) = (3.0, 300.0);

/// The minimal ratio of two true periods.
const LEAST_FACTOR: f64 = 1.5;

/// Measurements of v = Σ K sin(2πt/P + φ) + v₀ + noise.
pub(crate) struct Velocities {
    times: Vec<f64>,
    values: Vec<f64>,
    periods: Vec<f64>,
    /// The standard deviation of the noise, and whether the model knows it.
    sigma: f64,
    is_sigma_known: bool,
}

impl Velocities {
    pub(crate) fn new(label: &str, signals: usize, seed: u64) -> Self {
        let mut dice = Dice::new(label, seed);
        let mut period = || {
            let (low, high) = TRUE_PERIODS;
            dice.uniform(low.ln(), high.ln()).exp()
        };
        let periods = loop {
            let mut periods: Vec<f64> = (0..signals).map(|_| period()).collect();
            periods.sort_by(f64::total_cmp);
            if periods.windows(2).all(|pair| pair[1] > LEAST_FACTOR * pair[0]) {
                break periods;
            }
        };
        let mut times: Vec<f64> = (0..ROWS).map(|_| dice.uniform(0.0, DAYS)).collect();
        times.sort_by(f64::total_cmp);
        let phases: Vec<f64> = periods.iter().map(|_| dice.uniform(0.0, TAU)).collect();
        let offset = 30.0 * dice.normal();
        let sigma = dice.uniform(1.0, 2.0);
        let is_sigma_known = dice.one_of(&[false, true]);
        let value = |t: &f64| {
            let waves = periods.iter().zip(&phases);
            let wave: f64 = waves.map(|(period, phase)| (TAU * t / period + phase).sin()).sum();
            AMPLITUDE * wave + offset + sigma * dice.normal()
        };
        let values = times.iter().map(value).collect();
        Self { times, values, periods, sigma, is_sigma_known }
    }

    /// Period, amplitude and phase of each signal, v₀, and σ unless it is known.
    pub(crate) fn dim(&self) -> usize {
        3 * self.periods.len() + 1 + usize::from(!self.is_sigma_known)
    }

    pub(crate) fn description(&self) -> String {
        let periods: Vec<String> =
            self.periods.iter().map(|period| format!("{period:.2}")).collect();
        let known = if self.is_sigma_known { "known" } else { "fitted" };
        format!("P = {}, sigma {:.2} {known}", periods.join(" and "), self.sigma)
    }

    /// The model file, written as a user would.
    pub(crate) fn text(&self) -> String {
        let Self { times, values, sigma, .. } = self;
        let (low, high) = PRIOR;
        let signals = 1..=self.periods.len();
        let parameters: String = signals
            .clone()
            .map(|k| {
                format!(
                    "P{k} = \"log_uniform({low:?}, {high:?})\"\nK{k} = \"uniform(0, 50)\"\n\
                     phi{k} = \"uniform(0, 2*pi)\"\n"
                )
            })
            .collect();
        let waves: Vec<String> =
            signals.clone().map(|k| format!("K{k} * sin(2*pi*t/P{k} + phi{k})")).collect();
        let (noise, own) = if self.is_sigma_known {
            (format!("{sigma:?}"), "")
        } else {
            ("sigma".to_owned(), "sigma = \"half_normal(5)\"\n")
        };
        let periods: Vec<String> = signals.map(|k| format!("P{k}")).collect();
        let periods = periods.join(", ");
        format!(
            "[data]\nt = {times:?}\nv = {values:?}\n[parameters]\n{parameters}v0 = \"normal(0, 100)\"\n{own}\
             [quantities]\nshortest = \"min([{periods}])\"\nlongest = \"max([{periods}])\"\n\
             [likelihood]\nv = \"normal({} + v0, {noise})\"\n",
            waves.join(" + ")
        )
    }

    /// Means and standard deviations of the shortest and the longest period, which do not depend on labels.
    pub(crate) fn references(&self) -> Vec<Reference> {
        let best = self.best_frequencies();
        let moments = |at: usize| self.moments_of_period(&best, at);
        let mut moments: Vec<(f64, f64)> = (0..best.len()).map(moments).collect();
        moments.sort_by(|a, b| a.0.total_cmp(&b.0));
        let reference = |name: &str, (mean, sd): (f64, f64)| Reference {
            name: name.into(),
            mean,
            sd,
            is_sd_known: true,
        };
        let (shortest, longest) = (moments[0], moments[moments.len() - 1]);
        vec![reference("shortest", shortest), reference("longest", longest)]
    }

    /// The frequencies with the highest likelihood: maximised one after another on a grid, given the others, and
    /// repeated for all of them. A peak is about 1/DAYS wide.
    fn best_frequencies(&self) -> Vec<f64> {
        let step = 1.0 / (8.0 * DAYS);
        let (lowest, highest) = (1.0 / PRIOR.1, 1.0 / PRIOR.0);
        let grid = || (0..).map(|i| lowest + step * f64::from(i)).take_while(|f| *f < highest);
        let mut best: Vec<f64> = Vec::new();
        for round in 0..3 * self.periods.len() {
            if best.len() == self.periods.len() {
                best.remove(0);
            }
            let height = |f: f64| self.log_marginal(&[&best[..], &[f]].concat());
            let coarse = highest_of(grid(), height);
            let fine = (-200..=200).map(|i| coarse + step * f64::from(i) / 100.0);
            let found = highest_of(fine.filter(|f| *f > 0.0), height);
            best.push(found);
            let is_alone = self.periods.len() == 1;
            if is_alone && round == 0 {
                break;
            }
        }
        best
    }

    /// The mean and standard deviation of a period in its peak, with the others at their best values. Because times are
    /// irregular, periods are nearly independent given the data. A correlation of 1/√60 reduces the standard
    /// deviation by 1 %.
    fn moments_of_period(&self, best: &[f64], at: usize) -> (f64, f64) {
        let log_density = |f: f64| {
            let mut all = best.to_vec();
            all[at] = f;
            // The prior is log-uniform, and so it is in frequencies.
            self.log_marginal(&all) - f.ln()
        };
        // The width from the curvature at the peak, then the trapezoid rule over ±8 of it.
        let top = log_density(best[at]);
        let step = 1e-3 / DAYS;
        let bend = 2.0 * top - log_density(best[at] + step) - log_density(best[at] - step);
        let width = step / bend.sqrt();
        let mut sums = [0.0; 3];
        for i in -800..=800 {
            let f = best[at] + 0.01 * width * f64::from(i);
            let (density, period) = ((log_density(f) - top).exp(), 1.0 / f);
            sums[0] += density;
            sums[1] += density * (period - 1.0 / best[at]);
            sums[2] += density * (period - 1.0 / best[at]).powi(2);
        }
        let shift = sums[1] / sums[0];
        (1.0 / best[at] + shift, (sums[2] / sums[0] - shift * shift).sqrt())
    }

    /// log of the likelihood at these frequencies, with sine and cosine amplitudes, the offset, and an unknown σ
    /// integrated out. Amplitudes and phases have uniform priors, so the two amplitudes a, b of a signal have a density
    /// ∝ 1/√(a² + b²).
    fn log_marginal(&self, frequencies: &[f64]) -> f64 {
        let columns = 2 * frequencies.len() + 1;
        let mut normal = vec![0.0; columns * columns];
        let mut right = vec![0.0; columns];
        let mut square = 0.0;
        // Subtract the mean to limit cancellation in the sum of squares.
        let mean = self.values.iter().sum::<f64>() / ROWS as f64;
        let mut row = vec![1.0; columns];
        for (t, v) in self.times.iter().zip(&self.values) {
            for (k, f) in frequencies.iter().enumerate() {
                (row[2 * k], row[2 * k + 1]) = (TAU * f * t).sin_cos();
            }
            let v = v - mean;
            square += v * v;
            for i in 0..columns {
                right[i] += row[i] * v;
                (0..columns).for_each(|j| normal[i * columns + j] += row[i] * row[j]);
            }
        }
        // Long periods make sine, cosine and offset nearly dependent.
        (0..columns).for_each(|i| normal[i * columns + i] *= 1.0 + 1e-9);
        let factor = cholesky(columns, &normal);
        let mut y = right;
        for i in 0..columns {
            let known: f64 = (0..i).map(|j| factor[i * columns + j] * y[j]).sum();
            y[i] = (y[i] - known) / factor[i * columns + i];
        }
        let residual = square - y.iter().map(|y| y * y).sum::<f64>();
        let mut solution = y;
        for i in (0..columns).rev() {
            let known: f64 = (i + 1..columns).map(|j| factor[j * columns + i] * solution[j]).sum();
            solution[i] = (solution[i] - known) / factor[i * columns + i];
        }
        let log_root_det: f64 = (0..columns).map(|i| factor[i * columns + i].ln()).sum();
        let log_amplitudes: f64 =
            solution[..columns - 1].chunks_exact(2).map(|pair| pair[0].hypot(pair[1]).ln()).sum();
        let fit = if self.is_sigma_known {
            -0.5 * residual / (self.sigma * self.sigma)
        } else {
            // ∫ σ^−(n − columns) exp(−residual/2σ²) dσ
            -0.5 * (ROWS - columns - 1) as f64 * residual.ln()
        };
        fit - log_root_det - log_amplitudes
    }
}

/// The value with the largest height.
fn highest_of(values: impl Iterator<Item = f64>, height: impl Fn(f64) -> f64) -> f64 {
    let heights = values.map(|value| (value, height(value)));
    heights.max_by(|a, b| a.1.total_cmp(&b.1)).expect("the grid has points").0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{models, right::Deviation, subject::Truth};
    use adaann::{
        answer::{self, Settings},
        model::Model,
    };

    /// The standard error of a period is about P²σ√6/(πT K√n), below 5·10⁻⁶ P² here. The test allows six of them.
    #[test]
    fn references_are_at_the_true_periods() {
        for (label, signals) in [("period", 1), ("planets", 2)] {
            for seed in 1..=4 {
                let data = Velocities::new(label, signals, seed);
                let references = data.references();
                let (first, last) = (data.periods[0], data.periods[signals - 1]);
                for (reference, truth) in references.iter().zip([first, last]) {
                    let off = (reference.mean - truth) / reference.sd;
                    assert!(off.abs() < 6.0, "{label} {seed}: {off}");
                    let bound = 5e-5 * truth * truth;
                    assert!(reference.sd < bound, "{label} {seed}: {}", reference.sd);
                }
            }
        }
    }

    /// If each period is restricted to its peak, the posterior has a single mode, apart from phases at the ends of
    /// their range. A run estimates the moments of periods to a few hundredths of a standard deviation.
    #[test]
    fn references_are_those_of_runs_with_narrow_priors() {
        for (label, signals, seed) in [("period", 1, 1), ("period", 1, 3), ("planets", 2, 2)] {
            let data = Velocities::new(label, signals, seed);
            let wide = format!("log_uniform({:?}, {:?})", PRIOR.0, PRIOR.1);
            let mut text = data.text();
            for period in &data.periods {
                let ends = [0.5, -0.5].map(|off| 1.0 / (1.0 / period + off / DAYS));
                text =
                    text.replacen(&wide, &format!("log_uniform({:?}, {:?})", ends[0], ends[1]), 1);
            }
            let model = Model::parse("narrow.toml", &text).unwrap();
            let built = models::built(model, |model| Truth::Reference {
                model: Box::new(model),
                values: Some(data.references()),
            });
            let settings =
                Settings { base: built.base, seed: 1, check: 0.0, ..Settings::default() };
            let answer = answer::approximate(&*built.target, &settings, &mut ()).unwrap();
            let off = Deviation::of(&answer, &built.truth).unwrap();
            assert_eq!(off.is_right(), Some(true), "{label} {seed}: {:?}", off.faults());
        }
    }

    #[test]
    fn the_model_has_as_many_coordinates_as_it_says() {
        for seed in 1..=4 {
            let data = Velocities::new("planets", 2, seed);
            let model = Model::parse("planets.toml", &data.text()).unwrap();
            assert_eq!(model.target().dim(), data.dim());
            assert_eq!(model.quantity_names(), ["shortest", "longest"]);
        }
    }
}
