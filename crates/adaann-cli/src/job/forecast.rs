//! A forecast of evaluations and time, in one line, once the pace of a run is known.

use crate::{
    job::display::{Display, human},
    text::layout::thousands,
};
use std::time::Duration;

/// The pace is known after this time. Shorter runs need no forecast.
const MEASURED: Duration = Duration::from_millis(1_500);

/// Whether the forecast was made.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    is_told: bool,
}

impl Forecast {
    /// Prints the remaining evaluations and time, once.
    pub(crate) fn tell(
        &mut self,
        display: &Display,
        elapsed: Duration,
        evaluations: usize,
        time: Duration,
    ) {
        if !self.is_told && elapsed >= MEASURED {
            self.is_told = true;
            display.say(&line(evaluations, time));
        }
    }
}

fn line(evaluations: usize, time: Duration) -> String {
    format!(
        "forecast: about {} more evaluations and {}, or more if the target is hard",
        thousands(rounded(evaluations)),
        human(time)
    )
}

/// Rounds to two digits, the precision of the forecast.
fn rounded(count: usize) -> usize {
    let unit = 10_usize.pow(count.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count.saturating_add(unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_have_two_digits() {
        let found = [0, 7, 42, 144, 151, 9_960, 123_456].map(rounded);
        assert_eq!(found, [0, 7, 42, 140, 150, 10_000, 120_000]);
        assert_eq!(rounded(usize::MAX) % 1_000, 0);
        let said = line(30_123, Duration::from_secs(75));
        assert!(said.contains("about 30,000 more evaluations and 1 min 15 s"), "{said}");
    }
}
