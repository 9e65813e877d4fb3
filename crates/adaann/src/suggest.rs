//! Suggests the known name closest to a misspelt one.

use crate::Error;

/// The error for a name that is not among the candidates.
pub(crate) fn unknown<'a>(
    kind: &'static str,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Error {
    Error::UnknownName { kind, name: name.to_owned(), nearest: nearest(name, candidates) }
}

/// The candidate nearest to an unknown name, if one is near enough to explain a slip.
///
/// A candidate is near if its edit distance (insertions, deletions, replacements and swaps of
/// neighbours) is at most a third of its length, or if one of the two names contains the other.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let name = plain(name);
    let rank = |candidate: &str| {
        let candidate = plain(candidate);
        let distance = distance(&name, &candidate);
        let slip = distance <= (candidate.len() / 3).max(1);
        let part = name.len() >= 2 && contains(&candidate, &name)
            || candidate.len() >= 4 && contains(&name, &candidate);
        // A slip is the better explanation, so a partial match comes second.
        match (slip, part) {
            (true, _) => Some((0, distance)),
            (false, true) => Some((1, distance)),
            (false, false) => None,
        }
    };
    let ranked = candidates.into_iter().filter_map(|known| Some((rank(known)?, known)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, known)| known.to_owned())
}

/// Letters in lower case, with every dash as the same character.
fn plain(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '_' { '-' } else { c }).collect()
}

fn contains(whole: &[char], part: &[char]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

/// The Damerau–Levenshtein distance, in which no letter is edited twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(a: &str, b: &str) -> usize {
        distance(&plain(a), &plain(b))
    }

    #[test]
    fn distances_are_those_of_the_textbook() {
        assert_eq!(apart("kitten", "sitting"), 3);
        assert_eq!(apart("funnel", "fnunel"), 1);
        assert_eq!(apart("", "egg"), 3);
        assert_eq!(apart("Two_Moons", "two-moons"), 0);
    }

    #[test]
    fn slips_are_understood_and_strangers_are_not() {
        let known = ["bimodal", "mixture1d", "mixture2d", "two-moons", "eggbox", "rings"];
        for (typed, meant) in [
            ("bimodel", "bimodal"),
            ("bmiodal", "bimodal"),
            ("mixture2", "mixture2d"),
            ("moons", "two-moons"),
            ("TwoMoons", "two-moons"),
            ("eggbox2d", "eggbox"),
            ("mixture3d", "mixture1d"),
        ] {
            assert_eq!(nearest(typed, known).as_deref(), Some(meant), "{typed}");
        }
        for typed in ["", "z", "lorenz", "rosenbrock"] {
            assert_eq!(nearest(typed, known), None, "{typed}");
        }
    }
}
