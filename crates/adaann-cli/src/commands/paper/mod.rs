//! `adaann paper`: runs the paper's experiments and writes a page of the results.

mod bars;

use crate::{
    args::PaperArgs,
    job::{
        interrupt,
        threads::{self, pool},
    },
    ranks::{self, Question, Ranks},
    text::failure::usage,
};
use adaann_paper::{
    campaign::{self, Made, Others, Plan},
    chapters,
    experiments::{self, Size},
    machine, output,
};
use anyhow::Result;
use bars::Bars;
use std::{
    io::{Write, stderr, stdout},
    process::ExitCode,
};

/// Maximum number of trials of one experiment; larger values are surely typing errors.
const MOST_TRIALS: usize = 10_000;

/// Runs the requested experiments.
pub(crate) fn paper(args: &PaperArgs) -> Result<ExitCode> {
    let examples = experiments::all();
    let plan = plan(args)?;
    interrupt::listen()?;
    let pool = pool(args.threads)?;
    let bars = Bars::new(args.quiet);
    let others = ranks::get().map(Elsewhere);
    let others = others.as_ref().map(|others| others as &dyn Others);
    let results = pool
        .install(|| campaign::run(&examples, &plan, &args.out, interrupt::flag(), &bars, others));
    bars.finish();
    let Some(results) = results? else {
        // Ignore a closed standard error.
        let _ = writeln!(stderr(), "stopped; repeat the command to resume");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    };
    let made_by = format!("Made by {}; {}", command(args), machine::description());
    let page = chapters::page(&examples, &plan, &results, &made_by)?;
    output::write(&args.out, &page, &results)?;
    if !args.quiet {
        let out = args.out.display();
        writeln!(
            stdout(),
            "written to {out}\n  page      {out}/index.html\n  figures   {out}/figures\n  \
            tables    {out}/tables\n  results   {out}/results.json"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The other ranks, for trials.
struct Elsewhere(&'static Ranks);

impl Others for Elsewhere {
    fn seats(&self) -> usize {
        self.0.seats()
    }

    fn trial(&self, run: &str, value: Option<f64>, number: usize) -> adaann::Result<Made> {
        self.0.ask(&Question::Paper { run: run.to_owned(), value, number }, |_| ())
    }
}

fn plan(args: &PaperArgs) -> Result<Plan> {
    let size = match (args.quick, args.full) {
        (true, _) => Size::Quick,
        (_, true) => Size::Full,
        _ => Size::Normal,
    };
    if args.trials.is_some_and(|trials| !(1..=MOST_TRIALS).contains(&trials)) {
        return Err(usage(format!("--trials must be from 1 to {MOST_TRIALS}")));
    }
    threads::check(args.threads)?;
    if args.large_trials.is_some_and(|trials| trials > MOST_TRIALS) {
        return Err(usage(format!("--large-trials must be at most {MOST_TRIALS}")));
    }
    let all = ["ex1", "ex2", "ex3", "ex4", "ex5"];
    let asked = |id: &&str| args.examples.iter().any(|given| given == "all" || given == id);
    let examples = all.iter().filter(|id| asked(id)).map(ToString::to_string).collect();
    Ok(Plan { size, trials: args.trials, large_trials: args.large_trials, examples })
}

/// The command that reproduces the page.
fn command(args: &PaperArgs) -> String {
    let mut words = vec!["adaann paper".to_owned()];
    words.extend(args.examples.iter().filter(|id| *id != "all").cloned());
    words.extend(args.quick.then(|| "--quick".to_owned()));
    words.extend(args.full.then(|| "--full".to_owned()));
    words.extend(args.trials.map(|trials| format!("--trials {trials}")));
    words.extend(args.large_trials.map(|trials| format!("--large-trials {trials}")));
    words.join(" ")
}
