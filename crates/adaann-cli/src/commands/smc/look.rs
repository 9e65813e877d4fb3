//! The particles of an unfinished run at its last checkpoint.

use crate::{
    commands::smc::record::SmcRecord,
    folder::{
        drawn::Whose,
        finished::Finished,
        record::Record,
        stored::Stored,
        subject::{Programs, Subject},
        summary::{Made, Sources, Summary},
    },
    job::{interrupt, unfinished::Looked},
};
use adaann::{
    answer::{self, Method, Plan},
    diagnostics::Verdict,
    flow::{Base, Flow, FlowSpec},
    importance::Estimate,
    smc::{Population, Smc},
};
use anyhow::Result;

/// The particles of an unfinished run; `None` if it is not a run of `adaann smc`.
pub(crate) fn look(stored: &Stored, whose: Whose, programs: Programs) -> Result<Option<Finished>> {
    let Some(record) = SmcRecord::read(stored)? else { return Ok(None) };
    let subject = Subject::read(&record.source(), stored, programs)?;
    let told = record.to_toml()?;
    let looked = Looked::new(stored.folder(), told.clone(), &subject);
    let mut ledger = looked.ledger()?;
    if ledger.parts().next().is_none() {
        return Err(looked.nothing("it has no checkpoint yet"));
    }
    let particles = Smc::new(&*subject.problem.target, &record.settings);
    let population = particles.run_with(&mut (), &mut ledger);
    interrupt::forget();
    let population = population?;
    let summary = summary(&subject, &record, &population)?;
    let (sample, flow) = (population.sample(), flow(&population)?);
    let record = as_method(record);
    Ok(Some(Finished::of_a_look(record, subject, summary, &sample, flow, told, whose)))
}

fn summary(subject: &Subject, record: &SmcRecord, population: &Population) -> Result<Summary> {
    let (problem, sample) = (&subject.problem, population.sample());
    let quantities = subject.quantities(sample.x())?;
    let t = population.stages.last().map_or(0.0, |stage| stage.t);
    let unchecked = Verdict::of_unchecked(&sample, &problem.target.names());
    Ok(Summary::new(Sources {
        target: &record.target,
        names: &subject.columns(),
        notes: problem.target.notes(),
        known: &problem.known,
        seed: record.settings.seed,
        made: Made {
            method: Method::Smc,
            rungs: &[],
            outcome: None,
            log_z: Some(Estimate { value: population.log_z, error: population.log_z_error }),
            evaluations: population.evaluations,
            t,
            stopped: true,
            unfinished: true,
        },
        sample: &sample,
        examination: None,
        check_evaluations: 0,
        verdict: unchecked.of_unfinished(Some(t)),
        quantities: quantities.as_ref(),
        seconds: 0.0,
        seeds: Vec::new(),
    }))
}

/// The mixture that describes the particles.
fn flow(population: &Population) -> Result<Flow> {
    let (mut weights, mut means, mut covariances) = (Vec::new(), Vec::new(), Vec::new());
    for component in population.mixture() {
        weights.push(component.weight);
        means.extend(component.mean);
        covariances.extend(component.covariance);
    }
    Ok(Flow::new(&FlowSpec::Affine, Base::full_mixture(&weights, &means, &covariances)?)?)
}

/// The equivalent record for the ladder's method `smc`.
fn as_method(record: SmcRecord) -> Record {
    let SmcRecord { version, target, model, preset, data_seed, data, parameters, settings, .. } =
        record;
    let (seed, base) = (settings.seed, settings.base);
    let method = Method::Smc;
    let plan = Plan::Answer(answer::Settings { method, base, seed, ..answer::Settings::default() });
    let (repeats, strict, no_state) = (None, false, false);
    Record {
        version,
        target,
        model,
        method,
        repeats,
        strict,
        no_state,
        preset,
        data_seed,
        data,
        parameters,
        foreign: None,
        plan,
    }
}
