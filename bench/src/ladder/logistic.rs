//! A logistic regression with 50 coefficients, normal(0, 1) priors and 500 rows, compared with long chains.
//!
//! `bench/fixtures` contains the reference answers and the script that computes them from the same data.

use super::frame::Frame;
use adaann::{Expr, Program, registry::Known};
use serde::Deserialize;
use std::f64::consts::TAU;

const ROWS: usize = 500;
pub(super) const DIM: usize = 50;
const SEED: u64 = 16;

/// The standard deviation of the simulated coefficients.
const TRUE_SD: f64 = 0.5;

struct Data {
    x: Vec<Vec<f64>>,
    /// The outcome.
    y: Vec<bool>,
}

/// The posterior of the coefficients in a frame.
pub(super) fn target(frame: &Frame) -> Program {
    let Data { x, y } = data();
    Program::record_parts(DIM, |framed| {
        let b = frame.inverse(framed);
        let square: Expr<'_> = b.iter().map(|b| b.square()).sum();
        let row = |(x, y): (&Vec<f64>, &bool)| -> Expr<'_> {
            let eta: Expr<'_> = b.iter().zip(x).map(|(b, x)| *b * *x).sum();
            -(if *y { -eta } else { eta }).softplus()
        };
        let log_likelihood: Expr<'_> = x.iter().zip(&y).map(row).sum();
        let log_volume = 0.5 * DIM as f64 * TAU.ln() + frame.log_volume();
        (-0.5 * square - log_volume, log_likelihood)
    })
}

/// The results of the long chains.
#[derive(Deserialize)]
struct Chains {
    log_z: Option<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

pub(super) fn known() -> Known {
    let text = include_str!("../../fixtures/logistic.json");
    let Chains { log_z, mean, sd } =
        serde_json::from_str(text).expect("made by the script beside it");
    Known { log_z, mean: Some(mean), sd: Some(sd), ..Known::default() }
}

/// Simulates normal columns, normal coefficients, and random outcomes.
fn data() -> Data {
    let mut uniform = uniforms();
    let mut normal = || {
        let (radius, angle) = (uniform(), uniform());
        (-2.0 * (-radius).ln_1p()).sqrt() * (TAU * angle).cos()
    };
    let x: Vec<Vec<f64>> = (0..ROWS).map(|_| (0..DIM).map(|_| normal()).collect()).collect();
    let truth: Vec<f64> = (0..DIM).map(|_| TRUE_SD * normal()).collect();
    let logit = |x: &Vec<f64>| x.iter().zip(&truth).map(|(x, b)| x * b).sum::<f64>();
    let y = x.iter().map(|x| uniform() < (1.0 + (-logit(x)).exp()).recip()).collect();
    Data { x, y }
}

/// Numbers in [0, 1) by SplitMix64 (Steele, Lea and Flood), the same as in the script.
fn uniforms() -> impl FnMut() -> f64 {
    let mut state = SEED;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
