//! What to try against a finding, as data that each front end puts into words.

use std::fmt;

/// What to try. Its `Display` names neither flags nor functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Train longer, refine by the forward KL divergence, or use a richer flow.
    TrainMore,
    /// Search from a wider start or with another method, take smaller temperature steps, or run
    /// several seeds.
    AnnealMore,
    /// Take more draws, or train longer.
    DrawMore,
    /// Give the parameters bounds or narrower priors.
    BoundParameters,
    /// Give the parameters bounds or narrower priors, or train longer.
    BoundOrTrain,
    /// Report quantiles, or give the parameter a narrower prior.
    ReadQuantiles,
    /// Let the run finish.
    Finish,
    /// Check for lost modes with independent particles.
    CheckWithParticles,
    /// Run the particles alone with other settings.
    ChangeParticles,
    /// Run more particles, on their own.
    AddParticles,
    /// Solve the equations more accurately.
    SolveTighter,
    /// Search longer for other modes.
    SearchMore,
    /// Write the density as formulas, so that the search can see its terms.
    ShowFormulas,
    /// Fix the function that computes the density.
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

    /// Its name in files, which stays the same when the text changes.
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
                "search for modes from a wider start or with another method, take smaller temperature steps, \
                 or run several seeds"
            }
            Self::DrawMore => "take more draws, or train longer",
            Self::BoundParameters => "give the parameters bounds or narrower priors",
            Self::BoundOrTrain => "give the parameters bounds or narrower priors, or train longer",
            Self::ReadQuantiles => {
                "report its median and quantiles, which are reliable, or give it a narrower prior"
            }
            Self::Finish => "let the run finish",
            Self::CheckWithParticles => "check for lost modes with independent particles",
            Self::ChangeParticles => "run the particles alone with other settings",
            Self::AddParticles => "check whether more particles, run alone, agree",
            Self::SolveTighter => {
                "solve the equations with tighter tolerances or shorter steps"
            }
            Self::SearchMore => "search longer for other modes, or use a more informative prior",
            Self::ShowFormulas => {
                "write the density as formulas, in a model file or a recorded program, so that the search sees its terms"
            }
            Self::MendTarget => {
                "fix the density: it must return the same value for the same point, the gradient of that value, \
                 and a number at every allowed point"
            }
        })
    }
}
