//! Compares distribution functions with mpmath, far out on both sides.

use super::super::Family::*;
use super::super::*;
use super::{Side, Tail, evaluate, fixture};
use crate::Program;

#[test]
fn tails_and_their_gradients_are_exact() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for (name, rows) in fixture().tails {
        let family = Family::named(&name).unwrap();
        let arguments = family.arguments().len();
        let sides = [0, 1].map(|side| {
            Program::record(1 + arguments, |z| {
                let tails = family.log_tails(z[0], &z[1..]).unwrap();
                [tails.below, tails.above][side]
            })
        });
        for Tail(arguments, x, exact) in rows {
            let point = [&[x], &arguments[..]].concat();
            for (side, (program, Side(exact, size, slopes))) in sides.iter().zip(exact).enumerate()
            {
                let what = format!("{name}{arguments:?} at {x}, side {side}");
                let (value, gradient) = evaluate(program, std::slice::from_ref(&point))[0].clone();
                let error = (value - exact).abs();
                // 1e-12 of the largest term, or of the number.
                let bound = 1e-12 * (1.0 + size.max(exact.abs()));
                if error > bound || value.is_nan() {
                    wrong.push(format!("{what}: {value} is not {exact}"));
                }
                let length = slopes.iter().flatten().fold(0.0, |m: f64, s| m.max(s.abs()));
                for (i, (slope, found)) in slopes.iter().zip(gradient).enumerate() {
                    let Some(slope) = slope else { continue };
                    let bound = 1e-9 * (1.0 + slope.abs()) + 1e-11 * length;
                    if (found - slope).abs() > bound || found.is_nan() {
                        wrong.push(format!("{what}: slope {i} is {found}, not {slope}"));
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 1_000, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn beyond_the_support_there_is_nothing() {
    for family in Family::ALL {
        let arguments = super::some_arguments(family);
        let known: Vec<Option<f64>> = arguments.iter().copied().map(Some).collect();
        let support = family.support(&known);
        let plain: Vec<crate::Expr<'_>> = arguments.iter().map(|&x| x.into()).collect();
        let at = |x: f64| {
            family.log_tails(x.into(), &plain).map(|t| (mean::value(t.below), mean::value(t.above)))
        };
        assert_eq!(
            at(0.5).is_none(),
            matches!(family, Flat | VonMises | SkewNormal | BetaBinomial)
        );
        for (x, exact) in [
            (support.low.unwrap().at - 1e-3, (f64::NEG_INFINITY, 0.0)),
            (support.high.unwrap().at, (0.0, f64::NEG_INFINITY)),
        ] {
            if let Some(found) = at(x)
                && x.is_finite()
            {
                assert_eq!(found, exact, "{family:?} at {x}");
            }
        }
    }
}
