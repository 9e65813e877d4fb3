//! Files of flows: every family is restored bit by bit, and an invalid file is refused with its
//! defect.

use crate::support::flows;
use adaann::{
    Batch, Error,
    flow::{Base, Flow, FlowSpec, RealNvp},
};
use flows::{Random, families, parameters};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{collections::HashMap, path::PathBuf};

/// A temporary file, deleted with its folder.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("adaann-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join("flow.safetensors"))
    }

    /// The error message for these bytes.
    #[track_caller]
    fn refusal(&self, bytes: &[u8], label: &str) -> String {
        std::fs::write(&self.0, bytes).unwrap();
        match Flow::load(&self.0) {
            Err(Error::Load(message)) => {
                assert!(message.contains("flow.safetensors"), "{label}: which file? {message}");
                message
            }
            Err(other) => panic!("{label}: {other:?}"),
            Ok(_) => panic!("{label}: accepted"),
        }
    }

    /// Fails unless the error message contains all of `words`.
    #[track_caller]
    fn refuses(&self, bytes: &[u8], words: &[&str], label: &str) {
        let message = self.refusal(bytes, label);
        for word in words {
            assert!(message.contains(word), "{label}: no '{word}' in '{message}'");
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn bases(dim: usize) -> Vec<Base> {
    let mut random = Random(5);
    let mut scales = || random.normals(2 * dim, 0.3).iter().map(|x| x.exp()).collect::<Vec<_>>();
    let (means, sds) = (scales(), scales());
    vec![
        Base::diagonal(&means[..dim], &sds[..dim]).unwrap(),
        Base::diagonal(&means[..dim], &sds[..dim]).unwrap().trained(),
        Base::mixture(&[1.0, 2.0], &means, &sds).unwrap().trained(),
    ]
}

fn flow(spec: &FlowSpec, base: Base) -> Flow {
    let dim = base.dim();
    let mut flow = Flow::new(spec, base).unwrap();
    let mut start = flow.parameters().to_vec();
    let layers = parameters(spec, dim, 0.7, &mut Random(6));
    let split = start.len() - layers.len();
    start[split..].copy_from_slice(&layers);
    flow.set_parameters(&start).unwrap();
    flow
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn point_bits(points: &Batch) -> Vec<Vec<u64>> {
    (0..points.dim()).map(|d| bits(points.row(d))).collect()
}

#[test]
fn every_family_survives_its_file() {
    let place = Place::new("survives");
    // A flow that the ladder fits without training.
    let bent = FlowSpec::Compose(vec![FlowSpec::Marginals { components: 2 }, FlowSpec::Quadratic]);
    for spec in families().into_iter().chain([bent]) {
        for dim in [1, 3] {
            for base in bases(dim) {
                let label = format!("{spec:?} d = {dim} on {base:?}");
                let flow = flow(&spec, base);
                flow.save(&place.0).unwrap();
                let loaded = Flow::load(&place.0).unwrap();
                assert_eq!((loaded.spec(), loaded.base()), (flow.spec(), flow.base()), "{label}");
                assert_eq!(bits(loaded.parameters()), bits(flow.parameters()), "{label}");
                let (a, b) = (loaded.sample(70, 3), flow.sample(70, 3));
                assert_eq!(point_bits(&a.points), point_bits(&b.points), "{label}");
                assert_eq!(bits(&a.log_q), bits(&b.log_q), "{label}");
                let log_q = |flow: &Flow| bits(&flow.log_density(&a.points).unwrap());
                assert_eq!(log_q(&loaded), log_q(&flow), "{label}");
            }
        }
    }
}

/// The contents of a file, to be changed.
#[derive(Clone)]
struct Parts {
    metadata: HashMap<String, String>,
    tensors: Vec<Tensor>,
}

#[derive(Clone)]
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Parts {
    fn of(flow: &Flow, place: &Place) -> Self {
        flow.save(&place.0).unwrap();
        let bytes = std::fs::read(&place.0).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensor = |(name, view): (String, TensorView)| Tensor {
            name,
            dtype: view.dtype(),
            shape: view.shape().to_vec(),
            bytes: view.data().to_vec(),
        };
        Self {
            metadata: header.metadata().clone().unwrap(),
            tensors: tensors.tensors().into_iter().map(tensor).collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let views = self.tensors.iter().map(|tensor| {
            let Tensor { name, dtype, shape, bytes } = tensor;
            (name.clone(), TensorView::new(*dtype, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize(views, Some(self.metadata.clone())).unwrap()
    }

    /// The bytes after a change.
    fn with(&self, change: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut changed = self.clone();
        change(&mut changed);
        changed.bytes()
    }
}

#[test]
fn files_that_do_not_fit_together_are_refused() {
    let place = Place::new("refused");
    let families = families();
    for (f, spec) in families.iter().enumerate() {
        let label = format!("{spec:?}");
        let base = bases(3).remove(1);
        let flow = flow(spec, base.clone());
        let parts = Parts::of(&flow, &place);
        // The parsed contents can be written back.
        std::fs::write(&place.0, parts.bytes()).unwrap();
        assert_eq!(bits(Flow::load(&place.0).unwrap().parameters()), bits(flow.parameters()));

        let format = |value: &'static str| {
            parts.with(|parts| {
                parts.metadata.insert("format".into(), value.into());
            })
        };
        place.refuses(&format("adaann-flow-2"), &["adaann-flow-2", "adaann-flow-1"], &label);
        let without = |key: &str| parts.with(|parts| drop(parts.metadata.remove(key)));
        place.refuses(&without("format"), &["not of a flow"], &label);
        place.refuses(&without("flow"), &["'flow'"], &label);
        place.refuses(&without("base"), &["'base'"], &label);

        for i in 0..parts.tensors.len() {
            let Tensor { name, shape, .. } = &parts.tensors[i];
            let missing = parts.with(|parts| drop(parts.tensors.remove(i)));
            place.refuses(&missing, &[name], &label);
            let shaped = parts.with(|parts| parts.tensors[i].shape.push(1));
            place.refuses(&shaped, &[name, &format!("{shape:?}")], &label);
            let typed = parts.with(|parts| parts.tensors[i].dtype = Dtype::I64);
            place.refuses(&typed, &[name, "I64"], &label);
            let named = parts.with(|parts| parts.tensors[i].name.push_str(".more"));
            place.refuses(&named, &[name], &label);
            let more = parts.with(|parts| {
                let more = Tensor { name: format!("{name}.more"), ..parts.tensors[i].clone() };
                parts.tensors.push(more);
            });
            place.refuses(&more, &[&format!("{name}.more")], &label);
        }

        // The tensors of another family.
        let other = &families[(f + 5) % families.len()];
        let tensors = Parts::of(&self::flow(other, base), &place).tensors;
        let mixed = parts.with(|parts| parts.tensors = tensors);
        let message = place.refusal(&mixed, &label);
        assert!(message.contains('\'') || message.contains('`'), "{label}: which? {message}");
    }
}

/// Fewer layers than tensors, or another dimension.
#[test]
fn settings_of_another_flow_are_refused() {
    let place = Place::new("settings");
    let spec = FlowSpec::named("realnvp").unwrap();
    let parts = Parts::of(&flow(&spec, bases(3).remove(0)), &place);
    let fewer = parts.with(|parts| {
        let flow = parts.metadata.get_mut("flow").unwrap();
        *flow = flow.replacen("\"layers\":8", "\"layers\":2", 1);
    });
    assert_ne!(fewer, parts.bytes());
    place.refuses(&fewer, &["2.", "realnvp"], "fewer layers");
    let flat = Parts::of(&flow(&spec, bases(2).remove(0)), &place);
    let base = flat.metadata["base"].clone();
    let flat = parts.with(|parts| drop(parts.metadata.insert("base".into(), base)));
    place.refuses(&flat, &["weight", "shape"], "another dimension");
}

#[test]
fn files_that_are_cut_or_none_are_refused() {
    let place = Place::new("cut");
    for spec in families() {
        let label = format!("{spec:?}");
        let bytes = Parts::of(&flow(&spec, bases(3).remove(1)), &place).bytes();
        for eighth in 0..8 {
            let cut = &bytes[..bytes.len() * eighth / 8];
            place.refuses(cut, &["not a safetensors file"], &label);
        }
        place.refuses(&bytes[..bytes.len() - 1], &["not a safetensors file"], &label);
    }
    for bytes in [&b"hello"[..], b"a longer text, that is no header of a file", &[0; 100]] {
        place.refuses(bytes, &["not a safetensors file"], "text");
    }
}

#[test]
fn another_family_or_dimension_than_expected_is_refused() {
    let place = Place::new("load-as");
    let path = &place.0;
    let spec = FlowSpec::named("linear+realnvp").unwrap();
    flow(&spec, Base::standard(3)).save(path).unwrap();
    let load = |name: &str, dim: usize| {
        let said = Flow::load_as(path, &[FlowSpec::named(name).unwrap()], dim);
        said.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(load("linear+realnvp", 3), Ok(()));
    let said = load("spline", 3).unwrap_err();
    assert!(said.contains("has the flow linear+realnvp, but spline is expected"), "{said}");
    let said = load("linear+realnvp", 2).unwrap_err();
    assert!(said.contains("has 3 dimensions, but 2 are expected"), "{said}");
    let fewer = FlowSpec::RealNvp(RealNvp { layers: 2, ..RealNvp::default() });
    flow(&fewer, Base::standard(3)).save(path).unwrap();
    let said = load("realnvp", 3).unwrap_err();
    assert!(said.contains("\"layers\":2") && said.contains("\"layers\":8"), "{said}");
}

/// The order of a hash map varies; the bytes must not.
#[test]
fn the_same_flow_is_the_same_bytes() {
    let place = Place::new("same-bytes");
    let mut flow = Flow::new(&FlowSpec::planar(3), Base::standard(2)).unwrap();
    flow.initialise(0.1, 1);
    let written = |_| {
        flow.save(&place.0).unwrap();
        std::fs::read(&place.0).unwrap()
    };
    let all: Vec<_> = (0..8).map(written).collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(Flow::load(&place.0).unwrap().parameters(), flow.parameters());
}
