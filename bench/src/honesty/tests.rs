//! Generated targets, compared with importance samples from known mixtures.

use super::{
    classes::CLASSES,
    mixtures, narrow, pairs,
    recipe::{Part, Recipe, Tails},
    students,
};
use crate::dice::Dice;
use adaann::{
    Batch,
    model::Model,
    support::simd::Special,
    target::{Evaluation, Target},
};
use std::f64::consts::{PI, TAU};

const DRAWS: usize = 4_000;

/// log p of the model text at some points.
fn log_density(recipe: &Recipe, points: &[Vec<f64>]) -> Vec<f64> {
    let model = Model::parse("generated.toml", &recipe.text()).unwrap_or_else(|e| panic!("{e}"));
    let target = model.target();
    let batch = Batch::from_points(target.dim(), points);
    let mut out = Evaluation::zeros(target.dim(), batch.len());
    target.evaluate(&batch, None, &mut out).unwrap();
    let terms = out.log_prior.iter().zip(out.log_likelihood.iter());
    terms.map(|(prior, likelihood)| prior + likelihood).take(batch.len()).collect()
}

/// The proposal: the components with equal weights and larger widths, which bounds the weights. Widening d coordinates
/// by 1 + 1/(2√d) at most doubles the second moment of the weights.
struct Proposal<'a> {
    recipe: &'a Recipe,
    widening: f64,
}

impl Proposal<'_> {
    fn draw(&self, dice: &mut Dice) -> Vec<f64> {
        let part = dice.one_of(&self.recipe.parts.iter().collect::<Vec<_>>());
        let stretch = match self.recipe.tails {
            Tails::Normal => 1.0,
            Tails::Student(nu) => {
                (nu / dice.normals(nu as usize).iter().map(|x| x * x).sum::<f64>()).sqrt()
            }
        };
        let along: Vec<f64> = (self.recipe.lengths().iter())
            .map(|length| stretch * self.widening * part.width * length * dice.normal())
            .collect();
        let offset = self.recipe.axes.as_ref().map_or(along.clone(), |axes| axes.point(&along));
        part.centre.iter().zip(offset).map(|(c, o)| c + o).collect()
    }

    fn log_density(&self, x: &[f64]) -> f64 {
        let terms: Vec<f64> =
            self.recipe.parts.iter().map(|part| self.log_component(part, x)).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
        largest + (sum / terms.len() as f64).ln()
    }

    fn log_component(&self, part: &Part, x: &[f64]) -> f64 {
        let half = 0.5 * x.len() as f64;
        let offset: Vec<f64> = x.iter().zip(&part.centre).map(|(x, c)| x - c).collect();
        let along = self.recipe.axes.as_ref().map_or(offset.clone(), |axes| axes.along(&offset));
        let (mut square, mut log_volume) = (0.0, 0.0);
        for (along, length) in along.iter().zip(self.recipe.lengths()) {
            let width = self.widening * part.width * length;
            square += (along / width).powi(2);
            log_volume += width.ln();
        }
        let shape = match self.recipe.tails {
            Tails::Normal => -0.5 * square - half * TAU.ln(),
            Tails::Student(nu) => {
                let ln_gamma = |x: f64| Special::LnGamma.at(x);
                ln_gamma(0.5 * nu + half)
                    - ln_gamma(0.5 * nu)
                    - half * (nu * PI).ln()
                    - (0.5 * nu + half) * (square / nu).ln_1p()
            }
        };
        shape - log_volume
    }
}

/// Compares evidence, means and mode weights with an importance sample, within five of its standard errors.
fn check(name: &str, recipe: &Recipe) {
    let widening = 1.0 + 0.5 / (recipe.dim() as f64).sqrt();
    let proposal = Proposal { recipe, widening };
    let mut dice = Dice::new("importance sample", 1);
    let points: Vec<Vec<f64>> = (0..DRAWS).map(|_| proposal.draw(&mut dice)).collect();
    let truth = recipe.truth();
    let known = truth.known().unwrap();
    let log_z = known.log_z.unwrap();
    let weights: Vec<f64> = (log_density(recipe, &points).iter().zip(&points))
        .map(|(log_p, x)| (log_p - log_z - proposal.log_density(x)).exp())
        .collect();
    let n = DRAWS as f64;
    // E[w f] over the proposal, with its standard error.
    let estimate = |f: &dyn Fn(&[f64]) -> f64| {
        let terms: Vec<f64> = weights.iter().zip(&points).map(|(w, x)| w * f(x)).collect();
        let mean = terms.iter().sum::<f64>() / n;
        let variance = terms.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    };
    let (z, error) = estimate(&|_| 1.0);
    assert!((z - 1.0).abs() < 5.0 * error && error < 0.1, "{name}: Z off by {z} ± {error}");
    let (mean, sd) = (known.mean.as_ref().unwrap(), known.sd.as_ref().unwrap());
    for d in 0..recipe.dim() {
        let (off, error) = estimate(&|x| (x[d] - mean[d]) / sd[d]);
        assert!(off.abs() < 5.0 * error, "{name}: mean {d} off by {off} ± {error}");
        let (square, error) = estimate(&|x| ((x[d] - mean[d]) / sd[d]).powi(2) - 1.0);
        // Squares of Student draws have heavy tails.
        assert!(square.abs() < 6.0 * error, "{name}: variance {d} off by {square} ± {error}");
    }
    for (at, mode) in known.modes.iter().enumerate() {
        let (share, error) = estimate(&|x| f64::from(u8::from(truth.mode_of(x) == Some(at))));
        let off = share - mode.weight;
        // The exact mode weights come from draws, too.
        assert!(off.abs() < 5.0 * error + 0.01, "{name}: weight {at} off by {off} ± {error}");
    }
    let total: f64 = known.modes.iter().map(|mode| mode.weight).sum();
    assert!((total - 1.0).abs() < 1e-9, "{name}: weights sum to {total}");
}

#[test]
fn evidence_and_moments_are_those_of_importance_samples() {
    for seed in 1..=16 {
        check(&format!("mixtures {seed}"), &mixtures::recipe(seed));
    }
    for seed in 1..=4 {
        check(&format!("pairs {seed}"), &pairs::recipe(seed));
        check(&format!("forty {seed}"), &pairs::forty(seed));
    }
    for seed in 1..=15 {
        check(&format!("narrow {seed}"), &narrow::recipe(seed));
    }
    check("students", &students::recipe(1));
    check("light", &students::light(1));
}

#[test]
fn a_seed_fixes_an_instance_and_another_seed_gives_another() {
    for (name, recipe) in [
        ("mixtures", mixtures::recipe as fn(u64) -> Recipe),
        ("pairs", pairs::recipe),
        ("forty", pairs::forty),
        ("narrow", narrow::recipe),
        ("students", students::recipe),
        ("light", students::light),
    ] {
        assert_eq!(recipe(7).text(), recipe(7).text(), "{name}");
        assert_ne!(recipe(7).text(), recipe(11).text(), "{name}");
    }
}

#[test]
fn every_instance_can_be_built_and_has_its_dimension() {
    for class in &CLASSES {
        for seed in 1..=3 {
            let instance = class.instance(seed);
            let built = (instance.subject.build)(seed).unwrap();
            assert_eq!(built.target.dim(), instance.dim, "{} {seed}", class.name);
        }
    }
}

#[test]
fn narrow_modes_have_their_volume_ratio() {
    let ratios: Vec<f64> = (0..15).map(|seed| narrow::recipe(seed).log10_ratio()).collect();
    for (seed, ratio) in ratios.iter().enumerate() {
        assert!((ratio - [-3.0, -6.0, -9.0][seed % 3]).abs() < 1e-9, "{seed}: {ratio}");
    }
}
