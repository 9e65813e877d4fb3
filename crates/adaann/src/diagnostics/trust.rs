//! How far an answer is to be trusted.

use serde::{Deserialize, Serialize};

/// How far an answer is to be trusted, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Every check has passed, and the search would have found another mode of some size.
    Reliable,
    /// What was found is described correctly, but other modes are not ruled out.
    Local,
    /// Something is off; the reasons say what.
    Care,
    /// The answer is wrong, or nothing shows that it is right.
    Distrust,
}

impl std::fmt::Display for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reliable => "reliable",
            Self::Local => "local",
            Self::Care => "use with care",
            Self::Distrust => "do not trust",
        })
    }
}
