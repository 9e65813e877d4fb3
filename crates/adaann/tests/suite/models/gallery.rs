//! Every model of the gallery can be read and fitted, and its draws respect the supports.

use crate::models::examples::{model, path};
use crate::support::common::{WHOLE, assert_close, evaluate};
use crate::support::programs;
use adaann::model::Model;
use adaann::schedule::Work;
use adaann::target::{Support, Target};
use adaann::{Settings, answer, approximate, fit};
use std::fs;
use std::path::PathBuf;

/// Refuses a point that is outside its support or not finite.
fn assert_inside(target: &dyn Target, point: &[f64], what: &str) {
    for (d, &x) in point.iter().enumerate() {
        let is_inside = match target.support(d) {
            Support::Real => x.is_finite(),
            Support::Above(low) => low < x && x.is_finite(),
            Support::Below(high) => x < high && x.is_finite(),
            Support::Between(low, high) => low < x && x < high,
            Support::After => point[d - 1] <= x && x.is_finite(),
            Support::Share { index, .. } => {
                0.0 < x && point[d - index..=d].iter().sum::<f64>() <= 1.0 + 1e-12
            }
            Support::Factor { column } => {
                point[d - column..=d].iter().map(|x| x * x).sum::<f64>() < 1.0
            }
            Support::Within { low, high } => {
                low.at(point, f64::NEG_INFINITY) < x && x < high.at(point, f64::INFINITY)
            }
        };
        assert!(is_inside, "{what}: {} is {x} in {point:?}", target.names()[d]);
    }
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(path("")).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() >= 25, "{files:?}");
    files
}

#[test]
fn every_model_fits() {
    for file in files() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "outside" && !programs::has_python() {
            continue;
        }
        let model = Model::read(&file).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(model.title().is_some(), "{name} has no title");
        let target = model.target();
        if let Some(draws) = model.prior_draws(200, 1) {
            (0..draws.len()).for_each(|i| assert_inside(&*target, &draws.point(i), &name));
        }
        let settings = Settings {
            work: Work { warmup: 20, anneal: 1, refine: 20 },
            samples: 32,
            refine_samples: 64,
            variance_samples: 64,
            ..model.default_settings()
        };
        let outcome = fit(&*target, &settings, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let sample = outcome.approximation(&*target).unwrap().sample(500, 3).unwrap();
        for i in 0..sample.len() {
            assert_inside(&*target, &sample.x().point(i), &name);
        }
        let finite = sample.log_p().iter().filter(|log_p| log_p.is_finite()).count();
        assert!(finite > 400, "{name}: {finite} of 500 draws have a density");
        let quantities = model.quantities(sample.x()).unwrap();
        assert_eq!(quantities.dim(), model.quantity_names().len(), "{name}");
        for d in 0..quantities.dim() {
            assert!(quantities.row(d).iter().all(|x| x.is_finite()), "{name}");
        }
    }
}

/// The terms of the rows sum to the log likelihood, for every kind of model.
#[test]
fn rows_add_up_to_the_log_likelihood() {
    let mut models = 0;
    for file in files() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "outside" {
            continue;
        }
        let model = Model::read(&file).unwrap_or_else(|errors| panic!("{errors}"));
        let Some(points) = model.prior_draws(4, 1_000) else { continue };
        if model.row_terms().is_empty() {
            continue;
        }
        let all: Vec<Vec<f64>> = (0..points.len()).map(|i| points.point(i)).collect();
        let expected = evaluate(&*model.target(), &all, WHOLE).log_likelihood.to_vec();
        let (mut sums, mut sizes) = (vec![0.0; points.len()], vec![0.0; points.len()]);
        let mut add = |term: adaann::model::RowTerm<'_>| {
            for (i, value) in term.log_likelihood.iter().enumerate() {
                sums[i] += value;
                sizes[i] += value.abs();
            }
            true
        };
        model.each_row_term(&points, &mut add).unwrap();
        let mut compared = 0;
        for i in 0..points.len() {
            if expected[i].is_finite() {
                // Sums in another order, and distributions over lanes.
                assert_close(sums[i], expected[i], 1e-10 * sizes[i], &name);
                compared += 1;
            }
        }
        assert!(compared > 0, "{name}: no draw of the prior has a density");
        models += 1;
    }
    assert!(models >= 15, "{models}");
}

/// Posteriors contain the parameters from which their data was simulated; of many coordinates, the first ones.
#[test]
fn the_truth_is_where_the_posteriors_are() {
    for (name, truth) in [
        ("ar2.toml", &[1.0, 0.6, 0.25, 0.5][..]),
        ("arma.toml", &[2.0, 0.7, 0.4, 0.8]),
        ("garch.toml", &[0.05, 0.1, 0.15, 0.75]),
        ("hidden_markov.toml", &[0.95, 0.85, 1.0, 3.0, 0.7]),
        ("survival.toml", &[1.4, 1.0, 0.6, -0.25]),
        ("viral_load.toml", &[5.3, 3.0, 0.5, 0.15]),
        ("robertson.toml", &[0.04, 3e7, 1e4, 0.05]),
        ("sir_weeks.toml", &[2.1, 1.0, 0.8, 20.0, 60.0]),
        ("growth.toml", &[10.0, 2.0, 1.5, 0.5, -0.6]),
        ("calls.toml", &[2.5, 0.6, 5.0]),
        ("logistic_regression.toml", &[0.3, -0.9, 1.2]),
        ("pharmacokinetics.toml", &[1.2, 30.0, 1.5, 4.0, 0.1]),
        ("mixture.toml", &[0.35, 18.0, 27.0, 2.0, 3.0]),
    ] {
        let target = model(name).target();
        let settings = answer::Settings { seed: 2, ..answer::Settings::default() };
        let answer = approximate(&*target, &settings, &mut ()).unwrap();
        let found = answer.sample.coordinates().unwrap();
        for (d, (found, truth)) in found.iter().zip(truth).enumerate() {
            // For one in seven data sets, one of 55 numbers is more than three standard deviations away.
            let off = (found.mean.value - truth).abs() / found.sd.value;
            assert!(off < 3.0, "{name}: coordinate {d} is off by {off} standard deviations");
        }
    }
}

/// Means and standard deviations of posteriors that are known without draws.
#[test]
fn exact_posteriors_are_found() {
    // Each component of a Dirichlet distribution has a beta distribution.
    let concentrations = [361.0, 324.0, 201.0, 118.0];
    let all: f64 = concentrations.iter().sum();
    let share = |a: f64| (a / all, (a * (all - a) / (all + 1.0)).sqrt() / all);
    let shares: Vec<(f64, f64)> = concentrations[..3].iter().map(|&a| share(a)).collect();
    for (name, exact) in [("election.toml", shares), ("eight_schools.toml", schools().to_vec())] {
        let target = model(name).target();
        let settings = answer::Settings { seed: 2, ..answer::Settings::default() };
        let answer = approximate(&*target, &settings, &mut ()).unwrap();
        let found = answer.sample.coordinates().unwrap();
        for (d, (found, (mean, sd))) in found.iter().zip(exact).enumerate() {
            for (what, found, exact) in [("mean", found.mean, mean), ("sd", found.sd, sd)] {
                let off = (found.value - exact).abs() / found.error;
                assert!(off < 5.0, "{name}: {what} of coordinate {d} is off by {off} errors");
            }
        }
    }
}

/// Mean and standard deviation of mu and tau, with the schools' effects integrated out, by a sum over a fine grid.
fn schools() -> [(f64, f64); 2] {
    let effects = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
    let errors = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
    let (mut mass, mut sums, mut squares) = (0.0, [0.0; 2], [0.0; 2]);
    for i in 0..4_000 {
        // The grid is finer where tau is small; the Jacobian is 3 s².
        let s = (f64::from(i) + 0.5) / 4_000.0 * 6.0;
        let tau: f64 = s.powi(3);
        let prior = 3.0 * s * s / (1.0 + (tau / 5.0).powi(2));
        for j in 0..400 {
            let mu = -30.0 + 0.15 * (f64::from(j) + 0.5);
            let mut log_p = -0.5 * (mu / 5.0_f64).powi(2);
            for (effect, error) in effects.iter().zip(errors) {
                let variance: f64 = tau * tau + error * error;
                log_p -= 0.5 * ((effect - mu).powi(2) / variance + variance.ln());
            }
            let p = prior * log_p.exp();
            mass += p;
            for (k, x) in [mu, tau].into_iter().enumerate() {
                sums[k] += p * x;
                squares[k] += p * x * x;
            }
        }
    }
    [0, 1].map(|k| {
        let mean: f64 = sums[k] / mass;
        (mean, (squares[k] / mass - mean * mean).sqrt())
    })
}

/// One compartment with doses has a closed form, with which the rows of the population are compared.
#[test]
fn the_population_is_what_the_closed_form_says() {
    let model = model("population.toml");
    let table = fs::read_to_string(path("data/population.csv")).unwrap();
    let rows: Vec<Vec<Option<f64>>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().ok()).collect())
        .collect();
    let number = |row: &[Option<f64>], column: usize| row[column].unwrap();
    let mut points = Vec::new();
    for shift in [0.0, 0.7] {
        let mut point = vec![1.5, 2.8, 32.0, 0.4, 0.25, 0.15];
        point.extend((0..36).map(|i| shift * f64::from(i % 7 - 3)));
        point.push(0.1 + 0.1 * shift);
        points.push(point);
    }
    let found = evaluate(&*model.target(), &points, WHOLE).log_likelihood.to_vec();
    for (point, found) in points.iter().zip(found) {
        let (mut expected, mut measured) = (0.0, 0);
        for row in rows.iter().filter(|row| row[5].is_some()) {
            let (id, hours, weight) = (number(row, 0), number(row, 1), number(row, 4) / 70.0);
            let person = id as usize - 1;
            let own = |k: usize| point[k] * (point[3 + k] * point[6 + 12 * k + person]).exp();
            let (k_a, volume) = (own(0), own(2) * weight);
            let k_e = own(1) * weight.powf(0.75) / volume;
            let mut level = 0.001;
            // A sample at the time of a dose is taken before it.
            for dose in rows.iter().filter(|dose| dose[0] == row[0] && number(dose, 3) == 1.0) {
                let since = hours - number(dose, 1);
                if since > 0.0 {
                    level += number(dose, 2) / volume * k_a / (k_a - k_e)
                        * ((-k_e * since).exp() - (-k_a * since).exp());
                }
            }
            let (sigma, seen) = (point[42], number(row, 5));
            let off = (seen.ln() - level.ln()) / sigma;
            let scale = (sigma * seen).ln() + 0.5 * std::f64::consts::TAU.ln();
            expected -= 0.5 * off * off + scale;
            measured += 1;
        }
        assert_eq!(measured, 120);
        // The effect of the solver's tolerance of 1e-6 of a level over all rows, each off by some sigmas.
        assert_close(found, expected, 1e-4, "population");
    }
}
