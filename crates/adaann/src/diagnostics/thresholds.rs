//! Every threshold of a verdict in one table, which the book includes as rendered here.

use crate::diagnostics::Trust;
use std::fmt::Write;

/// The limits beyond which a number calls for care or distrust.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The quantity that is judged.
    pub name: &'static str,
    /// Which numbers are bad.
    pub bad: Side,
    /// How the numbers are written.
    pub unit: Unit,
    /// Beyond this limit the verdict is `Care`.
    pub care: f64,
    /// From this limit on the verdict is `Distrust`; none if `Care` is the worst.
    pub distrust: Option<f64>,
    /// What the threshold means, and why it has these limits.
    pub meaning: &'static str,
}

/// A number of the rules that decides no verdict on its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constant {
    /// What it is.
    pub name: &'static str,
    /// How it is written.
    pub unit: Unit,
    /// Its value.
    pub value: f64,
    /// What the number means, and why it has this value.
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
    /// Without a unit.
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
/// The answer is the weighted sample. At a tenth, the mode's weights are ten times those elsewhere:
/// of 10,000 draws a mode of ten per cent has 100, which give its weight to a tenth of itself, and
/// two equal modes leave a fifth of the draws effective. Below that, the answer depends on a few
/// draws.
pub const MODE_LOST: f64 = 0.1;

/// Has q, with `share` of its draws in a mode of this weight, lost it?
pub fn is_mode_lost(share: f64, weight: f64) -> bool {
    share < MODE_LOST * weight
}

/// The Pareto tail of the weights. For few draws `care` is lower, as `meaning` says.
pub const K_HAT: Threshold = Threshold {
    name: "Pareto k-hat of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.7,
    distrust: Some(1.0),
    meaning: "the lower of 0.7 and 1 − 1/log₁₀ S for S draws: below it estimates converge at a practical rate, \
              and from 1 on the weights have no mean (Vehtari and others, 2024)",
};

/// The same for the terms whose averages are a parameter's moments.
pub const MOMENT_K_HAT: Threshold = Threshold {
    name: "Pareto k-hat of a parameter's moments",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.7,
    distrust: None,
    meaning: "the largest k-hat, over all parameters, of the weights times the distance from the mean and \
              times its square; the limit and the exceptions are those of the weights' k-hat",
};

/// The effective sample size of the weighted draws.
pub const ESS: Threshold = Threshold {
    name: "effective sample size",
    bad: Side::Below,
    unit: Unit::Number,
    care: 400.0,
    distrust: Some(100.0),
    meaning: "Vehtari and others (2021) recommend 400 before means and quantiles are reported: the error of a \
              mean is then a twentieth of the standard deviation",
};

/// Draws at which p has no density.
pub const OUTSIDE_SUPPORT: Threshold = Threshold {
    name: "draws outside the support",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: Some(0.5),
    meaning: "such draws have weight 0, so the approximation wastes mass on points that the target excludes",
};

/// The error of a standard deviation.
pub const SPREAD: Threshold = Threshold {
    name: "error of a parameter's standard deviation",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.05,
    distrust: None,
    meaning: "the largest relative error over all parameters; with enough draws it is about 1 per cent, \
              unless the standard deviation depends on a few draws, in which case it may not exist",
};

/// The error of a mode's weight.
pub const MODE_ERROR: Threshold = Threshold {
    name: "error of a mode's weight",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.012,
    distrust: None,
    meaning: "the largest error over all modes, applied where less than half of the draws is effective; 4,000 \
              effective draws give the weights of two equal modes to 0.008, and three errors of this size are \
              0.04",
};

/// Draws whose weights do not match q.
pub const WEIGHTS_OFF: Threshold = Threshold {
    name: "draws whose weights do not match q",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.0,
    distrust: Some(0.02),
    meaning: "for 512 evenly spaced draws, log q is evaluated again and compared with the value used for their \
              weights",
};

/// Mass of p that lies where p is over [`LACKING_RATIO`] times q.
pub const MASS_LACKING: Threshold = Threshold {
    name: "mass that q lacks",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: Some(0.05),
    meaning: "the share of the particles, minus the allowance, at points where p is so far above q that q has \
              few or no draws there",
};

/// The share of a mode's weight that q has.
pub const MODE_SHARE: Threshold = Threshold {
    name: "share of a mode that q has",
    bad: Side::Below,
    unit: Unit::Share,
    care: 0.5,
    distrust: Some(MODE_LOST),
    meaning: "the mode's share of the draws, divided by its share of the particles minus the allowance; \
              weights can correct for too few draws of a mode, but below a tenth the mode is lost: its \
              estimate depends on a few draws",
};

/// The weighted draws' share of a mode against the particles' share, as a factor in either
/// direction.
pub const MODE_WEIGHT: Threshold = Threshold {
    name: "weight of a mode, weighted draws against particles",
    bad: Side::Above,
    unit: Unit::Factor,
    care: 2.0,
    distrust: None,
    meaning: "in either direction, where the two differ by more than their errors; one of them is wrong",
};

/// The same comparison as a difference.
pub const MODE_SHIFT: Threshold = Threshold {
    name: "weight of a mode, as a difference",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.05,
    distrust: None,
    meaning: "where the two differ by more than their errors; the weights of heavy modes cannot differ by a \
              factor of 2",
};

/// log Z of the particles above that of the weights.
pub const EVIDENCE_ABOVE: Threshold = Threshold {
    name: "log Z of the particles above that of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.7),
    meaning: "where the difference exceeds the errors; 0.7 is a factor of 2: the draws have seen half of p or \
              less",
};

/// log Z of the particles below that of the weights.
pub const EVIDENCE_BELOW: Threshold = Threshold {
    name: "log Z of the particles below that of the weights",
    bad: Side::Above,
    unit: Unit::Number,
    care: 3.0,
    distrust: None,
    meaning: "where the difference exceeds the errors; beyond a factor of 20 the particles have missed too \
              much to check anything, and without another check the verdict is local; a share of these \
              particles counts as that share times Z_check / Z_answer",
};

/// R-hat of chains.
pub const R_HAT: Threshold = Threshold {
    name: "R-hat of chains",
    bad: Side::Above,
    unit: Unit::Number,
    care: 1.01,
    distrust: Some(1.1),
    meaning: "rank-normalised, the largest over all coordinates; Vehtari and others (2021) recommend 1.01, and \
              from 1.1 on the chains have seen different parts of p",
};

/// The distance between the means of chains from other starts.
pub const CHAINS_APART: Threshold = Threshold {
    name: "means of chains from other starts, in standard deviations",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.5),
    meaning: "where the means differ by more than five of their errors",
};

/// Divergent trajectories.
pub const DIVERGENCES: Threshold = Threshold {
    name: "divergent trajectories",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.02,
    distrust: None,
    meaning: "where many trajectories diverge, chains do not enter a narrow part of p",
};

/// The share of planted modes that the search would have found.
pub const POWER: Threshold = Threshold {
    name: "power of the search",
    bad: Side::Below,
    unit: Unit::Share,
    care: 0.9,
    distrust: None,
    meaning: "the share of modes planted at random (a fifth of the mass, a third to as wide as the answer) \
              that the search would have found; below this limit the verdict is local, not reliable",
};

/// How much a tighter solver changes log p at the modes, beyond a common shift.
pub const SOLVER_MODES: Threshold = Threshold {
    name: "log p at a mode, by a tighter solver",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(1.0),
    meaning: "for models with differential equations: the largest change of log p in nats, beyond a shift \
              common to all points; 0.1 changes a mode's weight by a tenth, and from 1 on modes may be \
              artefacts of the solver",
};

/// The same change over the draws.
pub const SOLVER_DRAWS: Threshold = Threshold {
    name: "log p over the draws, by a tighter solver",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.3,
    distrust: Some(1.0),
    meaning: "the root mean square of this change over 64 draws: a mean is off by up to this number of \
              standard deviations",
};

/// The common shift of log p by a tighter solver.
pub const SOLVER_SHIFT: Threshold = Threshold {
    name: "log p by a tighter solver, shift of all points",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.5,
    distrust: None,
    meaning: "log Z is off by this amount, though the draws are not; a model comparison should not depend on a \
              smaller difference",
};

/// Noise in log p.
pub const NOISE: Threshold = Threshold {
    name: "noise of log p",
    bad: Side::Above,
    unit: Unit::Number,
    care: 0.1,
    distrust: Some(0.5),
    meaning: "the standard deviation in nats, from two evaluations of the same points: the weights are off by \
              this amount, and log Z by half its square",
};

/// The gradient against finite differences.
pub const WRONG_GRADIENT: Threshold = Threshold {
    name: "error of the gradient",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.01,
    distrust: None,
    meaning: "the relative difference from finite differences of log p at points of the answer: weights do not \
              need a gradient, but the search and every chain do",
};

/// Points at which log p is not a number.
pub const NOT_A_NUMBER: Threshold = Threshold {
    name: "points where log p is not a number",
    bad: Side::Above,
    unit: Unit::Share,
    care: 0.0,
    distrust: None,
    meaning: "among points of the answer and around them, inside the support: they count as points without \
              density, which may cut off a part of the posterior",
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

/// q lacks mass of p where p is more than this factor above q.
pub const LACKING_RATIO: Constant = Constant {
    name: "lacking ratio",
    unit: Unit::Factor,
    value: 30.0,
    meaning: "q lacks mass where p is more than this factor above q: a mode of 2 per cent then has fewer than \
              seven of 10,000 draws",
};

/// How far log q at a draw may be from the value used for its weight.
pub const WEIGHT_OFF: Constant = Constant {
    name: "tolerance of log q",
    unit: Unit::Number,
    value: 0.05,
    meaning: "two values of log q that differ by more than this do not match; inverses of flows are more \
              accurate by orders of magnitude",
};

/// Standard errors that are subtracted from a share of the particles.
pub const ALLOWANCE: Constant = Constant {
    name: "allowance of the particles",
    unit: Unit::Errors,
    value: 2.0,
    meaning: "subtracted from their shares, since a share may be high by chance",
};

/// The least share of the particles, in standard errors, with which a mode is compared.
pub const MODE_SEEN: Constant = Constant {
    name: "smallest mode considered, in errors",
    unit: Unit::Errors,
    value: 3.0,
    meaning: "a mode whose share of the particles is below this many of its errors is ignored",
};

/// The least share of the particles with which a mode is compared.
pub const SMALLEST_MODE: Constant = Constant {
    name: "smallest mode considered, as a share",
    unit: Unit::Share,
    value: 0.003,
    meaning: "a lighter mode is ignored too: it changes no answer by more than this",
};

/// Standard errors beyond which two shares of a mode differ.
pub const MODES_APART: Constant = Constant {
    name: "difference between weights of a mode",
    unit: Unit::Errors,
    value: 4.0,
    meaning: "in combined errors; the limit is high because many modes are compared",
};

/// Standard errors beyond which two values of log Z differ.
pub const EVIDENCE_APART: Constant = Constant {
    name: "difference between values of log Z",
    unit: Unit::Errors,
    value: 3.0,
    meaning: "in combined errors",
};

/// The share of the draws that must be effective for a heavy tail to count less.
pub const TAIL_ESS: Constant = Constant {
    name: "harmless heavy tail: effective draws",
    unit: Unit::Share,
    value: 0.5,
    meaning: "where at least this share of the draws is effective and almost no mass is missing, a heavy tail \
              of the weights counts as one level less severe",
};

/// The share of p that may be missing for a heavy tail to count less.
pub const TAIL_MASS: Constant = Constant {
    name: "harmless heavy tail: missing mass",
    unit: Unit::Share,
    value: 0.003,
    meaning: "almost no mass is missing if its share plus the allowance is at most this: the tail then \
              contributes no more to any answer",
};

/// The largest weight below which weights are nearly equal.
pub const EQUAL_WEIGHTS: Constant = Constant {
    name: "nearly equal weights",
    unit: Unit::Factor,
    value: 10.0,
    meaning: "the largest weight divided by the mean weight; below this the shape of the tail is noise, and \
              harmless",
};

/// The other numbers of the rules.
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
    /// The verdict on a value, if it is beyond a limit; NaN is the worst.
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

    /// The limits for care and distrust as text.
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
            // Shares in this table have at most three decimal places.
            Self::Share => format!("{} per cent", (1e3 * value).round() / 10.0),
            Self::Factor => format!("a factor of {value}"),
            Self::Errors => format!("{value} standard errors"),
        }
    }
}

/// Both tables as they appear in the book.
pub fn markdown() -> String {
    let mut text =
        String::from("| quantity | care | distrust | meaning |\n| --- | --- | --- | --- |\n");
    for row in &TABLE {
        let [care, distrust] = row.limits();
        writeln!(text, "| {} | {care} | {distrust} | {} |", row.name, row.meaning)
            .expect("strings grow");
    }
    text.push_str("\n| constant | value | meaning |\n| --- | --- | --- |\n");
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
            "| share of a mode that q has | below 50 per cent | below 10 per cent |",
            "| mass that q lacks | above 1 per cent | 5 per cent and more |",
            "| log Z of the particles below that of the weights | above 3 | – |",
            "| smallest mode considered, as a share | 0.3 per cent |",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
