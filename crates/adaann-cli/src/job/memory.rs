//! Checks before a run that its draws fit into memory.

use crate::text::failure::usage;
use anyhow::Result;
use std::{fs, path::Path};

/// Numbers held at the peak per draw and column: unconstrained and constrained draws, in chunks and joined,
/// then read back, resampled and sorted for the page. The next constant counts the numbers per draw, such as
/// densities and weights. `docs/src/runs.md` describes the measurement.
const FOR_EACH_COLUMN: u64 = 7;
const FOR_EACH_DRAW: u64 = 14;
/// Further numbers per draw of a mixture: one for each component, whose number is unknown before the run and
/// may exceed 100.
const OF_A_MIXTURE: u64 = 136;

/// Memory of the program itself.
const BASE: u64 = 64 << 20;

/// The draws of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) draws: usize,
    /// Parameters and derived quantities.
    pub(crate) columns: usize,
    /// Are they draws of the ladder, whose answers are mixtures?
    pub(crate) of_a_mixture: bool,
}

impl Held {
    /// Bytes at the peak.
    fn bytes(self) -> u64 {
        let of_a_mixture = if self.of_a_mixture { OF_A_MIXTURE } else { 0 };
        let numbers = FOR_EACH_COLUMN.saturating_mul(self.columns as u64);
        let numbers = numbers.saturating_add(FOR_EACH_DRAW + of_a_mixture);
        (self.draws as u64).saturating_mul(numbers).saturating_mul(8).saturating_add(BASE)
    }
}

/// Refuses draws that would not fit into memory; `flag` and `asked` are named in the error. Accepts all draws
/// if the free memory is unknown.
pub(crate) fn check(flag: &str, asked: usize, held: Held) -> Result<()> {
    let needed = held.bytes();
    match available() {
        Some(available) if needed > available => Err(usage(format!(
            "{flag} is {asked}, which may need {} of memory, but {} are free; choose a smaller number",
            size(needed),
            size(available)
        ))),
        _ => Ok(()),
    }
}

/// A number of bytes formatted for people.
fn size(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

/// Bytes that this process may still allocate: the minimum over the machine, the control groups and the
/// process's own limit.
fn available() -> Option<u64> {
    let machine = kilobytes("/proc/meminfo", "MemAvailable:");
    let own = address_space();
    [machine, control_groups(), own].into_iter().flatten().min()
}

/// A value in kB from a file in `/proc`.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb << 10)
}

/// Bytes left below the limit of `ulimit -v`.
fn address_space() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(kilobytes("/proc/self/status", "VmSize:")?))
}

/// Bytes left in the control group of this process and in all its ancestors.
fn control_groups() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (_, kinds, path) = (parts.next()?, parts.next()?, parts.next()?);
        match kinds {
            "" => left("/sys/fs/cgroup", path, "memory.max", "memory.current"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                let names = ("memory.limit_in_bytes", "memory.usage_in_bytes");
                left("/sys/fs/cgroup/memory", path, names.0, names.1)
            }
            _ => None,
        }
    };
    text.lines().filter_map(of_line).min()
}

/// The minimum of the bytes left in a group and its ancestors. In a container the path may be that of the host,
/// of which only the root is visible.
fn left(root: &str, path: &str, limit: &str, usage: &str) -> Option<u64> {
    let own = Path::new(root).join(path.trim_start_matches('/'));
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let of = |place: &Path| {
        let most = number(&place.join(limit))?;
        let used = number(&place.join(usage)).unwrap_or(0);
        Some(most.saturating_sub(used.saturating_sub(given_back(place))))
    };
    own.ancestors().take_while(|place| place.starts_with(root)).filter_map(of).min()
}

/// Bytes of a group's page cache, which the system frees on demand.
fn given_back(group: &Path) -> u64 {
    let text = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|number| number.trim().parse::<u64>().ok())
    };
    // Version 1 has the sums over nested groups under separate names.
    let of = |name: &str| number(&format!("total_{name}")).or_else(|| number(name)).unwrap_or(0);
    of("inactive_file").saturating_add(of("active_file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fit_is_refused_in_a_sentence() {
        let held = |draws| Held { draws, columns: 1, of_a_mixture: false };
        check("--draws", 10_000, held(10_000)).unwrap();
        let said = check("--draws", usize::MAX, held(usize::MAX)).unwrap_err().to_string();
        assert!(said.starts_with("--draws is 18446744073709551615, which may need "), "{said}");
        assert!(said.contains("GiB of memory, but "), "{said}");
        assert_eq!(held(1_000_000).bytes(), (64 << 20) + 168_000_000);
        assert_eq!(size(3 << 30), "3.0 GiB");
        assert_eq!(size(64 << 20), "64 MiB");
    }

    #[test]
    fn limits_of_groups_above_count() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().to_str().unwrap();
        fs::create_dir_all(place.path().join("a/b")).unwrap();
        for (file, text) in
            [("a/max", "1000\n"), ("a/now", "300\n"), ("a/b/max", "max\n"), ("a/b/now", "200\n")]
        {
            fs::write(place.path().join(file), text).unwrap();
        }
        assert_eq!(left(root, "/a/b", "max", "now"), Some(700));
        // The page cache counts as free.
        fs::write(place.path().join("a/memory.stat"), "anon 1\nactive_file 50\ninactive_file 7\n")
            .unwrap();
        assert_eq!(left(root, "/a/b", "max", "now"), Some(757));
        assert_eq!(left(root, "/elsewhere", "max", "now"), None);
    }
}
