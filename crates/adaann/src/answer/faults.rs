//! Tests runs whose disk fails, fills up or disappears with the process, at every write, sync and rename: each
//! run resumes from what is left, to the same bits.

use super::{Settings, approximate_with};
use crate::{
    Program, Result,
    checkpoint::{
        Ledger,
        tests::memory::{Fault, Memory},
    },
    fit::{self, Fit},
    flow::FlowSpec,
    schedule::{List, Work},
    smc::{self, Smc},
};

/// Bytes per write. The tests of the store use small ones; here a checkpoint is a write or two, and the
/// operations around them.
const PIECE: usize = 1 << 20;

fn target() -> Program {
    Program::record(2, |z| {
        -0.5 * ((z[0] - 1.0).square() + 4.0 * (z[1] - 0.3 * z[0].square()).square())
    })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn ladder(ledger: &mut Ledger) -> Result<Vec<u64>> {
    let settings = Settings { target_ess: 200.0, seed: 5, ..Settings::default() };
    let answer = approximate_with(&target(), &settings, &mut (), ledger)?;
    Ok(bits(answer.sample.log_weights()))
}

fn flow(ledger: &mut Ledger) -> Result<Vec<u64>> {
    let settings = fit::Settings {
        flow: FlowSpec::planar(3),
        schedule: List(vec![0.2, 0.6, 1.0]).into(),
        work: Work { warmup: 4, anneal: 3, refine: 5 },
        samples: 32,
        refine_samples: 32,
        ..fit::Settings::default()
    };
    let outcome = Fit::new(&target(), &settings).run_with(&mut (), ledger)?;
    Ok(bits(outcome.flow.parameters()))
}

fn particles(ledger: &mut Ledger) -> Result<Vec<u64>> {
    let settings = smc::Settings { particles: 64, ..smc::Settings::starting_at(0.05) };
    let population = Smc::new(&target(), &settings).run_with(&mut (), ledger)?;
    Ok(bits(population.z.row(1)))
}

fn assert_survives(work: fn(&mut Ledger) -> Result<Vec<u64>>) {
    let whole = work(&mut Ledger::off()).unwrap();
    let disk = Memory::in_pieces_of(PIECE);
    disk.break_at(usize::MAX, Fault::Fails);
    assert_eq!(work(&mut disk.ledger()).unwrap(), whole);
    let operations = disk.mend();
    assert!(operations > 40, "several checkpoints: {operations}");
    for fault in [Fault::Fails, Fault::Full, Fault::KilledHalfway] {
        for number in 0..operations {
            let disk = Memory::in_pieces_of(PIECE);
            disk.break_at(number, fault);
            let what = format!("{fault:?} at operation {number}");
            // The run continues whatever happens to its checkpoints.
            assert_eq!(work(&mut disk.ledger()).unwrap(), whole, "{what}");
            disk.mend();
            assert_eq!(work(&mut disk.ledger()).unwrap(), whole, "{what}, taken up again");
        }
    }
}

#[test]
fn the_ladder_survives_its_disk() {
    assert_survives(ladder);
}

#[test]
fn a_flow_survives_its_disk() {
    assert_survives(flow);
}

#[test]
fn particles_survive_their_disk() {
    assert_survives(particles);
}
