//! Any bytes as a checkpoint: read as whatever a run keeps, and written again, to the same bytes.

#![no_main]

use adaann::{
    Batch,
    chains::Chains,
    checkpoint::{Header, Ledger, Store, from_bytes, to_bytes},
    fit::{Outcome, State},
    flow::Flow,
    importance::Sample,
    smc::Population,
};
use adaann_fuzz::safetensors;
use libfuzzer_sys::fuzz_target;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, atomic::AtomicBool},
};
use xxhash_rust::xxh64::xxh64;

/// Every shape that serde knows.
#[derive(Serialize, Deserialize)]
enum Shape {
    Unit,
    One(Box<Shape>),
    Two(f32, Option<i64>),
    Fields { bytes: Vec<u8>, grid: Vec<Vec<f64>>, flags: [bool; 3] },
    Named(BTreeMap<String, Shape>),
    Numbered(BTreeMap<u64, Option<Option<()>>>),
    List(Vec<(char, u16, String)>),
}

fuzz_target!(|bytes: &[u8]| {
    let _ = read_all(bytes);
    // With the sum that belongs to it.
    let mut sealed = safetensors(bytes);
    sealed.extend(xxh64(&sealed, 0).to_le_bytes());
    let _ = read_all(&sealed);
});

fn read_all(bytes: &[u8]) -> adaann::Result<()> {
    let first = copied(bytes)?;
    assert_eq!(copied(&first)?, first, "what was read is written as it is");
    read::<Shape>(bytes);
    read::<Vec<f64>>(bytes);
    read::<Batch>(bytes);
    read::<Flow>(bytes);
    read::<Sample>(bytes);
    read::<State>(bytes);
    read::<Outcome>(bytes);
    // What a finished run leaves.
    read::<Vec<(u64, Outcome)>>(bytes);
    read::<Population>(bytes);
    read::<Chains>(bytes);
    read::<serde_json::Value>(bytes);
    static ENDED: AtomicBool = AtomicBool::new(false);
    let mut store = Store::told(Some(bytes), |_| ())?;
    let _: Option<(Header, _)> = store.read_header()?;
    Ledger::looking(store, &ENDED)?;
    Ok(())
}

/// What a store makes of a checkpoint that another has written.
fn copied(bytes: &[u8]) -> adaann::Result<Vec<u8>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&told);
    let mut store =
        Store::told(None, move |bytes| hear.lock().expect("one thread").extend_from_slice(bytes))?;
    store.write_copy(bytes)?;
    let copy = told.lock().expect("one thread").clone();
    Ok(copy)
}

/// What can be read can be written, and is read again as the same.
fn read<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(found) = from_bytes::<T>(bytes) else { return };
    let Ok(written) = to_bytes(&found) else { return };
    let again = from_bytes::<T>(&written).expect("what was just written");
    assert!(to_bytes(&again).expect("as before") == written, "the same bytes");
}
