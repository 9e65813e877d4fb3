//! Arbitrary bytes as the file of a flow: read, sampled, and written again to the same bytes.

#![no_main]

use adaann::flow::Flow;
use adaann_fuzz::{folder, safetensors, write};
use libfuzzer_sys::fuzz_target;
use std::{fs, path::PathBuf, sync::LazyLock};

static PLACE: LazyLock<PathBuf> = LazyLock::new(|| folder("flow"));

fuzz_target!(|bytes: &[u8]| {
    let _ = read(bytes);
    let _ = read(&safetensors(bytes));
});

fn read(bytes: &[u8]) -> adaann::Result<()> {
    let (path, copy) = (PLACE.join("flow"), PLACE.join("copy"));
    write(&path, bytes);
    let flow = Flow::load(&path)?;
    flow.log_density(&flow.sample(3, 1).points)?;
    flow.save(&copy)?;
    let written = fs::read(&copy).expect("it was just written");
    Flow::load(&copy).expect("what was just written").save(&copy)?;
    assert!(fs::read(&copy).expect("it was just written") == written, "the bytes differ");
    Ok(())
}
