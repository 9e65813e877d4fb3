//! A stand-in for the library's registry of targets.

use adaann::{Batch, Error, Program, Result, Settings, target::Target};

pub(crate) struct Mode {
    pub(crate) location: Vec<f64>,
    pub(crate) weight: f64,
}
pub(crate) struct Known {
    pub(crate) log_z: Option<f64>,
    pub(crate) modes: Vec<Mode>,
}
pub(crate) struct Problem {
    pub(crate) target: Box<dyn Target>,
    pub(crate) known: Known,
    pub(crate) settings: Settings,
}
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) parameters: &'static [(&'static str, f64, &'static str)],
}
pub(crate) const ALL: &[Entry] = &[
    Entry { name: "bimodal", summary: "two modes (the paper's first example)", parameters: &[] },
    Entry {
        name: "blobs",
        summary: "two blobs in the plane",
        parameters: &[("dim", 2.0, "dimension")],
    },
];
pub(crate) fn find(name: &str) -> Result<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name).ok_or_else(|| Error::UnknownName {
        kind: "target",
        name: name.into(),
        nearest: Some("bimodal".into()),
    })
}
impl Entry {
    pub(crate) fn build(&self, parameters: &[(String, f64)]) -> Result<Problem> {
        if self.name == "bimodal" {
            let r = 3f64.sqrt();
            return Ok(Problem {
                target: Box::new(Program::record(1, |z| -((z[0] + 2.0).square() - 3.0).square())),
                known: Known {
                    log_z: Some(0.047120),
                    modes: [-2.0 - r, -2.0 + r]
                        .map(|x| Mode { location: vec![x], weight: 0.5 })
                        .into(),
                },
                settings: Settings::default(),
            });
        }
        let dim = parameters.first().map_or(2, |p| p.1 as usize);
        Ok(Problem {
            target: Box::new(Program::record(dim, |z| {
                let a = z.iter().map(|z| (*z - 1.0).square()).reduce(|a, b| a + b).unwrap();
                let b = z.iter().map(|z| (*z + 1.5).square()).reduce(|a, b| a + b).unwrap();
                let (a, b) = (a * -4.0, b * -2.0);
                (a.exp() + b.exp()).ln()
            })),
            known: Known {
                log_z: None,
                modes: [1.0, -1.5].map(|x| Mode { location: vec![x; dim], weight: 0.5 }).into(),
            },
            settings: Settings::default(),
        })
    }
}
pub(crate) fn mode_weights(known: &Known, points: &Batch) -> Vec<f64> {
    let mut counts = vec![0.0; known.modes.len()];
    for i in 0..points.len() {
        let point = points.point(i);
        let distance = |mode: &Mode| -> f64 {
            mode.location.iter().zip(&point).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let nearest = (0..counts.len())
            .min_by(|&a, &b| distance(&known.modes[a]).total_cmp(&distance(&known.modes[b])));
        counts[nearest.unwrap()] += 1.0 / points.len() as f64;
    }
    counts
}
