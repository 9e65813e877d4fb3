//! Every threshold of a verdict in one table, which the book shows as it is rendered here.

use crate::diagnostics::Trust;
use std::fmt::Write;

/// Up to where a number is good, and from where on it is bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What is looked at.
    pub name: &'static str,
    /// Which numbers are bad.
    pub bad: Side,
    /// How the numbers are written.
    pub unit: Unit,
    /// Beyond this, care is asked for.
    pub care: f64,
    /// From here on, or below here, nothing is to be trusted; none if care is the worst.
    pub distrust: Option<f64>,
    /// What it means, and why these numbers.
    pub meaning: &'static str,
}

/// A number of the rules that no verdict hangs on alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// What it is.
    pub name: &'static str,
    /// How it is written.
    pub unit: Unit,
    /// The number.
    pub value: f64,
    /// What it means, and why this number.
    pub meaning: &'static str,
}

/// Which side of a threshold is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Large numbers.
    Above,
    /// Small numbers.
    Below,
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// As it is.
    Number,
    /// In per cent.
    Share,
    /// As a factor.
    Factor,
    /// As a number of standard errors.
    Errors,
}

/// A mode is lost if q has less than this share of its weight.
///
/// The answer is the weighted sample. At a tenth its weights there are ten times those elsewhere: of
/// 10,000 draws a mode of ten per cent has 100, which tell its weight to a tenth of itself, and two
/// equal modes leave a fifth of the draws effective. Below, an answer hangs on a few draws.
pub const MODE_LOST: f64 = 0.1;

/// Has q, with `share` of its draws in a mode of this weight, lost it?
pub fn is_mode_lost(share: f64, weight: f64) -> bool {
    share < MODE_LOST * weight
}

/// The Pareto tail of the weights; for few draws `care` is lower, as `meaning` says.
pub const K_HAT: Threshold = Threshold {
    name: "Pareto k-hat of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.7,
    distrust: Some(1.0),
    meaning: "for S draws the lower of 0.7 and 1 − 1/log₁₀ S: below it estimates converge at a \
              practical rate, and from 1 on the weights have no mean (Vehtari and others, 2024)",
};

/// The same of the terms that a parameter's moments are averages of.
pub const MOMENT_K_HAT: Threshold = Threshold {
    name: "Pareto k-hat of a parameter's moments",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.7,
    distrust: None,
    meaning: "of the weights times the distance from the mean, and times its square; the largest of all \
              parameters, with the limit and the exceptions of the weights' own",
};

/// How many draws of p the weighted draws are worth.
pub const ESS: Threshold = Threshold {
    name: "effective sample size",
    bad: Side::Below,
    unit: Unit::Number,
    care: 400.0,
    distrust: Some(100.0),
    meaning: "400 is what Vehtari and others (2021) ask for before means and quantiles are read: \
              the error of a mean is then a twentieth of the standard deviation",
};

/// Draws without a density under p.
pub const OUTSIDE_SUPPORT: Threshold = Threshold {
    name: "draws outside the support",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: Some(0.5),
    meaning: "they have weight 0, so that the approximation is spent on what the target excludes",
};

/// The error of a standard deviation.
pub const SPREAD: Threshold = Threshold {
    name: "error of a parameter's standard deviation",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.05,
    distrust: None,
    meaning: "as a share of it, the largest of all parameters; so many draws know it to one per cent \
              unless it hangs on a few of them, and it may then not exist",
};

/// The error of a mode's weight.
pub const MODE_ERROR: Threshold = Threshold {
    name: "error of a mode's weight",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.012,
    distrust: None,
    meaning: "the largest of all modes, where less than half of the draws is effective; 4,000 effective \
              draws know the weights of two equal modes to 0.008, and three errors of this size are 0.04",
};

/// Draws whose weights are not those of q.
pub const WEIGHTS_OFF: Threshold = Threshold {
    name: "draws with weights of another q",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.0,
    distrust: Some(0.02),
    meaning: "of 512 draws, taken evenly: log q is evaluated again and compared with what the weights \
              were made of",
};

/// Mass of p that lies where p is over [`LACKING_RATIO`] times q.
pub const MASS_LACKING: Threshold = Threshold {
    name: "mass that q lacks",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: Some(0.05),
    meaning: "share of the particles, less its allowance, where p is so far above q that few draws \
              of q, or none, have seen it",
};

/// Share of a mode's weight that q has.
pub const MODE_SHARE: Threshold = Threshold {
    name: "how much of a mode q has",
    bad: Side::Below,
    unit: Unit::Share,
    care: 0.5,
    distrust: Some(MODE_LOST),
    meaning: "share of the draws, of that of the particles less its allowance; weights can lift a \
              thin mode, but below a tenth it is lost: its answer hangs on a few draws",
};

/// The weighted draws' share of a mode against the particles', as a factor either way.
pub const MODE_WEIGHT: Threshold = Threshold {
    name: "weight of a mode, weighted draws against particles",
    bad: Side::Above,
    unit: Unit::Factor,
    care: 2.0,
    distrust: None,
    meaning: "either way, where the two are apart by more than their errors; one of them is wrong",
};

/// The same as a difference.
pub const MODE_SHIFT: Threshold = Threshold {
    name: "weight of a mode, the same as a difference",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.05,
    distrust: None,
    meaning: "where the two are apart by more than their errors; a factor of 2 is more than heavy \
              modes can differ by",
};

/// log Z of the particles above that of the weights.
pub const EVIDENCE_ABOVE: Threshold = Threshold {
    name: "log Z of the particles above that of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.7),
    meaning: "where it is more than their errors; 0.7 is a factor of 2: the draws have seen half \
              of p, or less",
};

/// log Z of the particles below that of the weights.
pub const EVIDENCE_BELOW: Threshold = Threshold {
    name: "log Z of the particles below that of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 3.0,
    distrust: None,
    meaning: "where it is more than their errors; from a factor of 20 on the particles have missed too much \
              to check anything, and if nothing else has, the verdict is local; their shares count for \
              Z_check / Z_answer of the whole",
};

/// R-hat of chains.
pub const R_HAT: Threshold = Threshold {
    name: "R-hat of chains",
    bad: Side::Above,
    unit: Unit::Number,
    care: 1.01,
    distrust: Some(1.1),
    meaning: "rank-normalised, the largest of all coordinates; 1.01 is what Vehtari and others (2021) \
              ask for, and from 1.1 on the chains have seen different parts of p",
};

/// How far the means of chains from other starts are apart.
pub const CHAINS_APART: Threshold = Threshold {
    name: "means of chains from other starts, in standard deviations",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.5),
    meaning: "where they are apart by more than five of their errors",
};

/// Trajectories that diverge.
pub const DIVERGENCES: Threshold = Threshold {
    name: "trajectories that diverge",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.02,
    distrust: None,
    meaning: "where many do, chains do not enter a narrow part of p",
};

/// The share of planted modes that the search would have found.
pub const POWER: Threshold = Threshold {
    name: "power of the search",
    bad: Side::Below,
    unit: Unit::Share,
    care: 0.9,
    distrust: None,
    meaning: "share of modes planted at random (a fifth of the mass, a third to as wide as the answer) that the \
              search would have found; below this the verdict is local, not reliable",
};

/// How far a tighter solver's log p at the modes is from a mere shift.
pub const SOLVER_MODES: Threshold = Threshold {
    name: "log p at a mode, by a tighter solver",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(1.0),
    meaning: "of models with differential equations, in nats: the most that it changes, beside a shift of \
              all points; 0.1 is a tenth of a mode's weight, and from 1 on modes may be the solver's",
};

/// The same over the draws.
pub const SOLVER_DRAWS: Threshold = Threshold {
    name: "log p over the draws, by a tighter solver",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.3,
    distrust: Some(1.0),
    meaning: "the root mean square of the same over 64 draws: a mean is off by up to as many standard \
              deviations",
};

/// By how much a tighter solver moves all of log p.
pub const SOLVER_SHIFT: Threshold = Threshold {
    name: "log p by a tighter solver, shift of all points",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.5,
    distrust: None,
    meaning: "log Z is off by as much, though draws are not; no comparison of models hangs on less",
};

/// Noise in log p.
pub const NOISE: Threshold = Threshold {
    name: "noise of log p",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.5),
    meaning: "standard deviation in nats, from two evaluations of the same points: the weights are off by as much, \
              and log Z by half its square",
};

/// The gradient against differences.
pub const WRONG_GRADIENT: Threshold = Threshold {
    name: "error of the gradient",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: None,
    meaning: "relative, against differences of log p at points of the answer: weights do not need a gradient, but the \
              search and every chain do",
};

/// Points at which log p is not a number.
pub const NOT_A_NUMBER: Threshold = Threshold {
    name: "points where log p is not a number",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.0,
    distrust: None,
    meaning: "of points of the answer and around them, inside the support: they count as points without density, \
              which may cut off a part of the posterior",
};

/// Every threshold.
pub const TABLE: [Threshold; 23] = [
    K_HAT,
    MOMENT_K_HAT,
    ESS,
    OUTSIDE_SUPPORT,
    SPREAD,
    MODE_ERROR,
    WEIGHTS_OFF,
    MASS_LACKING,
    MODE_SHARE,
    MODE_WEIGHT,
    MODE_SHIFT,
    EVIDENCE_ABOVE,
    EVIDENCE_BELOW,
    R_HAT,
    CHAINS_APART,
    DIVERGENCES,
    POWER,
    SOLVER_MODES,
    SOLVER_DRAWS,
    SOLVER_SHIFT,
    NOISE,
    WRONG_GRADIENT,
    NOT_A_NUMBER,
];

/// Where p is over this many times q, q lacks mass of p.
pub const LACKING_RATIO: Constant = Constant {
    name: "lacking ratio",
    unit: Unit::Factor,
    value: 30.0,
    meaning: "where p is over this many times q, q lacks mass: a mode of 2 per cent then has fewer \
              than seven of 10,000 draws",
};

/// How far log q at a draw may be from what its weight was made of.
pub const WEIGHT_OFF: Constant = Constant {
    name: "a weight of another q",
    unit: Unit::Number,
    value: 0.05,
    meaning: "log q differs by more than this: inverses of flows are more exact by orders of magnitude",
};

/// Standard errors taken off a share of the particles.
pub const ALLOWANCE: Constant = Constant {
    name: "allowance of the particles",
    unit: Unit::Errors,
    value: 2.0,
    meaning: "taken off their shares, which may be their luck",
};

/// Standard errors from which a mode of the particles is one.
pub const MODE_SEEN: Constant = Constant {
    name: "a mode that is seen, in errors",
    unit: Unit::Errors,
    value: 3.0,
    meaning: "a mode with a smaller share of the particles is not asked for",
};

/// The least share of the particles that a mode is asked for with.
pub const SMALLEST_MODE: Constant = Constant {
    name: "a mode that is seen, in share",
    unit: Unit::Share,
    value: 0.003,
    meaning: "nor is one that is lighter than this: it changes no answer by more",
};

/// Standard errors between two shares of a mode that are apart.
pub const MODES_APART: Constant = Constant {
    name: "weights of a mode that are apart",
    unit: Unit::Errors,
    value: 4.0,
    meaning: "of both together; there are many modes to be compared",
};

/// Standard errors between two values of log Z that are apart.
pub const EVIDENCE_APART: Constant = Constant {
    name: "values of log Z that are apart",
    unit: Unit::Errors,
    value: 3.0,
    meaning: "of both together",
};

/// The share of the draws that must be effective for a heavy tail to weigh less.
pub const TAIL_ESS: Constant = Constant {
    name: "heavy tail that weighs less: effective draws",
    unit: Unit::Share,
    value: 0.5,
    meaning: "where at least this share of the draws is effective and next to no mass lacks, a heavy \
              tail of the weights weighs one degree less",
};

/// The share of p that may lack for a heavy tail to weigh less.
pub const TAIL_MASS: Constant = Constant {
    name: "heavy tail that weighs less: mass that lacks",
    unit: Unit::Share,
    value: 0.003,
    meaning: "next to none is at most this with the allowance added: the tail's share of any answer \
              is no larger",
};

/// The largest weight below which weights are nearly equal.
pub const EQUAL_WEIGHTS: Constant = Constant {
    name: "weights that are nearly equal",
    unit: Unit::Factor,
    value: 10.0,
    meaning: "the largest over their mean: below it the tail's shape is noise, and harmless",
};

/// Every other number of the rules.
pub const CONSTANTS: [Constant; 10] = [
    LACKING_RATIO,
    WEIGHT_OFF,
    ALLOWANCE,
    MODE_SEEN,
    SMALLEST_MODE,
    MODES_APART,
    EVIDENCE_APART,
    TAIL_ESS,
    TAIL_MASS,
    EQUAL_WEIGHTS,
];

impl Threshold {
    /// How bad a number is, if it is; NaN is the worst.
    pub fn judge(&self, value: f64) -> Option<Trust> {
        let (is_bad, is_doubtful) = match self.bad {
            Side::Above => (self.distrust.is_some_and(|from| value >= from), value > self.care),
            Side::Below => (self.distrust.is_some_and(|below| value < below), value < self.care),
        };
        match () {
            () if value.is_nan() || is_bad => Some(Trust::Distrust),
            () if is_doubtful => Some(Trust::Care),
            () => None,
        }
    }

    /// Care and distrust in words.
    fn limits(&self) -> [String; 2] {
        let [care, distrust] =
            [Some(self.care), self.distrust].map(|limit| limit.map(|x| self.unit.text(x)));
        let or_none = |limit: Option<String>| limit.unwrap_or_else(|| "–".into());
        match self.bad {
            Side::Above => [
                or_none(care.map(|limit| format!("above {limit}"))),
                or_none(distrust.map(|limit| format!("{limit} and more"))),
            ],
            Side::Below => {
                [care, distrust].map(|limit| or_none(limit.map(|limit| format!("below {limit}"))))
            }
        }
    }
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Number => value.to_string(),
            // Shares here have at most three digits behind the point.
            Self::Share => format!("{} per cent", (1e3 * value).round() / 10.0),
            Self::Factor => format!("a factor of {value}"),
            Self::Errors => format!("{value} standard errors"),
        }
    }
}

/// Both tables as the book has them.
pub fn markdown() -> String {
    let mut text = String::from(
        "| what is looked at | care | distrust | what it means |\n| --- | --- | --- | --- |\n",
    );
    for row in &TABLE {
        let [care, distrust] = row.limits();
        writeln!(text, "| {} | {care} | {distrust} | {} |", row.name, row.meaning)
            .expect("strings grow");
    }
    text.push_str("\n| also | is | what it means |\n| --- | --- | --- |\n");
    for row in &CONSTANTS {
        writeln!(text, "| {} | {} | {} |", row.name, row.unit.text(row.value), row.meaning)
            .expect("strings grow");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::importance::pareto;

    #[test]
    fn limits_are_where_they_are_said_to_be() {
        let (care, distrust) = (Some(Trust::Care), Some(Trust::Distrust));
        let of = |threshold: Threshold, values: [f64; 4]| values.map(|x| threshold.judge(x));
        assert_eq!(of(K_HAT, [0.7, 0.71, 1.0, f64::NAN]), [None, care, distrust, distrust]);
        assert_eq!(of(ESS, [400.0, 399.0, 100.0, 99.0]), [None, care, care, distrust]);
        assert_eq!(of(EVIDENCE_BELOW, [3.0, 3.1, 99.0, f64::NAN]), [None, care, care, distrust]);
    }

    #[test]
    fn distrust_is_beyond_care() {
        for row in &TABLE {
            let worse = row.distrust.is_none_or(|distrust| match row.bad {
                Side::Above => distrust > row.care,
                Side::Below => distrust < row.care,
            });
            assert!(worse, "{row:?}");
        }
    }

    #[test]
    fn a_mode_is_lost_below_a_tenth_of_its_weight() {
        assert!(is_mode_lost(0.039, 0.4) && !is_mode_lost(0.041, 0.4));
        assert!(is_mode_lost(0.0, 1e-9) && !is_mode_lost(0.0, 0.0));
        assert_eq!(MODE_SHARE.judge(0.099), Some(Trust::Distrust));
    }

    #[test]
    fn k_hat_has_the_limit_of_its_formula() {
        assert_eq!(K_HAT.care, pareto::k_hat_threshold(1_000_000));
    }

    #[test]
    fn tables_have_a_line_for_each_number() {
        let text = markdown();
        assert_eq!(text.lines().count(), 2 + TABLE.len() + 1 + 2 + CONSTANTS.len());
        for line in [
            "| effective sample size | below 400 | below 100 |",
            "| how much of a mode q has | below 50 per cent | below 10 per cent |",
            "| mass that q lacks | above 1 per cent | 5 per cent and more |",
            "| log Z of the particles below that of the weights | above 3 | – |",
            "| a mode that is seen, in share | 0.3 per cent |",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
