//! Targets with mass at bounds: products of independent pieces of one or two dimensions.

use super::{
    numbers::Numbers,
    truth::{Truth, of_box, of_line},
};
use adaann::{Error, Result, model::Model};

/// A part of a model, independent of other parts.
pub(super) struct Piece {
    /// Lines of `[parameters]`.
    parameters: String,
    /// A term of the log density.
    density: String,
    /// Lines of `[quantities]` and `[constants]`.
    quantities: String,
    is_box: bool,
    /// The location and width of a piece on the whole line.
    middle: f64,
    scale: f64,
}

impl Piece {
    fn line(parameter: String, density: String) -> Self {
        let quantities = String::new();
        Self { parameters: parameter, density, quantities, is_box: false, middle: 0.0, scale: 1.0 }
    }

    fn of_two(parameters: String, density: String) -> Self {
        Self { is_box: true, ..Self::line(parameters, density) }
    }
}

/// Builds a piece. The number makes its names unique.
pub(super) type Maker = fn(&mut Numbers, usize) -> Piece;

/// Names, and the numbers of pieces of each kind.
pub(super) const AT_BOUNDS: [(&str, Maker, usize); 18] = [
    ("truncated-1", truncated, 1),
    ("truncated-2", truncated, 2),
    ("truncated-4", truncated, 4),
    ("truncated-8", truncated, 8),
    ("outside-3", outside, 3),
    ("half-normal-5", half_normal, 5),
    ("exponential-2", exponential, 2),
    ("gamma-below-1", gamma_below, 1),
    ("gamma-below-3", gamma_below, 3),
    ("beta-3", beta, 3),
    ("box-2", correlated, 1),
    ("ridge-2", ridge, 1),
    ("product-2", product, 1),
    ("saturation-2", saturation, 1),
    ("decay-2", decay, 1),
    ("supernova-2", supernova, 1),
    ("hierarchy-2", hierarchy, 1),
    ("counts-2", counts, 1),
];

/// Pieces inside their bounds, or without any.
pub(super) const INSIDE: [(&str, Maker, usize); 10] = [
    ("lognormal-1", lognormal, 1),
    ("lognormal-3", lognormal, 3),
    ("gamma-1", gamma, 1),
    ("gamma-3", gamma, 3),
    ("inverse-gamma-1", inverse_gamma, 1),
    ("inverse-gamma-2", inverse_gamma, 2),
    ("conflict-1", conflict, 1),
    ("laplace-2", laplace, 2),
    ("location-scale-2", location_scale, 1),
    ("logistic-2", logistic, 1),
];

/// A model of pieces and its exact answer.
pub(super) fn build(
    name: &str,
    make: Maker,
    count: usize,
    numbers: &mut Numbers,
) -> Result<(Model, Truth)> {
    let pieces: Vec<Piece> = (0..count).map(|i| make(numbers, i)).collect();
    let mut truth = Truth::default();
    for piece in &pieces {
        let target = model(name, std::slice::from_ref(piece))?.target();
        truth = truth.and(match piece.is_box {
            true => of_box(&*target)?,
            false => of_line(&*target, piece.middle, piece.scale)?,
        });
    }
    Ok((model(name, &pieces)?, truth))
}

fn model(name: &str, pieces: &[Piece]) -> Result<Model> {
    let all = |f: fn(&Piece) -> &str, between: &str| -> String {
        pieces.iter().map(f).collect::<Vec<_>>().join(between)
    };
    let text = format!(
        "density = \"{}\"\n[parameters]\n{}\n{}",
        all(|piece| &piece.density, " + "),
        all(|piece| &piece.parameters, "\n"),
        all(|piece| &piece.quantities, "\n")
    );
    Model::parse(name, &text).map_err(|faults| Error::Data(format!("{faults}\n{text}")))
}

/// A uniform prior and a normal likelihood whose peak is near a bound.
fn truncated(numbers: &mut Numbers, i: usize) -> Piece {
    let peak = numbers.between(-0.1, 0.15);
    cut_normal(numbers, i, peak, [0.05, 0.3])
}

/// A uniform prior and a normal likelihood with a peak outside the bounds.
fn outside(numbers: &mut Numbers, i: usize) -> Piece {
    let peak = numbers.between(-0.6, -0.2);
    cut_normal(numbers, i, peak, [0.1, 0.5])
}

/// A normal likelihood, with the distance of its peak from a bound and its width in units of the box.
fn cut_normal(numbers: &mut Numbers, i: usize, peak: f64, widths: [f64; 2]) -> Piece {
    let (low, width) = (3.0 * numbers.normal(), numbers.scale(0.3, 30.0));
    let sd = width * numbers.between(widths[0], widths[1]);
    let peak = if numbers.between(0.0, 1.0) < 0.5 { peak } else { 1.0 - peak };
    let (high, mean) = (low + width, low + peak * width);
    Piece::line(
        format!("x{i} = \"uniform({low:?}, {high:?})\""),
        format!("logpdf(normal({mean:?}, {sd:?}), x{i})"),
    )
}

fn half_normal(numbers: &mut Numbers, i: usize) -> Piece {
    let prior = numbers.scale(0.2, 20.0);
    let (mean, sd) = (prior * numbers.between(-0.5, 0.4), prior * numbers.between(0.2, 1.0));
    Piece::line(
        format!("x{i} = \"half_normal({prior:?})\""),
        format!("logpdf(normal({mean:?}, {sd:?}), x{i})"),
    )
}

fn exponential(numbers: &mut Numbers, i: usize) -> Piece {
    let rate = numbers.scale(0.1, 10.0);
    let more = rate * numbers.scale(0.5, 20.0);
    Piece::line(format!("x{i} = \"exponential({rate:?})\""), format!("(-{more:?} * x{i})"))
}

fn gamma_below(numbers: &mut Numbers, i: usize) -> Piece {
    let (shape, rate) = (numbers.between(0.35, 1.0), numbers.scale(0.1, 10.0));
    let more = rate * numbers.scale(0.5, 20.0);
    Piece::line(format!("x{i} = \"gamma({shape:?}, {rate:?})\""), format!("(-{more:?} * x{i})"))
}

fn beta(numbers: &mut Numbers, i: usize) -> Piece {
    let (a, b) = (numbers.between(0.5, 1.0), numbers.between(0.5, 1.0));
    let trials = numbers.between(0.0, 6.0);
    Piece::line(format!("x{i} = \"beta({a:?}, {b:?})\""), format!("{trials:?} * log1p(-x{i})"))
}

/// A correlated normal likelihood near a side or a corner of a box.
fn correlated(numbers: &mut Numbers, i: usize) -> Piece {
    let (rho, side) =
        (numbers.between(-0.9, 0.9), [numbers.scale(0.3, 30.0), numbers.scale(0.3, 30.0)]);
    let low = [3.0 * numbers.normal(), 3.0 * numbers.normal()];
    let at = [numbers.between(-0.2, 0.2), numbers.between(-0.2, 1.2)];
    let width = [numbers.between(0.08, 0.4), numbers.between(0.08, 0.4)];
    let unit = |d: usize| {
        let (middle, sd) = (low[d] + at[d] * side[d], width[d] * side[d]);
        format!("((x{d}_{i} - ({middle:?})) / {sd:?})")
    };
    let (u, v) = (unit(0), unit(1));
    let high = [low[0] + side[0], low[1] + side[1]];
    let parameter = |d: usize| format!("x{d}_{i} = \"uniform({:?}, {:?})\"", low[d], high[d]);
    let factor = -0.5 / (1.0 - rho * rho);
    Piece::of_two(
        format!("{}\n{}", parameter(0), parameter(1)),
        format!("({factor:?}) * ({u}^2 + {v}^2 - 2 * ({rho:?}) * {u} * {v})"),
    )
}

/// Data only on a sum, which gives a ridge from bound to bound.
fn ridge(numbers: &mut Numbers, i: usize) -> Piece {
    let sides = [numbers.scale(0.5, 5.0), numbers.scale(0.5, 5.0)];
    let sum = numbers.between(0.3, 0.9) * sides[0].min(sides[1]);
    let sd = sum * numbers.between(0.05, 0.3);
    Piece::of_two(
        format!("x{i} = \"uniform(0, {:?})\"\ny{i} = \"uniform(0, {:?})\"", sides[0], sides[1]),
        format!("logpdf(normal({sum:?}, {sd:?}), x{i} + y{i})"),
    )
}

/// Data only on a product, which gives a curved ridge from bound to bound.
fn product(numbers: &mut Numbers, i: usize) -> Piece {
    let sides = [numbers.scale(0.5, 5.0), numbers.scale(0.5, 5.0)];
    let product = numbers.between(0.1, 0.5) * sides[0] * sides[1];
    let sd = product * numbers.between(0.1, 0.4);
    Piece::of_two(
        format!("x{i} = \"uniform(0, {:?})\"\ny{i} = \"uniform(0, {:?})\"", sides[0], sides[1]),
        format!("logpdf(normal({product:?}, {sd:?}), x{i} * y{i})"),
    )
}

/// A rate V c/(K + c), measured far below saturation.
fn saturation(numbers: &mut Numbers, _: usize) -> Piece {
    let (most, half) = (numbers.between(2.0, 5.0), numbers.between(2.0, 6.0));
    let at: Vec<f64> = (1..=8).map(|i| 0.5 * f64::from(i)).collect();
    let sd = most * numbers.between(0.03, 0.1);
    let seen: Vec<f64> = at.iter().map(|c| most * c / (half + c) + sd * numbers.normal()).collect();
    Piece {
        quantities: format!("[constants]\nat = {at:?}\nseen = {seen:?}\n"),
        ..Piece::of_two(
            "v = \"uniform(0, 12)\"\nk = \"uniform(0, 20)\"".into(),
            format!("logpdf(normal(v * at / (k + at), {sd:?}), seen)"),
        )
    }
}

/// a e^(−k t), where k may be 0.
fn decay(numbers: &mut Numbers, _: usize) -> Piece {
    let (height, rate) = (numbers.between(1.0, 4.0), numbers.between(0.0, 0.3));
    let at: Vec<f64> = (0..10).map(|i| 0.7 * f64::from(i)).collect();
    let sd = height * numbers.between(0.1, 0.4);
    let seen: Vec<f64> =
        at.iter().map(|t| height * (-rate * t).exp() + sd * numbers.normal()).collect();
    Piece {
        quantities: format!("[constants]\nat = {at:?}\nseen = {seen:?}\n"),
        ..Piece::of_two(
            "a = \"uniform(0, 10)\"\nk = \"uniform(0, 3)\"".into(),
            format!("logpdf(normal(a * exp(-k * at), {sd:?}), seen)"),
        )
    }
}

/// Nodes and weights of Gauss and Legendre on (0, 1).
const GAUSS: [[f64; 2]; 5] = [
    [0.046_910_077_030_668, 0.118_463_442_528_095],
    [0.230_765_344_947_158, 0.239_314_335_249_683],
    [0.5, 0.284_444_444_444_444],
    [0.769_234_655_052_842, 0.239_314_335_249_683],
    [0.953_089_922_969_332, 0.118_463_442_528_095],
];

/// Distances of supernovae in a flat universe with Ω_m and the equation of state w of dark energy:
/// d(z) = (1 + z) ∫₀ᶻ dz'/√(Ω (1 + z')³ + (1 − Ω) (1 + z')^(3 (1 + w))), in magnitudes 5 log₁₀ d.
fn supernova(numbers: &mut Numbers, _: usize) -> Piece {
    let count = 40;
    let redshifts: Vec<f64> = (0..count).map(|_| numbers.scale(0.02, 1.2)).collect();
    let (omega, w, sd) = (numbers.between(0.2, 0.35), numbers.between(-1.2, -0.8), 0.15);
    let magnitude = |z: f64| {
        let inverse = |[node, weight]: [f64; 2]| {
            let a = 1.0 + node * z;
            weight / (omega * a.powi(3) + (1.0 - omega) * a.powf(3.0 + 3.0 * w)).sqrt()
        };
        let sum: f64 = GAUSS.into_iter().map(inverse).sum();
        5.0 / 10_f64.ln() * ((1.0 + z) * z * sum).ln()
    };
    let seen: Vec<f64> = redshifts.iter().map(|&z| magnitude(z) + sd * numbers.normal()).collect();
    let term = |[node, weight]: [f64; 2]| {
        format!(
            "{weight:?} / sqrt(om * (1 + {node:?} * at)^3 + (1 - om) * (1 + {node:?} * at)^(3 + 3 * w))"
        )
    };
    let integral = GAUSS.map(term).join(" + ");
    let factor = 5.0 / 10_f64.ln();
    Piece {
        quantities: format!(
            "[constants]\nat = {redshifts:?}\nseen = {seen:?}\n[quantities]\n\
             magnitude = {{ formula = \"{factor:?} * log((1 + at) * at * ({integral}))\", hidden = true }}\n"
        ),
        ..Piece::of_two(
            "om = \"uniform(0, 1)\"\nw = \"uniform(-3, 0)\"".into(),
            format!("logpdf(normal(magnitude, {sd:?}), seen)"),
        )
    }
}

/// Effects in groups, which are integrated out. The spread between groups may be 0.
fn hierarchy(numbers: &mut Numbers, _: usize) -> Piece {
    let (unit, count) = (numbers.scale(0.3, 10.0), 8);
    let spread = unit * numbers.between(0.0, 0.7);
    let middle = 2.0 * unit * numbers.normal();
    let errors: Vec<f64> = (0..count).map(|_| unit * numbers.between(0.6, 1.4)).collect();
    let effects: Vec<f64> =
        (errors.iter()).map(|error| middle + error.hypot(spread) * numbers.normal()).collect();
    let most = 6.0 * unit;
    let (low, high) = (middle - 6.0 * unit, middle + 6.0 * unit);
    Piece {
        quantities: format!("[constants]\nerrors = {errors:?}\neffects = {effects:?}\n"),
        ..Piece::of_two(
            format!("mu = \"uniform({low:?}, {high:?})\"\ntau = \"uniform(0, {most:?})\""),
            "logpdf(normal(mu, sqrt(errors^2 + tau^2)), effects)".into(),
        )
    }
}

/// Counts with a separately measured background. The signal may be 0.
fn counts(numbers: &mut Numbers, _: usize) -> Piece {
    let (longer, background) = (numbers.between(1.0, 4.0), numbers.between(2.0, 8.0));
    let signal = numbers.between(0.0, 3.0);
    let seen = (background + signal + background.sqrt() * numbers.normal()).round().max(0.0);
    let elsewhere =
        (longer * background + (longer * background).sqrt() * numbers.normal()).round().max(1.0);
    Piece::of_two(
        "s = \"uniform(0, 30)\"\nb = \"uniform(0, 30)\"".into(),
        format!("{seen:?} * log(s + b) - (s + b) + {elsewhere:?} * log(b) - {longer:?} * b"),
    )
}

fn lognormal(numbers: &mut Numbers, i: usize) -> Piece {
    let (middle, sd) = (2.0 * numbers.normal(), numbers.between(0.3, 1.0));
    let (seen, error) = (middle + sd * numbers.normal(), sd * numbers.between(0.5, 1.5));
    Piece::line(
        format!("x{i} = \"lognormal({middle:?}, {sd:?})\""),
        format!("logpdf(normal(log(x{i}), {error:?}), {seen:?})"),
    )
}

fn gamma(numbers: &mut Numbers, i: usize) -> Piece {
    let (shape, rate) = (numbers.between(1.5, 5.0), numbers.scale(0.1, 10.0));
    let (events, time) =
        (numbers.between(0.0, 8.0).floor(), numbers.scale(0.2, 5.0) / rate.recip());
    Piece::line(
        format!("x{i} = \"gamma({shape:?}, {rate:?})\""),
        format!("({events:?} * log(x{i}) - {time:?} * x{i})"),
    )
}

/// A variance, estimated from a few squares.
fn inverse_gamma(numbers: &mut Numbers, i: usize) -> Piece {
    let (shape, scale) = (numbers.between(3.0, 6.0), numbers.scale(0.1, 10.0));
    let (half, squares) = (numbers.between(2.0, 6.0), scale * numbers.between(0.5, 3.0));
    Piece::line(
        format!("x{i} = \"inv_gamma({shape:?}, {scale:?})\""),
        format!("(-{half:?} * log(x{i}) - {squares:?} / x{i})"),
    )
}

/// A prior with heavy tails, and a measurement far from it.
fn conflict(numbers: &mut Numbers, i: usize) -> Piece {
    let (middle, scale) = (3.0 * numbers.normal(), numbers.scale(0.1, 10.0));
    let (seen, error) =
        (middle + scale * numbers.between(2.0, 4.0), scale * numbers.between(0.7, 1.5));
    let density = format!("logpdf(normal({seen:?}, {error:?}), x{i})");
    let parameter = format!("x{i} = \"student_t(4, {middle:?}, {scale:?})\"");
    Piece { middle: seen, scale, ..Piece::line(parameter, density) }
}

fn laplace(numbers: &mut Numbers, i: usize) -> Piece {
    let (middle, scale) = (3.0 * numbers.normal(), numbers.scale(0.1, 10.0));
    let (seen, error) = (middle + scale * numbers.normal(), scale * numbers.between(0.7, 1.5));
    let density = format!("logpdf(normal({seen:?}, {error:?}), x{i})");
    let parameter = format!("x{i} = \"laplace({middle:?}, {scale:?})\"");
    Piece { middle, scale, ..Piece::line(parameter, density) }
}

/// Mean and standard deviation of a dozen normal numbers.
fn location_scale(numbers: &mut Numbers, _: usize) -> Piece {
    let (middle, sd) = (3.0 * numbers.normal(), numbers.scale(0.1, 10.0));
    let seen: Vec<f64> = (0..12).map(|_| middle + sd * numbers.normal()).collect();
    let (low, high, most) = (middle - 5.0 * sd, middle + 5.0 * sd, 8.0 * sd);
    Piece {
        quantities: format!("[constants]\nseen = {seen:?}\n"),
        ..Piece::of_two(
            format!("mu = \"uniform({low:?}, {high:?})\"\nsigma = \"uniform(0, {most:?})\""),
            "logpdf(normal(mu, sigma), seen)".into(),
        )
    }
}

/// A logistic regression.
fn logistic(numbers: &mut Numbers, _: usize) -> Piece {
    let (shift, slope) = (0.7 * numbers.normal(), numbers.normal());
    let x: Vec<f64> = (0..40).map(|_| numbers.normal()).collect();
    let sign = |x: &f64| {
        let p = 1.0 / (1.0 + (-shift - slope * x).exp());
        if numbers.between(0.0, 1.0) < p { 1.0 } else { -1.0 }
    };
    let signs: Vec<f64> = x.iter().map(sign).collect();
    Piece {
        quantities: format!("[constants]\nat = {x:?}\nsigns = {signs:?}\n"),
        ..Piece::of_two(
            "a = \"uniform(-8, 8)\"\nb = \"uniform(-8, 8)\"".into(),
            "-sum(softplus(-signs * (a + b * at)))".into(),
        )
    }
}
