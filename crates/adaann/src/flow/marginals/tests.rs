//! Tests on uneven humps, separate and overlapping.

use super::*;
use crate::simd::Special;

fn map() -> (Marginals, Vec<f64>) {
    let logits = [0.3, -0.7, 0.1, 0.0, -2.0, 0.5];
    let means = [-3.0, 0.5, 4.0, 0.0, 0.1, 0.4];
    let log_sds = [-0.5, 0.2, -1.2, 0.0, 1.0, -0.3];
    (Marginals::new(2, 3), [logits, means, log_sds].concat())
}

fn batch(points: &[[f64; 2]]) -> Batch {
    Batch::from_points(2, &points.iter().map(|point| &point[..]).collect::<Vec<_>>())
}

/// Points moved in one direction, their log-determinants, and the tape.
fn moved(way: Way, parameters: &[f64], points: &[[f64; 2]]) -> (Batch, Vec<f64>, Vec<f64>) {
    let mut batch = batch(points);
    let (mut log_det, mut tape) =
        (vec![0.0; batch.padded_len()], vec![0.0; map().0.tape_len(batch.padded_len())]);
    let weights = Weights { parameters, derived: &[] };
    map().0.pass(way, weights, &mut batch, &mut log_det, Some(&mut tape));
    (batch, log_det, tape)
}

/// Round trips near and far, with the same log-determinant in both directions. At 15 standard deviations
/// ln Φ has size 100, so 16 digits leave an error of 1e-8.
#[test]
fn points_come_back() {
    let (_, parameters) = map();
    let starts = [[0.0, 0.0], [-1.3, 0.7], [2.5, -2.5], [6.0, -6.0], [-12.0, 15.0], [0.2, 30.0]];
    let (there, log_det, _) = moved(Way::OfNormal, &parameters, &starts);
    let images: Vec<[f64; 2]> =
        (0..starts.len()).map(|i| [there.row(0)[i], there.row(1)[i]]).collect();
    let (back, log_det_back, _) = moved(Way::ToNormal, &parameters, &images);
    for (i, start) in starts.iter().enumerate() {
        for d in 0..2 {
            let z = back.row(d)[i];
            assert!((z - start[d]).abs() < 1e-8 * (1.0 + start[d].abs()), "{start:?}: {z}");
        }
        let off = (log_det[i] - log_det_back[i]).abs();
        assert!(off < 1e-8 * (1.0 + log_det[i].abs()), "{start:?}: {off}");
    }
}

/// Compared with the mixture's distribution function, with Φ computed independently.
#[test]
fn the_law_is_that_of_the_mixture() {
    let (map, parameters) = map();
    let humps = map.humps(&parameters);
    for (z, p) in [(0.0, 0.5), (-1.0, 0.158_655_253_931_457_05), (2.0, 0.977_249_868_051_820_8)] {
        let (there, ..) = moved(Way::OfNormal, &parameters, &[[z, z]]);
        for d in 0..2 {
            let x = there.row(d)[0];
            let mass = |hump: &Hump| {
                (hump.log_weight + Special::LnNormalCdf.at((x - hump.mean) * hump.per_sd)).exp()
            };
            let below: f64 = humps[3 * d..][..3].iter().map(mass).sum();
            assert!((below - p).abs() < 1e-13, "{z}: {below} is not {p}");
        }
    }
}

/// Compared with central differences for every parameter and coordinate, in both directions and on both
/// sides of the median.
#[test]
fn gradients() {
    let (map, parameters) = map();
    let (cotangent, k) = ([0.7, -0.4], 0.6);
    for way in [Way::OfNormal, Way::ToNormal] {
        for start in [[0.4, -0.9], [-1.7, 1.2]] {
            let value = |parameters: &[f64], point: [f64; 2]| {
                let (end, log_det, _) = moved(way, parameters, &[point]);
                cotangent[0] * end.row(0)[0] + cotangent[1] * end.row(1)[0] + k * log_det[0]
            };
            let (mut points, _, tape) = moved(way, &parameters, &[start]);
            let (mut g, mut sums) = (batch(&[cotangent]), vec![0.0; parameters.len()]);
            let weights = Weights { parameters: &parameters, derived: &[] };
            let k_row = vec![k; points.padded_len()];
            map.pull(way, weights, (&mut points, &mut g), &k_row, &tape, &mut sums);
            assert_eq!([points.row(0)[0], points.row(1)[0]], start);
            // Central differences with step 1e-5 have errors of 1e-10 and of 1e-16/1e-5.
            const STEP: f64 = 1e-5;
            let is_near =
                |found: f64, slope: f64| (found - slope).abs() < 1e-7 * (1.0 + slope.abs());
            for i in 0..parameters.len() {
                let [above, below] = [STEP, -STEP].map(|step| {
                    let mut moved = parameters.clone();
                    moved[i] += step;
                    value(&moved, start)
                });
                let slope = (above - below) / (2.0 * STEP);
                assert!(is_near(sums[i], slope), "{way:?} {i}: {} is not {slope}", sums[i]);
            }
            for d in 0..2 {
                let [above, below] = [STEP, -STEP].map(|step| {
                    let mut moved = start;
                    moved[d] += step;
                    value(&parameters, moved)
                });
                let (slope, found) = ((above - below) / (2.0 * STEP), g.row(d)[0]);
                assert!(is_near(found, slope), "{way:?} coordinate {d}: {found} is not {slope}");
            }
        }
    }
}
