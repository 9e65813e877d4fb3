//! The laws that every rule satisfies for all draws: t increases strictly and ends at 1, or the error
//! is precise.

use super::{
    AdaAnn, Draws, EssBisection, Exponential, Guarded, LEAST_GROWTH, Linear, List, Logarithmic,
    Position, Reason, Rule, Schedule, ScheduleError, Step, spread,
};
use proptest::prelude::*;

/// A custom rule that uses only the public interface: it covers the fraction `step` of the remaining
/// way to 1, and all of it once that is short.
#[derive(Debug, Clone)]
struct Halving {
    t0: f64,
    step: f64,
}

impl Rule for Halving {
    fn first(&self) -> f64 {
        self.t0
    }

    fn needs_draws(&self) -> bool {
        true
    }

    fn next(&self, at: Position, draws: &Draws) -> Result<Step, ScheduleError> {
        let left = 1.0 - at.t;
        let t = if left < 0.01 { 1.0 } else { at.t + self.step * left };
        let step = Step::new(at, t, Reason::Tolerance)?;
        Ok(step.with_spread(spread(at.t, draws)?))
    }
}

/// A rule of the library, or the custom one.
#[derive(Debug, Clone)]
enum AnyRule {
    Known(Schedule),
    Own(Halving),
}

impl AnyRule {
    fn rule(&self) -> &dyn Rule {
        match self {
            Self::Known(schedule) => schedule,
            Self::Own(rule) => rule,
        }
    }

    fn is_robust(&self) -> bool {
        matches!(self, Self::Known(Schedule::Guarded(Guarded { robust: true, .. })))
    }
}

fn any_rule() -> impl Strategy<Value = AnyRule> {
    let t0 = prop_oneof![1e-6..1.0_f64, Just(1.0), Just(0.0)];
    let own = (t0, 0.01..2.0_f64).prop_map(|(t0, step)| AnyRule::Own(Halving { t0, step }));
    prop_oneof![8 => any_schedule().prop_map(AnyRule::Known), 1 => own]
}

fn any_schedule() -> impl Strategy<Value = Schedule> {
    let t0 = prop_oneof![1e-6..1.0_f64, Just(1.0), Just(0.0)];
    let above_0 = prop_oneof![1e-6..1.0_f64, Just(1.0)];
    let tau = prop_oneof![1e-3..2.0_f64, 1e-20..1e-10_f64];
    let increasing = prop::collection::btree_set(1..1_000_000_u32, 0..20).prop_map(|set| {
        let mut values: Vec<f64> = set.into_iter().map(|n| f64::from(n) * 1e-6).collect();
        values.push(1.0);
        Schedule::List(List(values))
    });
    let guards = (1.001..10.0_f64, 0.0..0.5_f64, 0.5..2.0_f64, any::<bool>());
    prop_oneof![
        Just(Schedule::None),
        (t0.clone(), prop_oneof![1e-3..2.0_f64, 1e-20..1e-15_f64])
            .prop_map(|(t0, epsilon)| Schedule::Linear(Linear { t0, epsilon })),
        (above_0, 1..500_usize)
            .prop_map(|(t0, steps)| Schedule::Exponential(Exponential { t0, steps })),
        (t0.clone(), 1..500_usize)
            .prop_map(|(t0, steps)| Schedule::Logarithmic(Logarithmic { t0, steps })),
        increasing,
        (t0.clone(), tau.clone()).prop_map(|(t0, tau)| Schedule::AdaAnn(AdaAnn { t0, tau })),
        (t0.clone(), tau, guards).prop_map(
            |(t0, tau, (max_ratio, min_epsilon, max_epsilon, robust))| Schedule::Guarded(Guarded {
                t0,
                tau,
                max_ratio,
                min_epsilon,
                max_epsilon,
                robust,
            })
        ),
        (t0, 0.01..0.99_f64).prop_map(|(t0, ess)| Schedule::EssBisection(EssBisection { t0, ess })),
    ]
}

fn any_b() -> impl Strategy<Value = Vec<f64>> {
    let wild = prop_oneof![
        8 => -100.0..10.0_f64,
        1 => any::<f64>(),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::NAN),
    ];
    let tame = prop_oneof![9 => -3.0..0.0_f64, 1 => Just(f64::NEG_INFINITY)];
    prop_oneof![
        prop::collection::vec(tame, 0..40),
        prop::collection::vec(wild, 0..40),
        prop::collection::vec(any::<f64>(), 0..10),
        prop::collection::vec(Just(-2.5), 0..10),
    ]
}

fn any_weights() -> impl Strategy<Value = Option<Vec<f64>>> {
    let weight = prop_oneof![6 => 0.0..1.0_f64, 1 => Just(0.0), 1 => 0.0..f64::MAX];
    prop_oneof![
        3 => Just(None),
        2 => prop::collection::vec(weight, 40).prop_map(Some),
        1 => prop::collection::vec(any::<f64>(), 40).prop_map(Some),
    ]
}

/// Whether the error describes the actual problem.
fn is_true(error: &ScheduleError, any: &AnyRule, at: Position, draws: &Draws) -> bool {
    let schedule = any.rule();
    let weight = |i: usize| draws.weights.map_or(1.0, |w| w[i]);
    let weights = || (0..draws.b.len()).map(weight);
    let finite = || draws.b.iter().filter(|b| b.is_finite());
    let (low, high) = finite().fold((f64::MAX, f64::MIN), |(l, h), b| (l.min(*b), h.max(*b)));
    match *error {
        // Cannot occur for t in [0, 1).
        ScheduleError::Ended | ScheduleError::Position { .. } => false,
        ScheduleError::OutOfStep { index, t, next } => {
            !schedule.needs_draws() && (index, t) == (at.index + 1, at.t) && next <= t
        }
        ScheduleError::TooFewDraws { t, usable, total } => {
            // A weight may vanish next to the largest.
            let most = draws.b.iter().zip(weights()).filter(|(b, w)| b.is_finite() && *w > 0.0);
            schedule.needs_draws()
                && (t, total) == (at.t, draws.b.len())
                && usable < 2
                && (draws.weights.is_some() || usable == most.count())
        }
        ScheduleError::Unbounded { t, count } => {
            let infinite = draws.b.iter().filter(|b| **b == f64::INFINITY).count();
            t == at.t && count == infinite && count > 0
        }
        ScheduleError::Weights { t, problem } => {
            let refused = weights().any(|w| !w.is_finite() || w < 0.0);
            t == at.t && draws.weights.is_some() && (refused || problem.contains("single draw"))
        }
        // The draws are equal, or so close that their squared differences vanish: all draws, those
        // with weight, or those between the fences.
        ScheduleError::NoSpread { t } => {
            t == at.t && (high - low < 1e-150 || draws.weights.is_some() || any.is_robust())
        }
        ScheduleError::NotFinite { t } => t == at.t && high - low > 1e150,
        ScheduleError::Resolution { t, epsilon, remedy } => {
            t == at.t && t + epsilon <= t * (1.0 + LEAST_GROWTH) && !remedy.is_empty()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn t_only_grows_and_ends_at_1(
        any in any_rule(), b in any_b(), weights in any_weights(),
    ) {
        let schedule = any.rule();
        schedule.check(true).unwrap();
        let weights = weights.as_ref().map(|w| &w[..b.len()]);
        let draws = Draws { b: &b, weights };
        let finite = b.iter().filter(|b| b.is_finite()).count();
        let mut at = Position::start(schedule);
        prop_assert!((0.0..=1.0).contains(&at.t));
        // An adaptive rule may need any number of steps; strict growth guarantees that it ends.
        for _ in 0..2_000 {
            if at.t == 1.0 {
                break;
            }
            match schedule.next(at, &draws) {
                Ok(step) => {
                    prop_assert!(step.t > at.t && step.t <= 1.0, "{step:?} from {at:?}");
                    prop_assert_eq!(step.epsilon, step.t - at.t);
                    prop_assert_eq!(step.std_b.is_some(), schedule.needs_draws());
                    if let Some(std_b) = step.std_b {
                        prop_assert!(std_b > 0.0 && std_b.is_finite());
                        prop_assert!(finite >= 2);
                        prop_assert_eq!(step.lost, b.len() - finite);
                        prop_assert!(!b.contains(&f64::INFINITY));
                    }
                    at = at.after(&step);
                }
                Err(error) => {
                    prop_assert!(is_true(&error, &any, at, &draws), "{error:?} at {at:?}");
                    return Ok(());
                }
            }
        }
        if let Some(count) = schedule.count().filter(|count| *count <= 2_000) {
            prop_assert_eq!(at.index + 1, count);
            prop_assert_eq!(at.t, 1.0);
        }
    }

    #[test]
    fn positions_off_the_path_are_refused(
        any in any_rule(), index in 0..10_usize,
        t in prop_oneof![Just(1.0), Just(f64::NAN), Just(-0.5), Just(1.5), any::<f64>()],
    ) {
        prop_assume!(!(0.0..1.0).contains(&t));
        let draws = Draws { b: &[-1.0, -2.0, -4.0], weights: None };
        let at = Position { index, t };
        let error = any.rule().next(at, &draws).unwrap_err();
        match t {
            1.0 => prop_assert_eq!(error, ScheduleError::Ended),
            // NaN does not equal itself.
            _ => prop_assert!(
                matches!(error, ScheduleError::Position { t: found } if found.to_bits() == t.to_bits()),
                "{:?}", error
            ),
        }
    }
}
