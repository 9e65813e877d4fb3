//! A reference, a box or a shared pointer to a target is a target.

use super::{Evaluation, Support, Target, Weights};
use crate::{Batch, Result};
use std::sync::Arc;

/// Hands every method on, the provided ones too: a default in their place would be wrong in silence.
macro_rules! forward {
    ($($pointer:ty),*) => {
        $(impl<T: Target + ?Sized> Target for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }

            fn evaluate(
                &self,
                points: &Batch,
                gradient: Option<Weights>,
                out: &mut Evaluation,
            ) -> Result<()> {
                (**self).evaluate(points, gradient, out)
            }

            fn wants_whole_batch(&self) -> bool {
                (**self).wants_whole_batch()
            }

            fn has_prior(&self) -> bool {
                (**self).has_prior()
            }

            fn has_proper_prior(&self) -> bool {
                (**self).has_proper_prior()
            }

            fn support(&self, d: usize) -> Support {
                (**self).support(d)
            }

            fn standardisation(&self, d: usize) -> (f64, f64) {
                (**self).standardisation(d)
            }

            fn exact_draws(&self, count: usize, seed: u64) -> Option<Batch> {
                (**self).exact_draws(count, seed)
            }

            fn tightened(&self) -> Option<Box<dyn Target + '_>> {
                (**self).tightened()
            }

            fn notes(&self) -> Vec<String> {
                (**self).notes()
            }

            fn names(&self) -> Vec<String> {
                (**self).names()
            }
        })*
    };
}

forward!(&T, Box<T>, Arc<T>);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every provided method answers something else than its default.
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

    /// A method that is new to the trait must be handed on, and answered by [`Contrary`].
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
        assert_eq!(methods(here, "Target for $pointer", "})*"), of_trait);
        assert_eq!(methods(here, "Target for Contrary", "\n    }\n\n    fn holds"), of_trait);
    }
}
