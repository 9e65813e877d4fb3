//! Shared targets return the bits of their targets, for any ranks and any order of responses.

use adaann::{
    Batch, Error, Program, Result,
    answer::{Settings, approximate},
    fit,
    ranks::{Answering, Queue, Shared},
    schedule::Work,
    smc::{self, Smc},
    target::{Evaluation, Support, Target, Weights},
};
use std::{
    sync::{Arc, Barrier},
    thread,
    time::Duration,
};

/// Ranks implemented as threads.
struct Ranks {
    queue: Arc<Queue>,
    threads: Vec<thread::JoinHandle<usize>>,
}

impl Ranks {
    /// Starts `count` ranks for a target; each waits a different time before it responds.
    fn new(target: &Arc<dyn Target>, count: u64) -> Self {
        let queue = Arc::new(Queue::default());
        let one = |rank: u64| {
            let (answering, queue) = (Answering::new(target.clone()), queue.clone());
            thread::spawn(move || {
                let mut answered = 0;
                while let Some(request) = queue.wait_for_request() {
                    thread::sleep(Duration::from_micros(37 * ((answered as u64 + rank) % 3)));
                    let answer = answering.answer(request.question());
                    request.answer(answer);
                    answered += 1;
                }
                answered
            })
        };
        Self { threads: (0..count).map(one).collect(), queue }
    }

    /// Ends them, and returns the number of requests each has handled.
    fn end(self) -> Vec<usize> {
        self.queue.close();
        self.threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }
}

fn lopsided() -> Arc<dyn Target> {
    Arc::new(Program::record(2, |z| {
        let bent = z[1] - 0.4 * z[0].square();
        let far = -0.5 * ((z[0] - 4.0).square() + 3.0 * (z[1] + 2.0).square());
        (-0.5 * (z[0].square() + 2.0 * bent.square()) + 0.3).log_add_exp(far)
    }))
}

/// A target that overrides every provided method with a non-default value.
struct Contrary {
    wants_whole_batch: bool,
}

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
        for i in 0..points.len() {
            let x = points.point(i);
            if x[0] == 13.0 {
                return Err(Error::Target("thirteen".into()));
            }
            assert!(x[0] != 17.0, "seventeen");
            out.log_prior[i] = x[0];
            out.log_likelihood[i] = if x[1] > 5.0 { f64::NEG_INFINITY } else { -x[1] };
            let Some(Weights { prior, likelihood }) = gradient else { continue };
            for (d, slope) in [prior, -likelihood, f64::NAN].into_iter().enumerate() {
                out.gradient.row_mut(d)[i] = slope;
            }
        }
        Ok(())
    }

    fn wants_whole_batch(&self) -> bool {
        self.wants_whole_batch
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
        Some(Box::new(Self { wants_whole_batch: !self.wants_whole_batch }))
    }

    fn notes(&self) -> Vec<String> {
        vec!["contrary".into()]
    }

    fn operations(&self) -> Option<f64> {
        Some(11.0)
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn summands(&self) -> Vec<Box<dyn Target + '_>> {
        vec![Box::new(Self { ..*self }), Box::new(Self { ..*self })]
    }

    fn names(&self) -> Vec<String> {
        ["a", "b", "c"].map(String::from).to_vec()
    }
}

fn shared(target: &Arc<dyn Target>, ranks: &Ranks) -> Shared<'static> {
    Shared::new(target.clone(), ranks.queue.clone(), 5)
}

#[test]
fn it_says_what_its_target_says() {
    let target: Arc<dyn Target> = Arc::new(Contrary { wants_whole_batch: false });
    let ranks = Ranks::new(&target, 2);
    let shared = shared(&target, &ranks);
    assert_eq!(shared.dim(), 3);
    assert!(!shared.wants_whole_batch() && shared.has_prior() && !shared.has_proper_prior());
    assert_eq!(shared.support(1), Support::Above(1.0));
    assert_eq!(shared.standardisation(2), (2.0, 7.0));
    assert_eq!(shared.operations(), Some(11.0));
    assert!(shared.is_log_concave());
    assert_eq!(shared.exact_draws(2, 5).unwrap().row(2)[1], 5.0);
    assert_eq!(shared.notes(), ["contrary"]);
    assert_eq!(shared.names(), ["a", "b", "c"]);
    let twin = shared.tightened().unwrap();
    assert!(twin.wants_whole_batch() && !twin.tightened().unwrap().wants_whole_batch());
    let mut out = Evaluation::zeros(3, 1);
    twin.evaluate(&Batch::from_points(3, &[[1.0, 2.0, 3.0]]), None, &mut out).unwrap();
    assert_eq!((out.log_prior[0], out.log_likelihood[0]), (1.0, -2.0));
    assert_eq!(ranks.end().iter().sum::<usize>(), 1);
}

/// Lengths around those of pieces; NaN and infinities keep their bits.
#[test]
fn every_point_has_its_own_answer() {
    for wants_whole_batch in [true, false] {
        let target: Arc<dyn Target> = Arc::new(Contrary { wants_whole_batch });
        let ranks = Ranks::new(&target, 3);
        let shared = shared(&target, &ranks);
        for len in [1, 2, 31, 32, 33, 64, 100] {
            let points: Vec<[f64; 3]> =
                (0..len).map(|i| [-0.5 * i as f64, i as f64 % 9.0, 0.0]).collect();
            let points = Batch::from_points(3, &points);
            for gradient in [None, Some(Weights { prior: 0.3, likelihood: -2.0 })] {
                let (mut found, mut known) = (Evaluation::zeros(3, len), Evaluation::zeros(3, len));
                shared.evaluate(&points, gradient, &mut found).unwrap();
                target.evaluate(&points, gradient, &mut known).unwrap();
                let bits = |numbers: &[f64]| {
                    numbers[..len].iter().map(|x| x.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(bits(&found.log_prior), bits(&known.log_prior));
                assert_eq!(bits(&found.log_likelihood), bits(&known.log_likelihood));
                for d in 0..3 {
                    assert_eq!(bits(found.gradient.row(d)), bits(known.gradient.row(d)));
                }
            }
        }
        let answered = ranks.end();
        let pieces = |len: usize| if wants_whole_batch { len } else { len.div_ceil(32) };
        let expected: usize = [1, 2, 31, 32, 33, 64, 100].map(pieces).iter().sum();
        assert_eq!(answered.iter().sum::<usize>(), 2 * expected);
    }
}

/// A target whose points wait for each other.
struct Meeting(Barrier);

impl Target for Meeting {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(&self, _: &Batch, _: Option<Weights>, out: &mut Evaluation) -> Result<()> {
        self.0.wait();
        out.log_likelihood[0] = 1.0;
        Ok(())
    }

    fn wants_whole_batch(&self) -> bool {
        true
    }
}

#[test]
fn all_ranks_work_on_a_batch_at_once() {
    let target: Arc<dyn Target> = Arc::new(Meeting(Barrier::new(3)));
    let ranks = Ranks::new(&target, 3);
    let mut out = Evaluation::zeros(1, 3);
    shared(&target, &ranks).evaluate(&Batch::zeros(1, 3), None, &mut out).unwrap();
    assert_eq!(out.log_likelihood[..3], [1.0; 3]);
    assert_eq!(ranks.end(), [1; 3]);
}

#[test]
fn an_error_names_its_point() {
    let target: Arc<dyn Target> = Arc::new(Contrary { wants_whole_batch: true });
    for (first, why) in [(13.0, "thirteen"), (17.0, "panicked: seventeen")] {
        let ranks = Ranks::new(&target, 2);
        let shared = shared(&target, &ranks);
        let mut out = Evaluation::zeros(3, 3);
        let mut ask = |first: f64| {
            let points =
                Batch::from_points(3, &[[1.0, 2.0, 3.0], [first, 0.5, 0.25], [2.0, 2.0, 2.0]]);
            shared.evaluate(&points, None, &mut out).unwrap_err().to_string()
        };
        let said = ask(first);
        let place = format!("at a = {first}, b = 0.5, c = 0.25");
        assert!(said.contains(why) && said.contains(&place), "{said}");
        assert!(ranks.queue.failed().load(std::sync::atomic::Ordering::Relaxed));
        // From now on all requests fail; the first reason is kept.
        ranks.queue.fail("rank 3 is gone");
        assert!(ask(1.0).contains(why));
        ranks.end();
    }
}

#[test]
fn who_waits_no_more_is_asked_no_more() {
    let target: Arc<dyn Target> = Arc::new(Contrary { wants_whole_batch: true });
    let queue = Arc::new(Queue::default());
    let shared = Shared::new(target, queue.clone(), 5).until(|| true);
    let mut out = Evaluation::zeros(3, 3);
    let said = shared.evaluate(&Batch::zeros(3, 3), None, &mut out).unwrap_err().to_string();
    assert!(said.contains("is stopping"), "{said}");
    assert!(queue.take().is_none(), "nobody wants to know");
}

/// The bits of whole runs: particles, the ladder, an annealed flow.
#[test]
fn runs_have_the_same_bits() {
    let target = lopsided();
    let ranks = Ranks::new(&target, 3);
    let shared = shared(&target, &ranks);
    let bits = |batch: &Batch| {
        (0..batch.dim())
            .flat_map(|d| batch.row(d).iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let smc = smc::Settings { particles: 300, ..smc::Settings::default() };
    let run = |target: &dyn Target| Smc::new(target, &smc).run(&mut ()).unwrap();
    assert_eq!(bits(&run(&*target).points), bits(&run(&shared).points));
    let ladder = Settings { seed: 3, ..Settings::default() };
    let run = |target: &dyn Target| approximate(target, &ladder, &mut ()).unwrap();
    let (one, other) = (run(&*target), run(&shared));
    assert_eq!(bits(one.sample.x()), bits(other.sample.x()));
    assert_eq!(one.log_z.unwrap().value.to_bits(), other.log_z.unwrap().value.to_bits());
    let work = Work { warmup: 20, anneal: 2, refine: 20 };
    let settings = fit::Settings { work, ..fit::Settings::default() };
    let run = |target: &dyn Target| fit::fit(target, &settings, &mut ()).unwrap();
    let (one, other) = (run(&*target), run(&shared));
    assert_eq!(one.flow.parameters(), other.flow.parameters());
    assert_eq!(one.target_evaluations, other.target_evaluations);
    ranks.end();
}
