//! Implements `Target` for references, boxes and shared pointers to targets.

use super::{Evaluation, Support, Target, Weights};
use crate::{Batch, Result};
use std::sync::Arc;

/// Forwards every method except `evaluate` and `tightened`, which each caller implements. Provided
/// methods are forwarded too, since falling back to their defaults would be silently wrong.
macro_rules! hand_on {
    ($self:ident => $target:expr) => {
        fn dim(&$self) -> usize {
            $target.dim()
        }

        fn wants_whole_batch(&$self) -> bool {
            $target.wants_whole_batch()
        }

        fn has_prior(&$self) -> bool {
            $target.has_prior()
        }

        fn has_proper_prior(&$self) -> bool {
            $target.has_proper_prior()
        }

        fn support(&$self, d: usize) -> Support {
            $target.support(d)
        }

        fn standardisation(&$self, d: usize) -> (f64, f64) {
            $target.standardisation(d)
        }

        fn exact_draws(&$self, count: usize, seed: u64) -> Option<Batch> {
            $target.exact_draws(count, seed)
        }

        fn notes(&$self) -> Vec<String> {
            $target.notes()
        }

        fn operations(&$self) -> Option<f64> {
            $target.operations()
        }

        fn values_per_gradient(&$self, of: Weights) -> usize {
            $target.values_per_gradient(of)
        }

        fn is_log_concave(&$self) -> bool {
            $target.is_log_concave()
        }

        fn has_formulas(&$self) -> bool {
            $target.has_formulas()
        }

        fn summands(&$self) -> Vec<Box<dyn Target + '_>> {
            $target.summands()
        }

        fn names(&$self) -> Vec<String> {
            $target.names()
        }
    };
}
pub(crate) use hand_on;

macro_rules! forward {
    ($($pointer:ty),*) => {
        $(impl<T: Target + ?Sized> Target for $pointer {
            hand_on!(self => (**self));

            fn evaluate(
                &self,
                points: &Batch,
                gradient: Option<Weights>,
                out: &mut Evaluation,
            ) -> Result<()> {
                (**self).evaluate(points, gradient, out)
            }

            fn tightened(&self) -> Option<Box<dyn Target + '_>> {
                (**self).tightened()
            }
        })*
    };
}

forward!(&T, Box<T>, Arc<T>);

#[cfg(test)]
mod tests {
    use super::*;

    /// A target on which every provided method returns something other than its default.
    struct Contrary;

    impl Target for Contrary {
        fn dim(&self) -> usize {
            3
        }

        fn evaluate(
            &self,
            points: &Batch,
            gradient: Option<Weights>,
            out: &mut Evaluation,
        ) -> Result<()> {
            out.log_likelihood[0] = points.row(0)[0];
            out.log_prior[0] = gradient.map_or(0.0, |weights| weights.prior);
            Ok(())
        }

        fn wants_whole_batch(&self) -> bool {
            true
        }

        fn has_prior(&self) -> bool {
            true
        }

        fn has_proper_prior(&self) -> bool {
            false
        }

        fn support(&self, d: usize) -> Support {
            Support::Above(d as f64)
        }

        fn standardisation(&self, d: usize) -> (f64, f64) {
            (d as f64, 7.0)
        }

        fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
            Some(Batch::from_points(3, &vec![[seed as f64; 3]; count]))
        }

        fn tightened(&self) -> Option<Box<dyn Target + '_>> {
            Some(Box::new(Self))
        }

        fn notes(&self) -> Vec<String> {
            vec!["contrary".into()]
        }

        fn operations(&self) -> Option<f64> {
            Some(11.0)
        }

        fn values_per_gradient(&self, of: Weights) -> usize {
            if of == Weights::ALL { 7 } else { 1 }
        }

        fn is_log_concave(&self) -> bool {
            true
        }

        fn has_formulas(&self) -> bool {
            true
        }

        fn summands(&self) -> Vec<Box<dyn Target + '_>> {
            vec![Box::new(Self), Box::new(Self)]
        }

        fn names(&self) -> Vec<String> {
            ["a", "b", "c"].map(String::from).to_vec()
        }
    }

    fn holds(target: &impl Target) {
        let mut out = Evaluation::zeros(3, 1);
        let points = Batch::from_points(3, &[[2.0, 0.0, 0.0]]);
        let weights = Weights { prior: 0.5, likelihood: 1.0 };
        target.evaluate(&points, Some(weights), &mut out).unwrap();
        assert_eq!((out.log_likelihood[0], out.log_prior[0]), (2.0, 0.5));
        assert_eq!(target.dim(), 3);
        assert!(target.wants_whole_batch() && target.has_prior() && !target.has_proper_prior());
        assert_eq!(target.support(1), Support::Above(1.0));
        assert_eq!(target.standardisation(2), (2.0, 7.0));
        let drawn = target.exact_draws(2, 5).unwrap();
        assert_eq!((drawn.len(), drawn.row(2)[1]), (2, 5.0));
        assert_eq!(target.tightened().unwrap().dim(), 3);
        assert_eq!(target.notes(), ["contrary"]);
        assert_eq!(target.operations(), Some(11.0));
        assert_eq!(target.values_per_gradient(Weights::ALL), 7);
        assert!(target.is_log_concave() && target.has_formulas());
        assert_eq!(target.summands().len(), 2);
        assert_eq!(target.names(), ["a", "b", "c"]);
    }

    #[test]
    fn pointers_say_what_their_targets_say() {
        holds(&Contrary);
        holds(&&Contrary);
        holds(&Box::new(Contrary));
        holds(&Arc::new(Contrary));
        let shared: Arc<dyn Target> = Arc::new(Contrary);
        holds(&shared);
        let boxed: Box<dyn Target> = Box::new(Contrary);
        holds(&boxed);
        holds(&&*boxed);
    }

    /// Every method of the trait, new ones included, must be forwarded and implemented by
    /// [`Contrary`].
    #[test]
    fn no_method_is_forgotten() {
        let methods = |source: &str, start: &str, end: &str| {
            let body = source.split(start).nth(1).unwrap().split(end).next().unwrap();
            let names = body.split("    fn ").skip(1);
            names.map(|rest| rest.split('(').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let of_trait = methods(include_str!("mod.rs"), "pub trait Target", "\n}\n");
        assert!(of_trait.len() > 5, "{of_trait:?}");
        let here = include_str!("forward.rs");
        let mut handed_on = methods(here, "macro_rules! hand_on", "\n    };\n");
        handed_on.extend(["evaluate", "tightened"].map(String::from));
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        assert_eq!(sorted(handed_on), sorted(of_trait.clone()));
        assert_eq!(methods(here, "Target for Contrary", "\n    }\n\n    fn holds"), of_trait);
    }
}
