//! Targets from a plain function of one point.

use super::{Evaluation, Support, Target, Weights, slope, steps_inside};
use crate::{Batch, Error, Result};

/// A log density from a function of one point: [`pointwise`] for a function with a gradient,
/// [`pointwise_by_differences`] for one without.
pub struct Pointwise<'a> {
    density: Density<'a>,
    supports: Vec<Support>,
    names: Vec<String>,
}

/// The function that the caller supplied.
enum Density<'a> {
    WithGradient(Box<WithGradient<'a>>),
    ValueAlone(Box<ValueAlone<'a>>),
}

type WithGradient<'a> = dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'a;
type ValueAlone<'a> = dyn Fn(&[f64]) -> f64 + Send + Sync + 'a;

/// A target from a function that returns log p at a point x of `dim` coordinates, up to a constant,
/// and writes its gradient there.
///
/// The function is called for one point at a time, from several threads at once. It returns −∞
/// outside the support of p; NaN counts as a failure at this point. In both cases the gradient is
/// not read. If the function can be written with the arithmetic of `Expr`, `Program::record`
/// differentiates it and evaluates many points at once.
///
/// ```
/// use adaann::{fit, schedule::Work, target::{self, Support}, Settings};
///
/// // A gamma density of shape 3 and rate 2: log p = 2 log x − 2 x.
/// let gamma = target::pointwise(1, |x, gradient| {
///     gradient[0] = 2.0 / x[0] - 2.0;
///     2.0 * x[0].ln() - 2.0 * x[0]
/// })
/// .with_names(["rate"])?
/// .with_supports([Support::Above(0.0)])?;
///
/// let work = Work { warmup: 100, anneal: 1, refine: 500 };
/// let outcome = fit(&gamma, &Settings { work, ..Settings::default() }, &mut ())?;
/// let draws = outcome.approximation(&gamma)?.sample(2000, 1)?;
/// assert!(draws.x().row(0).iter().all(|x| *x > 0.0));
/// # Ok::<(), adaann::Error>(())
/// ```
pub fn pointwise<'a>(
    dim: usize,
    log_density: impl Fn(&[f64], &mut [f64]) -> f64 + Send + Sync + 'a,
) -> Pointwise<'a> {
    Pointwise::new(dim, Density::WithGradient(Box::new(log_density)))
}

/// A target from a function that returns log p at a point of `dim` coordinates, without a gradient.
///
/// Gradients are central differences, (f(x + h) − f(x − h))/2h in each coordinate with h = ∛ε
/// max(1, |x|), and shorter steps near the bounds of a support. They take 2 `dim` + 1 calls for a
/// point and are accurate to about ten digits for a smooth function. If one side is not finite, a
/// one-sided difference replaces it. Otherwise this works like [`pointwise`].
///
/// ```
/// use adaann::{Batch, target::{self, Evaluation, Target, Weights}};
///
/// let banana = target::pointwise_by_differences(2, |x| {
///     -(1.0 - x[0]).powi(2) - 100.0 * (x[1] - x[0] * x[0]).powi(2)
/// });
/// let mut out = Evaluation::zeros(2, 1);
/// let weights = Weights { prior: 1.0, likelihood: 1.0 };
/// banana.evaluate(&Batch::from_points(2, &[[0.0, 1.0]]), Some(weights), &mut out)?;
/// assert!((out.gradient.row(1)[0] + 200.0).abs() < 1e-6);
/// # Ok::<(), adaann::Error>(())
/// ```
pub fn pointwise_by_differences<'a>(
    dim: usize,
    log_density: impl Fn(&[f64]) -> f64 + Send + Sync + 'a,
) -> Pointwise<'a> {
    Pointwise::new(dim, Density::ValueAlone(Box::new(log_density)))
}

impl<'a> Pointwise<'a> {
    fn new(dim: usize, density: Density<'a>) -> Self {
        let names = (1..=dim).map(|d| format!("z{d}")).collect();
        Self { density, supports: vec![Support::Real; dim], names }
    }

    /// Names the coordinates, for tables and files.
    ///
    /// # Errors
    /// If their number differs from the number of coordinates.
    pub fn with_names<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self> {
        self.names = names.into_iter().map(Into::into).collect();
        self.check_count("the names", self.names.len())?;
        Ok(self)
    }

    /// Sets the supports of the coordinates. The function is then called only with points inside,
    /// except for points that a caller of [`Target::evaluate`] supplies.
    ///
    /// # Errors
    /// If their number differs from the number of coordinates, or they are invalid.
    pub fn with_supports(mut self, supports: impl IntoIterator<Item = Support>) -> Result<Self> {
        let supports: Vec<_> = supports.into_iter().collect();
        self.check_count("the supports", supports.len())?;
        Support::check(&supports)?;
        self.supports = supports;
        Ok(self)
    }

    fn check_count(&self, what: &str, found: usize) -> Result<()> {
        if found == self.dim() {
            return Ok(());
        }
        Err(Error::Shape {
            what: what.into(),
            found: found.to_string(),
            expected: format!("{}, one for each coordinate", self.dim()),
        })
    }
}

impl Target for Pointwise<'_> {
    fn dim(&self) -> usize {
        self.supports.len()
    }

    fn evaluate(
        &self,
        points: &Batch,
        gradient: Option<Weights>,
        out: &mut Evaluation,
    ) -> Result<()> {
        let dim = self.dim();
        self.check_count("the coordinates of a batch", points.dim())?;
        let (mut x, mut slopes, mut steps) = (vec![0.0; dim], vec![0.0; dim], vec![0.0; dim]);
        out.log_prior[..points.len()].fill(0.0);
        for i in 0..points.len() {
            for (d, x) in x.iter_mut().enumerate() {
                *x = points.row(d)[i];
            }
            let value = match &self.density {
                Density::WithGradient(density) => {
                    slopes.fill(0.0);
                    density(&x, &mut slopes)
                }
                Density::ValueAlone(density) => {
                    let value = density(&x);
                    if gradient.is_some() && value.is_finite() {
                        steps_inside(&self.supports, &x, &mut steps);
                        differences(density, value, &mut x, &steps, &mut slopes);
                    }
                    value
                }
            };
            out.log_likelihood[i] = value;
            if let Some(weights) = gradient {
                for (d, slope) in slopes.iter().enumerate() {
                    let slope = if value.is_finite() { weights.likelihood * slope } else { 0.0 };
                    out.gradient.row_mut(d)[i] = slope;
                }
            }
        }
        Ok(())
    }

    fn support(&self, d: usize) -> Support {
        self.supports[d].clone()
    }

    fn values_per_gradient(&self, _: Weights) -> usize {
        match self.density {
            Density::WithGradient(_) => 1,
            Density::ValueAlone(_) => 2 * self.dim() + 1,
        }
    }

    fn notes(&self) -> Vec<String> {
        vec![match self.density {
            Density::WithGradient(_) => "one point at a time".into(),
            Density::ValueAlone(_) => {
                let calls = 2 * self.dim() + 1;
                format!("one point at a time, gradient by differences: {calls} calls a point")
            }
        }]
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }
}

/// The slopes of `density` at x, where its value is `value`; 0 in a coordinate whose two sides are
/// not finite.
fn differences(
    density: &impl Fn(&[f64]) -> f64,
    value: f64,
    x: &mut [f64],
    steps: &[f64],
    slopes: &mut [f64],
) {
    for d in 0..x.len() {
        let here = x[d];
        let mut at = |there: f64| {
            x[d] = there;
            // The step as rounded.
            (there, density(x))
        };
        let (down, up) = (at(here - steps[d]), at(here + steps[d]));
        x[d] = here;
        slopes[d] = slope([down, (here, value), up]).unwrap_or(0.0);
    }
}
