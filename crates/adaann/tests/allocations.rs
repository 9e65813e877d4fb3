//! No allocation inside the update loop: the number of allocations does not depend on its length.

use adaann::{
    Batch, Program, Settings,
    fit::{BaseSpec, fit},
    flow::{Covariance, FlowSpec, Precision, planar::Activation},
    path::PathKind,
    schedule::{Schedule, Work},
    target::{Evaluation, Support, Target, Weights},
};

/// A density with a prior and bounded coordinates, so that transforms and both parts take part.
struct Bounded(Program);

impl Target for Bounded {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn evaluate(
        &self,
        points: &Batch,
        weights: Option<Weights>,
        out: &mut Evaluation,
    ) -> adaann::Result<()> {
        self.0.evaluate(points, weights, out)
    }
    fn has_prior(&self) -> bool {
        true
    }
    fn support(&self, d: usize) -> Support {
        [Support::Above(0.0), Support::Between(-1.0, 3.0), Support::Real][d % 3]
    }
}

fn allocations(settings: &Settings, dim: usize) -> u64 {
    let target = Bounded(Program::record_parts(dim, |z| {
        let square = z.iter().map(|z| z.square()).sum::<adaann::Expr>();
        (-0.5 * square, -square)
    }));
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
    let single =
        FlowSpec::Planar { layers: 4, activation: Activation::Tanh, precision: Precision::Single };
    for flow in [FlowSpec::planar(7), single, FlowSpec::Radial { layers: 3 }] {
        for dim in [1, 3, 6] {
            for (path, covariance, trained, components) in [
                (PathKind::Power, Covariance::Diagonal, false, 1),
                (PathKind::Likelihood, Covariance::Diagonal, true, 1),
                (PathKind::Bridge, Covariance::Full, true, 1),
                (PathKind::Bridge, Covariance::Diagonal, true, 3),
            ] {
                let with = |refine| Settings {
                    flow: flow.clone(),
                    base: BaseSpec { covariance, trained, components, ..BaseSpec::default() },
                    path,
                    schedule: Schedule::None,
                    work: Work { warmup: 1, anneal: 1, refine },
                    refine_samples: 100,
                    clip: Some(10.0),
                    ..Settings::default()
                };
                let (few, many) = (allocations(&with(10), dim), allocations(&with(500), dim));
                assert_eq!(few, many, "{flow:?} d = {dim} {path:?} K = {components}");
                assert!(few > 0, "the counter sees nothing");
            }
        }
    }
}
