//! Prints formulas in LaTeX.

use super::letters::{command, on_the_line, split_digits};
use super::syntax::{level, needs_parentheses, number, of_trajectory, rows_back};
use crate::model::expression::{Ast, Kind, Level, Operator};
use crate::model::trajectory_functions::TrajectoryFunction;

/// A formula in LaTeX math mode.
pub(crate) fn latex(ast: &Ast) -> String {
    let mut text = String::new();
    write(&mut text, ast);
    text
}

/// Functions with a LaTeX command of the same name.
const COMMANDS: &[&str] =
    &["exp", "log", "sin", "cos", "tan", "tanh", "sinh", "cosh", "min", "max"];

fn write(out: &mut String, ast: &Ast) {
    match &ast.kind {
        Kind::Number(value) => out.push_str(&digits(*value)),
        Kind::Name(name) => out.push_str(&named(name, None)),
        Kind::Call { name, arguments, .. } => call(out, name, arguments),
        Kind::Named { name, value } => {
            *out += &format!("\\text{{{}}} = ", name.replace('_', "\\_"));
            write(out, value);
        }
        Kind::Index { of, indices } => {
            let mut below = String::new();
            sequence(&mut below, indices);
            if let Kind::Name(name) = &of.kind {
                return out.push_str(&named(name, Some(&below)));
            }
            operand(out, of, level(of) < Level::Whole);
            *out += &format!("_{{{below}}}");
        }
        Kind::Range { first, last } => {
            first.iter().for_each(|first| write(out, first));
            out.push(':');
            last.iter().for_each(|last| write(out, last));
        }
        Kind::List(values) => {
            *out += "\\left[";
            sequence(out, values);
            *out += "\\right]";
        }
        Kind::Negate(value) => {
            out.push('-');
            operand(out, value, level(value) < Level::Product || level(value) == Level::Negation);
        }
        Kind::Not(value) => {
            *out += "\\lnot ";
            operand(out, value, level(value) < Level::Not);
        }
        Kind::Binary { operator, left, right } => binary(out, *operator, left, right),
    }
}

fn binary(out: &mut String, operator: Operator, left: &Ast, right: &Ast) {
    match operator {
        Operator::Divide => {
            *out += "\\frac{";
            write(out, left);
            *out += "}{";
            write(out, right);
            return out.push('}');
        }
        Operator::Power => {
            // x_1^2 and \exp(x)^2 need no braces; |x|^2 and \frac{a}{b}^2 are delimited or have
            // them.
            operand(out, left, level(left) < Level::Whole);
            *out += "^{";
            write(out, right);
            return out.push('}');
        }
        _ => {}
    }
    operand(out, left, needs_parentheses(operator, left, false, false));
    *out += match operator {
        Operator::Multiply => " \\cdot ",
        Operator::MatMul => " \\, ",
        Operator::Add => " + ",
        Operator::Subtract => " - ",
        Operator::Less => " < ",
        Operator::LessOrEqual => " \\le ",
        Operator::Greater => " > ",
        Operator::GreaterOrEqual => " \\ge ",
        Operator::Equal => " = ",
        Operator::NotEqual => " \\ne ",
        Operator::And => " \\land ",
        _ => " \\lor ",
    };
    // A fraction needs no parentheses.
    let fraction = matches!(right.kind, Kind::Binary { operator: Operator::Divide, .. });
    operand(out, right, !fraction && needs_parentheses(operator, right, true, false));
}

fn operand(out: &mut String, ast: &Ast, parentheses: bool) {
    if parentheses {
        *out += "\\left(";
    }
    write(out, ast);
    if parentheses {
        *out += "\\right)";
    }
}

fn call(out: &mut String, name: &str, arguments: &[Ast]) {
    let (open, close) = match (name, arguments) {
        ("sqrt", [_]) => ("\\sqrt{".to_owned(), "}"),
        ("before", [of, ..]) if let Some(back) = rows_back(arguments) => {
            out.push('{');
            write(out, of);
            *out += &format!("}}_{{t-{back}}}");
            return;
        }
        ("abs", [_]) => ("\\left|".to_owned(), "\\right|"),
        ("if", [condition, yes, no]) => {
            *out += "\\begin{cases} ";
            write(out, yes);
            *out += " & \\text{if } ";
            write(out, condition);
            *out += " \\\\ ";
            write(out, no);
            *out += " & \\text{otherwise} \\end{cases}";
            return;
        }
        _ if let Some((function, formula, times)) = of_trajectory(name, arguments) => {
            return trajectory(out, function, formula, times);
        }
        _ if COMMANDS.contains(&name) => (format!("\\{name}\\left("), "\\right)"),
        _ => (format!("\\operatorname{{{}}}\\left(", name.replace('_', "\\_")), "\\right)"),
    };
    *out += &open;
    sequence(out, arguments);
    *out += close;
}

/// A function of trajectories applied to a formula.
fn trajectory(out: &mut String, function: TrajectoryFunction, formula: &Ast, times: &[Ast]) {
    let (open, close) = match function {
        TrajectoryFunction::At => {
            *out += "\\left.";
            write(out, formula);
            *out += "\\right|_{";
            sequence(out, times);
            return out.push('}');
        }
        TrajectoryFunction::Integral => {
            *out += "\\int_{";
            sequence(out, &times[..1]);
            *out += "}^{";
            sequence(out, &times[1..]);
            *out += "}\\left(";
            write(out, formula);
            return *out += "\\right)dt";
        }
        TrajectoryFunction::Maximum => ("\\max_{\\left[", "\\right]}\\left("),
        TrajectoryFunction::Minimum => ("\\min_{\\left[", "\\right]}\\left("),
        TrajectoryFunction::TimeOfMaximum => {
            ("\\operatorname*{arg\\,max}_{\\left[", "\\right]}\\left(")
        }
        TrajectoryFunction::TimeOfMinimum => {
            ("\\operatorname*{arg\\,min}_{\\left[", "\\right]}\\left(")
        }
    };
    *out += open;
    sequence(out, times);
    *out += close;
    write(out, formula);
    *out += "\\right)";
}

fn sequence(out: &mut String, values: &[Ast]) {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            *out += ", ";
        }
        write(out, value);
    }
}

/// 2.5, or 2.5 \cdot 10^{-12}.
fn digits(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "\\infty" } else { "-\\infty" }.to_owned();
    }
    match number(value).split_once('e') {
        Some((digits, exponent)) => format!("{{{digits} \\cdot 10^{{{exponent}}}}}"),
        None => number(value),
    }
}

/// theta_obs1 is \theta_{\mathrm{obs}, 1}; a further index is appended to the subscript.
fn named(name: &str, index: Option<&str>) -> String {
    if name == "inf" && index.is_none() {
        return "\\infty".to_owned();
    }
    let (stem, digits) = split_digits(name);
    let mut words = stem.split('_').filter(|word| !word.is_empty());
    let first = words.next().map_or_else(|| name.replace('_', "\\_"), word);
    let mut below: Vec<String> = words.map(word).collect();
    if !digits.is_empty() && !stem.trim_matches('_').is_empty() {
        below.push(digits.chars().map(on_the_line).collect());
    }
    below.extend(index.map(str::to_owned));
    if below.is_empty() { first } else { format!("{first}_{{{}}}", below.join(", ")) }
}

fn word(word: &str) -> String {
    match command(word) {
        Some(letter) => format!("\\{letter}"),
        None if word.chars().count() == 1 => word.to_owned(),
        None => format!("\\mathrm{{{word}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::expression::parse;

    #[test]
    fn formulas_are_those_of_a_textbook() {
        for (text, expected) in [
            ("-(x - mu)^2 / (2*sigma^2)", r"\frac{-\left(x - \mu\right)^{2}}{2 \cdot \sigma^{2}}"),
            ("(a/b)^2 * (c/d)", r"\left(\frac{a}{b}\right)^{2} \cdot \frac{c}{d}"),
            (
                "theta_obs1 + weight[2] + x1[i, j]",
                r"\theta_{\mathrm{obs}, 1} + \mathrm{weight}_{2} + x_{1, i, j}",
            ),
            ("half_normal(2e-12)", r"\operatorname{half\_normal}\left({2 \cdot 10^{-12}}\right)"),
            ("exp(-abs(x)) + sqrt(x + 1)", r"\exp\left(-\left|x\right|\right) + \sqrt{x + 1}"),
            (
                "if(x <= 0 or not y, σ₂, [1, inf])",
                r"\begin{cases} \sigma_{2} & \text{if } x \le 0 \lor \lnot y \\ \left[1, \infty\right] & \text{otherwise} \end{cases}",
            ),
            ("f(mu, lower = a_b)", r"\operatorname{f}\left(\mu, \text{lower} = a_{b}\right)"),
            ("integral(u/V, 0, T)", r"\int_{0}^{T}\left(\frac{u}{V}\right)dt"),
            (
                "at(u, 3) + time_of_maximum(u, 0, 2)",
                r"\left.u\right|_{3} + \operatorname*{arg\,max}_{\left[0, 2\right]}\left(u\right)",
            ),
            ("a - (b - c)", r"a - \left(b - c\right)"),
            ("s * (L @ z) + m[1, 2:]", r"s \cdot \left(L \, z\right) + m_{1, 2:}"),
            ("_1 + f(x)[2]", r"\_1 + \operatorname{f}\left(x\right)_{2}"),
        ] {
            let ast = parse(text, |offset| offset).unwrap();
            assert_eq!(latex(&ast), expected, "{text}");
        }
    }
}
