//! Checks that the sample has the weights that its q gives it.
//!
//! All statements about p rest on the sample's weights. A changed file, draws of another q, or hand-made
//! weights of modes yield weights that look just as good.

use crate::{
    Batch, Result, approximation::Approximation, diagnostics::thresholds::WEIGHT_OFF,
    importance::Sample,
};

/// Draws to check; a mode of one per cent has five of them.
const DRAWS: usize = 512;

/// The share of the draws whose log q differs from that of the approximation; none if the sample has no
/// q.
pub(super) fn share_off(approximation: &Approximation, sample: &Sample) -> Result<Option<f64>> {
    let Some(log_q) = sample.log_q() else { return Ok(None) };
    let step = sample.len().div_ceil(DRAWS).max(1);
    let chosen: Vec<usize> = (0..sample.len()).step_by(step).collect();
    let mut z = Batch::zeros(sample.z().dim(), chosen.len());
    for (to, &from) in chosen.iter().enumerate() {
        z.copy_points(to, sample.z(), from, 1);
    }
    let (_, log_jacobian) = approximation.target().constrain(&z);
    let found = approximation.flow().log_density(&z)?;
    let is_off = |(at, &from): (usize, &usize)| {
        let off = (found[at] - log_jacobian[at] - log_q[from]).abs();
        // A draw that has no density on either side has no weight that could be wrong.
        !(off <= WEIGHT_OFF.value || off.is_nan() && sample.weights()[from] == 0.0)
    };
    let off = chosen.iter().enumerate().filter(|one| is_off(*one)).count();
    Ok(Some(off as f64 / chosen.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Program,
        flow::{Base, Flow, FlowSpec},
    };

    #[test]
    fn weights_that_were_changed_are_seen() {
        let target = Program::record(1, |z| -0.5 * z[0].square());
        let flow = Flow::new(&FlowSpec::Affine, Base::diagonal(&[0.0], &[1.5]).unwrap()).unwrap();
        let approximation = Approximation::new(&target, flow).unwrap();
        let sample = approximation.sample(2_000, 1).unwrap();
        assert_eq!(share_off(&approximation, &sample).unwrap(), Some(0.0));
        // The weights of half of the draws are raised.
        let x = sample.x();
        let up = |(i, log_q): (usize, &f64)| log_q - if x.row(0)[i] > 0.0 { 0.4 } else { 0.0 };
        let log_q = sample.log_q().unwrap().iter().enumerate().map(up).collect();
        let changed =
            Sample::of_draws(sample.z().clone(), x.clone(), sample.log_p().to_vec(), log_q);
        let share = share_off(&approximation, &changed.unwrap()).unwrap().unwrap();
        assert!((0.4..0.6).contains(&share), "{share}");
        let zeros = vec![0.0; sample.len()];
        let particles = Sample::of_particles(x.clone(), x.clone(), zeros.clone(), zeros).unwrap();
        assert_eq!(share_off(&approximation, &particles).unwrap(), None);
    }
}
