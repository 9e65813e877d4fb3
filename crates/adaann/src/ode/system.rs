//! A system of differential equations, recorded from closures.

use super::uniforms::STRETCH;
use crate::program::{Expr, Function, Graph, Node};
use crate::{Error, Result};

/// x' = f(t, x, p) with x(t₀) = g(p).
///
/// ```
/// use adaann::ode::System;
///
/// // Prey and predators; how many predators there are at the start is a parameter.
/// let system = System::record(
///     &["prey", "predators"],
///     &["birth", "death", "predators_0"],
///     |_, x, p| vec![p[0] * x[0] - x[0] * x[1], x[0] * x[1] - p[1] * x[1]],
///     0.0,
///     |p| vec![1.0.into(), p[2]],
/// )?;
/// assert_eq!(system.parameters().len(), 3);
/// # Ok::<(), adaann::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct System {
    states: Vec<String>,
    parameters: Vec<String>,
    /// (t, x, p, numbers of the stretch) -> x'
    derivative: Function,
    /// The number of values that a stretch has.
    stretch: usize,
    start: f64,
    /// p -> x(t₀)
    initial: Function,
    /// The jumps of the states at events.
    jumps: Vec<Jump>,
    /// Whether samples have events at their own times.
    moves: bool,
}

/// x⁺ as a function of states, parameters and the jump's own numbers.
#[derive(Debug, Clone)]
pub(crate) struct Jump {
    pub(crate) to: Function,
    pub(crate) numbers: usize,
}

/// The parts of a system that was recorded elsewhere.
pub(crate) struct Equations {
    /// A function of time, states, parameters and numbers of the stretch.
    pub(crate) derivative: Function,
    pub(crate) stretch: usize,
    pub(crate) start: f64,
    /// A function of the parameters.
    pub(crate) initial: Function,
    pub(crate) jumps: Vec<Jump>,
    /// Whether samples have events at their own times.
    pub(crate) moves: bool,
}

impl System {
    /// Records the derivative as a function of time, states and parameters, and the states at time
    /// `start` as a function of the parameters.
    ///
    /// # Errors
    /// If the number of values that a closure returns differs from the number of states, there are
    /// no states, a name is used twice, or `start` is not finite.
    pub fn record<F, G>(
        states: &[&str],
        parameters: &[&str],
        derivative: F,
        start: f64,
        initial: G,
    ) -> Result<Self>
    where
        F: for<'g> FnOnce(Expr<'g>, &[Expr<'g>], &[Expr<'g>]) -> Vec<Expr<'g>>,
        G: for<'g> FnOnce(&[Expr<'g>]) -> Vec<Expr<'g>>,
    {
        let n = states.len();
        let derivative = Function::record(1 + n + parameters.len(), |z| {
            derivative(z[0], &z[1..=n], &z[1 + n..])
        });
        let system = Self {
            states: states.iter().map(|&s| s.to_owned()).collect(),
            parameters: parameters.iter().map(|&s| s.to_owned()).collect(),
            derivative,
            stretch: 0,
            start,
            initial: Function::record(parameters.len(), initial),
            jumps: Vec::new(),
            moves: false,
        };
        system.check()?;
        Ok(system)
    }

    /// A system that was recorded elsewhere; its parameters are named by number.
    ///
    /// # Errors
    /// As for [`System::record`].
    pub(crate) fn from_functions(
        states: &[String],
        parameters: usize,
        equations: Equations,
    ) -> Result<Self> {
        let Equations { derivative, stretch, start, initial, jumps, moves } = equations;
        let parameters = (1..=parameters).map(|j| format!("parameter {j}")).collect();
        let states = states.to_vec();
        let system = Self { states, parameters, derivative, stretch, start, initial, jumps, moves };
        system.check()?;
        Ok(system)
    }

    fn check(&self) -> Result<()> {
        let n = self.states.len();
        if n == 0 {
            return Err(Error::Target("a system of equations needs at least one state".into()));
        }
        for (what, function) in
            [("the derivative", &self.derivative), ("the initial state", &self.initial)]
        {
            if function.outputs() != n {
                return Err(Error::Shape {
                    what: what.into(),
                    found: format!("{} values", function.outputs()),
                    expected: format!("{n}, one for each state"),
                });
            }
        }
        let names = || self.states.iter().chain(&self.parameters);
        if let Some(twice) = names().find(|a| names().filter(|b| a == b).count() > 1) {
            return Err(Error::Target(format!("the name {twice} is used twice in a system")));
        }
        if !self.start.is_finite() {
            return Err(Error::Target(format!("a system cannot start at time {}", self.start)));
        }
        Ok(())
    }

    /// Names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// Names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Time of the initial state.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// Indices of the parameters that the solution depends on.
    pub(super) fn active(&self) -> Vec<usize> {
        let first = 1 + self.states.len();
        let jumps =
            |j: usize| self.jumps.iter().any(|jump| jump.to.depends_on(self.states.len() + j));
        let moves = |&j: &usize| {
            self.derivative.depends_on(first + j) || self.initial.depends_on(j) || jumps(j)
        };
        (0..self.parameters.len()).filter(moves).collect()
    }

    /// f(t, x, p) in a graph; numbers of the stretch become uniforms.
    pub(super) fn derivative(
        &self,
        graph: &mut Graph,
        t: Node,
        x: &[Node],
        p: &[Node],
    ) -> Vec<Node> {
        self.reading(graph, &self.derivative, t, x, p)
    }

    /// A function of time, states, parameters and numbers of the stretch in a graph; the last
    /// become uniforms.
    pub(super) fn reading(
        &self,
        graph: &mut Graph,
        function: &Function,
        t: Node,
        x: &[Node],
        p: &[Node],
    ) -> Vec<Node> {
        let stretch = (0..self.stretch as u32).map(|i| graph.uniform(STRETCH + i));
        let stretch: Vec<Node> = stretch.collect();
        function.at(graph, &[&[t], x, p, &stretch].concat())
    }

    /// Whether samples have events at their own times.
    pub(super) fn has_moving_events(&self) -> bool {
        self.moves
    }

    /// The number of kinds of jumps.
    pub(super) fn jumps(&self) -> usize {
        self.jumps.len()
    }

    /// The states after a jump, in a graph; its own numbers become uniforms.
    pub(super) fn jump(
        &self,
        graph: &mut Graph,
        number: usize,
        x: &[Node],
        p: &[Node],
    ) -> Vec<Node> {
        self.jump_knowing(graph, number, x, p, 0)
    }

    /// The same, with its uniforms after those of a stretch.
    pub(super) fn jump_behind_stretch(
        &self,
        graph: &mut Graph,
        number: usize,
        x: &[Node],
        p: &[Node],
    ) -> Vec<Node> {
        self.jump_knowing(graph, number, x, p, STRETCH + self.stretch as u32)
    }

    fn jump_knowing(
        &self,
        graph: &mut Graph,
        number: usize,
        x: &[Node],
        p: &[Node],
        first: u32,
    ) -> Vec<Node> {
        let Jump { to, numbers } = &self.jumps[number];
        let numbers = (0..*numbers as u32).map(|i| graph.uniform(first + i));
        let numbers: Vec<Node> = numbers.collect();
        to.at(graph, &[x, p, &numbers].concat())
    }

    /// g(p) in a graph.
    pub(super) fn initial(&self, graph: &mut Graph, p: &[Node]) -> Vec<Node> {
        self.initial.at(graph, p)
    }
}
