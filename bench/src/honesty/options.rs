//! The options of `adaann-bench honesty`.

use super::classes::{CLASSES, Class, Instance};
use crate::{
    ladder::{hidden::Hiding, options::LIMIT},
    trials::Options,
};
use std::time::Duration;

/// The default of `--seeds`: instances of each class, and runs of each target of the laws.
const SEEDS: u64 = 40;
const LAW_SEEDS: u64 = 5;

pub(crate) struct HonestyOptions {
    pub(crate) trials: Options,
    /// The dimensions to run, or all if empty.
    dims: Vec<usize>,
    /// The number of parallel runs on one thread each. `None` runs them one after another on all threads.
    pub(crate) jobs: Option<usize>,
    /// The maximal time of a run.
    pub(crate) limit: Duration,
    /// Print the rungs and reasons of each run?
    pub(crate) explain: bool,
    /// What targets hide from the search, if anything.
    hiding: Option<Hiding>,
    /// Compare mixtures with their mapped versions instead?
    pub(crate) laws: bool,
    /// Compare with other samplers on twelve targets instead?
    pub(crate) peers: bool,
}

impl HonestyOptions {
    /// Parses the options. Returns `None` for an unknown option or class.
    pub(crate) fn read(arguments: &[&str]) -> Option<Self> {
        let seeds = if arguments.contains(&"--laws") { LAW_SEEDS } else { SEEDS };
        let mut options = Self {
            trials: Options::read(&[], seeds)?,
            dims: Vec::new(),
            jobs: None,
            limit: LIMIT,
            explain: false,
            hiding: None,
            laws: false,
            peers: false,
        };
        let (mut rest, mut arguments) = (Vec::new(), arguments.iter());
        while let Some(&argument) = arguments.next() {
            match argument {
                "--dims" => {
                    let dims = arguments.next()?.split(',').map(str::parse);
                    options.dims = dims.collect::<Result<_, _>>().ok()?;
                }
                "--jobs" => options.jobs = Some(arguments.next()?.parse().ok().filter(|n| *n > 0)?),
                "--limit" => options.limit = Duration::from_secs(arguments.next()?.parse().ok()?),
                "--hidden" => options.hiding = Some(Hiding::Formulas),
                "--as-python" => options.hiding = Some(Hiding::FormulasAndCost),
                "--laws" => options.laws = true,
                "--peers" => options.peers = true,
                "--explain" => options.explain = true,
                other => rest.push(other),
            }
        }
        options.trials = Options::read(&rest, seeds)?;
        let mut names = options.trials.only.iter().flat_map(|only| only.split(','));
        let is_known = |name: &str| CLASSES.iter().any(|class| class.name == name);
        names.all(is_known).then_some(options)
    }

    fn asks_for(&self, class: &Class) -> bool {
        let only = self.trials.only.as_ref();
        only.is_none_or(|only| only.split(',').any(|name| name == class.name))
    }

    /// The instances of all selected classes, class by class.
    pub(crate) fn instances(&self) -> Vec<Instance> {
        let classes = CLASSES.iter().filter(|class| self.asks_for(class));
        classes
            .flat_map(|class| self.trials.seeds().map(|seed| class.instance(seed)))
            .filter(|instance| self.dims.is_empty() || self.dims.contains(&instance.dim))
            .map(|instance| match self.hiding {
                Some(hiding) => instance.hidden(hiding),
                None => instance,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_refused() {
        let read = |text: &str| HonestyOptions::read(&text.split(' ').collect::<Vec<_>>());
        let options =
            read("--seeds 12 --from 5 --only forty,pairs --dims 2,20 --jobs 2 --limit 9").unwrap();
        assert_eq!((options.jobs, options.limit), (Some(2), Duration::from_secs(9)));
        let found: Vec<_> = options.instances().iter().map(|i| (i.class, i.dim, i.seed)).collect();
        // The instances cycle through four dimensions.
        let wanted = [("pairs", 20, 5), ("pairs", 20, 9), ("pairs", 20, 13)];
        assert_eq!(found[..3], wanted);
        let wanted = [("forty", 2, 8), ("forty", 2, 12), ("forty", 2, 16)];
        assert_eq!(found[3..], wanted);
        assert_eq!(read("--laws").unwrap().trials.seeds, LAW_SEEDS);
        for wrong in ["--only mixture", "--only pairs,", "--jobs 0", "--dims two", "--sedes 3"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
