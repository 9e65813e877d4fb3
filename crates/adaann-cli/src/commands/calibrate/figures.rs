//! The two figures of a calibration: histograms of the ranks, and their distribution functions.

use crate::commands::calibrate::{
    journal::Entry,
    summary::{Summary, finished, ranks},
};
use adaann::calibrate::{Envelope, Histogram, Judgement, bins_for};
use adaann_report::{Axis, Color, Figure, Mark, Panel};
use anyhow::Result;

/// Maximum number of panels in a figure.
const MOST_PANELS: usize = 16;

/// Maximum number of panels in a row.
const MOST_COLUMNS: usize = 3;

/// Probability that a bin is inside its band, if the draws are calibrated.
const BIN_COVERAGE: f64 = 0.99;

/// Both figures.
pub(super) fn draw(summary: &Summary, entries: &[Entry]) -> Result<[Figure; 2]> {
    let trials = finished(entries);
    let envelope = Envelope::new(trials.len(), summary.draws, summary.coverage)?;
    let shown = shown(summary);
    let (mut columns, mut differences) = (Vec::new(), Vec::new());
    for &p in &shown {
        let (name, ranks) = (&summary.parameters[p].name, ranks(&trials, p));
        columns.push(histogram(name, &ranks, summary.draws)?);
        differences.push(difference(name, &ranks, &envelope)?);
    }
    let more = match summary.parameters.len() - shown.len() {
        0 => String::new(),
        more => format!(" {more} more parameters are in summary.json."),
    };
    let across = shown.len().min(MOST_COLUMNS);
    let columns = Figure::grid(
        "ranks",
        format!(
            "Ranks of the true values among {} draws, in {} trials. With calibrated draws, each column lies \
             in the grey band with probability 0.99. Columns that rise at both ends mean that the draws are \
             too narrow, a hill means too wide, a slope means biased.{more}",
            summary.draws, summary.finished
        ),
        across,
        columns,
    );
    let differences = Figure::grid(
        "ecdf",
        format!(
            "The distribution function of the ranks minus that of uniform ranks. With calibrated draws, the \
             whole line lies in the grey band with probability {:.3}.{more}",
            summary.coverage
        ),
        across,
        differences,
    );
    Ok([columns, differences])
}

/// The parameters shown, in their order; miscalibrated ones take precedence.
fn shown(summary: &Summary) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..summary.parameters.len()).collect();
    shown.sort_by_key(|&p| summary.parameters[p].judgement == Judgement::Calibrated);
    shown.truncate(MOST_PANELS);
    shown.sort_unstable();
    shown
}

fn histogram(name: &str, ranks: &[usize], draws: usize) -> Result<Panel> {
    let bins = bins_for(ranks.len(), draws);
    let histogram = Histogram::new(ranks, draws, bins)?;
    // The first rank of each bin, then the end of the last bin.
    let edges: Vec<f64> = (0..=bins).map(|bin| (bin * (draws + 1)).div_ceil(bins) as f64).collect();
    let (mut outline, mut band) = (vec![(edges[0], 0.0)], Vec::new());
    for (bin, (low, high)) in histogram.bands(BIN_COVERAGE).into_iter().enumerate() {
        for x in [edges[bin], edges[bin + 1]] {
            outline.push((x, histogram.counts[bin] as f64));
            band.push((x, low as f64, high as f64));
        }
    }
    outline.push((edges[bins], 0.0));
    let middle = histogram.expected.iter().sum::<f64>() / bins as f64;
    Ok(Panel {
        title: Some(name.to_owned()),
        x: Axis::new("rank").between(0.0, draws as f64 + 1.0),
        y: Axis::new("trials"),
        marks: vec![
            Mark::band(band, Color::Grey).label("band"),
            Mark::columns(outline, Color::Blue).label("ranks"),
            Mark::horizontal(middle, Color::Black),
        ],
    })
}

fn difference(name: &str, ranks: &[usize], envelope: &Envelope) -> Result<Panel> {
    let mut band = vec![(0.0, 0.0, 0.0)];
    band.extend(envelope.band());
    band.push((1.0, 0.0, 0.0));
    let mut line = vec![(0.0, 0.0)];
    line.extend(envelope.differences(ranks)?);
    line.push((1.0, 0.0));
    Ok(Panel {
        title: Some(name.to_owned()),
        x: Axis::new("rank as a share").between(0.0, 1.0),
        y: Axis::new("difference"),
        marks: vec![
            Mark::band(band, Color::Grey).label("band"),
            Mark::line(line, Color::Blue).label("ranks"),
            Mark::horizontal(0.0, Color::Black),
        ],
    })
}
