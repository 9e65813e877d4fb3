//! Filters, moving averages and renewal models, compared with plain arithmetic and closed forms.

use super::{column, returns};
use crate::models::likelihoods::{assert_terms_within, normal, parse};
use crate::support::common::{WHOLE, evaluate};
use std::f64::consts::PI;

/// log N(y; 0, S) by Gaussian elimination.
fn multi_normal(mut s: Vec<Vec<f64>>, mut y: Vec<f64>) -> f64 {
    let mut sum = 0.0;
    for k in 0..y.len() {
        sum += normal(y[k], 0.0, s[k][k].sqrt());
        for i in k + 1..y.len() {
            let factor = s[i][k] / s[k][k];
            y[i] -= factor * y[k];
            for j in k + 1..y.len() {
                s[i][j] -= factor * s[k][j];
            }
        }
    }
    sum
}

#[test]
fn a_filter_of_a_local_level_has_the_density_of_all_rows_at_once() {
    let y = returns(9, 1);
    let model = parse(&format!(
        "[data]\n{}[parameters]\nq = \"lognormal(0, 0.5)\"\nr = \"lognormal(0, 0.5)\"\n\
         [quantities]\ngain = \"v / (v + r^2)\"\n\
         [series.states]\n\
         m = {{ start = 0, next = \"m + gain * (before(y) - m)\" }}\n\
         v = {{ start = \"q^2\", next = \"v * (1 - gain) + q^2\" }}\n\
         [likelihood]\ny = \"normal(m, sqrt(v + r^2))\"\n",
        column("y", &y)
    ));
    assert_terms_within(1e-12, &model, |p| {
        // The level after row i has variance (i + 1)·q²; each later level adds its own noise.
        let covariance = |i: usize, j: usize| {
            (i.min(j) + 1) as f64 * p[0] * p[0] + if i == j { p[1] * p[1] } else { 0.0 }
        };
        let n = y.len();
        let s = (0..n).map(|i| (0..n).map(|j| covariance(i, j)).collect()).collect();
        vec![multi_normal(s, y.clone())]
    });
}

#[test]
fn series_of_groups_have_their_own_order_elements_and_gaps() {
    // Two series with interleaved and unsorted rows; y is missing once.
    let t = [2.0, 1.0, 3.0, 1.0, 4.0, 2.0, 3.0, 5.0];
    let who = [7.0, 7.0, 7.0, 3.0, 7.0, 3.0, 3.0, 7.0];
    let kind = [1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0];
    let y = [0.3, -0.4, 1.2, 0.8, f64::NAN, -1.1, 0.6, 0.2];
    let text = format!(
        "[data]\nmissing = \"skip\"\n{}{}{}y = [0.3, -0.4, 1.2, 0.8, nan, -1.1, 0.6, 0.2]\n\
         [parameters]\nmu = {{ prior = \"normal(0, 1)\", size = 2 }}\nphi = \"uniform(-1, 1)\"\n\
         theta = \"uniform(-1, 1)\"\ns = \"lognormal(0, 0.3)\"\n\
         [series]\norder = \"t\"\ngroup = \"who\"\nskip = 1\n\
         [series.states]\n\
         nu = {{ start = \"mu[kind]\", next = \"mu[kind] + phi * before(y, 1, nu) + theta * (before(y, 1, nu) - nu)\" }}\n\
         [likelihood]\ny = \"normal(nu + 0.1 * before(y, 2, s), s)\"\n",
        column("t", &t),
        column("who", &who),
        column("kind", &kind)
    );
    assert_terms_within(1e-13, &parse(&text), |p| {
        let mut terms = Vec::new();
        for rows in [&[1, 0, 2, 4, 7][..], &[3, 5, 6]] {
            let mut nu = 0.0;
            for (age, &row) in rows.iter().enumerate() {
                let back =
                    |k: usize| age.checked_sub(k).map(|age| y[rows[age]]).filter(|y| !y.is_nan());
                let mu = p[kind[row] as usize - 1];
                nu = match age {
                    0 => mu,
                    _ => mu + p[2] * back(1).unwrap_or(nu) + p[3] * (back(1).unwrap_or(nu) - nu),
                };
                if age > 0 && !y[row].is_nan() {
                    terms.push(normal(y[row], nu + 0.1 * back(2).unwrap_or(p[4]), p[4]));
                }
            }
        }
        terms
    });
}

#[test]
fn earlier_rows_alone_are_an_autoregression() {
    let y = returns(30, 6);
    let model = parse(&format!(
        "[data]\n{}[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 1)\"\ns = \"lognormal(0, 0.5)\"\n\
         [series]\nskip = 2\n[likelihood]\ny = \"normal(a * before(y) + b * before(y, 2), s)\"\n",
        column("y", &y)
    ));
    assert_eq!(model.inputs(0), [""; 0]);
    assert_terms_within(1e-13, &model, |p| {
        y.windows(3).map(|y| normal(y[2], p[0] * y[1] + p[1] * y[0], p[2])).collect()
    });
}

#[test]
fn renewal_moves_a_vector_on() {
    let y = [4.0, 6.0, 5.0, 9.0, 12.0, 11.0, 15.0];
    let w = [0.5, 0.3, 0.2];
    let model = parse(&format!(
        "[constants]\nw = {w:?}\n[data]\n{}[parameters]\nR = \"lognormal(0, 0.3)\"\nseed = \"lognormal(1, 0.5)\"\n\
         [series.states.i]\nsize = 3\nstart = \"seed\"\n\
         next = \"[R * dot(w, i), i[1], i[2]]\"\n\
         [likelihood]\ny = \"poisson(i[1])\"\n",
        column("y", &y)
    ));
    let log_factorial = |n: f64| (2..=n as u32).map(|k| f64::from(k).ln()).sum::<f64>();
    assert_terms_within(1e-12, &model, |p| {
        let mut i = [p[1]; 3];
        let mut terms = Vec::new();
        for (t, y) in y.iter().enumerate() {
            if t > 0 {
                i = [p[0] * (w[0] * i[0] + w[1] * i[1] + w[2] * i[2]), i[0], i[1]];
            }
            terms.push(y * i[0].ln() - i[0] - log_factorial(*y));
        }
        terms
    });
}

#[test]
fn states_that_change_places_are_read_before_they_are_written() {
    let y = returns(6, 2);
    let model = parse(&format!(
        "[data]\n{}[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 1)\"\n\
         [series.states]\nu = {{ start = \"a\", next = \"v\" }}\nv = {{ start = \"b\", next = \"u\" }}\n\
         [likelihood]\ny = \"normal(u + 3 * v, 1)\"\n",
        column("y", &y)
    ));
    assert_terms_within(1e-13, &model, |p| {
        let mean =
            |t: usize| if t.is_multiple_of(2) { p[0] + 3.0 * p[1] } else { p[1] + 3.0 * p[0] };
        y.iter().enumerate().map(|(t, y)| normal(*y, mean(t), 1.0)).collect()
    });
}

#[test]
fn lines_without_states_and_log_densities_go_along() {
    let (x, y) = (returns(8, 5), returns(8, 6));
    let model = parse(&format!(
        "log-likelihood = \"-0.5 * (before(x, 1, 0) - m)^2\"\n[data]\n{}{}[parameters]\na = \"normal(0, 1)\"\n\
         [series.states]\nm = {{ start = \"a * x\", next = \"0.5 * m + a * x\" }}\n\
         [likelihood]\nx = \"normal(a, 2)\"\ny = \"normal(m, 1)\"\n",
        column("x", &x),
        column("y", &y)
    ));
    assert_terms_within(1e-13, &model, |p| {
        let mut m = 0.0;
        let mut terms = Vec::new();
        for t in 0..x.len() {
            m = if t == 0 { p[0] * x[0] } else { 0.5 * m + p[0] * x[t] };
            let before = if t == 0 { 0.0 } else { x[t - 1] };
            terms.extend([normal(x[t], p[0], 2.0), normal(y[t], m, 1.0)]);
            terms.push(-0.5 * (before - m).powi(2));
        }
        terms
    });
}

#[test]
fn a_series_that_explodes_has_no_density_and_no_slope() {
    let y = returns(40, 9);
    let model = parse(&format!(
        "[data]\n{}[parameters]\na = \"normal(0, 1)\"\n\
         [series.states]\nh = {{ start = 2, next = \"1 + a^2 * h^2\" }}\n\
         [likelihood]\ny = \"normal(1 / h, 1)\"\n",
        column("y", &y)
    ));
    let found = evaluate(&*model.target(), &[vec![5.0], vec![0.1]], WHOLE);
    assert_eq!(found.log_likelihood[0], f64::NEG_INFINITY);
    assert_eq!(found.gradient.point(0), [0.0]);
    assert!(found.log_likelihood[1].is_finite() && found.gradient.point(1)[0] != 0.0);
    let constant = -0.5 * (2.0 * PI).ln() * y.len() as f64;
    assert!(found.log_likelihood[1] < constant);
}

#[test]
fn nothing_is_a_state_that_the_likelihood_may_have() {
    // From the first hidden state to the second, and never back: the series carries log 0.
    let model = parse(
        "[data]\ny = [0.1, 0.3, 2.2, 1.9]\n[parameters]\np = \"uniform(0, 1)\"\n\
         [quantities]\nemission = \"[logpdf(normal(0, 1), y), logpdf(normal(2, 1), y)]\"\n\
         [series]\nfinal = \"logsumexp(a)\"\n[series.states.a]\nsize = 2\n\
         start = \"emission + log([1, 0])\"\n\
         next = \"emission + [a[1] + log(1 - p), log_add_exp(a[1] + log(p), a[2])]\"\n",
    );
    let y = [0.1, 0.3, 2.2, 1.9];
    assert_terms_within(1e-12, &model, |p| {
        let paths = (0..4).map(|changed| {
            let density = |t: usize| normal(y[t], if t > changed { 2.0 } else { 0.0 }, 1.0);
            let stays = (1.0 - p[0]).powi(changed as i32) * if changed < 3 { p[0] } else { 1.0 };
            ((0..4).map(density).sum::<f64>()).exp() * stays
        });
        vec![paths.sum::<f64>().ln()]
    });
}

#[test]
fn a_long_series_is_walked_in_windows() {
    let y = returns(9_000, 3);
    let model = parse(&format!(
        "[data]\n{}[parameters]\na = \"uniform(0.5, 0.9)\"\nb = \"normal(0, 0.1)\"\n\
         [series.states]\nm = {{ start = \"b\", next = \"a * m + b * before(y)\" }}\n\
         [likelihood]\ny = \"normal(m, 1 + m^2)\"\n",
        column("y", &y)
    ));
    assert_terms_within(1e-12, &model, |p| {
        let mut m = p[1];
        let mut terms = vec![normal(y[0], m, 1.0 + m * m)];
        for pair in y.windows(2) {
            m = p[0] * m + p[1] * pair[0];
            terms.push(normal(pair[1], m, 1.0 + m * m));
        }
        terms
    });
}
