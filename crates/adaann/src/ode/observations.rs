//! Measurements of a system: their times and their noise.

use super::course::{Course, Does, Stop};
use super::layout::inputs;
use super::measured::Measured;
use crate::program::{Expr, Function, Graph, Node, Unary};
use crate::{Error, Result, ode::System};
use std::f64::consts::TAU;

/// The distribution of measurements around the system's predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// y = m + e with e normal.
    Gaussian(Scatter),
    /// ln y = ln m + e with e normal: measurements and predictions are positive.
    LogNormal(Scatter),
}

/// The size of a normal error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scatter {
    /// A known variance.
    Variance(f64),
    /// The variance is the parameter with this index.
    VarianceParameter(usize),
    /// The standard deviation is the parameter with this index.
    SdParameter(usize),
}

/// Measurements of some quantities at some times.
///
/// ```
/// use adaann::ode::{Noise, Observations, Scatter, System};
///
/// let system = System::record(&["x", "y"], &["k"], |_, x, p| vec![-p[0] * x[0], p[0] * x[0]],
///     0.0, |_| vec![1.0.into(), 0.0.into()])?;
/// // y at three times, once missing.
/// let noise = Noise::Gaussian(Scatter::Variance(0.01));
/// let observations =
///     Observations::of_states(&system, &["y"], noise, &[0.5, 1.0, 2.5], &[0.4, f64::NAN, 0.9])?;
/// assert_eq!(observations.count(), 2);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Observations {
    names: Vec<String>,
    noise: Vec<Noise>,
    /// (t, x, p) -> predictions of the quantities
    predict: Function,
    times: Vec<f64>,
    /// The quantities at the first time, then those at the second, ...; NaN where missing.
    values: Vec<f64>,
}

impl Observations {
    /// Measurements of states by their names: `values` has all of them at the first time, then at
    /// the second, and so on. NaN marks a missing measurement.
    ///
    /// # Errors
    /// If there is no such state, times decrease or come before the system's start, numbers are not
    /// finite, or all measurements are missing.
    pub fn of_states(
        system: &System,
        states: &[&str],
        noise: Noise,
        times: &[f64],
        values: &[f64],
    ) -> Result<Self> {
        let known = || system.states().iter().map(String::as_str);
        let mut rows = Vec::new();
        for name in states {
            rows.push(
                known()
                    .position(|state| state == *name)
                    .ok_or_else(|| crate::suggest::unknown("state", name, known()))?,
            );
        }
        let quantities: Vec<_> = states.iter().map(|name| (*name, noise)).collect();
        Self::record(system, &quantities, times, values, |_, x, _| {
            rows.iter().map(|&row| x[row]).collect()
        })
    }

    /// Measurements of functions of time, states and parameters.
    ///
    /// # Errors
    /// As for [`Observations::of_states`]; or if the number of values that the closure returns
    /// differs from the number of quantities.
    pub fn record<F>(
        system: &System,
        quantities: &[(&str, Noise)],
        times: &[f64],
        values: &[f64],
        predict: F,
    ) -> Result<Self>
    where
        F: for<'g> FnOnce(Expr<'g>, &[Expr<'g>], &[Expr<'g>]) -> Vec<Expr<'g>>,
    {
        let n = system.states().len();
        let predict = Function::record(1 + n + system.parameters().len(), |z| {
            predict(z[0], &z[1..=n], &z[1 + n..])
        });
        let observations = Self {
            names: quantities.iter().map(|(name, _)| (*name).to_owned()).collect(),
            noise: quantities.iter().map(|(_, noise)| *noise).collect(),
            predict,
            times: times.to_vec(),
            values: values.to_vec(),
        };
        observations.check(system)?;
        Ok(observations)
    }

    fn check(&self, system: &System) -> Result<()> {
        let quantities = self.names.len();
        let shape = |what: &str, found: usize, expected: usize| Error::Shape {
            what: what.into(),
            found: format!("{found} values"),
            expected: expected.to_string(),
        };
        if self.predict.outputs() != quantities {
            return Err(shape("the observed quantities", self.predict.outputs(), quantities));
        }
        if self.values.len() != quantities * self.times.len() {
            let expected = quantities * self.times.len();
            return Err(shape("the measurements", self.values.len(), expected));
        }
        let fault = |message: String| Err(Error::Data(message));
        for (row, pair) in self.times.windows(2).enumerate() {
            if pair[0] > pair[1] {
                return fault(format!(
                    "time {} of the data comes after {}; sort the rows by time (row {})",
                    pair[1],
                    pair[0],
                    row + 2
                ));
            }
        }
        for (row, &t) in self.times.iter().enumerate() {
            if !t.is_finite() || t < system.start() {
                return fault(format!(
                    "row {} of the data has time {t}, but times must be finite and not before the \
                     start of the system at {}",
                    row + 1,
                    system.start()
                ));
            }
        }
        for (index, &value) in self.values.iter().enumerate() {
            let (row, quantity) = (index / quantities, index % quantities);
            let positive = matches!(self.noise[quantity], Noise::LogNormal(_));
            if value.is_infinite() || (positive && value <= 0.0) {
                let range = if positive { "positive and finite" } else { "finite" };
                return fault(format!(
                    "{} in row {} of the data is {value}, but must be {range}; leave it out if \
                     it is missing",
                    self.names[quantity],
                    row + 1
                ));
            }
        }
        if self.count() == 0 {
            return fault("the data has no measurement: every value is missing".into());
        }
        for noise in &self.noise {
            match noise.scatter() {
                Scatter::Variance(v) if !(v > 0.0 && v.is_finite()) => {
                    return Err(crate::error::setting("noise-variance", v, "positive and finite"));
                }
                Scatter::VarianceParameter(j) | Scatter::SdParameter(j)
                    if j >= system.parameters().len() =>
                {
                    return Err(shape("the noise's parameter", j + 1, system.parameters().len()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The number of measurements that are not missing.
    pub fn count(&self) -> usize {
        self.values.iter().filter(|y| !y.is_nan()).count()
    }

    /// Names of the quantities.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The times of the measurements.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// All quantities at time number `k`; NaN where missing.
    pub fn at(&self, k: usize) -> &[f64] {
        &self.values[k * self.names.len()..][..self.names.len()]
    }

    /// The log density of the measurements at each time, with one pattern for each set of
    /// quantities that were measured together.
    pub(crate) fn measured(&self, system: &System) -> Measured {
        let mut present: Vec<Vec<bool>> = Vec::new();
        let mut stops = Vec::new();
        for (k, &time) in self.times.iter().enumerate() {
            let own: Vec<bool> = self.at(k).iter().map(|y| !y.is_nan()).collect();
            let known = present.iter().position(|other| *other == own);
            let pattern = known.unwrap_or_else(|| {
                present.push(own);
                present.len() - 1
            });
            let does = Does::Observe(pattern, [&[time], self.at(k)].concat());
            stops.push(Stop { time, stretch: Vec::new(), does });
        }
        let record = |present: &Vec<bool>| {
            let mut graph = Graph::new();
            let states = system.states().len();
            let x = inputs(&mut graph, 0, states);
            let p = inputs(&mut graph, states, system.parameters().len());
            let node = self.log_likelihood(&mut graph, present, &x, &p);
            (graph, node)
        };
        let arguments = (0..system.parameters().len()).collect();
        let moving = Vec::new();
        let course = Course { start: system.start(), arguments, stops, moving };
        Measured { patterns: present.iter().map(record).collect(), courses: vec![course] }
    }

    /// log p of the quantities that are present, for states and parameters that are nodes.
    fn log_likelihood(&self, graph: &mut Graph, present: &[bool], x: &[Node], p: &[Node]) -> Node {
        let t = graph.uniform(0);
        let predicted = self.predict.at(graph, &[&[t], x, p].concat());
        let mut sum = graph.constant(0.0);
        for (j, &m) in predicted.iter().enumerate().filter(|(j, _)| present[*j]) {
            let y = graph.uniform(1 + j as u32);
            let part = self.noise[j].log_density(graph, y, m, p);
            sum = graph.add(sum, part);
        }
        sum
    }
}

impl Noise {
    /// The size of its error.
    pub fn scatter(&self) -> Scatter {
        match *self {
            Self::Gaussian(scatter) | Self::LogNormal(scatter) => scatter,
        }
    }

    /// log p(y | m) with all constants.
    fn log_density(self, graph: &mut Graph, y: Node, m: Node, p: &[Node]) -> Node {
        let (residual, jacobian) = match self {
            Self::Gaussian(_) => (graph.sub(m, y), graph.constant(0.0)),
            Self::LogNormal(_) => {
                let (log_m, log_y) = (graph.unary(Unary::Ln, m), graph.unary(Unary::Ln, y));
                (graph.sub(log_m, log_y), log_y)
            }
        };
        let square = graph.mul(residual, residual);
        let variance = match self.scatter() {
            Scatter::Variance(variance) => graph.constant(variance),
            Scatter::VarianceParameter(j) => p[j],
            Scatter::SdParameter(j) => graph.mul(p[j], p[j]),
        };
        let half = graph.constant(-0.5);
        let precision = graph.div(half, variance);
        let exponent = graph.mul(precision, square);
        // −ln(2πσ²)/2 − ln y
        let tau = graph.constant(TAU);
        let product = graph.mul(tau, variance);
        let log = graph.unary(Unary::Ln, product);
        let constant = graph.mul(half, log);
        let constant = graph.sub(constant, jacobian);
        graph.add(constant, exponent)
    }
}
