//! Matrices in models: Gaussian processes, covariances of parameters and correlation matrices,
//! compared with the same mathematics in plain numbers.

use crate::models::likelihoods::{assert_terms_within, normal, parse};
use crate::support::common::{assert_close, evaluate};
use adaann::model::Model;
use adaann::target::Weights;
use std::f64::consts::PI;

const ALL: Weights = Weights { prior: 1.0, likelihood: 1.0 };

/// Checks that the log densities and gradients of two models agree at draws from the prior.
fn assert_same(one: &Model, other: &Model, tolerance: f64) {
    let draws = one.prior_draws(50, 3).unwrap();
    let points: Vec<Vec<f64>> = (0..draws.len()).map(|i| draws.point(i)).collect();
    let [a, b] = [one, other].map(|model| evaluate(&*model.target(), &points, ALL));
    for i in 0..points.len() {
        let [x, y] = [&a, &b].map(|found| found.log_prior[i] + found.log_likelihood[i]);
        assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{x} is not {y} at {:?}", points[i]);
        let size = b.gradient.point(i).iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for (x, y) in a.gradient.point(i).iter().zip(b.gradient.point(i)) {
            assert!((x - y).abs() <= 10.0 * tolerance * size, "slope {x} is not {y}");
        }
    }
}

const GP_DATA: [f64; 11] = [
    4.75906, 1.59423, 2.99548, 5.27501, 1.66472, 2.24347, 2.8914, 4.08681, 4.60588, 0.802364,
    3.92136,
];

/// A Gaussian process with its Cholesky factor and the solution written out, element by element.
fn unrolled() -> String {
    let n = GP_DATA.len();
    let mut terms = Vec::new();
    let mut quantities = String::new();
    for i in 1..=n {
        for j in 1..=i {
            let distance = 4.0 * ((i - j) * (i - j)) as f64;
            let start = if i == j {
                "alpha^2 + sigma".to_owned()
            } else {
                format!("alpha^2 * exp(-{distance} / (2 * rho^2))")
            };
            let minus: String = (1..j).map(|k| format!(" - L{i}_{k} * L{j}_{k}")).collect();
            let formula = if i == j {
                format!("sqrt({start}{minus})")
            } else {
                format!("({start}{minus}) / L{j}_{j}")
            };
            quantities += &format!("L{i}_{j} = \"{formula}\"\n");
        }
        let minus: String = (1..i).map(|k| format!(" - L{i}_{k} * w{k}")).collect();
        quantities += &format!("w{i} = \"(y[{i}]{minus}) / L{i}_{i}\"\n");
        terms.push(format!("logpdf(normal(0, 1), w{i}) - log(L{i}_{i})"));
    }
    format!(
        "density = \"{}\"\n[constants]\ny = {GP_DATA:?}\n{GP_PRIORS}[quantities]\n{quantities}",
        terms.join(" + ")
    )
}

const GP_PRIORS: &str = "[parameters]\nrho = \"gamma(25, 4)\"\nalpha = \"half_normal(2)\"\n\
                         sigma = \"half_normal(1)\"\n";

#[test]
fn a_gaussian_process_is_its_own_unrolled() {
    let unrolled = parse(&unrolled());
    for density in [
        "logpdf(multi_normal(0, cov_exp_quad(x, alpha, rho, sigma)), y)",
        "logpdf(multi_normal(0, add_diag(cov_exp_quad(x, alpha, rho), sigma)), y)",
        "logpdf(multi_normal(0, cov_exp_quad(x, alpha, rho) + sigma * identity(11)), y)",
        "logpdf(multi_normal_cholesky(0, cholesky(cov_exp_quad(x, alpha, rho, sigma))), y)",
    ] {
        let short = parse(&format!(
            "density = \"{density}\"\n[constants]\ny = {GP_DATA:?}\nx = \"2 * range(1, 11)\"\n{GP_PRIORS}"
        ));
        assert_same(&short, &unrolled, 1e-10);
    }
}

/// Whole columns as constant vectors.
#[test]
fn a_column_is_a_vector_by_a_constant() {
    let x: Vec<f64> = (1..=11).map(|i| 2.0 * f64::from(i)).collect();
    let model = parse(&format!(
        "density = \"logpdf(multi_normal(0, cov_exp_quad(at, alpha, rho, sigma)), measured)\"\n\
         [data]\nx = {x:?}\ny = {GP_DATA:?}\n[constants]\nat = \"x\"\nmeasured = \"y\"\n{GP_PRIORS}"
    ));
    assert_same(&model, &parse(&unrolled()), 1e-10);
}

/// L @ z is a draw of the process, with the same factor as above.
#[test]
fn a_latent_process_is_a_factor_times_noise() {
    let n = 12;
    let model = parse(&format!(
        "[data]\ni = {i:?}\nk = {k:?}\n[constants]\nx = \"range(1, {n})\"\n[parameters]\n\
         rho = \"lognormal(1, 0.3)\"\nalpha = \"half_normal(1)\"\n\
         z = {{ prior = \"normal(0, 1)\", size = {n} }}\n\
         [quantities]\nf = \"1 + cholesky(cov_matern52(x, alpha, rho, 1e-9)) @ z\"\n\
         [likelihood]\nk = \"poisson_log(f[i])\"\n",
        i = (1..=n).collect::<Vec<_>>(),
        k = (1..=n).map(|i| i % 4).collect::<Vec<_>>(),
    ));
    assert_eq!(model.quantity_names().len(), n);
    assert_terms_within(1e-8, &model, |p| {
        let (rho, alpha, z) = (p[0], p[1], &p[2..]);
        let mut l = vec![vec![0.0; n]; n];
        let mut terms = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                let s = 5_f64.sqrt() * (i - j) as f64 / rho;
                let k = alpha * alpha * (1.0 + s + s * s / 3.0) * (-s).exp();
                let jitter = if i == j { 1e-9 } else { 0.0 };
                let rest = k + jitter - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
                l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
            }
            let f = 1.0 + (0..=i).map(|j| l[i][j] * z[j]).sum::<f64>();
            let k = ((i + 1) % 4) as f64;
            terms.push(k * f - f.exp() - [0.0, 0.0, 2_f64.ln(), 6_f64.ln()][(i + 1) % 4]);
        }
        terms
    });
    // Data simulated by the model has the same distribution.
    let made = model.replicate(1).unwrap();
    assert_eq!(made.truth.len(), n + 2);
}

/// The covariance of two numbers of a row depends on parameters, and is factorised once for all rows.
#[test]
fn rows_have_a_covariance_of_parameters() {
    let (x, y) = ([0.3, -1.2, 2.0, 0.7], [1.1, 0.4, -0.3, 2.2]);
    let model = parse(&format!(
        "log-likelihood = \"logpdf(multi_normal([a, x * b], [[s^2, r * s], [r * s, 1]]), [x, y])\"\n\
         [data]\nx = {x:?}\ny = {y:?}\n[parameters]\na = \"normal(0, 1)\"\nb = \"normal(0, 1)\"\n\
         s = \"lognormal(0, 0.5)\"\nr = \"uniform(-1, 1)\"\n"
    ));
    assert_terms_within(1e-11, &model, |p| {
        let (a, b, s, r) = (p[0], p[1], p[2], p[3]);
        let row = |(x, y): (f64, f64)| {
            // The conditional distribution of y given x is normal.
            let centre = x * b + r * (x - a) / s;
            [normal(x, a, s), normal(y, centre, (1.0 - r * r).sqrt())]
        };
        x.into_iter().zip(y).flat_map(row).collect()
    });
}

/// Correlated effects: a row of a matrix for each group, with an unknown correlation matrix.
#[test]
fn rows_of_a_matrix_are_taken_by_group() {
    let text = |prior: &str| {
        format!(
            "[data]\ng = [1, 1, 2, 3]\nx = [0.5, -1, 2, 1]\ny = [1, 2, 3, 4]\n[parameters]\n\
             R = {{ support = \"correlation\", size = 2, prior = \"lkj(2)\" }}\n\
             tau = {{ prior = \"half_normal(1)\", size = 2 }}\n\
             b = {{ size = [3, 2], prior = \"{prior}\" }}\n\
             [quantities]\nS = \"diag(tau) @ R @ diag(tau)\"\n\
             [likelihood]\ny = \"normal(b[g, 1] + x * b[g][2], 1)\"\n"
        )
    };
    let model = parse(&text("multi_normal(0, S)"));
    let names = model.target().names();
    assert_eq!(names[..4], ["R[2,1]", "tau[1]", "tau[2]", "b[1,1]"]);
    assert_eq!(names[8], "b[3,2]");
    assert_eq!(model.quantity_names(), ["S[1,1]", "S[1,2]", "S[2,1]", "S[2,2]"]);
    let draws = model.prior_draws(30, 5).unwrap();
    let points: Vec<Vec<f64>> = (0..draws.len()).map(|i| draws.point(i)).collect();
    let found = evaluate(&*model.target(), &points, ALL);
    for (i, p) in points.iter().enumerate() {
        let (r, tau, b) = (p[0], [p[1], p[2]], &p[3..]);
        // The density of r is 3/4 (1 - r^2).
        let mut prior = (0.75 * (1.0 - r * r)).ln();
        prior += tau.iter().map(|&t| 2_f64.ln() + normal(t, 0.0, 1.0)).sum::<f64>();
        for row in b.chunks(2) {
            prior += normal(row[0], 0.0, tau[0]);
            let sd = tau[1] * (1.0 - r * r).sqrt();
            prior += normal(row[1], r * tau[1] / tau[0] * row[0], sd);
        }
        let own = found.log_prior[i];
        assert!((own - prior).abs() < 1e-9 * (1.0 + prior.abs()), "{own} is not {prior} at {p:?}");
        let likelihood: f64 = [(0, 0.5, 1.0), (0, -1.0, 2.0), (1, 2.0, 3.0), (2, 1.0, 4.0)]
            .iter()
            .map(|&(g, x, y)| normal(y, b[2 * g] + x * b[2 * g + 1], 1.0))
            .sum();
        assert_close(
            found.log_likelihood[i],
            likelihood,
            1e-12 * (1.0 + likelihood.abs()),
            "likelihood",
        );
    }
    // Each element has the prior of a single number.
    assert_eq!(parse(&text("normal(0, 1)")).target().dim(), 9);
}

/// The marginal distribution of a correlation is a beta distribution with variance 1/(2 eta + n - 1).
#[test]
fn correlation_matrices_are_drawn_and_have_their_density() {
    let (n, eta) = (4, 1.5);
    let text = |support: &str, law: &str| {
        format!(
            "density = \"0\"\n[parameters]\nR = {{ support = \"{support}\", size = {n}, \
             prior = \"{law}({eta})\" }}\n"
        )
    };
    let matrix = parse(&text("correlation", "lkj"));
    let factor = parse(&text("cholesky-correlation", "lkj_cholesky"));
    assert_eq!(
        matrix.target().names(),
        ["R[2,1]", "R[3,1]", "cholesky(R)[3,2]", "R[4,1]", "cholesky(R)[4,2]", "cholesky(R)[4,3]"]
    );
    assert_eq!(matrix.quantity_names(), ["R[3,2]", "R[4,2]", "R[4,3]"]);
    assert_eq!(factor.quantity_names(), ["R[2,2]", "R[3,3]", "R[4,4]"]);
    assert_same(&matrix, &factor, 1e-13);
    const DRAWS: usize = 20_000;
    let draws = matrix.prior_draws(DRAWS, 1).unwrap();
    let behind = matrix.quantities(&draws).unwrap();
    let variance = 1.0 / (2.0 * eta + f64::from(n) - 1.0);
    for row in [draws.row(0), draws.row(3), behind.row(0), behind.row(2)] {
        let row = &row[..DRAWS];
        let mean = row.iter().sum::<f64>() / DRAWS as f64;
        let square = row.iter().map(|x| x * x).sum::<f64>() / DRAWS as f64;
        // r^2 has a standard deviation below 0.2.
        assert!(mean.abs() < 5.0 * (variance / DRAWS as f64).sqrt(), "{mean}");
        assert!((square - variance).abs() < 5.0 * 0.2 / (DRAWS as f64).sqrt(), "{square}");
    }
    // det(R) is the square of the product of the factor's diagonal. Its mean under uniform 3 × 3
    // matrices follows from a chain of betas: E(1 - y) = b/(b + m/2) for each row.
    let diagonal = factor.quantities(&factor.prior_draws(DRAWS, 2).unwrap()).unwrap();
    let mut expected = 1.0;
    for k in 2..=n {
        let (b, half) = (eta + 0.5 * f64::from(n - k), 0.5 * f64::from(k - 1));
        expected *= b / (b + half);
    }
    let mean = (0..DRAWS)
        .map(|i| (0..3).map(|d| diagonal.row(d)[i].powi(2)).product::<f64>())
        .sum::<f64>()
        / DRAWS as f64;
    assert!(
        (mean - expected).abs() < 5.0 * 0.3 / (DRAWS as f64).sqrt(),
        "{mean} is not {expected}"
    );
}

/// Without a prior the distribution over correlation matrices is uniform: 3 × 3 matrices have the
/// volume pi^2/2, and the elements of their factors have the density 2/pi^2 times L[2,2].
#[test]
fn correlation_matrices_without_a_prior() {
    let model =
        parse("density = \"0\"\n[parameters]\nR = { support = \"correlation\", size = 3 }\n");
    let points = vec![vec![0.6, -0.3, 0.5], vec![-0.2, 0.1, -0.7]];
    let found = evaluate(&*model.target(), &points, ALL);
    for (i, p) in points.iter().enumerate() {
        let expected = (2.0 / (PI * PI)).ln() + 0.5 * (1.0 - p[0] * p[0]).ln();
        assert_close(found.log_prior[i], expected, 1e-13, "log prior");
    }
}

#[test]
fn several_simplexes_and_ordered_vectors() {
    let model = parse(
        "density = \"w[2, 3] + o[2, 1]\"\n[parameters]\n\
         w = { support = \"simplex\", size = [2, 3], prior = \"dirichlet([1, 2, 5])\" }\n\
         even = { support = \"simplex\", size = [2, 2] }\n\
         o = { support = \"ordered\", size = [2, 2], prior = \"normal(0, 2)\" }\n",
    );
    assert_eq!(
        model.target().names(),
        [
            "w[1,1]",
            "w[1,2]",
            "w[2,1]",
            "w[2,2]",
            "even[1,1]",
            "even[2,1]",
            "o[1,1]",
            "o[1,2]",
            "o[2,1]",
            "o[2,2]"
        ]
    );
    assert_eq!(model.quantity_names(), ["w[1,3]", "w[2,3]", "even[1,2]", "even[2,2]"]);
    let draws = model.prior_draws(4_000, 2).unwrap();
    for d in [0, 2] {
        let mean = draws.row(d)[..4_000].iter().sum::<f64>() / 4_000.0;
        assert!((mean - 0.125).abs() < 5.0 * 0.11 / 4_000_f64.sqrt(), "{mean}");
    }
    assert!(
        (0..4_000).all(|i| draws.row(6)[i] < draws.row(7)[i] && draws.row(8)[i] < draws.row(9)[i])
    );
    let points = vec![draws.point(0)];
    let found = evaluate(&*model.target(), &points, ALL);
    let p = &points[0];
    let mut prior = 2.0 * 2_f64.ln();
    for row in p[..4].chunks(2) {
        // log of 7!/(0! 1! 4!)
        prior += 210_f64.ln() + row[1].ln() + 4.0 * (1.0 - row[0] - row[1]).ln();
    }
    prior += p[6..].iter().map(|&x| normal(x, 0.0, 2.0)).sum::<f64>();
    assert_close(found.log_prior[0], prior, 1e-11, "log prior");
}

/// In models with differential equations, matrices are unrolled, also in rates.
#[test]
fn matrices_go_with_differential_equations() {
    let text = |rate: &str| {
        format!(
            "[data]\nt = [0.5, 1, 2]\ny = [1, 0.5, 0.2]\n[parameters]\na = \"lognormal(0, 0.3)\"\n\
             [ode]\nsolver = \"rk4\"\nstep = 0.1\n[ode.states]\n\
             u = {{ start = 1, rate = \"{rate}\" }}\n\
             [quantities]\nd = \"log_det([[2, 0, a], [0, 3, 0], [a, 0, 4]])\"\n\
             [likelihood]\ny = \"normal(u * exp(d - log(24 - 3 * a^2)), 0.1)\"\n"
        )
    };
    let matrices = parse(&text(
        "-dot([0, 1], [[1, 0], [0, a]] @ [u, u]) * cholesky([[4, 0, 0], [0, a, 0], [0, 0, 1]])[1, 1] / 2",
    ));
    assert_same(&matrices, &parse(&text("-a * u")), 1e-12);
}

#[test]
fn what_is_not_positive_definite_has_no_density() {
    let model = parse(
        "density = \"logpdf(multi_normal(0, [[1, r, 0], [r, 1, 0], [0, 0, 1]]), [1, 2, 3])\"\n\
         [parameters]\nr = \"uniform(-3, 3)\"\n",
    );
    let found = evaluate(&*model.target(), &[vec![2.0], vec![0.5], vec![f64::NAN]], ALL);
    assert_eq!(found.log_likelihood[0], f64::NEG_INFINITY);
    assert_eq!(found.gradient.point(0), [0.0]);
    assert!(found.log_likelihood[1].is_finite() && !found.log_likelihood[2].is_finite());
}

#[derive(serde::Deserialize)]
struct Exact {
    model: String,
    point: Vec<f64>,
    log_density: f64,
    gradient: Vec<f64>,
}

/// Values and gradients computed by mpmath to sixty digits.
#[test]
fn exact_values_and_gradients() {
    let cases: Vec<Exact> =
        serde_json::from_str(include_str!("../../fixtures/matrices.json")).unwrap();
    assert_eq!(cases.len(), 10);
    for Exact { model: text, point, log_density, gradient } in cases {
        let found = evaluate(&*parse(&text).target(), std::slice::from_ref(&point), ALL);
        let own = found.log_prior[0] + found.log_likelihood[0];
        let bound = 1e-12 * (1.0 + log_density.abs());
        assert!((own - log_density).abs() < bound, "{own} is not {log_density}: {text}");
        let size = gradient.iter().fold(1.0_f64, |size, x| size.max(x.abs()));
        for (own, exact) in found.gradient.point(0).iter().zip(&gradient) {
            assert!((own - exact).abs() < 1e-11 * size, "slope {own} is not {exact}: {text}");
        }
    }
}

/// Two columns select an element of a matrix, in a likelihood and in predictions.
#[test]
fn two_indices_of_rows() {
    let data = "[data]\ng = [1, 2, 3, 1, 3]\nh = [2, 1, 2, 1, 1]\nk = [2, 3, 6, 1, 5]\ny = [1, 4, 2, 0.5, 3]\n";
    let both = parse(&format!(
        "{data}[parameters]\nc = {{ prior = \"normal(0, 2)\", size = [3, 2] }}\ns = \"half_normal(1)\"\n\
         [likelihood]\ny = \"normal(c[g, h], s)\"\n"
    ));
    let flat = parse(&format!(
        "{data}[parameters]\nc = {{ prior = \"normal(0, 2)\", size = 6 }}\ns = \"half_normal(1)\"\n\
         [likelihood]\ny = \"normal(c[k], s)\"\n"
    ));
    assert_same(&both, &flat, 1e-15);
    let points = both.prior_draws(3, 1).unwrap();
    let all: Vec<Vec<f64>> = (0..3).map(|i| points.point(i)).collect();
    let expected = evaluate(&*both.target(), &all, ALL).log_likelihood.to_vec();
    let mut sums = [0.0; 3];
    let mut add = |term: adaann::model::RowTerm<'_>| {
        sums.iter_mut().zip(term.log_likelihood).for_each(|(sum, x)| *sum += x);
        true
    };
    both.each_row_term(&points, &mut add).unwrap();
    for (sum, expected) in sums.iter().zip(&expected) {
        assert_close(*sum, *expected, 1e-12 * (1.0 + expected.abs()), "row by row");
    }
}
