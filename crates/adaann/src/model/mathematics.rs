//! Writes a model in mathematical notation.

use super::dims::Dims;
use super::expression::{Ast, is_name};
use super::file::{Constant, Formula, Name};
use super::print;
use super::{Model, outline::Outline};
use crate::target::Edge;

/// The notation of formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// Unicode letters and symbols, for a terminal.
    Plain,
    /// LaTeX, one line per formula.
    Latex,
}

impl Notation {
    pub(super) fn formula(self, ast: &Ast) -> String {
        match self {
            Self::Plain => print::plain(ast),
            Self::Latex => print::latex(ast),
        }
    }

    pub(super) fn name(self, name: &Name) -> String {
        let kind = super::expression::Kind::Name(name.text.clone());
        self.formula(&Ast { kind, span: name.span.clone() })
    }

    fn says(self, left: &str, relation: Relation, formula: &Formula) -> String {
        let sign = match (self, relation) {
            (_, Relation::Is) => "=",
            (Self::Plain, Relation::Follows) => "~",
            (Self::Latex, Relation::Follows) => r"\sim",
        };
        format!("{left} {sign} {}", self.formula(&formula.ast))
    }
}

#[derive(Clone, Copy)]
enum Relation {
    Is,
    Follows,
}

impl Model {
    /// The model in mathematical notation, line by line.
    pub fn mathematics(&self, notation: Notation) -> Vec<String> {
        let Outline { file, data, parameters, start, settle, .. } = &*self.outline;
        let mut lines = Vec::new();
        for (name, constant) in &file.constants {
            let name = notation.name(name);
            lines.push(match constant {
                Constant::Formula(formula) => notation.says(&name, Relation::Is, formula),
                Constant::Number(x) => format!("{name} = {x}"),
                Constant::Vector(x) => format!("{name} = {}", list(x)),
                Constant::Matrix(rows) => {
                    format!("{name} = a matrix of {} × {}", rows.len(), rows[0].len())
                }
                Constant::File(file) => format!("{name} = the numbers of {}", file.text),
            });
        }
        let supports = parameters.iter().zip(&self.bounds);
        for (entry, (parameter, [low, high])) in file.parameters.iter().zip(supports) {
            let name = notation.name(&entry.name);
            let mut line = match &entry.prior {
                Some(prior) => notation.says(&name, Relation::Follows, prior),
                None => format!("{name}: any number"),
            };
            match parameter.dims {
                Dims::Number => {}
                Dims::Vector(size) => line += &format!(", {size} of them"),
                Dims::Matrix(rows, columns) => line += &format!(", {rows} × {columns} of them"),
            }
            if let Some((support, _)) = &entry.support {
                line += &format!(", {}", support.name());
            }
            let words = |edge: &Edge, given: &Option<Formula>| match (edge, given) {
                (Edge::Open, _) => None,
                (Edge::Beside { .. }, Some(formula)) => Some(notation.formula(&formula.ast)),
                _ => Some(edge.to_string()),
            };
            let is_said = entry.lower.is_some() || entry.upper.is_some();
            match (words(low, &entry.lower), words(high, &entry.upper)) {
                _ if !is_said => {}
                (Some(low), Some(high)) => line += &format!(", between {low} and {high}"),
                (Some(low), None) => line += &format!(", above {low}"),
                (None, Some(high)) => line += &format!(", below {high}"),
                (None, None) => {}
            }
            lines.push(line);
        }
        for (name, formula) in &file.quantities {
            lines.push(notation.says(&notation.name(name), Relation::Is, formula));
        }
        if let Some(ode) = &file.ode {
            let time = notation.name(&ode.time);
            if let Some(group) = &ode.group {
                let (count, name) = (self.outline.subject_names.len(), notation.name(group));
                lines.push(format!("one trajectory for each of {count} subjects, by {name}"));
            }
            let minus = if notation == Notation::Plain { "−" } else { "-" };
            let [begin, start] =
                [start - settle, *start].map(|t| t.to_string().replace('-', minus));
            for state in &ode.states {
                let name = notation.name(&state.name);
                let rate = match notation {
                    Notation::Plain => format!("d{name}/d{time}"),
                    Notation::Latex => format!(r"\frac{{d{name}}}{{d{time}}}"),
                };
                lines.push(notation.says(&rate, Relation::Is, &state.rate));
                let initial = format!("{name}({begin})");
                lines.push(notation.says(&initial, Relation::Is, &state.start));
            }
            if *settle > 0.0 {
                lines.push(format!(
                    "from {time} = {begin} to {start} the system settles: its clock stands at {start}"
                ));
            }
            lines.extend(self.outline.events_in_words(notation));
        }
        lines.extend(self.series_lines(notation));
        if let Some(density) = &file.density {
            let left = if notation == Notation::Plain { "log p" } else { r"\log p" };
            lines.push(notation.says(left, Relation::Is, density));
        }
        let derived: Vec<&(Name, Formula)> = file.data.iter().flat_map(|d| &d.derived).collect();
        for (name, formula) in derived.iter().filter(|(name, _)| is_name(&name.text)) {
            lines.push(notation.says(&notation.name(name), Relation::Is, formula));
        }
        for ((name, formula), weight) in file.likelihood.iter().zip(&file.weights) {
            // A derived left side is shown as its formula.
            let left = derived.iter().find(|(known, _)| known.text == name.text);
            let left = match left.filter(|_| !is_name(&name.text)) {
                Some((_, formula)) => notation.formula(&formula.ast),
                None => notation.name(name),
            };
            let mut line = notation.says(&left, Relation::Follows, formula);
            if let Some(weight) = weight {
                line += &format!(", counted {} times", notation.formula(&weight.ast));
            }
            let measured =
                data.find(&name.text).map_or(0, |column| self.outline.count_measured(column));
            lines.push(format!("{line}, for {measured} rows of the data"));
        }
        if let Some(formula) = &file.log_likelihood {
            let left =
                if notation == Notation::Plain { "log p(row)" } else { r"\log p(\text{row})" };
            lines.push(notation.says(left, Relation::Is, formula));
        }
        lines
    }
}

/// A list of numbers; long lists are shortened.
fn list(numbers: &[f64]) -> String {
    const MOST: usize = 6;
    let mut words: Vec<String> = numbers.iter().take(MOST).map(f64::to_string).collect();
    if numbers.len() > MOST {
        words.push("...".to_owned());
    }
    format!("[{}]", words.join(", "))
}
