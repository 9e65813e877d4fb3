//! Rules that choose the next inverse temperature.

/// Why a schedule could not choose its next step.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {}
