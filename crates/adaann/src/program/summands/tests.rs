//! Tests which sums are recognised, in various forms, and which are not.

use crate::Batch;
use crate::program::{Expr, Program, log_sum_exp};
use crate::target::{Evaluation, Target};

/// A Gaussian in two dimensions with its middle at (m, −m).
fn bump<'g>(z: &[Expr<'g>], m: f64, precision: f64) -> Expr<'g> {
    -0.5 * precision * ((z[0] - m).square() + (z[1] + m).square())
}

fn at(target: &dyn Target, point: [f64; 2]) -> f64 {
    let mut out = Evaluation::zeros(2, 1);
    target.evaluate(&Batch::from_points(2, &[point]), None, &mut out).unwrap();
    out.log_likelihood[0] + out.log_prior[0]
}

/// The number of terms; checks that they are log-concave and sum to the density.
fn terms(program: &Program) -> usize {
    let summands = program.summands();
    for point in [[0.3, -0.2], [2.0, 1.0]] {
        let sum: f64 = summands.iter().map(|term| at(term, point).exp()).sum();
        let whole = at(program, point).exp();
        assert!(summands.is_empty() || (sum - whole).abs() < 1e-12 * whole, "{sum} {whole}");
    }
    assert!(summands.iter().all(|term| term.is_log_concave()));
    summands.len()
}

#[test]
fn sums_are_found_however_they_are_written() {
    let two = Program::record(2, |z| bump(z, 1.0, 1.0).log_add_exp(bump(z, -1.0, 9.0)));
    assert_eq!(terms(&two), 2);
    let three = Program::record(2, |z| {
        log_sum_exp(&[bump(z, 1.0, 1.0), bump(z, -1.0, 9.0) - 0.7, bump(z, 3.0, 2.0)])
    });
    assert_eq!(terms(&three), 3);
    let by_hand = Program::record(2, |z| {
        (0.3 * bump(z, 1.0, 1.0).exp() + bump(z, -1.0, 2.0).exp() * 0.2 + bump(z, 0.0, 1.0).exp())
            .ln()
    });
    assert_eq!(terms(&by_hand), 3);
    let with_prior = Program::record_parts(2, |z| {
        let terms = [bump(z, 1.0, 1.0), bump(z, -1.0, 9.0), bump(z, 3.0, 2.0)];
        (bump(z, 0.0, 0.01), log_sum_exp(&terms))
    });
    assert_eq!(terms(&with_prior), 3);
    let product = Program::record(2, |z| {
        bump(z, 1.0, 1.0).log_add_exp(bump(z, 2.0, 1.0))
            + bump(z, 3.0, 2.0).log_add_exp(bump(z, 0.0, 1.0))
    });
    assert_eq!(terms(&product), 4);
}

#[test]
fn what_is_no_sum_or_a_sum_of_too_many_is_left() {
    let one = Program::record(2, |z| bump(z, 1.0, 1.0));
    assert_eq!(terms(&one), 0);
    // 2⁷ terms.
    let observations = Program::record(2, |z| {
        (0..7).map(|i| bump(z, f64::from(i), 1.0).log_add_exp(bump(z, -1.0, 2.0))).sum()
    });
    assert_eq!(terms(&observations), 0);
    // The sign of z₀ is unknown.
    let signed = Program::record(2, |z| (z[0] + bump(z, 1.0, 1.0).exp()).ln());
    assert_eq!(terms(&signed), 0);
}
