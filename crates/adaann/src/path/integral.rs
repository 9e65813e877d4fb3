//! Tests whether the density at some t has a finite integral. A power of a density with flat priors may
//! not, and then no method that passes through it can finish.

use super::{PathKind, Tempered, Tile};
use crate::{
    Batch, Error, Result, error,
    flow::{Base, Noise},
    rng::{Purpose, Stream},
    target::Support,
};

/// Search radii along a coordinate, in standard deviations of the base.
const RADII: [f64; 8] = [10.0, 30.0, 100.0, 300.0, 1e3, 1e4, 1e6, 1e8];

/// The number of radii that must be finite along a transformed coordinate (as by a logarithm) before it
/// overflows.
const FAR_ENOUGH: usize = 3;

/// The number of draws of the base, and of the highest among them that serve as starting points.
const DRAWS: usize = 32;
const CENTRES: usize = 3;

/// The reason why the density at t has no integral, with a remedy; `None` if it seems to have one.
///
/// This is not a proof. A density is rejected only if, from each of several points, its mass hundreds of
/// standard deviations of the base away exceeds the mass nearby and continues to grow. Formal divergences
/// without effect, such as a floor far below the modes, are accepted.
pub(crate) fn without(density: &Tempered, base: &Base, t: f64) -> Result<Option<Error>> {
    // On a bridge the base makes the density integrable for t below 1.
    if density.path == PathKind::Bridge || t >= 1.0 {
        return Ok(None);
    }
    let found = Look::new(density, base, t)?.endless()?;
    Ok((!found.is_empty()).then(|| refusal(density, &found, t)))
}

/// Whether the prior is declared improper.
pub(crate) fn has_flat_prior(density: &Tempered) -> bool {
    let target = density.target.target();
    target.has_prior() && !target.has_proper_prior()
}

/// The search around the base at one t.
struct Look<'l, 'a> {
    density: &'l Tempered<'a>,
    t: f64,
    /// The highest of the base's draws.
    centres: Vec<Vec<f64>>,
    /// log p_t at the highest of them.
    highest: f64,
    /// Standard deviation of the base in each coordinate.
    scales: Vec<f64>,
}

impl<'l, 'a> Look<'l, 'a> {
    fn new(density: &'l Tempered<'a>, base: &Base, t: f64) -> Result<Self> {
        let dim = base.dim();
        let (mut noise, mut z) = (Noise::zeros(dim, DRAWS), Batch::zeros(dim, DRAWS));
        let mut log_q = vec![0.0; z.padded_len()];
        base.draw(&Stream::new(1, Purpose::Evaluation), 0, 0, &mut noise);
        base.forward(&noise, &mut z, &mut log_q);
        let sd = |d: usize| {
            let mean = z.row(d).iter().sum::<f64>() / DRAWS as f64;
            let squares: f64 = z.row(d).iter().map(|x| (x - mean).powi(2)).sum();
            (squares / DRAWS as f64).sqrt().max(f64::MIN_POSITIVE)
        };
        let scales = (0..dim).map(sd).collect();
        let mut look = Self { density, t, centres: Vec::new(), highest: 0.0, scales };
        let heights = look.heights(&z)?;
        let mut order: Vec<usize> = (0..DRAWS).filter(|&i| heights[i].is_finite()).collect();
        order.sort_by(|&i, &j| heights[j].total_cmp(&heights[i]));
        look.highest = order.first().map_or(f64::INFINITY, |&i| heights[i]);
        look.centres = order.iter().take(CENTRES).map(|&i| z.point(i)).collect();
        Ok(look)
    }

    /// log p_t at points in unconstrained coordinates.
    fn heights(&self, z: &Batch) -> Result<Vec<f64>> {
        let mut tile = Tile::zeros(z.dim(), z.len());
        self.density.evaluate_parts(z, None, &mut tile)?;
        let weights = self.density.path.weights(self.t);
        Ok((0..z.len()).map(|i| tile.log_density(weights, i)).collect())
    }

    /// The coordinates along which the mass of p_t grows without bound, in at least one direction.
    fn endless(&self) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for d in 0..self.scales.len() {
            for sign in [1.0, -1.0] {
                if !found.contains(&d) && self.is_endless(d, sign)? {
                    found.push(d);
                }
            }
        }
        Ok(found)
    }

    fn is_endless(&self, d: usize, sign: f64) -> Result<bool> {
        let away = |centre: &Vec<f64>, radius: f64| {
            let mut point = centre.clone();
            point[d] += sign * radius * self.scales[d];
            point
        };
        let along = |centre| RADII.iter().map(move |radius| away(centre, *radius));
        let points: Vec<Vec<f64>> = self.centres.iter().flat_map(along).collect();
        if points.is_empty() {
            return Ok(false);
        }
        let heights = self.heights(&Batch::from_points(self.scales.len(), &points))?;
        let is_mapped = self.density.target.target().support(d) != Support::Real;
        let mut all = heights.chunks(RADII.len());
        Ok(all.all(|heights| is_endless_along(heights, self.highest, is_mapped)))
    }
}

/// Whether the mass between successive radii still grows at the last radius and exceeds the mass nearby.
fn is_endless_along(heights: &[f64], highest: f64, is_mapped: bool) -> bool {
    // Transformed coordinates eventually overflow; elsewhere a non-finite point has no density.
    let reach = heights.iter().take_while(|height| height.is_finite()).count();
    if reach < RADII.len() && !(is_mapped && reach >= FAR_ENOUGH) {
        return false;
    }
    let (last, before) = (reach - 1, reach - 2);
    let mass = |i: usize| heights[i] + RADII[i].ln();
    mass(last) > mass(before) && mass(last) > highest
}

/// One sentence: which parameters are affected, why, and what to do.
fn refusal(density: &Tempered, found: &[usize], t: f64) -> Error {
    let target = density.target.target();
    let names = target.names();
    let named: Vec<&str> = found.iter().map(|&d| names[d].as_str()).collect();
    let (verb, plural) = if found.len() == 1 { ("has a", "") } else { ("have", "s") };
    let power = if density.path == PathKind::Power { "p^t" } else { "prior * likelihood^t" };
    let (all, t) = (listed(&named), error::short(t));
    let message = if has_flat_prior(density) {
        let own = match target.support(found[0]) {
            Support::Above(0.0) => "half_normal(10)",
            _ => "normal(0, 10)",
        };
        let name = named[0];
        format!(
            "{all} {verb} flat prior{plural}, so that {power} has no integral at t = {t}; give a prior, \
             like {name} = \"{own}\", or take another path, `path` bridge"
        )
    } else {
        format!(
            "{power} has no integral at t = {t}, since the density falls too slowly along {all}; take \
             another path, `path` bridge"
        )
    };
    error::conflict("path", message)
}

/// The first names, as a phrase.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 4;
    match names {
        [one] => (*one).to_owned(),
        [most @ .., last] if names.len() <= MOST => format!("{} and {last}", most.join(", ")),
        _ => format!("{} and {} more", names[..MOST].join(", "), names.len() - MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Program,
        target::{Target, Unconstrained},
    };

    /// The message for a target on a path at some t, from a standard base.
    fn said(target: &dyn Target, path: PathKind, t: f64) -> Option<String> {
        let density =
            Tempered { target: Unconstrained::new(target).unwrap(), path, reference: None };
        let base = Base::standard(target.dim());
        without(&density, &base, t).unwrap().map(|error| error.to_string())
    }

    #[test]
    fn tails_have_an_integral_from_the_power_on_that_gives_them_one() {
        // (1 + z²)^(−t) has an integral for t above one half.
        let cauchy = Program::record(1, |z| -(1.0 + z[0].square()).ln());
        for (t, has_none) in [(0.01, true), (0.4, true), (0.6, false), (0.9, false)] {
            assert_eq!(said(&cauchy, PathKind::Power, t).is_some(), has_none, "{t}");
        }
        assert!(said(&cauchy, PathKind::Power, 0.01).unwrap().contains("too slowly along z1"));
        assert_eq!(said(&cauchy, PathKind::Bridge, 0.01), None);
        let gaussian = Program::record(2, |z| -0.5 * (z[0].square() + 1e-6 * z[1].square()));
        assert_eq!(said(&gaussian, PathKind::Power, 1e-4), None);
    }

    /// A floor far below the modes diverges only formally; a distant mode is a mode.
    #[test]
    fn floors_and_far_modes_harm_nobody() {
        let floored = Program::record(1, |z| (-50.0 * z[0].square()).max(-1e6));
        assert_eq!(said(&floored, PathKind::Power, 0.01), None);
        let far = Program::record(1, |z| -0.5 * (z[0] - 1e5).square());
        assert_eq!(said(&far, PathKind::Power, 0.01), None);
    }
}
