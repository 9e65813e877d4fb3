//! Deliberately spoiled answers: does the check detect them?

use super::{
    LadderOptions,
    right::Deviation,
    subject::{Built, Subject, Truth},
};
use crate::honesty::lost::{self, Lost};
use adaann::{
    Batch, Error, Result,
    answer::{self, Answer, Settings},
    approximation::Approximation,
    diagnostics::Trust,
    flow::{Base, Flow},
    importance::{Estimate, Sample},
    target::Target,
};
use serde_json::Value;
use std::{fmt::Write, io};

/// A way to spoil an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// q loses the components of a mode, and draws from the rest.
    LostMode,
    /// In the sample, 0.2 of the weight moves from one mode to another.
    ShiftedWeights,
    /// Every covariance of q is divided by 4, and q is sampled again.
    TooNarrow,
    /// q is the exact posterior of a random mixture without one of its components.
    LostOffCentre,
}

impl Kind {
    const OF_ANSWERS: [Self; 3] = [Self::LostMode, Self::ShiftedWeights, Self::TooNarrow];
    const ALL: [Self; 4] =
        [Self::LostMode, Self::ShiftedWeights, Self::TooNarrow, Self::LostOffCentre];

    fn label(self) -> &'static str {
        match self {
            Self::LostMode => "a mode removed from q",
            Self::ShiftedWeights => "weights of modes shifted by 0.2",
            Self::TooNarrow => "covariances of q divided by 4",
            Self::LostOffCentre => "a mode of a random mixture never found",
        }
    }
}

/// The name of the random mixtures, and their number for each seed.
const OFF_CENTRE: &str = "off-centre";
const EACH_SEED: u64 = 100;

/// The weight that moves from one mode to another.
const SHIFT: f64 = 0.2;

/// Separates the draws of a spoiled q, and of its check, from those of the answer.
const DRAW_SEED: u64 = 0x9e6c_63d0_876a_68f3;
const CHECK_SEED: u64 = 0x3c79_ac49_2ba7_b653;

/// The verdict on a spoiled answer.
struct Spoiled {
    kind: Kind,
    name: String,
    seed: u64,
    /// Is the weighted sample still right? Weights may correct a q that is too narrow.
    is_right: bool,
    trust: Result<Trust>,
}

impl Spoiled {
    fn is_reliable(&self) -> bool {
        matches!(self.trust, Ok(Trust::Reliable))
    }
}

/// Spoils the answers to all selected targets and seeds in every applicable way, and prints how many the check calls
/// reliable.
pub(crate) fn run(options: &LadderOptions) -> io::Result<()> {
    let mut spoiled = Vec::new();
    for subject in &subjects(options).map_err(io::Error::other)? {
        for seed in options.trials.seeds() {
            if subject.name == OFF_CENTRE {
                let own = (0..EACH_SEED).map(|i| seed.wrapping_mul(EACH_SEED).wrapping_add(i));
                spoiled.extend(own.filter_map(|seed| told(subject, seed, off_centre(seed))));
            } else if let Some(judged) = told(subject, seed, spoil(subject, seed)) {
                spoiled.extend(judged);
            }
        }
    }
    options.trials.publish("sabotage", &page(&spoiled))
}

/// The selected targets of the ladder and random mixtures.
fn subjects(options: &LadderOptions) -> Result<Vec<Subject>> {
    let mut all = options.all_subjects()?;
    all.push(Subject::new(OFF_CENTRE, OFF_CENTRE, |_| {
        Err(Error::Data("random mixtures are made with their answers".into()))
    }));
    options.among(all)
}

/// Returns the result, or prints the error.
fn told<T>(subject: &Subject, seed: u64, result: Result<T>) -> Option<T> {
    result.map_err(|error| eprintln!("{}, seed {seed}: {error}", subject.name)).ok()
}

/// The verdict on an answer to a random mixture that lacks a mode.
fn off_centre(seed: u64) -> Result<Spoiled> {
    let Lost { target, truth, answer, settings } = lost::mode(seed)?;
    judge(Kind::LostOffCentre, OFF_CENTRE, seed, &*target, &truth, &answer, &settings)
}

/// Checks a spoiled answer.
fn judge(
    kind: Kind,
    name: &str,
    seed: u64,
    target: &dyn Target,
    truth: &Truth,
    wrong: &Answer,
    settings: &Settings,
) -> Result<Spoiled> {
    let settings =
        Settings { check: Settings::default().check, seed: seed ^ CHECK_SEED, ..settings.clone() };
    let off = Deviation::of(wrong, truth)?;
    let is_right = off.is_right() == Some(true);
    let trust = answer::check(target, wrong, &settings, &mut ()).map(|found| found.verdict.trust);
    let shown = trust.as_ref().map_or_else(Error::to_string, Trust::to_string);
    let so = if is_right { "still right".into() } else { off.faults().join(", ") };
    eprintln!("{name}, seed {seed}, {}: {so}, {shown}", kind.label());
    Ok(Spoiled { kind, name: name.to_owned(), seed, is_right, trust })
}

/// The verdicts on all spoiled versions of an answer.
fn spoil(subject: &Subject, seed: u64) -> Result<Vec<Spoiled>> {
    let Built { target, base, truth } = (subject.build)(seed)?;
    if truth.known().is_none() {
        return Ok(Vec::new());
    }
    // The original answer needs no check.
    let settings = Settings { seed, base, check: 0.0, ..Settings::default() };
    let answer = answer::approximate(&*target, &settings, &mut ())?;
    let mut judged = Vec::new();
    for kind in Kind::OF_ANSWERS {
        let Some(wrong) = spoiled(kind, &*target, &answer, &truth, seed)? else { continue };
        judged.push(judge(kind, &subject.name, seed, &*target, &truth, &wrong, &settings)?);
    }
    Ok(judged)
}

/// The spoiled answer, or `None` if this way does not apply.
fn spoiled(
    kind: Kind,
    target: &dyn Target,
    answer: &Answer,
    truth: &Truth,
    seed: u64,
) -> Result<Option<Answer>> {
    match kind {
        Kind::ShiftedWeights => Ok(shift(&answer.sample, truth)
            .transpose()?
            .map(|sample| Answer { sample, ..answer.clone() })),
        Kind::LostMode => {
            let place = |mean: &[f64]| mode_at(target, truth, mean);
            let lost =
                (modes(truth) > 1).then(|| without_a_mode(answer.flow.base(), place)).flatten();
            lost.map(|base| drawn_again(target, answer, base, seed)).transpose()
        }
        Kind::TooNarrow => {
            let base = narrowed(answer.flow.base());
            base.map(|base| drawn_again(target, answer, base, seed)).transpose()
        }
        Kind::LostOffCentre => Ok(None),
    }
}

/// The mode of a point on the whole line.
fn mode_at(target: &dyn Target, truth: &Truth, mean: &[f64]) -> Option<usize> {
    let unconstrained = adaann::target::Unconstrained::new(target).ok()?;
    let (x, _) = unconstrained.constrain(&Batch::from_points(mean.len(), &[mean]));
    truth.mode_of(&x.point(0))
}

/// The number of known modes.
fn modes(truth: &Truth) -> usize {
    truth.known().map_or(0, |known| known.modes.len())
}

/// The same layers over another base, with new draws.
fn drawn_again(target: &dyn Target, answer: &Answer, base: Base, seed: u64) -> Result<Answer> {
    let spec = answer.flow.spec().ok_or_else(|| Error::Data("a flow without a name".into()))?;
    let mut flow = Flow::new(spec, base)?;
    flow.set_parameters(answer.flow.parameters())?;
    let approximation = Approximation::new(target, flow.clone())?;
    let sample = approximation.sample(answer.sample.len(), seed ^ DRAW_SEED)?;
    let sums = sample.weight_sums()?;
    let log_z = answer.log_z.map(|_| Estimate { value: sums.log_z(), error: sums.log_z_error() });
    Ok(Answer { flow, sample, log_z, ..answer.clone() })
}

/// The base without the components in the mode of its lightest component. `None` if it has only one mode, or if it is
/// trained, because its parameters then belong to the flow.
fn without_a_mode(base: &Base, mode_of: impl Fn(&[f64]) -> Option<usize>) -> Option<Base> {
    let mut file = serde_json::to_value(base).ok()?;
    let components = file.get("logit")?.as_array()?.len();
    let means = numbers(&file, "mean")?;
    let modes: Vec<Option<usize>> = means.chunks(means.len() / components).map(mode_of).collect();
    let weights = base.weights();
    let lightest = (0..components).min_by(|a, b| {
        let weight = |k: usize| -> f64 {
            (0..components).filter(|&other| modes[other] == modes[k]).map(|k| weights[k]).sum()
        };
        weight(*a).total_cmp(&weight(*b))
    })?;
    let is_kept: Vec<bool> = modes.iter().map(|mode| *mode != modes[lightest]).collect();
    if !is_kept.contains(&true) || file["trained"] == true {
        return None;
    }
    for key in ["logit", "mean", "log_scale", "below", "degrees"] {
        let Some(values) = file.get_mut(key).and_then(Value::as_array_mut) else { continue };
        let each = values.len() / components;
        let all = std::mem::take(values);
        if each > 0 {
            let kept = all.chunks(each).zip(&is_kept).filter(|(_, is_kept)| **is_kept);
            *values = kept.flat_map(|(own, _)| own.to_vec()).collect();
        }
    }
    serde_json::from_value(file).ok()
}

/// The base with factors half as wide, or `None` if it is trained.
fn narrowed(base: &Base) -> Option<Base> {
    let mut file = serde_json::to_value(base).ok()?;
    if file["trained"] == true {
        return None;
    }
    let mut change = |key: &str, f: fn(f64) -> f64| {
        for value in file.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            *value = value.as_f64().map(f).into();
        }
    };
    change("factor", |x| 0.5 * x);
    change("log_scale", |x| x - 2.0_f64.ln());
    change("below", |x| 0.5 * x);
    serde_json::from_value(file).ok()
}

fn numbers(file: &Value, key: &str) -> Option<Vec<f64>> {
    file.get(key)?.as_array()?.iter().map(Value::as_f64).collect()
}

/// The sample with weight moved from its heaviest mode to the next. `None` without enough weight or another mode.
fn shift(sample: &Sample, truth: &Truth) -> Option<Result<Sample>> {
    let count = modes(truth);
    let modes: Vec<Option<usize>> =
        (0..sample.len()).map(|i| truth.mode_of(&sample.x().point(i))).collect();
    let mut shares: Vec<(usize, f64)> = (0..count)
        .map(|mode| {
            let own = modes.iter().zip(sample.weights()).filter(|(of, _)| **of == Some(mode));
            (mode, own.map(|(_, weight)| weight).sum())
        })
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let &[(from, most), (to, next), ..] = &shares[..] else { return None };
    if most <= SHIFT || next <= 0.0 {
        return None;
    }
    let change = |mode: Option<usize>| match mode {
        Some(mode) if mode == from => ((most - SHIFT) / most).ln(),
        Some(mode) if mode == to => ((next + SHIFT) / next).ln(),
        _ => 0.0,
    };
    let (z, x, log_p) = (sample.z().clone(), sample.x().clone(), sample.log_p().to_vec());
    let add = |values: &[f64], sign: f64| -> Vec<f64> {
        values.iter().zip(&modes).map(|(value, mode)| value + sign * change(*mode)).collect()
    };
    Some(match sample.log_q() {
        Some(log_q) => Sample::of_draws(z, x, log_p, add(log_q, -1.0)),
        None => Sample::of_particles(z, x, log_p, add(sample.log_weights(), 1.0)),
    })
}

fn page(spoiled: &[Spoiled]) -> String {
    let mut page = String::new();
    let mut add = |line: &str| writeln!(page, "{line}").expect("memory takes all");
    add(
        "| what was done | answers | still right | reliable | local | use with care | do not trust | check failed | not reliable | of those that are wrong |",
    );
    add("|---|---|---|---|---|---|---|---|---|---|");
    let rows = Kind::ALL.map(Some).into_iter().chain([None]);
    for kind in rows {
        let of = || spoiled.iter().filter(move |one| kind.is_none_or(|kind| one.kind == kind));
        let count = |trust| of().filter(|one| one.trust.as_ref().ok() == Some(&trust)).count();
        let (all, reliable) = (of().count(), count(Trust::Reliable));
        let share =
            |reliable: usize, all: usize| 100.0 * (all - reliable) as f64 / all.max(1) as f64;
        let wrong = of().filter(|one| !one.is_right).count();
        let believed = of().filter(|one| !one.is_right && one.is_reliable()).count();
        add(&format!(
            "| {} | {all} | {} | {reliable} | {} | {} | {} | {} | {:.1} % | {:.1} % |",
            kind.map_or("all", Kind::label),
            all - wrong,
            count(Trust::Local),
            count(Trust::Care),
            count(Trust::Distrust),
            of().filter(|one| one.trust.is_err()).count(),
            share(reliable, all),
            share(believed, wrong)
        ));
    }
    add("\nAt least 97 % are wanted. Called reliable:\n");
    add("| target | seed | what was done | still right |");
    add("|---|---|---|---|");
    for one in spoiled.iter().filter(|one| one.is_reliable()) {
        let so = if one.is_right { "yes" } else { "no" };
        add(&format!("| {} | {} | {} | {so} |", one.name, one.seed, one.kind.label()));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::registry::Known;

    fn base() -> Base {
        let (means, shapes) = ([0.0, 0.0, 5.0, 1.0, 0.1, 0.0], [1.0, 0.5, 0.5, 1.0]);
        let degrees = [None, Some(4.0), None];
        Base::student_mixture(&[0.3, 0.5, 0.2], &means, &shapes.repeat(3), &degrees).unwrap()
    }

    #[test]
    fn a_mode_goes_with_all_its_components() {
        let left = without_a_mode(&base(), |mean| Some(usize::from(mean[0] > 2.0))).unwrap();
        // The components at 0 are as heavy as the one at 5. The first of equals is removed.
        assert_eq!(left.components(), 1);
        assert_eq!(left.mean(), [5.0, 1.0]);
        assert!(without_a_mode(&base(), |_| Some(0)).is_none(), "one mode is all there is");
    }

    #[test]
    fn a_quarter_of_the_covariance_is_a_higher_peak() {
        let log_peak = |base: Base| {
            let flow = Flow::new(&adaann::flow::FlowSpec::Affine, base).unwrap();
            flow.log_density(&Batch::from_points(2, &[[3.0, 3.0]])).unwrap()[0]
        };
        let one = || Base::full(&[3.0, 3.0], &[1.0, 0.5, 0.5, 2.0]).unwrap();
        let higher = log_peak(narrowed(&one()).unwrap()) - log_peak(one());
        assert!((higher - 4.0_f64.ln()).abs() < 1e-12, "{higher}");
        let narrow = narrowed(&base()).unwrap();
        assert_eq!((narrow.components(), narrow.weights()), (3, base().weights()));
    }

    #[test]
    fn weight_goes_from_the_heaviest_mode_to_the_next() {
        let modes = [-1.0, 1.0].map(|at| adaann::registry::Mode::new(vec![at], 0.5)).to_vec();
        let truth = Truth::Known(Known { modes, ..Known::default() });
        let x = Batch::from_points(1, &[[-1.0], [1.0], [1.0], [1.0]]);
        let zeros = || vec![0.0; 4];
        let sample = Sample::of_particles(x.clone(), x, zeros(), zeros()).unwrap();
        let shifted = shift(&sample, &truth).unwrap().unwrap();
        assert!((shifted.weights()[0] - 0.45).abs() < 1e-12);
        assert!((shifted.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(shift(&sample, &Truth::Known(Known::default())).is_none());
    }
}
