//! Reference answers for high-dimensional posteriors, from long NUTS runs of numpyro.
//!
//! `bench/peers/nuts_reference.py` computes them. `--models` provides the data and model files.

use super::subject::Reference;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A reference standard deviation is used only if its relative error is below this, a fifth of the allowed error of an
/// answer. Other parameters have tails too heavy for sampling, such as the slope `a[9]` of irt_2pl, whose prior,
/// lognormal(0, sigma_a) with a half-Cauchy sigma_a, has no moments: the standard deviations of two runs of 120,000
/// draws differed by a tenth.
const SURE: f64 = 0.02;

/// The results of the chains, with a number for each parameter in every list.
#[derive(Deserialize)]
struct Chains {
    parameters: Vec<String>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    // Checked when the fixture is created, not when it is used.
    #[cfg(test)]
    mean_error: Vec<f64>,
    sd_error: Vec<f64>,
}

/// The answer for a model file with this name, which may have a prefix before the name in posteriordb.
pub(super) fn of(model: &str) -> Option<Vec<Reference>> {
    let (_, chains) = parsed().into_iter().find(|(name, _)| model.ends_with(name.as_str()))?;
    let value = |(i, name)| {
        let (mean, sd) = (chains.mean[i], chains.sd[i]);
        Reference { name, mean, sd, is_sd_known: chains.sd_error[i] < SURE * sd }
    };
    Some(chains.parameters.into_iter().enumerate().map(value).collect())
}

fn parsed() -> BTreeMap<String, Chains> {
    serde_json::from_str(include_str!("../../fixtures/nuts.json")).expect("made by the script")
}

#[cfg(test)]
mod tests {
    use super::{
        super::{models, subject::Truth},
        *,
    };
    use std::{collections::BTreeSet, fs};

    /// An answer may have an error of a tenth, and the reference must use only a small part of it.
    #[test]
    fn errors_are_small_beside_what_an_answer_may_be_off_by() {
        for (name, Chains { parameters, mean, sd, mean_error, sd_error }) in parsed() {
            assert_eq!(
                [parameters.len(); 4],
                [mean.len(), sd.len(), mean_error.len(), sd_error.len()]
            );
            for (parameter, (error, sd)) in parameters.iter().zip(mean_error.iter().zip(&sd)) {
                assert!(*error < SURE * sd, "{name}, mean of {parameter}");
            }
            let unknown: Vec<String> = (of(&name).unwrap().into_iter())
                .filter_map(|value| (!value.is_sd_known).then_some(value.name))
                .collect();
            // A larger value would indicate a worse run.
            let expected: &[&str] = if name == "irt_2pl-irt_2pl" { &["a[9]"] } else { &[] };
            assert_eq!(unknown, expected, "{name}");
        }
    }

    /// The parameters of both posteriors, without their data.
    const PARAMETERS: [(&str, &str); 2] = [
        (
            "noref-irt_2pl-irt_2pl",
            r#"
            sigma_theta = "half_cauchy(2)"
            theta = { prior = "normal(0, sigma_theta)", size = 100 }
            sigma_a = "half_cauchy(2)"
            a = { prior = "lognormal(0, sigma_a)", size = 20 }
            mu_b = "normal(0, 5)"
            sigma_b = "half_cauchy(2)"
            b = { prior = "normal(mu_b, sigma_b)", size = 20 }
            "#,
        ),
        (
            "radon_mn-radon_hierarchical_intercept_noncentered",
            r#"
            alpha_raw = { prior = "normal(0, 1)", size = 85 }
            beta = { prior = "normal(0, 10)", size = 2 }
            mu_alpha = "normal(0, 10)"
            sigma_alpha = "half_normal(1)"
            sigma_y = "half_normal(1)"
            "#,
        ),
    ];

    #[test]
    fn model_files_are_held_against_the_answers_that_have_their_names() {
        let folder = std::env::temp_dir().join(format!("adaann-bench-nuts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let others = ("another", "a = \"normal(0, 1)\"");
        for (name, parameters) in PARAMETERS.into_iter().chain([others]) {
            let text = format!("density = \"0\"\n[parameters]\n{parameters}");
            fs::write(folder.join(format!("{name}.toml")), text).unwrap();
        }
        for subject in models::in_folder(&folder).unwrap() {
            let built = (subject.build)(1).unwrap();
            let Truth::Reference { values, .. } = built.truth else { panic!("of a model file") };
            assert_eq!(values.is_none(), subject.name == "another");
            assert_eq!(subject.group == "models", subject.name == "another");
            if let Some(values) = values {
                let known: BTreeSet<String> = values.into_iter().map(|value| value.name).collect();
                assert_eq!(known, built.target.names().into_iter().collect(), "{}", subject.name);
            }
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
