//! The update loop does not allocate: the number of allocations is independent of its length.

use crate::support::flows;
use adaann::{
    Batch, Program, Settings,
    fit::fit,
    flow::{BaseSpec, Covariance, FlowSpec},
    path::PathKind,
    schedule::{Schedule, Work},
    target::{Evaluation, Support, Target, Weights},
};
use flows::families;

/// A density with a prior and bounded coordinates, so that transforms and both parts are used.
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
        [Support::Above(0.0), Support::Between(-1.0, 3.0), Support::Real][d % 3].clone()
    }
}

fn allocations(settings: &Settings, dim: usize) -> u64 {
    let target = Bounded(Program::record_parts(dim, |z| {
        let square = z.iter().map(|z| z.square()).sum::<adaann::Expr>();
        (-0.5 * square, -square)
    }));
    // One thread, so that its counter sees all allocations.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut seen = 0;
        // Twice: the first run also allocates buffers that the thread reuses.
        for _ in 0..2 {
            seen = allocation_counter::measure(|| {
                fit(&target, settings, &mut ()).unwrap();
            })
            .count_total;
        }
        seen
    })
}

fn with(flow: &FlowSpec, path: PathKind, base: BaseSpec, refine: usize) -> Settings {
    Settings {
        flow: flow.clone(),
        base,
        path,
        schedule: Schedule::None,
        work: Work { warmup: 1, anneal: 1, refine },
        refine_samples: 100,
        clip: Some(10.0),
        ..Settings::default()
    }
}

/// Runs of 110 and of 300 updates allocate the same: both store the best flow of a hundred.
fn holds(flow: &FlowSpec, dim: usize, path: PathKind, base: &BaseSpec) {
    let count = |refine| allocations(&with(flow, path, base.clone(), refine), dim);
    let (few, many) = (count(110), count(300));
    assert_eq!(few, many, "{flow:?} d = {dim} {path:?} {base:?}");
    assert!(few > 0, "the counter sees nothing");
}

fn mixture() -> BaseSpec {
    BaseSpec { trained: true, components: 3, ..BaseSpec::default() }
}

/// Every path and base.
#[test]
fn updates_allocate_nothing() {
    let base = BaseSpec::default;
    for flow in [FlowSpec::planar(7), FlowSpec::Radial { layers: 3 }] {
        for dim in [1, 3, 6] {
            holds(&flow, dim, PathKind::Power, &base());
            holds(&flow, dim, PathKind::Likelihood, &BaseSpec { trained: true, ..base() });
            let full = BaseSpec { covariance: Covariance::Full, trained: true, ..base() };
            holds(&flow, dim, PathKind::Bridge, &full);
            holds(&flow, dim, PathKind::Bridge, &mixture());
        }
    }
}

/// Every family.
#[test]
fn updates_of_no_family_allocate() {
    for flow in families() {
        for dim in [1, 4] {
            holds(&flow, dim, PathKind::Power, &BaseSpec::default());
        }
        holds(&flow, 3, PathKind::Bridge, &mixture());
    }
}
