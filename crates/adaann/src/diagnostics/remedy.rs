//! What to try against a finding, as data that each front end words.

use std::fmt;

/// What to try. Its `Display` names no flag and no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Train longer, refine by the forward KL divergence, or take a richer flow.
    TrainMore,
    /// Look elsewhere, take smaller steps, or several seeds.
    AnnealMore,
    /// Take more draws, or train longer.
    DrawMore,
    /// Keep the parameters where the density is.
    BoundParameters,
    /// Keep the parameters where the density is, or train longer.
    BoundOrTrain,
    /// Read quantiles, or give the parameter a narrower prior.
    ReadQuantiles,
    /// Let the run come to its end.
    Finish,
    /// Let independent particles look for lost modes.
    CheckWithParticles,
    /// Run the particles alone, with other settings.
    ChangeParticles,
    /// Run the particles alone, with more of them.
    AddParticles,
    /// Solve the equations more accurately.
    SolveTighter,
    /// Search longer for other modes.
    SearchMore,
    /// Give the density by formulas, which show its terms.
    ShowFormulas,
    /// Mend the function that computes the density.
    MendTarget,
}

impl Remedy {
    /// Every remedy.
    pub const ALL: [Self; 14] = [
        Self::TrainMore,
        Self::AnnealMore,
        Self::DrawMore,
        Self::BoundParameters,
        Self::BoundOrTrain,
        Self::ReadQuantiles,
        Self::Finish,
        Self::CheckWithParticles,
        Self::ChangeParticles,
        Self::AddParticles,
        Self::SolveTighter,
        Self::SearchMore,
        Self::ShowFormulas,
        Self::MendTarget,
    ];

    /// Its name in files, which stays when words change.
    pub fn code(self) -> &'static str {
        match self {
            Self::TrainMore => "train-more",
            Self::AnnealMore => "anneal-more",
            Self::DrawMore => "draw-more",
            Self::BoundParameters => "bound-parameters",
            Self::BoundOrTrain => "bound-or-train",
            Self::ReadQuantiles => "read-quantiles",
            Self::Finish => "finish",
            Self::CheckWithParticles => "check-with-particles",
            Self::ChangeParticles => "change-particles",
            Self::AddParticles => "add-particles",
            Self::SolveTighter => "solve-tighter",
            Self::SearchMore => "search-more",
            Self::ShowFormulas => "show-formulas",
            Self::MendTarget => "mend-target",
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TrainMore => {
                "train longer, add a refinement by the forward KL divergence, or use a richer flow"
            }
            Self::AnnealMore => {
                "look for modes from a wider start or by another method, take smaller steps of temperature, \
                 or several seeds"
            }
            Self::DrawMore => "take more draws, or train longer",
            Self::BoundParameters => "give the parameters bounds or narrower priors",
            Self::BoundOrTrain => "give the parameters bounds or narrower priors, or train longer",
            Self::ReadQuantiles => {
                "read its median and quantiles, which are known, or give it a narrower prior"
            }
            Self::Finish => "let the run come to its end",
            Self::CheckWithParticles => "let independent particles look for lost modes",
            Self::ChangeParticles => "run the particles alone, with other settings",
            Self::AddParticles => "see whether more particles, run alone, agree",
            Self::SolveTighter => {
                "solve the equations with tighter tolerances, or with shorter steps"
            }
            Self::SearchMore => "search longer for other modes, or tell more by the prior",
            Self::ShowFormulas => {
                "give the density by formulas, as a model file or a recorded program, so that the search sees its terms"
            }
            Self::MendTarget => {
                "mend the density: the same value for the same point, the gradient of that value, and a number \
                 wherever the parameters may be"
            }
        })
    }
}
