//! Models with a series, a Gaussian process, or subjects with doses: time of log density and gradient per point,
//! compared with JAX (`peers/jax_pieces.py`) and with unrolled formulas.

use crate::beside;
use crate::models::{Shards, fastest};
use crate::peers;
use adaann::{Batch, Instructions, model::Model, target::Target};
use std::{fmt::Write as _, time::Instant};

/// The number of points of a batch.
const POINTS: usize = 256;

/// A model, and the points at which it is evaluated: a middle and the spread in each coordinate.
struct Piece {
    /// The name in the script of the peer.
    name: &'static str,
    text: String,
    middle: Vec<f64>,
    spread: Vec<f64>,
}

impl Piece {
    fn points(&self) -> Batch {
        let at = |n: usize, d: usize| self.middle[d] + self.spread[d] * ((n + 2 * d) as f64).cos();
        let point = |n: usize| (0..self.middle.len()).map(|d| at(n, d)).collect();
        let points: Vec<Vec<f64>> = (0..POINTS).map(point).collect();
        Batch::from_points(self.middle.len(), &points)
    }

    fn model(&self) -> Model {
        Model::parse(self.name, &self.text).unwrap_or_else(|found| panic!("{found}"))
    }
}

/// Prints the table, with the ratios to JAX on request.
pub(crate) fn run(with_peers: bool) {
    println!("log density and gradient of {POINTS} points; {}", Instructions::current());
    println!(
        "\nmodel                          d  s to compile | us a point x1      x2 | log density of the first, sum of its gradient"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let mut found = Vec::new();
    for piece in [garch(1000), process(50), subjects()] {
        let start = Instant::now();
        let model = piece.model();
        let seconds = start.elapsed().as_secs_f64();
        let target = model.target();
        let points = piece.points();
        let (mut whole, mut halves) = (Shards::new(&points, 1), Shards::new(&points, 2));
        let on_one = &mut || whole.microseconds(&*target);
        let on_two = &mut || pool.install(|| halves.microseconds(&*target));
        let microseconds = fastest([on_one, on_two]);
        println!(
            "{:<28} {:>3} {:>13.3} | {:>13.2} {:>7.2} | {:.8}, {:.6}",
            piece.name,
            target.dim(),
            seconds,
            microseconds[0],
            microseconds[1],
            whole.log_density(0),
            whole.sum_of_gradient(0)
        );
        found.push((piece.name, microseconds));
    }
    beside_unrolled();
    if !with_peers {
        return;
    }
    println!("\npeer   problem                       us a point   ratio to x1   to x2   variant");
    for line in peers::lines_of(".venv-diffrax", "jax_pieces.py", None) {
        let Some((_, ours)) = found.iter().find(|(name, _)| *name == line.problem) else {
            continue;
        };
        println!(
            "{:<6} {:<28} {:>11.1} {:>13.1} {:>7.1}   {}",
            line.framework,
            line.problem,
            line.microseconds,
            line.microseconds / ours[0],
            line.microseconds / ours[1],
            line.variant
        );
    }
}

/// The same densities written out row by row.
fn beside_unrolled() {
    beside::print_head();
    for (piece, unrolled) in [
        (garch(200), unrolled_garch(200)),
        (hidden_states(100), unrolled_hidden_states(100)),
        (process(11), unrolled_process(11)),
    ] {
        beside::print_line(
            unrolled.name,
            &piece.points(),
            [&|| piece.model(), &|| unrolled.model()],
        );
    }
}

fn list(numbers: impl Iterator<Item = f64>) -> String {
    format!("{:?}", numbers.collect::<Vec<f64>>())
}

fn returns(rows: usize) -> impl Iterator<Item = f64> {
    (1..=rows).map(|t| {
        let t = t as f64;
        0.2 + (1.0 + 0.5 * (0.05 * t).sin()) * (1.3 * t * t).cos()
    })
}

const GARCH_PARAMETERS: &str = "[parameters]\nmu = \"normal(0, 1)\"\nalpha0 = \"lognormal(0, 1)\"\n\
     alpha1 = \"uniform(0, 1)\"\nbeta1 = \"uniform(0, 1)\"\n";

fn garch(rows: usize) -> Piece {
    let text = format!(
        "[data]\ny = {}\n\n{GARCH_PARAMETERS}\n[series.states]\n\
         h = {{ start = 1, next = \"alpha0 + alpha1 * (before(y) - mu)^2 + beta1 * h\" }}\n\n\
         [likelihood]\ny = \"normal(mu, sqrt(h))\"\n",
        list(returns(rows))
    );
    let (middle, spread) = (vec![0.2, 0.3, 0.2, 0.4], vec![0.1; 4]);
    Piece { name: "GARCH, 1000 rows", text, middle, spread }
}

fn unrolled_garch(rows: usize) -> Piece {
    let mut text = String::from("density = \"");
    for i in 1..=rows {
        let plus = if i == 1 { "" } else { " + " };
        write!(text, "{plus}logpdf(normal(mu, sqrt(h{i})), y[{i}])").expect("a string takes all");
    }
    write!(
        text,
        "\"\n[constants]\ny = {}\n{GARCH_PARAMETERS}[quantities]\nh1 = 1\n",
        list(returns(rows))
    )
    .expect("a string takes all");
    for i in 2..=rows {
        let before = i - 1;
        writeln!(text, "h{i} = \"alpha0 + alpha1 * (y[{before}] - mu)^2 + beta1 * h{before}\"")
            .expect("a string takes all");
    }
    Piece { name: "GARCH, 200 rows", text, ..garch(1) }
}

/// Measurements in one of two hidden states, each of which lasts for some rows.
fn measured(rows: usize) -> impl Iterator<Item = f64> {
    (1..=rows).map(|t| {
        let t = t as f64;
        (1.3 * t * t).cos() + if (0.37 * t).sin() > 0.0 { 3.0 } else { 9.0 }
    })
}

const HIDDEN_PARAMETERS: &str = "[parameters]\n\
     stay = { prior = \"beta(2, 2)\", size = 2 }\nmu = { prior = \"normal([3, 10], 1)\", size = 2 }\n\n\
     [quantities]\nl11 = \"log(stay[1])\"\nl12 = \"log(1 - stay[1])\"\n\
     l21 = \"log(1 - stay[2])\"\nl22 = \"log(stay[2])\"\n";

fn hidden_states(rows: usize) -> Piece {
    let text = format!(
        "[data]\ny = {}\n\n{HIDDEN_PARAMETERS}\n[series]\nfinal = \"log_add_exp(a, b)\"\n[series.states]\n\
         a = {{ start = \"logpdf(normal(mu[1], 1), y)\", \
         next = \"log_add_exp(a + l11, b + l21) + logpdf(normal(mu[1], 1), y)\" }}\n\
         b = {{ start = \"logpdf(normal(mu[2], 1), y)\", \
         next = \"log_add_exp(a + l12, b + l22) + logpdf(normal(mu[2], 1), y)\" }}\n",
        list(measured(rows))
    );
    let (middle, spread) = (vec![0.7, 0.8, 3.0, 9.0], vec![0.1; 4]);
    Piece { name: "hidden states, 100 rows", text, middle, spread }
}

fn unrolled_hidden_states(rows: usize) -> Piece {
    let mut text = format!(
        "density = \"log_add_exp(a{rows}, b{rows})\"\n[constants]\ny = {}\n{HIDDEN_PARAMETERS}\
         a1 = \"logpdf(normal(mu[1], 1), y[1])\"\nb1 = \"logpdf(normal(mu[2], 1), y[1])\"\n",
        list(measured(rows))
    );
    for i in 2..=rows {
        let before = i - 1;
        for (state, j) in [("a", 1), ("b", 2)] {
            writeln!(
                text,
                "{state}{i} = \"log_add_exp(a{before} + l1{j}, b{before} + l2{j}) + logpdf(normal(mu[{j}], 1), y[{i}])\""
            )
            .expect("a string takes all");
        }
    }
    Piece { text, ..hidden_states(1) }
}

fn places(count: usize) -> impl Iterator<Item = f64> {
    (1..=count).map(|i| 0.2 * i as f64 + 0.05 * (3.0 * i as f64).sin())
}

fn heights(count: usize) -> impl Iterator<Item = f64> {
    places(count).zip(1..).map(|(x, i)| x.sin() + 0.3 * (1.3 * f64::from(i * i)).cos())
}

const PROCESS_PARAMETERS: &str = "[parameters]\nalpha = \"lognormal(0, 1)\"\nrho = \"lognormal(0, 1)\"\nsigma = \"lognormal(0, 1)\"\n";

fn process(count: usize) -> Piece {
    let text = format!(
        "density = \"logpdf(multi_normal(0, cov_exp_quad(x, alpha, rho, sigma^2)), y)\"\n\n\
         [constants]\nx = {}\ny = {}\n\n{PROCESS_PARAMETERS}",
        list(places(count)),
        list(heights(count))
    );
    let (middle, spread) = (vec![1.0, 1.0, 0.4], vec![0.2, 0.2, 0.1]);
    Piece { name: "Gaussian process, 50 points", text, middle, spread }
}

fn unrolled_process(count: usize) -> Piece {
    let x: Vec<f64> = places(count).collect();
    let mut quantities = String::new();
    let mut density = Vec::new();
    for i in 1..=count {
        for j in 1..=i {
            let square = (x[i - 1] - x[j - 1]).powi(2);
            let mut entry = format!("alpha^2 * exp(-0.5 * {square:?} / rho^2)");
            if i == j {
                entry += " + sigma^2";
            }
            for k in 1..j {
                write!(entry, " - l{i}_{k} * l{j}_{k}").expect("a string takes all");
            }
            let formula =
                if i == j { format!("sqrt({entry})") } else { format!("({entry}) / l{j}_{j}") };
            writeln!(quantities, "l{i}_{j} = \"{formula}\"").expect("a string takes all");
        }
        let known: String = (1..i).map(|k| format!(" - l{i}_{k} * w{k}")).collect();
        writeln!(quantities, "w{i} = \"(y[{i}]{known}) / l{i}_{i}\"").expect("a string takes all");
        density.push(format!("logpdf(normal(0, 1), w{i}) - log(l{i}_{i})"));
    }
    let text = format!(
        "density = \"{}\"\n[constants]\ny = {}\n{PROCESS_PARAMETERS}[quantities]\n{quantities}",
        density.join(" + "),
        list(heights(count))
    );
    Piece { name: "Gaussian process, 11 points", text, ..process(1) }
}

/// Twelve people with two oral doses each.
fn subjects() -> Piece {
    const SUBJECTS: usize = 12;
    const TIMES: [f64; 10] = [0.5, 1.0, 2.0, 4.0, 8.0, 12.5, 13.0, 14.0, 18.0, 24.0];
    let rows = (1..=SUBJECTS).flat_map(|s| (0..TIMES.len()).map(move |k| (s as f64, k)));
    let text = format!(
        "[data]\nid = {}\nt = {}\nconcentration = {}\n\n\
         [parameters]\nm = {{ prior = \"normal([0, -2, 3], 1)\", size = 3 }}\n\
         w = {{ prior = \"lognormal(-1, 0.5)\", size = 3 }}\nz = {{ prior = \"normal(0, 1)\", size = 36 }}\n\n\
         [quantities]\nka = \"exp(m[1] + w[1] * z[3 * id - 2])\"\nke = \"exp(m[2] + w[2] * z[3 * id - 1])\"\n\
         volume = \"exp(m[3] + w[3] * z[3 * id])\"\n\n\
         [ode]\ngroup = \"id\"\nsolver = \"dopri5\"\n[ode.states]\ndepot = {{ start = 100, rate = \"-ka * depot\" }}\n\
         central = {{ start = 0, rate = \"ka * depot - ke * central\" }}\n\
         [[ode.events]]\nat = 12\nadd = {{ depot = 100 }}\n\n\
         [likelihood]\nconcentration = \"normal(central / volume, 0.5)\"\n",
        list(rows.clone().map(|(s, _)| s)),
        list(rows.clone().map(|(_, k)| TIMES[k])),
        list(rows.map(|(s, k)| 3.0 + (s + 2.0 * k as f64).sin()))
    );
    let deviations = 3 * SUBJECTS;
    let middle = [vec![0.2, -2.0, 3.0], vec![0.3; 3], vec![0.0; deviations]].concat();
    let spread = [vec![0.1; 3], vec![0.05; 3], vec![0.5; deviations]].concat();
    Piece { name: "12 subjects, 2 doses", text, middle, spread }
}
