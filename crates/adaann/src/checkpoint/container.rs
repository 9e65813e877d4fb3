//! The file of a checkpoint: a safetensors file that any reader of the format can read.
//!
//! Its metadata hold the header and the skeleton of the state as JSON. Its tensors are the state's long
//! lists of numbers and, last, `$checksum`: the eight bytes at the end of the file are the checksum of all
//! bytes before them. Later versions of the format must keep them there, so that a file of another version
//! can be told from a damaged one.

use super::{
    checksum::{Checksum, checksum},
    header::{FORMAT, Header},
    skeleton::{self, Tensors},
    value::{Kind, Numbers, Value},
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, MapAccess, Visitor},
};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    io::{self, Write},
};

/// The start of the format's name; its version follows.
const NAME: &str = "adaann-checkpoint-";
const METADATA: &str = "__metadata__";
const CHECKSUM: &str = "$checksum";
/// Bytes of a length or a checksum.
const WORD: usize = 8;
/// Readers of safetensors files refuse longer heads.
const LONGEST_HEAD: usize = 100_000_000;

/// A tensor's entry in the head of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Info<'a> {
    dtype: Cow<'a, str>,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A checkpoint that is ready to be written.
pub(super) struct Parts<'v> {
    /// The length of the head, followed by the head.
    start: Vec<u8>,
    tensors: Vec<(String, &'v Numbers<'v>)>,
}

impl<'v> Parts<'v> {
    /// Lays out a state.
    ///
    /// # Errors
    /// If everything except its lists of numbers is too long for a head.
    pub(super) fn new(header: &Header, value: &'v Value<'_>) -> Result<Self, String> {
        let (skeleton, mut tensors) = skeleton::write(value);
        // Larger numbers come first, so that each starts at a multiple of its size.
        tensors.sort_by_key(|(_, numbers)| std::cmp::Reverse(numbers.kind.size()));
        let metadata = BTreeMap::from([
            ("format", format!("{NAME}{}", header.format)),
            ("header", to_json(header)),
            ("state", skeleton),
        ]);
        let mut head = format!("{{{}:{}", to_json(&METADATA), to_json(&metadata));
        let mut at = 0;
        let mut add = |name: &str, dtype: &str, shape: &[usize], length: usize| {
            let data_offsets = (at, at + length);
            at += length;
            let info = Info { dtype: dtype.into(), shape: shape.to_vec(), data_offsets };
            head.push_str(&format!(",{}:{}", to_json(&name), to_json(&info)));
        };
        for (name, numbers) in &tensors {
            add(name, numbers.kind.name(), &numbers.shape, numbers.bytes.len());
        }
        add(CHECKSUM, "U8", &[WORD], WORD);
        head.push('}');
        while head.len() % WORD != 0 {
            head.push(' ');
        }
        if head.len() > LONGEST_HEAD {
            return Err(format!(
                "the state takes {} bytes apart from its lists of numbers, but at most {LONGEST_HEAD} are allowed",
                head.len()
            ));
        }
        let start = [&(head.len() as u64).to_le_bytes(), head.as_bytes()].concat();
        Ok(Self { start, tensors })
    }

    /// Writes the file, and returns its length.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<u64> {
        let mut sum = Checksum::new();
        let mut length = WORD;
        let bodies = self.tensors.iter().map(|(_, numbers)| &*numbers.bytes);
        for bytes in [&self.start[..]].into_iter().chain(bodies) {
            sum.add(bytes);
            out.write_all(bytes)?;
            length += bytes.len();
        }
        out.write_all(&sum.value().to_le_bytes())?;
        Ok(length as u64)
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialise")
}

/// Why a file is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The file is damaged.
    Damaged(String),
    /// The file is intact, but has another version.
    Version(String),
}

/// Reads a file: its header, and a state whose numbers still refer to the file's bytes.
///
/// # Errors
/// If it is damaged, or of another version.
pub(super) fn read(bytes: &[u8]) -> Result<(Header, Value<'_>), Refusal> {
    let damaged = |why: &str| Refusal::Damaged(why.to_owned());
    let cut = || Refusal::Damaged(format!("it was truncated: only {} bytes are left", bytes.len()));
    let (all, sum) = bytes.split_last_chunk::<WORD>().ok_or_else(cut)?;
    let (length, rest) = all.split_first_chunk::<WORD>().ok_or_else(cut)?;
    if checksum(all) != u64::from_le_bytes(*sum) {
        return Err(damaged("its checksum does not match its bytes"));
    }
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut())?;
    let (head, body) = rest.split_at_checked(length).ok_or_else(cut)?;
    let head: Head<'_> =
        serde_json::from_slice(head).map_err(|e| Refusal::Damaged(format!("its head: {e}")))?;
    let text = |key: &str| {
        let found = head.metadata.get(key);
        found.ok_or_else(|| Refusal::Damaged(format!("its metadata lack '{key}'")))
    };
    let format = text("format")?;
    match format.strip_prefix(NAME).and_then(|version| version.parse().ok()) {
        Some(FORMAT) => {}
        Some::<u32>(_) => {
            return Err(Refusal::Version(format!(
                "written as '{format}', but this version of adaann reads '{NAME}{FORMAT}'; continue \
                 with the version that wrote it, or start again"
            )));
        }
        None => return Err(Refusal::Damaged(format!("'{format}' is not a checkpoint"))),
    }
    let header: Header = serde_json::from_str(text("header")?)
        .map_err(|error| Refusal::Damaged(format!("its header: {error}")))?;
    if header.format != FORMAT {
        return Err(damaged("its header and its metadata have different versions"));
    }
    let tensors = tensors(head.tensors, body).map_err(Refusal::Damaged)?;
    let value = skeleton::read(text("state")?, tensors)
        .map_err(|error| Refusal::Damaged(format!("its state: {error}")))?;
    Ok((header, value))
}

/// The lists of numbers at the positions in their entries. The entries must cover the body without gaps.
/// Their sizes are checked against the actual bytes, and nothing is allocated based on them.
fn tensors<'a>(mut infos: Vec<(String, Info<'_>)>, body: &'a [u8]) -> Result<Tensors<'a>, String> {
    infos.sort_by_key(|(_, info)| info.data_offsets);
    let (mut tensors, mut at) = (Tensors::new(), 0);
    let mut is_summed = false;
    for (name, info) in infos {
        let (from, to) = info.data_offsets;
        // The checksum is not in the body: it was split off the file's end.
        if name == CHECKSUM {
            is_summed = from == body.len() && to.checked_sub(from) == Some(WORD);
            continue;
        }
        let bytes = body.get(from..to).filter(|_| from == at && !is_summed);
        let bytes = bytes.ok_or_else(|| format!("'{name}' is not at the expected position"))?;
        at = to;
        let kind = Kind::of_name(&info.dtype)
            .ok_or_else(|| format!("'{name}' has an unknown type, '{}'", info.dtype))?;
        let size = info.shape.iter().try_fold(kind.size(), |size, len| size.checked_mul(*len));
        if info.shape.is_empty() || size != Some(bytes.len()) || bytes.is_empty() {
            let (shape, kind) = (&info.shape, kind.name());
            return Err(format!("'{name}' has {} bytes for {shape:?} of {kind}", bytes.len()));
        }
        let numbers = Numbers { kind, shape: info.shape, bytes: Cow::Borrowed(bytes) };
        if tensors.insert(name.clone(), numbers).is_some() {
            return Err(format!("'{name}' occurs twice"));
        }
    }
    if at == body.len() && is_summed { Ok(tensors) } else { Err("its body has gaps".into()) }
}

/// The head of a safetensors file.
struct Head<'a> {
    metadata: BTreeMap<String, String>,
    tensors: Vec<(String, Info<'a>)>,
}

impl<'de> Deserialize<'de> for Head<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Head<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the head of a safetensors file")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head<'de>, A::Error> {
                let (mut metadata, mut tensors) = (None, Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    if name != METADATA {
                        tensors.push((name, map.next_value()?));
                    } else if metadata.replace(map.next_value()?).is_some() {
                        return Err(A::Error::duplicate_field(METADATA));
                    }
                }
                let metadata = metadata.ok_or_else(|| A::Error::missing_field(METADATA))?;
                Ok(Head { metadata, tensors })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
