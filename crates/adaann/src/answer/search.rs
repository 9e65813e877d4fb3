//! The search for modes, and the densities that it rejects because they have no finite integral.

use super::{Left, Method, context::Context, forecast::Step};
use crate::{
    Result,
    adaptive::{self, Shape},
    modes::{self, Kind, Search, Searched},
    target,
};

/// The search's share of the answer's time.
const OF_SEARCH: f64 = 1.0 / 3.0;

/// Searches for modes. Returns shapes to start from, and whether there are several peaks.
pub(super) fn search(context: &mut Context) -> Result<(Vec<Shape>, bool)> {
    context.begin(Step::Modes, "searching for modes");
    let searched = searched(context)?;
    let Context { base, settings, .. } = context;
    let starts = adaptive::starts(&searched, base, settings.seed);
    let left = if starts.is_empty() { Left::Failed } else { Left::Prepared };
    let has_several_peaks = searched.peaks() > 1;
    let evaluations = searched.evaluations + integrable(context, &searched)?;
    context.leave(Method::Modes, evaluations, None, left, words(&searched));
    context.searches.push(searched);
    Ok((starts, has_several_peaks))
}

/// The search for the modes of an answer.
pub(super) fn searched(context: &mut Context) -> Result<Searched> {
    let budget = context.budget().share_of_time(OF_SEARCH);
    context.with_ledger(|context, ledger| {
        let Context { unconstrained, base, settings, .. } = context;
        let search = Search::new(unconstrained.dim())
            .with_effort(unconstrained, settings.search)
            .at_once(settings.at_once)
            .within(budget);
        modes::search_with(
            unconstrained,
            base,
            &search,
            settings.seed,
            modes::Known::default(),
            ledger,
        )
    })
}

/// Refuses a density with an infinite integral, unless a proper prior makes it finite; returns the evaluations.
fn integrable(context: &Context, searched: &Searched) -> Result<usize> {
    let has_integral = context.target.has_prior() && context.target.has_proper_prior();
    let evaluations = bounded(context, searched)?;
    let Some(peak) = searched.widest_peak().filter(|_| !has_integral) else {
        return Ok(evaluations);
    };
    let found = target::tails(&context.unconstrained, &peak.z, peak.factor())?;
    match found.endless {
        Some(endless) => Err(endless.refusal()),
        None => Ok(evaluations + found.evaluations),
    }
}

/// Refuses a density that grows without bound and has an infinite integral, which a proper prior does not prevent.
/// Returns the evaluations. A peak whose widths are well above rounding error needs no such check.
fn bounded(context: &Context, searched: &Searched) -> Result<usize> {
    let target = &context.unconstrained;
    let Some(highest) = searched.highest() else { return Ok(0) };
    let (z, widths) = (&highest.z, highest.widths());
    if highest.is_peak && !target::is_at_the_end_of_digits(target, z, &widths) {
        return Ok(0);
    }
    match target::spike(target, z, &widths)? {
        (Some(spike), _) => Err(spike.refusal()),
        (None, evaluations) => Ok(evaluations),
    }
}

/// The result of a search, as text.
fn words(searched: &Searched) -> String {
    let Searched { summits, ascents, adrift, unseen, is_endless, .. } = searched;
    let mut words = match (summits.len(), is_endless) {
        (_, true) => format!("a new peak at nearly every one of {ascents} ascents"),
        (1, _) => format!("one peak from {ascents} ascents"),
        (peaks, _) => format!("{peaks} peaks from {ascents} ascents"),
    };
    let later: Vec<String> = Kind::ALL[1..]
        .iter()
        .filter(|kind| searched.tally(**kind).found > 0)
        .map(|kind| format!("{} by {}", searched.tally(*kind).found, kind.name()))
        .collect();
    if !later.is_empty() {
        words += &format!(" ({})", later.join(", "));
    }
    if *adrift > 0 {
        words += &format!(", {adrift} of which reached no peak");
    }
    if *unseen > 0.0 && !is_endless {
        let percent = 100.0 * unseen;
        words += &format!(
            "; another ascent would find a new peak with a chance of {percent:.0} per cent"
        );
    }
    words
}
