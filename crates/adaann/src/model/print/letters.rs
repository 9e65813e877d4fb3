//! Names in mathematical notation: Greek letters, subscripts and superscripts.

/// Names of letters and the letters; LaTeX uses the same names.
const GREEK: &[(&str, char)] = &[
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("epsilon", 'ε'),
    ("zeta", 'ζ'),
    ("eta", 'η'),
    ("theta", 'θ'),
    ("iota", 'ι'),
    ("kappa", 'κ'),
    ("lambda", 'λ'),
    ("mu", 'μ'),
    ("nu", 'ν'),
    ("xi", 'ξ'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("tau", 'τ'),
    ("upsilon", 'υ'),
    ("phi", 'φ'),
    ("chi", 'χ'),
    ("psi", 'ψ'),
    ("omega", 'ω'),
    ("Gamma", 'Γ'),
    ("Delta", 'Δ'),
    ("Theta", 'Θ'),
    ("Lambda", 'Λ'),
    ("Xi", 'Ξ'),
    ("Pi", 'Π'),
    ("Sigma", 'Σ'),
    ("Upsilon", 'Υ'),
    ("Phi", 'Φ'),
    ("Psi", 'Ψ'),
    ("Omega", 'Ω'),
];

/// A name for a terminal: sigma is σ, theta1 and theta_1 are θ₁, mu_obs is μ_obs.
pub(super) fn plain(name: &str) -> String {
    if name == "inf" {
        return "∞".to_owned();
    }
    let (stem, digits) = split_digits(name);
    let (stem, digits) = match stem.strip_suffix('_') {
        // `x_` and `_1` have no stem to which a subscript could be attached.
        Some(inner) if !digits.is_empty() && !inner.is_empty() => (inner, digits),
        _ => (stem, digits),
    };
    let words: Vec<String> = stem.split('_').map(letter).collect();
    words.join("_") + &digits.chars().map(lowered).collect::<String>()
}

/// The Greek letter that a word names, else the word.
fn letter(word: &str) -> String {
    let known = GREEK.iter().find(|(name, _)| *name == word);
    known.map_or_else(|| word.to_owned(), |(_, letter)| letter.to_string())
}

/// The LaTeX name of a letter, given by name or as the letter itself.
pub(super) fn command(word: &str) -> Option<&'static str> {
    let mut letters = word.chars();
    let single = letters.next().filter(|_| letters.next().is_none());
    let known = GREEK.iter().find(|(name, letter)| *name == word || single == Some(*letter));
    known.map(|(name, _)| *name)
}

/// Splits off the digits at the end of a name; subscript digits count as digits.
pub(super) fn split_digits(name: &str) -> (&str, &str) {
    let is_digit = |c: char| c.is_ascii_digit() || ('₀'..='₉').contains(&c);
    let stem = name.trim_end_matches(is_digit);
    if stem.is_empty() { (name, "") } else { name.split_at(stem.len()) }
}

/// The index as a subscript, if the printed name has none yet and the index is a small whole
/// number.
pub(super) fn subscript_of(printed: &str, index: f64) -> Option<String> {
    let free = !printed.ends_with(|c: char| ('₀'..='₉').contains(&c) || c == '_');
    let small = index.fract() == 0.0 && (0.0..10_000.0).contains(&index);
    (free && small).then(|| index.abs().to_string().chars().map(lowered).collect())
}

pub(super) fn superscript(power: f64) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // The other digits are consecutive from ⁰.
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    power.to_string().chars().map(raised).collect()
}

fn lowered(c: char) -> char {
    c.to_digit(10).and_then(|digit| char::from_u32('₀' as u32 + digit)).unwrap_or(c)
}

/// Converts a subscript digit to a plain digit.
pub(super) fn on_the_line(c: char) -> char {
    let below = (c as u32).wrapping_sub('₀' as u32);
    if below < 10 { char::from_digit(below, 10).unwrap_or(c) } else { c }
}
