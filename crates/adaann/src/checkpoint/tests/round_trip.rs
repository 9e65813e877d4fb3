//! States are restored bit by bit, and other programs can read the files.

use super::*;
use crate::{Batch, Buffer};
use safetensors::{Dtype, SafeTensors};
use std::fmt::Debug;

/// Checks that a state is restored as equal, and gives the same file again.
fn holds<T: Serialize + DeserializeOwned + PartialEq + Debug>(state: T) {
    let bytes = to_bytes(&state);
    let back: T = from_bytes(&bytes).unwrap();
    assert_eq!(back, state);
    assert_eq!(to_bytes(&back), bytes);
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn everything_comes_back() {
    holds(everything());
}

#[test]
fn single_values_come_back() {
    holds(());
    holds(true);
    holds(3u8);
    holds(u64::MAX);
    holds((1u64 << 53) + 1);
    holds(i64::MIN);
    holds(i8::MIN);
    holds(0.1f32);
    holds(f32::MIN_POSITIVE / 4.0);
    holds(1e300);
    holds('$');
    holds(String::new());
    holds("text".to_owned());
}

#[test]
fn every_bit_of_a_number_comes_back() {
    let odd = [
        f64::NAN,
        f64::from_bits(0xfff8_0000_dead_beef),
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.0,
        5e-324,
        f64::MAX,
        0.1 + 0.2,
        1.0 / 3.0,
    ];
    for x in odd {
        let back: f64 = from_bytes(&to_bytes(&x)).unwrap();
        assert_eq!(back.to_bits(), x.to_bits(), "{x}");
    }
    for len in [1, 8, 9, 10] {
        let back: Vec<f64> = from_bytes(&to_bytes(&odd[..len].to_vec())).unwrap();
        assert_eq!(bits(&back), bits(&odd[..len]), "a list of {len}");
    }
    for bits in [0x7fc0_1234, 0xff80_0000, 0x8000_0000, 1u32] {
        let x = f32::from_bits(bits);
        assert_eq!(from_bytes::<f32>(&to_bytes(&x)).unwrap().to_bits(), bits);
        let back: Vec<f32> = from_bytes(&to_bytes(&vec![x; 10])).unwrap();
        assert!(back.len() == 10 && back.iter().all(|x| x.to_bits() == bits));
    }
}

#[test]
fn options_come_back_however_deep() {
    holds(None::<f64>);
    holds(Some(1.5));
    holds([None, Some(None), Some(Some(None)), Some(Some(Some(1u8)))]);
    holds(vec![Some(()), None]);
    holds(vec![Some(1.5); 20]);
    holds((0..20).map(|i| (i != 13).then_some(i)).collect::<Vec<Option<u64>>>());
}

#[test]
fn lists_come_back() {
    holds(Vec::<f64>::new());
    holds(vec![Vec::<f64>::new(); 3]);
    holds(vec![vec![Vec::<u64>::new()], vec![]]);
    holds(vec![vec![1.0; 4]; 5]);
    holds(vec![vec![vec![1u64, 2, 3]; 2]; 4]);
    holds(vec![vec![1.0; 40], vec![2.0; 40], vec![3.0; 41]]);
    holds(vec![vec![1.0; 3], vec![2.0; 3], vec![], vec![4.0; 3]]);
    holds((0..30u8).map(|i| (i, -f64::from(i))).collect::<Vec<_>>());
    holds((0..30u8).map(|i| (i, u64::MAX)).collect::<Vec<_>>());
    holds(vec!["a".to_owned(), "b".into()]);
    holds([[1.5; 3]; 3]);
    holds((vec![true; 9], vec![false; 8], (1i64, 2u64)));
    // A list whose first elements have one kind.
    let mut mixed: Vec<Option<f64>> = vec![Some(1.0); 100];
    mixed.push(None);
    holds(mixed);
}

#[test]
fn enums_come_back_in_every_form() {
    holds(Phase::Waiting);
    holds(Phase::At(f64::INFINITY));
    holds(Phase::Between(0.5, u64::MAX));
    holds(Phase::Moving { from: vec![0.5; 20], rate: 0.1 });
    holds(vec![Some(Phase::Waiting), None, Some(Phase::At(1.0))]);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Still,
        Moving { by: Vec<f64> },
    }
    holds(Tagged::Still);
    holds(Tagged::Moving { by: vec![f64::NEG_INFINITY; 12] });

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(f64),
        Numbers(Vec<f64>),
    }
    holds(vec![Either::Number(1.5), Either::Numbers(vec![2.5; 30])]);
}

#[test]
fn maps_and_wrappers_come_back() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    enum Side {
        Left,
        Right,
    }
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    struct Index(i32);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Empty {}
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unit;
    holds(BTreeMap::from([(Side::Left, 1), (Side::Right, 2)]));
    holds(BTreeMap::from([(Index(-3), 1.5), (Index(4), f64::INFINITY)]));
    holds(BTreeMap::from([(true, 'a'), (false, 'b')]));
    holds(BTreeMap::from([('x', Unit)]));
    holds(BTreeMap::<String, f64>::new());
    holds((Empty {}, Unit, Wrapped(vec![1; 20])));
}

/// Two paths must not have the same name, whatever their keys.
#[test]
fn names_of_tensors_are_never_shared() {
    type Deep = BTreeMap<String, BTreeMap<String, Vec<f64>>>;
    let keys = ["", "a", "a.b", "b", ".", "~1", "~", "$", "$$", "$tensor", "$checksum", "0"];
    let keys = keys.into_iter().chain(["__metadata__", "~__metadata__", "a~1b", "$f64", "\"\n"]);
    let mut number = 0.0;
    let mut list = || {
        number += 1.0;
        vec![number; 9]
    };
    let mut inner = || keys.clone().map(|key| (key.to_owned(), list())).collect();
    let deep: Deep = keys.clone().map(|key| (key.to_owned(), inner())).collect();
    holds(deep.clone());
    holds((deep[""].clone(), deep));
}

#[test]
fn buffers_and_batches_are_tensors() {
    let values: Vec<f64> = (0..100).map(|i| 1.0 / f64::from(i)).collect();
    let back: Buffer = from_bytes(&to_bytes(&Buffer::from(&values[..]))).unwrap();
    assert_eq!(bits(&back), bits(&values));
    let points: Vec<[f64; 2]> = (0..50).map(|i| [f64::from(i), f64::NAN]).collect();
    let batch = Batch::from_points(2, &points);
    let bytes = to_bytes(&batch);
    let back: Batch = from_bytes(&bytes).unwrap();
    assert_eq!((back.dim(), back.len()), (2, 50));
    for d in 0..2 {
        assert_eq!(bits(back.row(d)), bits(batch.row(d)));
    }
    assert!(bytes.len() < 50 * 2 * 8 + 800, "numbers as bytes, not as digits: {}", bytes.len());
    let empty: Buffer = from_bytes(&to_bytes(&Buffer::zeros(0))).unwrap();
    assert!(empty.is_empty());
}

/// The reference implementation of the format reads the file, and finds the numbers under the names of
/// their fields.
#[test]
fn other_readers_can_read_the_file() {
    let state = everything();
    let bytes = to_bytes(&state);
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let weights = tensors.tensor("weights").unwrap();
    assert_eq!((weights.dtype(), weights.shape()), (Dtype::F64, &[20][..]));
    let expected: Vec<u8> = state.weights.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(weights.data(), expected);
    let shape = |name: &str| {
        let tensor = tensors.tensor(name).unwrap();
        (tensor.dtype(), tensor.shape().to_vec())
    };
    assert_eq!(shape("single"), (Dtype::F32, vec![12]));
    assert_eq!(shape("counts"), (Dtype::U64, vec![30]));
    assert_eq!(shape("offsets"), (Dtype::I64, vec![12]));
    assert_eq!(shape("kept"), (Dtype::BOOL, vec![19]));
    assert_eq!(shape("points"), (Dtype::F64, vec![9, 3]));
    assert_eq!(shape("ragged.2"), (Dtype::F64, vec![40]));
    assert_eq!(shape("nested.inner.values"), (Dtype::F64, vec![15]));
    assert_eq!(shape("phases.3.Moving.from"), (Dtype::F64, vec![9]));
    assert_eq!(shape("by_name.a~1b"), (Dtype::F64, vec![10]));
    assert!(tensors.tensor("few").is_err(), "two numbers stand in the text");
    let (_, head) = SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = head.metadata().clone().unwrap();
    assert_eq!(metadata["format"], "adaann-checkpoint-1");
    let skeleton: serde_json::Value = serde_json::from_str(&metadata["state"]).unwrap();
    assert_eq!(skeleton["weights"]["$tensor"], "weights");
    assert_eq!(skeleton["floor"]["$f64"], "0xfff0000000000000");
    assert_eq!(skeleton["few"][1], 0.1);
}

#[test]
fn the_same_state_is_the_same_file() {
    assert_eq!(to_bytes(&everything()), to_bytes(&everything()));
}

/// Writing needs one copy of the numbers; reading needs none beyond the file's bytes and the state.
#[test]
fn memory_is_that_of_one_copy() {
    let state = vec![0.5; 1_000_000];
    let size = 8.0 * state.len() as f64;
    let (value, mut bytes) = (encode(&state).unwrap(), Vec::with_capacity(9_000_000));
    let encoding = allocation_counter::measure(|| drop(encode(&state).unwrap()));
    assert!((encoding.bytes_max as f64) < 1.1 * size, "{encoding:?}");
    let writing = allocation_counter::measure(|| {
        Parts::new(&header(), &value).unwrap().write(&mut bytes).unwrap();
    });
    assert!(writing.bytes_max < 10_000, "{writing:?}");
    // A list that grows holds the old and the new storage for a moment.
    let mut back = Vec::new();
    let reading = allocation_counter::measure(|| back = from_bytes::<Vec<f64>>(&bytes).unwrap());
    assert!((reading.bytes_max as f64) < 3.2 * size, "{reading:?}");
    assert_eq!(back, state);
}
