//! Sums of exponentials without overflow.

/// log Σ eˣ; −∞ of nothing, +∞ if a term is.
///
/// ```
/// use adaann::importance::log_sum_exp;
///
/// let log_sum = log_sum_exp([1e5, 1e5 + 3_f64.ln()].into_iter());
/// assert!((log_sum - (1e5 + 4_f64.ln())).abs() < 1e-10);
/// ```
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_size_and_of_nothing() {
        let of = |terms: &[f64]| log_sum_exp(terms.iter().copied());
        let (lost, pole) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!((of(&[]), of(&[lost, lost]), of(&[0.0, pole])), (lost, lost, pole));
        assert_eq!((of(&[-1e308]), of(&[lost, 7.0])), (-1e308, 7.0));
        let sum = of(&[1_f64.ln() - 800.0, 2_f64.ln() - 800.0, 5_f64.ln() - 800.0]);
        // An ulp of 800 is 1.1e-13.
        assert!((sum - (8_f64.ln() - 800.0)).abs() < 4e-13, "{sum}");
    }
}
