//! A linear and a logistic regression as model text, the same as in `peers/jax_models.py`, which states the
//! formulas.

use adaann::{Batch, model::Model};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The number of parameters of each.
pub(crate) const DIM: usize = 10;

/// One of the two regressions.
#[derive(Clone, Copy)]
pub(crate) enum Regression {
    Linear,
    Logistic,
}

impl Regression {
    /// The name in the script of the peer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear regression",
            Self::Logistic => "logistic regression",
        }
    }

    /// Columns of x.
    pub(crate) fn columns(self) -> usize {
        match self {
            Self::Linear => 8,
            Self::Logistic => 10,
        }
    }

    /// Row r, counted from 1: all of x, then y.
    fn row(self, r: usize) -> Vec<f64> {
        let x = |k: usize| (0.7 * (r * k) as f64).sin();
        let slope = |k: usize| (if k.is_multiple_of(2) { -1.0 } else { 1.0 }) * k as f64 / 8.0;
        let signal: f64 = (1..=self.columns()).map(|k| slope(k) * x(k)).sum();
        let noise = (1.3 * r as f64).cos();
        let y = match self {
            Self::Linear => 0.5 + signal + 0.8 * noise,
            Self::Logistic => f64::from(signal > 2.0 * noise),
        };
        (1..=self.columns()).map(x).chain([y]).collect()
    }

    fn column_names(self) -> Vec<String> {
        let x = (1..=self.columns()).map(|k| format!("x{k}"));
        x.chain(["y".to_owned()]).collect()
    }

    /// The text of the model, with `data` as the lines that define the columns.
    fn text(self, data: &str) -> String {
        let names = self.column_names();
        let vector = &names[..self.columns()];
        let rest = match self {
            Self::Linear => {
                r#"
[parameters]
slope = { prior = "normal(0, 2)", size = 8 }
intercept = "normal(0, 2)"
log_sd = "normal(0, 1)"

[likelihood]
y = "normal(intercept + dot(slope, x), exp(log_sd))"
"#
            }
            Self::Logistic => {
                r#"
[parameters]
slope = { prior = "normal(0, 2)", size = 10 }

[likelihood]
y = "bernoulli_logit(dot(slope, x))"
"#
            }
        };
        format!("[data]\n{data}vectors = {{ x = {vector:?} }}\n{rest}")
    }

    /// The model with the data in its text.
    pub(crate) fn inline(self, rows: usize) -> Model {
        let table: Vec<Vec<f64>> = (1..=rows).map(|r| self.row(r)).collect();
        let mut data = String::new();
        for (k, name) in self.column_names().iter().enumerate() {
            let column: Vec<f64> = table.iter().map(|row| row[k]).collect();
            writeln!(data, "{name} = {column:?}").expect("a string takes all");
        }
        Model::parse(self.name(), &self.text(&data)).unwrap_or_else(|found| panic!("{found}"))
    }

    /// The model with the data in a separate file, both in a temporary folder.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub(crate) fn with_file(self, rows: usize) -> io::Result<Model> {
        let folder = std::env::temp_dir().join(format!("adaann-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let read = || {
            let mut csv = io::BufWriter::new(std::fs::File::create(folder.join("rows.csv"))?);
            writeln!(csv, "{}", self.column_names().join(","))?;
            for r in 1..=rows {
                let cells: Vec<String> = self.row(r).iter().map(f64::to_string).collect();
                writeln!(csv, "{}", cells.join(","))?;
            }
            csv.into_inner()?;
            let path = folder.join("model.toml");
            std::fs::write(&path, self.text("file = \"rows.csv\"\n"))?;
            Model::read(&path).map_err(|found| io::Error::other(found.to_string()))
        };
        let model = read();
        std::fs::remove_dir_all(&folder)?;
        model
    }
}

/// The first points at which the peer evaluates.
pub(crate) fn points(count: usize) -> Batch {
    let point = |n: usize| (0..DIM).map(move |j| 0.3 * ((n + 2 * j) as f64).cos());
    let points: Vec<Vec<f64>> = (0..count).map(|n| point(n).collect()).collect();
    Batch::from_points(DIM, &points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adaann::target::{Evaluation, Weights};

    /// Value and sum of the gradient at the first point, computed by JAX in double precision. Both are sums of about a
    /// thousand terms below 100 with errors of about 1e-14, far below 1e-10.
    #[test]
    fn densities_are_those_of_the_peer() {
        let expected = [
            (Regression::Linear, -1_965.590_267_491_853_4, 922.395_097_235_25),
            (Regression::Logistic, -756.813_084_339_039_4, -28.887_062_816_338_187),
        ];
        for (regression, log_density, slopes) in expected {
            for model in [regression.inline(1000), regression.with_file(1000).expect("a folder")] {
                let mut out = Evaluation::zeros(DIM, 1);
                let weights = Weights { prior: 1.0, likelihood: 1.0 };
                model.target().evaluate(&points(1), Some(weights), &mut out).expect("fits");
                let found = out.log_prior[0] + out.log_likelihood[0];
                assert!((found - log_density).abs() < 1e-10, "{found} {log_density}");
                let found: f64 = (0..DIM).map(|d| out.gradient.row(d)[0]).sum();
                assert!((found - slopes).abs() < 1e-10, "{found} {slopes}");
            }
        }
    }
}
