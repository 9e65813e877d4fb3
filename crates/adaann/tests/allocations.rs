//! No allocation inside the update loop: the number of allocations does not depend on its length.

use adaann::{
    Program, Settings,
    fit::fit,
    flow::FlowSpec,
    path::PathKind,
    schedule::{Schedule, Work},
};

fn allocations(settings: &Settings, dim: usize) -> u64 {
    let target = Program::record(dim, |z| z.iter().map(|z| -z.square() * 0.5).sum());
    // One thread, so that the counter of this thread sees everything.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut seen = 0;
        // Twice: the first run also sizes buffers that the thread keeps.
        for _ in 0..2 {
            seen = allocation_counter::measure(|| {
                fit(&target, settings, &mut ()).unwrap();
            })
            .count_total;
        }
        seen
    })
}

#[test]
fn updates_allocate_nothing() {
    for flow in [FlowSpec::planar(7), FlowSpec::Radial { layers: 3 }] {
        for dim in [1, 3, 6] {
            for path in [PathKind::Power, PathKind::Bridge] {
                let with = |refine| Settings {
                    flow: flow.clone(),
                    path,
                    schedule: Schedule::None,
                    work: Work { warmup: 1, anneal: 1, refine },
                    refine_samples: 100,
                    clip: Some(10.0),
                    ..Settings::default()
                };
                let (few, many) = (allocations(&with(10), dim), allocations(&with(500), dim));
                assert_eq!(few, many, "{flow:?} d = {dim} {path:?}");
                assert!(few > 0, "the counter sees nothing");
            }
        }
    }
}
