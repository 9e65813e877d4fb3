//! Flows as safetensors files: the parameters by name, and metadata to rebuild the flow.

use super::{Base, Flow, FlowSpec};
use crate::{Error, Result, file};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// The format identifier in every file; files with another identifier are refused.
const FORMAT: &str = "adaann-flow-1";

impl Flow {
    /// Writes the flow to a file, first under a temporary name.
    ///
    /// # Errors
    /// If the file cannot be written, or the flow has custom layers ([`Flow::from_stack`]), which a
    /// file cannot describe.
    pub fn save(&self, path: &Path) -> Result<()> {
        let Some(spec) = self.spec() else {
            return Err(Error::Save(format!(
                "{}: the flow's layers are custom, which a file cannot describe; save its parameters instead, and set \
                 them on a flow with the same layers",
                path.display()
            )));
        };
        let bytes: Vec<u8> = self.parameters().iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut tensors = Vec::new();
        let mut at = 0;
        for block in self.blocks() {
            let len = 8 * block.len();
            let view = TensorView::new(Dtype::F64, block.shape.clone(), &bytes[at..at + len])
                .expect("a block's shape has as many numbers as its bytes");
            tensors.push((block.name, view));
            at += len;
        }
        let metadata = HashMap::from([
            ("format".to_owned(), FORMAT.to_owned()),
            ("flow".to_owned(), to_json(spec)),
            ("base".to_owned(), to_json(self.base())),
        ]);
        let bytes = safetensors::serialize(tensors, Some(metadata))
            .map_err(|error| Error::Save(error.to_string()))?;
        file::write(path, &with_sorted_header(bytes))
    }

    /// Reads a flow that must be one of the given families, with their settings and dimension.
    ///
    /// # Errors
    /// As [`Flow::load`], and if the file has another family, other settings or another dimension.
    /// The message names the first of the expected families.
    pub fn load_as(path: &Path, specs: &[FlowSpec], dim: usize) -> Result<Self> {
        let flow = Self::load(path)?;
        let own = flow.spec().expect("a file names its family");
        let refuse = |what: String| Err(Error::Load(format!("{}: {what}", path.display())));
        let spec = specs.iter().find(|spec| *spec == own).unwrap_or(&specs[0]);
        let (found, expected) = (own.label(), spec.label());
        if found != expected {
            return refuse(format!("has the flow {found}, but {expected} is expected"));
        }
        if own != spec {
            let (found, expected) = (to_json(own), to_json(spec));
            return refuse(format!("has the flow {found}, but {expected} is expected"));
        }
        if flow.dim() != dim {
            return refuse(format!("has {} dimensions, but {dim} are expected", flow.dim()));
        }
        Ok(flow)
    }

    /// Reads a flow, bit by bit as it was saved.
    ///
    /// # Errors
    /// If the file cannot be read, is not a flow of this format version, or is inconsistent.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = file::read(path)?;
        let refuse = |what: String| Error::Load(format!("{}: {what}", path.display()));
        let (_, header) = SafeTensors::read_metadata(&bytes)
            .map_err(|error| refuse(format!("not a safetensors file ({error})")))?;
        let metadata = header.metadata().clone().unwrap_or_default();
        match metadata.get("format").map(String::as_str) {
            Some(FORMAT) => {}
            Some(other) => {
                return Err(refuse(format!(
                    "written as '{other}', but this version reads '{FORMAT}'"
                )));
            }
            None => return Err(refuse("a safetensors file, but not of a flow".into())),
        }
        let spec: FlowSpec = from_json(&metadata, "flow").map_err(refuse)?;
        let base: Base = from_json(&metadata, "base").map_err(refuse)?;
        let mut flow = Self::new(&spec, base)?;
        let tensors =
            SafeTensors::deserialize(&bytes).map_err(|error| refuse(error.to_string()))?;
        let blocks = flow.blocks();
        let known = |name: &str| blocks.iter().any(|block| block.name == name);
        if let Some(name) = tensors.names().into_iter().filter(|name| !known(name)).min() {
            return Err(refuse(format!("has '{name}', but the {} flow has none", spec.name())));
        }
        let mut parameters = Vec::with_capacity(flow.parameters().len());
        for block in &blocks {
            let tensor = tensors.tensor(&block.name).map_err(|error| refuse(error.to_string()))?;
            if tensor.shape() != block.shape || tensor.dtype() != Dtype::F64 {
                return Err(refuse(format!(
                    "'{}' is {} of shape {:?}, but the {} flow needs F64 of shape {:?}",
                    block.name,
                    tensor.dtype(),
                    tensor.shape(),
                    spec.name(),
                    block.shape
                )));
            }
            let numbers = tensor.data().chunks_exact(8);
            parameters.extend(
                numbers.map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))),
            );
        }
        flow.set_parameters(&parameters)?;
        Ok(flow)
    }
}

/// Sorts the entries of the file's header: metadata leave a hash map in random order, but the same
/// flow must give the same bytes.
fn with_sorted_header(mut bytes: Vec<u8>) -> Vec<u8> {
    let (start, length) = (8, u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")));
    let header = &mut bytes[start..start + length as usize];
    let mut entries: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).expect("just serialised");
    if let Some(metadata) = entries.get_mut("__metadata__") {
        let sorted: BTreeMap<String, String> =
            serde_json::from_value(metadata.take()).expect("just serialised");
        *metadata = serde_json::to_value(sorted).expect("plain data serialise");
    }
    let sorted = serde_json::to_vec(&entries).expect("plain data serialise");
    header.fill(b' ');
    header[..sorted.len()].copy_from_slice(&sorted);
    bytes
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialise")
}

fn from_json<T: serde::de::DeserializeOwned>(
    metadata: &HashMap<String, String>,
    key: &str,
) -> Result<T, String> {
    let text = metadata.get(key).ok_or_else(|| format!("its metadata have no '{key}'"))?;
    serde_json::from_str(text).map_err(|error| format!("cannot read its '{key}': {error}"))
}
