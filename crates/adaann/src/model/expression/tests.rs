use super::*;

fn tree(text: &str) -> Ast {
    parse(text, |offset| offset).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

/// The tree with all its parentheses.
fn shape(ast: &Ast) -> String {
    let list = |values: &[Ast]| values.iter().map(shape).collect::<Vec<_>>().join(", ");
    match &ast.kind {
        Kind::Number(value) => value.to_string(),
        Kind::Name(name) => name.clone(),
        Kind::Call { name, arguments, .. } => format!("{name}({})", list(arguments)),
        Kind::Named { name, value } => format!("{name} = {}", shape(value)),
        Kind::Index { of, indices } => format!("{}[{}]", shape(of), list(indices)),
        Kind::Range { first, last } => {
            let side = |side: &Option<Box<Ast>>| side.as_deref().map(shape).unwrap_or_default();
            format!("{}:{}", side(first), side(last))
        }
        Kind::List(values) => format!("[{}]", list(values)),
        Kind::Negate(value) => format!("(-{})", shape(value)),
        Kind::Not(value) => format!("(not {})", shape(value)),
        Kind::Binary { operator, left, right } => {
            format!("({} {} {})", shape(left), operator.symbol(), shape(right))
        }
    }
}

/// The mistakes of a formula: place, message and help.
fn said(text: &str) -> Vec<(String, String, String)> {
    let Err(faults) = parse(text, |offset| offset) else { panic!("{text} is accepted") };
    let said = |fault: Fault| {
        let place = text.get(fault.span.clone()).unwrap_or_else(|| panic!("{text}: {fault:?}"));
        (place.to_owned(), fault.message, fault.help.unwrap_or_default())
    };
    faults.into_iter().map(said).collect()
}

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, expected) in [
        ("a + b*c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("f(a, k = b + c, right = d == 0)", "f(a, k = (b + c), right = (d == 0))"),
        ("a/b/c*d", "(((a / b) / c) * d)"),
        ("-x^2", "(-(x ^ 2))"),
        ("2^-1", "(2 ^ (-1))"),
        ("2^3^4", "(2 ^ (3 ^ 4))"),
        ("2^-x^2*y", "((2 ^ (-(x ^ 2))) * y)"),
        ("a * -b", "(a * (-b))"),
        ("- -a", "(-(-a))"),
        ("a - -b", "(a - (-b))"),
        ("a or b and not c < d + 1", "(a or (b and (not (c < (d + 1)))))"),
        ("not not a", "(not (not a))"),
        ("not a and b", "((not a) and b)"),
        ("(a or b) and c", "((a or b) and c)"),
        ("x[i, 2]^2", "(x[i, 2] ^ 2)"),
        ("f(x)[1][2]", "f(x)[1][2]"),
        ("if(x >= 0, [1, .5e-3], flat())", "if((x >= 0), [1, 0.0005], flat())"),
        ("a − b·c × 2.", "(a - ((b * c) * 2))"),
        ("θ₁ + σ_x2 # noise\n + 1", "((θ₁ + σ_x2) + 1)"),
        ("[]", "[]"),
        ("A @ x * 2 + y", "(((A @ x) * 2) + y)"),
        ("x[2:n - 1] + m[:, 1] + x[-3:]", "((x[2:(n - 1)] + m[:, 1]) + x[(-3):])"),
        ("andy + orb + note", "((andy + orb) + note)"),
    ] {
        assert_eq!(shape(&tree(text)), expected, "{text}");
    }
}

#[test]
fn spans_are_those_of_the_file() {
    let text = " a + (b*c) * f(x)";
    let ast = parse(text, |offset| offset + 100).unwrap();
    assert_eq!(ast.span, 101..117);
    let Kind::Binary { right, .. } = ast.kind else { panic!("a sum") };
    assert_eq!(right.span, 105..117);
    let Kind::Binary { left, right, .. } = right.kind else { panic!("a product") };
    assert_eq!(left.span, 105..110);
    let Kind::Call { name_span, .. } = right.kind else { panic!("a call") };
    assert_eq!(name_span, 113..114);
}

#[test]
fn a_mistake_has_its_place_and_its_remedy() {
    for (text, place, message, help) in [
        ("a = b", "=", "`=` is out of place", "write `==` to compare"),
        ("[a = b]", "=", "`=` is out of place", "write `==` to compare"),
        ("f(a, k = )", "=", "a value is missing after `=`", ""),
        ("a ** b", "**", "`**` is not part of formulas", "write `^` for a power"),
        ("a && b", "&&", "`&&` is not part of formulas", "write `and`"),
        ("a || b", "||", "`||` is not part of formulas", "write `or`"),
        ("!a", "!", "`!` is not part of formulas", "write `not`"),
        (
            "5 % 2",
            "%",
            "`%` is not part of formulas",
            "formulas have no remainder operator; for percent, write `/100`",
        ),
        ("1 + 2x", "2x", "there is no operator between `2` and `x`", "write `2*x` for a product"),
        ("2 x", "2 x", "there is no operator between `2` and `x`", "write `2*x` for a product"),
        ("2(x)", "2(", "there is no operator between `2` and `(`", "write `*` for a product"),
        ("f(a, (b", "(", "`(` is never closed", "add `)`"),
        ("[(a]", "(", "`(` is never closed", "add `)`"),
        ("(a]", "]", "`]` cannot close `(`", "write `)`"),
        ("a)", ")", "`)` is out of place", "there is no open bracket before it"),
        ("(a, b)", ",", "`,` is out of place", "write a list with brackets: `[a, b]`"),
        ("a +", "+", "a value is missing after `+`", ""),
        ("a + * b", "*", "a value is missing before `*`", ""),
        ("f(a,)", ",", "a value is missing after `,`", ""),
        ("()", "(", "a value is missing after `(`", ""),
        (
            "x[]",
            "[]",
            "an index is missing between `[` and `]`",
            "elements are counted from 1: `x[1]`",
        ),
        ("", "", "the formula is empty", ""),
        (" # only\n", " # only\n", "the formula is empty", ""),
        ("a < b <= c", "<=", "comparisons do not chain", "write `a < b and b <= c`"),
        ("1_000", "1_000", "`1_000` is not a number", "write `1000`"),
        ("1.2.3", "1.2.3", "`1.2.3` is not a number", "a number has one decimal point"),
        ("1e999", "1e999", "this number is too large", "at most 1.79e308; or write `inf`"),
        ("x² + 1", "²", "`²` is not part of formulas", "write `^2`"),
        ("$x", "$", "`$` is not part of formulas", ""),
        (
            "a \u{200b}b",
            "\u{200b}",
            "the character `\\u{200b}` (U+200B) is not part of formulas",
            "",
        ),
        (
            "1 + not a",
            "not",
            "`not` is out of place",
            "put parentheses around `not` and its operand",
        ),
        (
            "a ; b",
            ";",
            "`;` is not part of formulas",
            "a formula is one expression; `,` separates arguments",
        ),
    ] {
        let said = said(text);
        let (at, what, how) = &said[0];
        assert_eq!((at.as_str(), what.as_str(), how.as_str()), (place, message, help), "{text}");
    }
    assert_eq!(said("a ; b").len(), 1);
}

#[test]
fn all_mistakes_are_said_at_once() {
    let said = said("f((a = b), 2x) ** (c");
    let places: Vec<&str> = said.iter().map(|(place, ..)| place.as_str()).collect();
    assert_eq!(places, ["=", "2x", "**", "("]);
    let many = "a && ".repeat(100) + "a";
    assert_eq!(parse(&many, |offset| offset).unwrap_err().len(), 10);
}

#[test]
fn limits_have_their_own_messages() {
    let only = |text: &str| {
        let said = said(text);
        assert_eq!(said.len(), 1, "{said:?}");
        said[0].1.clone()
    };
    for [open, close] in [["(", ")"], ["f(", ")"], ["[", "]"], ["-", ""], ["x[", "]"], ["2^", ""]] {
        let nested = |levels| open.repeat(levels) + "1" + &close.repeat(levels);
        assert!(parse(&nested(100), |offset| offset).is_ok(), "{open}");
        assert!(only(&nested(101)).contains("nested too deeply"), "{open}");
        assert!(only(&nested(9_000)).contains("nested too deeply"), "{open}");
    }
    assert!(only(&format!("sum([{}1])", "1,".repeat(20_000))).contains("more than 20000"));
    assert!(only(&" ".repeat(100_001)).contains("100001 bytes"));
}

#[test]
fn a_small_stack_is_enough() {
    let deepest = |part: &str| part.repeat(95) + "1" + &")".repeat(95);
    let texts = [
        format!("{}1", "a + b - ".repeat(4_000)),
        format!("{}1", "a or ".repeat(9_000)),
        format!("{}1", "2 / ".repeat(9_000)),
        deepest("f("),
        deepest("a + b * f("),
        "a or b and c < d + e * -(".repeat(60),
        format!("{}1", "f(1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+".repeat(90)),
    ];
    let walk = move || {
        for text in &texts {
            if let Ok(ast) = parse(text, |offset| offset) {
                assert!(!shape(&ast.clone()).is_empty());
            }
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(walk).unwrap().join().unwrap();
}

#[test]
fn a_long_chain_has_the_value_of_the_short_one() {
    /// Value of a formula of numbers.
    fn value(ast: &Ast) -> f64 {
        match &ast.kind {
            Kind::Number(value) => *value,
            Kind::Binary { operator, left, right } => match operator {
                Operator::Add => value(left) + value(right),
                Operator::Subtract => value(left) - value(right),
                Operator::Multiply => value(left) * value(right),
                Operator::Divide => value(left) / value(right),
                _ => panic!("no arithmetic"),
            },
            _ => panic!("no arithmetic"),
        }
    }
    // Whole numbers, and powers of two: exact in any order.
    let mut sum = 1.0;
    let mut product = 1.0;
    let (mut sum_text, mut product_text) = ("1".to_owned(), "1".to_owned());
    for n in 1..2_001_u32 {
        let minus = n % 3 == 0 || n % 7 == 2;
        sum += if minus { -f64::from(n) } else { f64::from(n) };
        sum_text += &format!("{} {n}", if minus { '-' } else { '+' });
        let divide = n % 2 == 0;
        product *= if divide { 0.5 } else { [2.0, 1.0][(n % 5 == 0) as usize] };
        product_text += &format!(
            "{} {}",
            if divide { '/' } else { '*' },
            [2, 1][(n % 5 == 0 && !divide) as usize]
        );
        assert_eq!(value(&tree(&sum_text)), sum, "{n} terms");
        assert_eq!(value(&tree(&product_text)), product, "{n} factors");
        if n > 100 {
            break;
        }
    }
    let long = "1".to_owned() + &" - 1 + 2".repeat(4_000);
    assert_eq!(value(&tree(&long)), 4001.0);
}
