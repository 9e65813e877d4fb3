//! The gradient of an update compared with differences of its objective at fixed noise.

use super::*;
use crate::{
    Program,
    flow::{Base, FlowSpec},
    path::PathKind,
    rng::Purpose,
    target::Unconstrained,
};

/// A hundred points, in shards and tiles, for three components: 34, 33 and 33. Checks logits, means,
/// log scales and layers, with all points finite and with the points beyond a wall non-finite; no
/// point is near enough to cross the wall. The differences are of fourth order, since a planar layer
/// with a short w is steep in it. For numbers of size 30 their rounding error is 1e-16 · 30/h, here
/// 1e-9.
#[test]
fn the_update_of_a_mixture_follows_its_objective() {
    let base = Base::mixture(
        &[1.0, 2.5, 0.7],
        &[-1.0, 0.5, 1.2, -0.7, 0.3, 2.0],
        &[0.6, 1.3, 0.9, 0.5, 1.7, 0.8],
    );
    let base = base.unwrap();
    for (wall, path) in [(1e3, PathKind::Power), (1.5, PathKind::Power), (1.5, PathKind::Bridge)] {
        let target = Program::record(2, |z| {
            let value =
                -0.1 * z[0].square().square() - 0.3 * z[0] * z[1] + (0.7 * z[1]).sin() + 40.0;
            z[0].lt(wall).select(value, f64::NEG_INFINITY)
        });
        let density = Tempered {
            target: Unconstrained::new(&target).unwrap(),
            path,
            reference: Some(base.clone()),
        };
        let mut flow = Flow::new(&FlowSpec::planar(3), base.clone().trained()).unwrap();
        flow.initialise(0.3, 5);
        let mut shards = DrawShards::new(&flow, 100, false);
        assert!(shards.shards.len() > 1);
        let stream = Stream::new(3, Purpose::Training);
        let mut update = |flow: &Flow| {
            let (density, stream, clip) = (&density, &stream, PointClip::new(None));
            let gradient = Gradient::Total;
            let update = Update { flow, density, stream, draw: 4, t: 0.6, clip, gradient };
            let (totals, sums) = shards.sums(&update).unwrap();
            (totals, sums.to_vec())
        };
        let (totals, sums) = update(&flow);
        let parameters = flow.parameters().to_vec();
        let mut gradient = vec![0.0; parameters.len()];
        flow.gradient(&sums, &mut gradient);
        for g in &mut gradient {
            *g /= totals.weight;
        }
        assert_eq!(totals.kept < 100, wall < 10.0, "{totals:?}");
        if totals.kept == 100 {
            assert!((totals.weight - 100.0).abs() < 1e-12, "{totals:?}");
        }
        let size = gradient.iter().fold(0.0_f64, |size, g| size.max(g.abs()));
        for i in 0..parameters.len() {
            let mut moved = |h: f64| {
                let mut parameters = parameters.clone();
                parameters[i] += h;
                flow.set_parameters(&parameters).unwrap();
                let (there, _) = update(&flow);
                assert_eq!(there.kept, totals.kept);
                there.mean()
            };
            let h = 1e-5;
            let (near, far) = (moved(h) - moved(-h), moved(2.0 * h) - moved(-2.0 * h));
            let difference = (8.0 * near - far) / (12.0 * h);
            let off = (gradient[i] - difference).abs();
            assert!(off < 1e-7 * size, "{path:?} {wall}: {i}: {} {difference}", gradient[i]);
        }
        assert!(gradient[..3].iter().all(|g| g.abs() > 1e-3 * size), "{:?}", &gradient[..3]);
    }
}
