//! What programs promise inside: sharing, folding that agrees with running, few instructions.

use super::*;
use crate::simd::{Instructions, dispatch_on};
use op::{Binary, Comparison, Unary};

const UNARY: [Unary; 10] = [
    Unary::Abs,
    Unary::Sign,
    Unary::Sqrt,
    Unary::Exp,
    Unary::ExpM1,
    Unary::Ln,
    Unary::Ln1p,
    Unary::Tanh,
    Unary::Sin,
    Unary::Cos,
];

const BINARY: [Binary; 7] = [
    Binary::Add,
    Binary::Mul,
    Binary::Div,
    Binary::Min,
    Binary::Max,
    Binary::LogAddExp,
    Binary::Share,
];

/// Values where functions differ if they differ at all.
const SPECIAL: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.3,
    -2.5,
    40.0,
    -40.0,
    1e-30,
    -750.0,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn values(program: &Program, points: &[Vec<f64>]) -> Vec<f64> {
    let mut out = Evaluation::zeros(program.dim, points.len());
    program.evaluate(&Batch::from_points(program.dim, points), None, &mut out).expect("same shape");
    out.log_likelihood[..points.len()].to_vec()
}

fn same(found: f64, expected: f64, what: &str) {
    let equal = found == expected || (found.is_nan() && expected.is_nan());
    let near = (found - expected).abs() <= 1e-14 * expected.abs();
    assert!(equal || near, "{what}: {found} when run, {expected} when folded");
}

/// A program of one operation on its inputs.
fn operation(inputs: u32, operation: impl Fn(&mut Graph, &[op::Node]) -> op::Node) -> Program {
    let mut graph = Graph::new();
    let z: Vec<_> = (0..inputs).map(|d| graph.input(d)).collect();
    let node = operation(&mut graph, &z);
    let zero = graph.constant(0.0);
    Program::new(inputs as usize, false, graph, [zero, node])
}

#[test]
fn folding_agrees_with_running() {
    let points: Vec<Vec<f64>> = SPECIAL.iter().map(|&x| vec![x]).collect();
    for function in UNARY {
        let run = values(&operation(1, |graph, z| graph.unary(function, z[0])), &points);
        for (&x, run) in SPECIAL.iter().zip(run) {
            // The sine of a huge number is a matter of its reduction.
            if !(x == 1e300 && matches!(function, Unary::Sin | Unary::Cos)) {
                same(run, function.of(x), &format!("{function:?}({x})"));
            }
        }
    }
    let pairs: Vec<Vec<f64>> =
        SPECIAL.iter().flat_map(|&a| SPECIAL.iter().map(move |&b| vec![a, b])).collect();
    for function in BINARY {
        let program = operation(2, |graph, z| graph.push(op::Op::Binary(function, [z[0], z[1]])));
        for (pair, run) in pairs.iter().zip(values(&program, &pairs)) {
            same(run, function.of(pair[0], pair[1]), &format!("{function:?}{pair:?}"));
        }
    }
    for comparison in [Comparison::Less, Comparison::LessOrEqual] {
        let program = operation(2, |graph, z| {
            let (yes, no) = (graph.constant(1.0), graph.constant(0.0));
            graph.select(comparison, [z[0], z[1], yes, no])
        });
        for (pair, run) in pairs.iter().zip(values(&program, &pairs)) {
            let folded = if comparison.holds(pair[0], pair[1]) { 1.0 } else { 0.0 };
            same(run, folded, &format!("{comparison:?}{pair:?}"));
        }
    }
}

#[test]
fn common_parts_are_there_once() {
    let mut graph = Graph::new();
    let (x, y) = (graph.input(0), graph.input(1));
    let first = graph.mul(x, y);
    let len = graph.len();
    assert_eq!(graph.mul(y, x), first, "products commute");
    assert_eq!(graph.len(), len);
    let (two, three) = (graph.constant(2.0), graph.constant(3.0));
    assert_eq!(graph.add(two, three), graph.constant(5.0));
    let one = graph.constant(1.0);
    let zero = graph.constant(0.0);
    assert_eq!((graph.mul(one, x), graph.add(x, zero), graph.div(x, one)), (x, x, x));
    let minus = graph.neg(x);
    assert_eq!(graph.neg(minus), x);
    let twice = graph.mul(two, x);
    assert_eq!(graph.add(x, x), twice);
    let six = graph.constant(6.0);
    assert_eq!(graph.mul(three, twice), graph.mul(six, x));
}

#[test]
fn what_is_not_finite_is_not_simplified_away() {
    let mut graph = Graph::new();
    let (x, zero) = (graph.input(0), graph.constant(0.0));
    let product = graph.mul(zero, x);
    assert_eq!(graph.as_constant(product), None);
    let difference = graph.sub(x, x);
    assert_eq!(graph.as_constant(difference), None);
}

#[test]
fn programs_are_short() {
    let bimodal = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    assert_eq!(bimodal.instructions(), (2, 1));
    // The exponential and its sum serve the value and both shares.
    let mixture = Program::record(1, |z| log_sum_exp(&[z[0], 2.0 * z[0] * z[0]]));
    let transcendental = |code: &Code| {
        let dear = |work: &code::Work<_>| {
            matches!(work, code::Work::ExpNegDistance { .. } | code::Work::Ln1pAdd { .. })
        };
        code.instructions.iter().filter(|i| dear(&i.work)).count()
    };
    assert_eq!(transcendental(&mixture.with_gradient), 2);
}

#[test]
fn what_both_modes_share_needs_no_shares() {
    // d/dy of ln(e^(x − y²) + e^(−x − y²)) is −2y: no exponential.
    let density = |graph: &mut Graph| {
        let (x, y) = (graph.input(0), graph.input(1));
        let square = graph.mul(y, y);
        let (a, minus) = (graph.sub(x, square), graph.neg(x));
        let b = graph.sub(minus, square);
        graph.log_add_exp(a, b)
    };
    let mut graph = Graph::new();
    let node = density(&mut graph);
    let one = graph.constant(1.0);
    let (x, y) = (graph.input(0), graph.input(1));
    let slopes = gradient::gradient(&mut graph, &[(node, one)], &[x, y]);
    let minus_two = graph.constant(-2.0);
    assert_eq!(slopes[1], graph.mul(minus_two, y));
}

#[test]
fn slots_are_used_again() {
    let chain = Program::record(1, |z| (0..1000).fold(z[0], |x, _| x.sin() * 0.5 + x));
    assert!(chain.values.slots <= 4, "{} slots", chain.values.slots);
}

#[test]
fn instruction_sets_agree_to_rounding() {
    let program = Program::record(2, |z| {
        let (x, y) = (z[0], z[1]);
        log_sum_exp(&[x * y, x.tanh() - y.abs(), (x * x + y * y).sqrt()]) / (1.0 + x.exp())
            + y.lt(x).select(x.sin(), y.softplus())
    });
    let points: Vec<[f64; 2]> =
        (0..100).map(|i| [(i as f64).sin() * 3.0, (1.7 * i as f64).cos() * 2.0]).collect();
    let points = Batch::from_points(2, &points);
    let run = |instructions| {
        let mut out = Evaluation::zeros(2, 100);
        let code = &program.with_gradient;
        let mut scratch = run::take_scratch(code, [1.0; 2]);
        let (scratch, points) = (&mut *scratch, &points);
        let kernel = Evaluate { code, scratch, points, out: &mut out, has_prior: false };
        dispatch_on(instructions, kernel);
        out
    };
    let baseline = run(Instructions::Baseline);
    for instructions in [Instructions::Avx2, Instructions::Avx512] {
        let other = run(instructions);
        for i in 0..100 {
            let near =
                |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
            near(other.log_likelihood[i], baseline.log_likelihood[i]);
            near(other.gradient.row(0)[i], baseline.gradient.row(0)[i]);
            near(other.gradient.row(1)[i], baseline.gradient.row(1)[i]);
        }
    }
}
