//! e1
use adaann::{Program, fit::{Settings, fit}, schedule::{Schedule, Work}};
fn main() {
    let target = Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square());
    for seed in 1..=6 {
        for none in [false, true] {
        let mut s = Settings { seed, ..Settings::default() };
        if none { s.schedule = Schedule::None; s.refine_samples = 100; s.work = Work { warmup: 0, anneal: 0, refine: 8000 }; }
        let t = std::time::Instant::now();
        let o = fit(&target, &s, &mut ()).unwrap();
        let el = t.elapsed().as_secs_f64();
        let a = o.approximation(&target).unwrap();
        let d = a.sample(10000, 9).unwrap();
        let left = d.points.row(0).iter().filter(|x| **x < -2.0).count() as f64 / 1e4;
        println!("seed {seed} none={none} steps {} updates {} evals {} KL {:.4} left {:.3} {:.2}s", o.steps.len(), o.trace.len(), o.target_evaluations, d.neg_elbo() + 0.047120, left, el);
        }
    }
}
