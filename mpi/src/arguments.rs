//! Command-line arguments: those of `adaann`, and the flag `--rank-timeout` of `adaann-mpi`.

use std::{ffi::OsString, time::Duration};

/// The default time that a rank may be silent.
const PATIENCE: Duration = Duration::from_secs(60);
/// The flag that changes it.
const RANK_TIMEOUT: &str = "--rank-timeout";

/// Parsed arguments.
#[derive(Debug)]
pub(crate) struct Arguments {
    /// The arguments of `adaann`, starting with its name.
    pub(crate) all: Vec<OsString>,
    /// Threads of each rank, if given.
    pub(crate) threads: Option<usize>,
    /// How long a rank may be silent before it is treated as lost.
    pub(crate) rank_timeout: Duration,
}

impl Arguments {
    /// Parses the arguments.
    ///
    /// # Errors
    /// If the value of `--rank-timeout` is not a time of at least a second.
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut found = Self { all: Vec::new(), threads: None, rank_timeout: PATIENCE };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let (flag, value) =
                text.split_once('=').map_or((&text[..], None), |(f, v)| (f, Some(v)));
            if flag == RANK_TIMEOUT {
                let next = || arguments.next().map(|next| next.to_string_lossy().into_owned());
                let value = value.map(ToOwned::to_owned).or_else(next).unwrap_or_default();
                found.rank_timeout = seconds(&value).ok_or_else(|| {
                    format!("{RANK_TIMEOUT} is '{value}', but must be a time of at least one second, like 30s or 5m")
                })?;
                continue;
            }
            if flag == "--threads" {
                let next = arguments.peek().and_then(|next| next.to_str());
                // Rank 0 reports an invalid value.
                found.threads = value.or(next).and_then(|value| value.parse().ok());
            }
            found.all.push(argument);
        }
        Ok(found)
    }
}

/// Parses a time like 30s, 5m or 2h. A plain number is in seconds.
fn seconds(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let each = match unit {
        "h" => 3600.0,
        "m" => 60.0,
        _ => 1.0,
    };
    let time = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * each).ok()?;
    (time >= Duration::from_secs(1)).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, String> {
        Arguments::read(text.split_whitespace().map(OsString::from))
    }

    #[test]
    fn its_own_flag_is_taken_out() {
        for text in
            ["a fit m.toml --rank-timeout 90s --out x", "a --rank-timeout=1.5m fit m.toml --out x"]
        {
            let found = read(text).unwrap();
            assert_eq!(found.all, ["a", "fit", "m.toml", "--out", "x"]);
            assert_eq!(found.rank_timeout, Duration::from_secs(90));
            assert_eq!(found.threads, None);
        }
        assert_eq!(read("a run b").unwrap().rank_timeout, PATIENCE);
        for wrong in
            ["--rank-timeout", "--rank-timeout=0.5s", "--rank-timeout soon", "--rank-timeout=-3"]
        {
            assert!(read(wrong).unwrap_err().contains("--rank-timeout"), "{wrong}");
        }
    }

    #[test]
    fn threads_are_seen_and_left() {
        for (text, threads) in
            [("--threads 3", Some(3)), ("--threads=4", Some(4)), ("--threads x", None)]
        {
            let found = read(&format!("a run b {text}")).unwrap();
            assert_eq!(found.threads, threads);
            assert_eq!(found.all.len(), 3 + text.split_whitespace().count());
        }
    }
}
