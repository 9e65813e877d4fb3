//! Shared parts of Examples 4 and 5: tables of moments, scatter and corner plots of draws.

use super::view::View;
use crate::Result;
use crate::{
    exact,
    experiments::Run,
    kept::Kept,
    stats::{median, ratio},
    trial::{CAPTURED, Measured, Moments},
};
use adaann::{
    approximation::Approximation,
    registry::Dynamics,
    schedule::{AdaAnn, Schedule},
};
use adaann_report::{Color, Figure, Space, SpaceMark, Table};

/// The number of draws of a corner plot, and of a plot in space.
const DRAWS: usize = 10_000;
const DOTS: usize = 1_500;

/// The moments of one mode of a run, with those of the paper if published.
pub(super) struct Row<'a> {
    pub(super) label: String,
    pub(super) run: &'a Run,
    pub(super) mode: usize,
    pub(super) published: Option<([f64; 3], [f64; 3])>,
}

/// Means and standard deviations, compared with the exact and the published ones.
pub(super) fn table(view: &View, rows: &[Row], caption: &str) -> Table {
    let mut lines = Vec::new();
    for row in rows {
        let point = &row.run.points[0];
        let problem = point.problem();
        let truth = problem.dynamics.as_ref().map(|dynamics| dynamics.truth().to_vec());
        let Some(mode) = problem.known.modes.get(row.mode) else { continue };
        let (Some(mean), Some(sd)) = (&mode.mean, &mode.sd) else { continue };
        // A few stray draws do not count as a mode.
        let has_mode =
            |m: &&&Measured| m.at_end.weights.get(row.mode).is_some_and(|w| *w >= CAPTURED);
        let trials = view.measured(row.run, point);
        let with_mode: Vec<_> = trials.iter().filter(has_mode).collect();
        let found = |of: &dyn Fn(&Moments) -> f64| -> Vec<f64> {
            let moments = |m: &Measured| m.modes.get(row.mode).and_then(|m| m.as_ref()).map(of);
            with_mode.iter().filter_map(|m| moments(m)).collect()
        };
        for (d, name) in problem.target.names().iter().enumerate() {
            let (means, sds) = (found(&|m| m.mean[d]), found(&|m| m.sd[d]));
            // Enough decimals for three digits of the standard deviation.
            let digits = (2.0 - sd[d].log10().floor()).clamp(0.0, 8.0) as usize;
            let show = |x: f64| {
                if x.is_finite() { format!("{x:.digits$}") } else { "–".into() }
            };
            let theirs = row.published.map_or(["–".into(), "–".into()], |(mean, sd)| {
                [format!("{:.4}", mean[d]), format!("{:.4}", sd[d])]
            });
            let sign = if mode.location[d] < 0.0 { -1.0 } else { 1.0 };
            let error = (median(&means) - mean[d]) / sd[d];
            let label = format!("{} ({} of {} trials)", row.label, with_mode.len(), trials.len());
            lines.push(vec![
                if d == 0 { label } else { String::new() },
                name.clone(),
                truth.as_ref().map_or("–".into(), |truth| show(sign * truth[d].abs())),
                theirs[0].clone(),
                theirs[1].clone(),
                show(mean[d]),
                show(sd[d]),
                show(median(&means)),
                show(median(&sds)),
                if error.is_finite() { format!("{error:.2}") } else { "–".into() },
                ratio(median(&sds), sd[d]),
                row.published.map_or("–".into(), |(_, theirs)| ratio(theirs[d], sd[d])),
            ]);
        }
    }
    let header = [
        "run",
        "parameter",
        "truth",
        "paper: mean",
        "SD",
        "exact: mean",
        "SD",
        "ours: mean",
        "SD",
        "mean off, in SDs",
        "SD over exact: ours",
        "paper",
    ];
    Table {
        caption: caption.to_owned(),
        header: header.map(String::from).to_vec(),
        rows: lines,
        note: Some(format!(
            "\"Exact\" is by quadrature, for our data and the prior of the run. Ours are medians over \
             the trials that have the mode (at least {:.0} per cent of their draws), from 10,000 draws each.",
            100.0 * CAPTURED
        )),
    }
}

/// The number of AdaAnn steps after t_0 for a Gaussian of the dimension of a run, with the settings of the run and the
/// exact variance of log p. Also returns a description of these settings.
pub(super) fn steps_of_a_gaussian(run: &Run) -> Option<(f64, String)> {
    let point = &run.points[0];
    let Schedule::AdaAnn(AdaAnn { t0, tau }) = point.settings.schedule else { return None };
    let steps = exact::gaussian(point.problem().target.dim(), t0, tau) - 1;
    Some((steps as f64, format!("t_0 = {t0} and tau = {tau}")))
}

/// Draws of the flow of a trial, as one vector for each coordinate. `None` without a trial.
fn draws(run: &Run, kept: Option<Kept>) -> Result<Option<Vec<Vec<f64>>>> {
    let point = &run.points[0];
    let Some(kept) = kept else { return Ok(None) };
    let target = &*point.problem().target;
    let sample = Approximation::new(target, kept.flow)?.sample(DRAWS, 1)?;
    Ok(Some((0..target.dim()).map(|d| sample.x().row(d).to_vec()).collect()))
}

/// A corner plot of the draws that pass the filter, from the first trial with all modes, with the true values. `None`
/// without such draws.
pub(super) fn corner(
    view: &View,
    run: &Run,
    name: &str,
    caption: &str,
    passes: impl Fn(&[f64]) -> bool,
) -> Result<Option<Figure>> {
    let problem = run.points[0].problem();
    let kept = view.shown_with_modes(run, &run.points[0])?;
    let Some(all) = draws(run, kept)? else { return Ok(None) };
    let point = |i: usize| all.iter().map(|row| row[i]).collect::<Vec<_>>();
    let kept: Vec<usize> = (0..DRAWS).filter(|&i| passes(&point(i))).collect();
    if kept.is_empty() {
        return Ok(None);
    }
    let columns: Vec<Vec<f64>> =
        all.iter().map(|row| kept.iter().map(|&i| row[i]).collect()).collect();
    let truth = problem.dynamics.as_ref().map(Dynamics::truth);
    Ok(Some(Figure::corner(name, caption, &problem.target.names(), &columns, truth)))
}

/// A plot in space of the draws of the first trial. `None` if all trials failed.
pub(super) fn space(view: &View, run: &Run, title: &str) -> Result<Option<Space>> {
    let problem = run.points[0].problem();
    let Some(all) = draws(run, view.shown(run, &run.points[0])?)? else { return Ok(None) };
    let names = problem.target.names();
    let points = (0..DRAWS).step_by(DRAWS.div_ceil(DOTS)).map(|i| [0, 1, 2].map(|d| all[d][i]));
    let draws = SpaceMark {
        points: points.collect(),
        line: false,
        color: Color::Blue,
        label: Some("draws".into()),
        size: 1.4,
        opacity: 0.5,
    };
    let labels = std::array::from_fn(|d| names[d].clone());
    Ok(Some(Space { title: Some(title.to_owned()), labels, marks: vec![draws] }))
}
