//! Arbitrary bytes as a checkpoint: everything that can be read is written again to the same bytes.

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

/// Every shape of the serde data model.
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
    // Also with the correct checksum.
    let mut sealed = safetensors(bytes);
    sealed.extend(xxh64(&sealed, 0).to_le_bytes());
    let _ = read_all(&sealed);
});

fn read_all(bytes: &[u8]) -> adaann::Result<()> {
    let first = copied(bytes)?;
    assert_eq!(copied(&first)?, first, "the copy differs");
    read::<Shape>(bytes);
    read::<Vec<f64>>(bytes);
    read::<Batch>(bytes);
    read::<Flow>(bytes);
    read::<Sample>(bytes);
    read::<State>(bytes);
    read::<Outcome>(bytes);
    // The outcomes of a finished run.
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

/// Copies a checkpoint through a store.
fn copied(bytes: &[u8]) -> adaann::Result<Vec<u8>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&told);
    let mut store =
        Store::told(None, move |bytes| hear.lock().expect("one thread").extend_from_slice(bytes))?;
    store.write_copy(bytes)?;
    let copy = told.lock().expect("one thread").clone();
    Ok(copy)
}

/// Checks that a value that can be read and written survives the round trip.
fn read<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(found) = from_bytes::<T>(bytes) else { return };
    let Ok(written) = to_bytes(&found) else { return };
    let again = from_bytes::<T>(&written).expect("what was just written");
    assert!(to_bytes(&again).expect("as before") == written, "the bytes differ");
}
