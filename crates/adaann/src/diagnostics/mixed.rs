//! What the draws of chains say against themselves: R-hat, effective sample sizes, divergences,
//! standard deviations.

use crate::{
    diagnostics::{
        Finding, Reason,
        spread::{self, Spread},
        thresholds::{DIVERGENCES, ESS, R_HAT, SPREAD},
    },
    importance::{Mixing, Sample},
};

/// The reasons that follow from the mixing of the chains, and from a sample of them.
pub(super) fn of_mixing(mixing: &Mixing, sample: &Sample, names: &[String]) -> Vec<Reason> {
    let Mixing { r_hat, ess, divergent: share, .. } = *mixing;
    let few = Finding::FewEffectiveDraws { draws: sample.len(), ess };
    let spread = spread::least_known(sample, names).filter(|_| ess >= ESS.care);
    let all = [
        Reason::beyond(R_HAT, r_hat, Finding::NotMixed { r_hat }),
        Reason::beyond(ESS, ess, few),
        Reason::beyond(DIVERGENCES, share, Finding::Divergences { share }),
        spread.as_ref().and_then(Spread::reason),
    ];
    all.into_iter().flatten().collect()
}

impl Spread {
    /// A standard deviation with a large error.
    pub(super) fn reason(&self) -> Option<Reason> {
        let Self { name, error } = self.clone();
        Reason::beyond(SPREAD, error, Finding::SpreadUnknown { name, error })
    }
}
