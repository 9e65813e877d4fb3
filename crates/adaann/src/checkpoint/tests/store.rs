//! Stores in real folders.

use super::*;
use crate::{Error, checkpoint::Store};
use std::path::Path;

type State = (u64, Vec<f64>);

fn state(number: u64) -> State {
    (number, vec![number as f64; 100])
}

/// A store with so many checkpoints written.
fn store_of(place: &Place, count: u64) -> Store {
    let mut store = Store::open(place.state()).unwrap();
    for number in 1..=count {
        store.write(&header(), &state(number)).unwrap();
    }
    store
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| name(e).into_string().unwrap()).collect();
    names.sort();
    names
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn there_is_none_before_the_first() {
    let place = Place::new("none");
    let mut store = Store::open(place.state()).unwrap();
    assert!(store.read::<State>().unwrap().is_none());
    assert!(store.read_header().unwrap().is_none());
    store.discard().unwrap();
    assert!(!place.state().exists(), "looking makes no folder");
    fs::create_dir(place.state()).unwrap();
    fs::write(place.state().join("notes.txt"), "mine").unwrap();
    fs::write(place.state().join("1.safetensors.tmp"), "cut off").unwrap();
    fs::write(place.state().join("007.safetensors"), "not a name of ours").unwrap();
    assert!(store.read::<State>().unwrap().is_none());
}

#[test]
fn the_newest_is_read_and_two_are_kept() {
    let place = Place::new("newest");
    let mut store = store_of(&place, 12);
    assert_eq!(names(&place.state()), ["11.safetensors", "12.safetensors"]);
    let told = header().with("stage", 3);
    let written = store.write(&told, &state(13)).unwrap();
    let (header, found, fallen) = Store::open(place.state()).unwrap().read().unwrap().unwrap();
    assert_eq!((header.sequence, written.sequence), (13, 13));
    assert_eq!(header.program, env!("CARGO_PKG_VERSION"));
    assert_eq!((header.about["stage"].as_str(), header.instructions.as_str()), ("3", "avx2"));
    assert!(header.fingerprint.differences(&told.fingerprint).is_empty());
    assert_eq!((found, fallen.is_empty()), (state(13), true));
    let length = fs::metadata(place.state().join("13.safetensors")).unwrap().len();
    assert_eq!(written.bytes, length);
}

#[test]
fn files_of_others_stay() {
    let place = Place::new("others");
    fs::create_dir(place.state()).unwrap();
    for name in ["notes.txt", "007.safetensors", "x.tmp"] {
        fs::write(place.state().join(name), "mine").unwrap();
    }
    store_of(&place, 3).discard().unwrap();
    assert_eq!(names(&place.state()), ["007.safetensors", "notes.txt", "x.tmp"]);
}

#[test]
fn where_the_newest_is_damaged_the_one_before_is_read() {
    let place = Place::new("fallen");
    store_of(&place, 3);
    flip(&place.state().join("3.safetensors"));
    let mut store = Store::open(place.state()).unwrap();
    let (header, found, fallen) = store.read::<State>().unwrap().unwrap();
    assert_eq!((header.sequence, found), (2, state(2)));
    let told = fallen.to_string();
    assert!(told.contains("3.safetensors: its checksum does not match its bytes"), "{told}");
    assert_eq!(store.read_header().unwrap().unwrap().0.sequence, 2);
    // The run continues: the intact checkpoint is kept as the previous one, not the damaged one.
    assert_eq!(store.write(&header, &state(4)).unwrap().sequence, 4);
    assert_eq!(names(&place.state()), ["2.safetensors", "4.safetensors"]);
}

#[test]
fn where_all_are_damaged_nothing_is_touched_until_it_is_asked_for() {
    let place = Place::new("all");
    store_of(&place, 3);
    flip(&place.state().join("3.safetensors"));
    fs::write(place.state().join("2.safetensors"), "").unwrap();
    let contents = |name: &str| fs::read(place.state().join(name)).unwrap();
    let before = [contents("2.safetensors"), contents("3.safetensors")];
    let mut store = Store::open(place.state()).unwrap();
    let error = store.read::<State>().unwrap_err();
    assert!(matches!(error, Error::Load(_)));
    let told = error.to_string();
    assert!(told.contains("3.safetensors: ") && told.contains("2.safetensors: "), "{told}");
    assert!(told.contains("restore a copy of one"), "it says what to do: {told}");
    let refused = store.write(&header(), &state(4)).unwrap_err();
    assert!(matches!(refused, Error::Save(_)), "{refused}");
    assert_eq!([contents("2.safetensors"), contents("3.safetensors")], before);
    assert_eq!(names(&place.state()), ["2.safetensors", "3.safetensors"]);
    store.discard().unwrap();
    assert!(store.read::<State>().unwrap().is_none());
    // Numbers are not reused, so an old file that reappears is not taken for a new one.
    assert_eq!(store.write(&header(), &state(4)).unwrap().sequence, 4);
    assert_eq!(store.read::<State>().unwrap().unwrap().1, state(4));
}

#[test]
fn a_state_of_another_type_is_refused_with_its_writer() {
    let place = Place::new("type");
    let mut store = store_of(&place, 1);
    let told = store.read::<(u64, Vec<bool>)>().unwrap_err().to_string();
    let writer = format!("adaann {}", env!("CARGO_PKG_VERSION"));
    assert!(told.contains(&writer) && told.contains("1.0: invalid type"), "{told}");
    assert_eq!(store.read::<State>().unwrap().unwrap().1, state(1));
    store.write(&header(), &state(2)).unwrap();
    assert_eq!(names(&place.state()), ["1.safetensors", "2.safetensors"], "it was not damaged");
}

#[test]
fn another_version_is_refused_by_a_sentence() {
    let place = Place::new("version");
    let mut store = store_of(&place, 2);
    let later = Header { format: 2, sequence: 3, ..header() };
    let value = encode(&state(3)).unwrap();
    let mut bytes = Vec::new();
    Parts::new(&later, &value).unwrap().write(&mut bytes).unwrap();
    fs::write(place.state().join("3.safetensors"), bytes).unwrap();
    let told = store.read::<State>().unwrap_err().to_string();
    let expected = "written as 'adaann-checkpoint-2', but this version of adaann reads \
                    'adaann-checkpoint-1'";
    assert!(told.contains("3.safetensors") && told.contains(expected), "{told}");
    assert!(store.write(&header(), &state(4)).is_err());
    assert_eq!(names(&place.state()).len(), 3, "what is not damaged is not removed either");
}

#[test]
fn a_checkpoint_by_another_name_is_not_believed() {
    let place = Place::new("swapped");
    let mut store = store_of(&place, 2);
    fs::copy(place.state().join("1.safetensors"), place.state().join("3.safetensors")).unwrap();
    let (header, _, fallen) = store.read::<State>().unwrap().unwrap();
    assert_eq!(header.sequence, 2);
    assert!(fallen.to_string().contains("checkpoint 1 under another name"), "{fallen}");
}

#[test]
fn a_state_that_cannot_be_kept_is_an_error_and_harms_nothing() {
    let place = Place::new("unkept");
    let mut store = store_of(&place, 2);
    assert!(matches!(store.write(&header(), &u128::MAX), Err(Error::Save(_))));
    assert_eq!(store.read::<State>().unwrap().unwrap().1, state(2));
    assert_eq!(names(&place.state()), ["1.safetensors", "2.safetensors"]);
}

#[test]
fn a_folder_that_vanished_is_an_error() {
    let place = Place::new("vanished");
    let mut store = store_of(&place, 2);
    let aside = place.0.join("aside");
    fs::rename(place.state(), &aside).unwrap();
    assert!(matches!(store.write(&header(), &state(3)), Err(Error::Io { .. })));
    assert!(!place.state().exists(), "it is not made again behind its owner's back");
    fs::rename(&aside, place.state()).unwrap();
    assert_eq!(store.read::<State>().unwrap().unwrap().1, state(2));
    store.write(&header(), &state(3)).unwrap();
    // The whole folder of the run is missing.
    let mut nowhere = Store::open(place.0.join("no/such")).unwrap();
    assert!(matches!(nowhere.write(&header(), &state(1)), Err(Error::Io { .. })));
}

/// A folder that cannot be written to; for a user with all permissions, a file in its place.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new("read-only");
    let mut store = store_of(&place, 2);
    let allow = |mode| {
        fs::set_permissions(place.state(), fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(0o555);
    let may_write_anywhere = fs::write(place.state().join("probe"), "").is_ok();
    let outcome = store.write(&header(), &state(3));
    allow(0o755);
    if may_write_anywhere {
        // A folder blocks the path of the temporary file.
        fs::create_dir(place.state().join("4.safetensors.tmp")).unwrap();
        assert!(matches!(store.write(&header(), &state(4)), Err(Error::Io { .. })));
        assert_eq!(store.read::<State>().unwrap().unwrap().1, state(3));
    } else {
        assert!(matches!(outcome, Err(Error::Io { .. })));
        assert_eq!(store.read::<State>().unwrap().unwrap().1, state(2));
    }
    fs::write(place.0.join("file"), "").unwrap();
    assert!(matches!(Store::open(place.0.join("file")), Err(Error::Io { .. })));
}
