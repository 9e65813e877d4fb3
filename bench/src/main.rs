//! Benchmarks of `adaann`: `cargo run --release -p adaann-bench -- COMMAND`, with one file for each command.

mod beside;
mod checkpoints;
mod coverage;
mod dice;
mod evidence;
mod families;
mod honesty;
mod ladder;
mod models;
mod networks;
mod peers;
mod pieces;
mod precision;
mod programs;
mod ranks;
mod regressions;
mod smc_schedules;
mod stiff;
mod trials;
mod updates;
mod verdicts;

use honesty::HonestyOptions;
use ladder::LadderOptions;
use std::process::ExitCode;
use trials::Options;
use updates::Kind;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["programs"] => programs::run(),
        ["precision"] => precision::run(),
        ["checkpoints"] => checkpoints::run(),
        ["stiff"] => stiff::run(),
        ["ranks"] => return ranks::run(None),
        ["ranks", "--figure", path] => return ranks::run(Some(path)),
        ["ranks", model, seconds, ref counts @ ..] => {
            let counts =
                counts.iter().map(|count| count.parse()).collect::<Result<Vec<usize>, _>>();
            let (Ok(seconds), Ok(counts)) = (seconds.parse(), counts) else { return usage() };
            ranks::forecast(model, seconds, &counts);
        }
        ["updates"] => updates::run(Kind::Densities, false),
        ["updates", "--peers"] => updates::run(Kind::Densities, true),
        ["families"] => families::run(),
        ["networks"] => networks::run(None, false),
        ["networks", "--peers"] => networks::run(None, true),
        ["networks", name] => networks::run(Some(name), false),
        ["models"] => models::run(false),
        ["models", "--peers"] => models::run(true),
        ["pieces"] => pieces::run(false),
        ["pieces", "--peers"] => pieces::run(true),
        ["beside", first, second] => return beside::run([first, second]),
        ["odes"] => updates::run(Kind::Odes, false),
        ["odes", "--peers"] => updates::run(Kind::Odes, true),
        ["honesty", ref options @ ..] => {
            let Some(options) = HonestyOptions::read(options) else { return usage() };
            return ended(honesty::run(&options));
        }
        ["ladder", ref options @ ..] => return of_ladder(ladder::run, options, 3),
        ["sabotage", ref options @ ..] => return of_ladder(ladder::sabotage::run, options, 3),
        ["verdicts", "--ladder", ref options @ ..] => {
            return of_ladder(ladder::verdicts::run, options, 7);
        }
        ["coverage", ref options @ ..] => return table(coverage::run, options, 10),
        ["evidence", ref options @ ..] => return table(evidence::run, options, 20),
        ["smc-schedules", ref options @ ..] => return table(smc_schedules::run, options, 20),
        ["verdicts", ref options @ ..] => return table(verdicts::run, options, 2),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

/// Runs a command that prints a table.
fn table(
    command: impl Fn(&Options) -> std::io::Result<()>,
    options: &[&str],
    seeds: u64,
) -> ExitCode {
    let Some(options) = Options::read(options, seeds) else { return usage() };
    ended(command(&options))
}

/// Runs a command with the options of the ladder.
fn of_ladder(
    command: impl Fn(&LadderOptions) -> std::io::Result<()>,
    options: &[&str],
    seeds: u64,
) -> ExitCode {
    let Some(options) = LadderOptions::read(options, seeds) else { return usage() };
    ended(command(&options))
}

fn ended(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write the table: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: adaann-bench updates [--peers]   microseconds per parameter update, planar flows\n       \
         adaann-bench odes [--peers]      the same for the dynamical systems of the paper\n       \
         adaann-bench stiff               solvers on a stiff posterior, and steps by the number of states\n       \
         adaann-bench networks [--peers]  the same for flows built on networks\n       \
         adaann-bench models [--peers]    models written as text: density and gradient of a point\n       \
         adaann-bench pieces [--peers]    the same for series, Gaussian processes, subjects; peers: install.sh diffrax\n       \
         adaann-bench beside A.toml B.toml  two files of one posterior: compile time, time of a point, differences\n       \
         adaann-bench families            quality of every family of flows on five targets\n       \
         adaann-bench programs            recorded programs against hand-written kernels\n       \
         adaann-bench precision           loss of quality with f32 layers\n       \
         adaann-bench checkpoints         overhead of checkpoints\n       \
         adaann-bench ranks [--figure FILE.svg]  speedup with up to 4,096 ranks, from the batches of real runs\n       \
         adaann-bench ranks MODEL SECONDS RANKS ...  time of a fit of a model file, at SECONDS per point\n       \
         adaann-bench verdicts [OPTIONS]  verdicts on good and bad runs, compared with the truth\n       \
         adaann-bench smc-schedules [OPTIONS]  schedules for particles at equal evaluations\n       \
         adaann-bench evidence [OPTIONS]  errors of log Z over seeds\n       \
         adaann-bench coverage [OPTIONS]  coverage of the stated errors for the exact answers of fifty targets\n       \
         adaann-bench honesty [OPTIONS] [HONESTY]  answers and verdicts on random targets with known answers\n       \
         adaann-bench ladder [OPTIONS] [LADDER]  the ladder on targets with known answers\n       \
         adaann-bench verdicts --ladder [OPTIONS] [LADDER]  verdicts of the ladder, compared with the truth\n       \
         adaann-bench sabotage [OPTIONS] [LADDER]  does the check detect spoiled answers? Random mixtures are off-centre\n\n\
         OPTIONS are --seeds N, --from SEED, --only TARGET, and --write to copy the table into the book\n\
         LADDER are --models FOLDER, --data hiv=FILE or lorenz:VARIANCE=FILE, --jobs N, --limit SECONDS,\n  \
         --explain for each rung; --only takes groups, names and parts of names, separated by commas;\n  \
         ladder --peers runs nautilus, dynesty and blackjax, for ten minutes or --limit SECONDS in total\n  \
         (first bench/peers/install.sh samplers)\n\
         HONESTY are --dims D,..., --jobs N, --limit SECONDS, --explain, --hidden, which hides formulas from the\n  \
         search, --as-python, which also hides their cost, as for Python functions, and --laws, which runs\n  \
         ten mixtures as drawn, shifted, scaled, turned, reflected and with coordinates exchanged; --peers runs twelve targets\n  \
         in nautilus, dynesty and blackjax (first bench/peers/install.sh samplers), each for --limit SECONDS; --only takes classes separated by commas:\n  \
         mixtures, pairs, forty, narrow, students, light, period, planets\n\
         --peers runs the same in JAX and PyTorch (first bench/peers/install.sh)"
    );
    ExitCode::from(2)
}
