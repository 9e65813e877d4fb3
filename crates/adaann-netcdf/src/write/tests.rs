//! The structure of the bytes: all addresses and checksums are correct.

use crate::{Dimension, File, Group, Value, Values, Variable, checksum::lookup3};
use std::collections::BTreeMap;

fn sample() -> File {
    let labels = Values::Texts(vec!["a".into(), String::new(), "ccc".into()]);
    let theta = Variable {
        name: "theta".into(),
        dimensions: vec!["draw".into(), "theta_dim_0".into()],
        values: Values::Numbers(vec![1.0, f64::NAN, -0.0, 4.0, 5.0, 6.5]),
        attributes: vec![("unit".into(), Value::Text("m".into()))],
    };
    let steps = Variable {
        name: "steps".into(),
        dimensions: vec!["draw".into()],
        values: Values::Integers(vec![-3, 9]),
        attributes: vec![],
    };
    let posterior = Group {
        name: "posterior".into(),
        attributes: vec![],
        dimensions: vec![
            Dimension::counted("draw", 2),
            Dimension::labelled("theta_dim_0", labels),
            Dimension { name: "bare".into(), length: 7, coordinate: None },
        ],
        variables: vec![theta, steps],
    };
    let empty = Group { name: "observed_data".into(), ..Default::default() };
    File { attributes: vec![("n".into(), Value::Integer(3))], groups: vec![posterior, empty] }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &byte| sum * 256 + u64::from(byte))
}

fn assert_sealed(bytes: &[u8], what: &str) {
    let (content, checksum) = bytes.split_at(bytes.len() - 4);
    assert_eq!(u64::from(lookup3(content)), number(checksum), "checksum of {what}");
}

/// The messages of the header at `address`: type, creation order, content.
fn messages<'a>(file: &'a [u8], address: u64, what: &str) -> Vec<(u8, u64, &'a [u8])> {
    let header = &file[address as usize..];
    assert_eq!(&header[..6], b"OHDR\x02\x0e", "{what}");
    let size = number(&header[6..10]) as usize;
    assert_sealed(&header[..10 + size + 4], what);
    let mut rest = &header[10..10 + size];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let length = number(&rest[1..3]) as usize;
        found.push((rest[0], number(&rest[4..6]), &rest[6..6 + length]));
        rest = &rest[6 + length..];
    }
    found
}

/// Follows all links from the root, and returns the paths with the bytes of their values.
fn walk(file: &[u8]) -> BTreeMap<String, Option<&[u8]>> {
    let mut found = BTreeMap::new();
    let mut open = vec![(String::new(), number(&file[36..44]))];
    while let Some((path, address)) = open.pop() {
        let messages = messages(file, address, &path);
        let mut attributes = messages.iter().filter(|(kind, ..)| *kind == 0x0c).zip(0..);
        assert!(attributes.all(|((_, order, _), i)| *order == i), "{path}: order of attributes");
        let mut values = None;
        for (kind, _, content) in messages {
            if kind == 0x06 {
                let length = number(&content[11..13]) as usize;
                let name = str::from_utf8(&content[13..13 + length]).expect("UTF-8");
                open.push((format!("{path}/{name}"), number(&content[13 + length..])));
            }
            if kind == 0x08 && number(&content[2..10]) != u64::MAX {
                let (start, size) = (number(&content[2..10]), number(&content[10..18]));
                assert_eq!(start % 8, 0, "{path}: alignment");
                values = Some(&file[start as usize..(start + size) as usize]);
            }
        }
        found.insert(path, values);
    }
    found
}

#[test]
fn superblock_spans_the_file() {
    let bytes = sample().to_bytes().unwrap();
    assert_eq!(&bytes[..12], b"\x89HDF\r\n\x1a\n\x02\x08\x08\0");
    assert_sealed(&bytes[..48], "the superblock");
    assert_eq!(number(&bytes[28..36]), bytes.len() as u64);
}

#[test]
fn links_lead_to_values() {
    let bytes = sample().to_bytes().unwrap();
    let found = walk(&bytes);
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    let expected = ["bare", "draw", "steps", "theta", "theta_dim_0"];
    let expected = expected.map(|name| format!("/posterior/{name}"));
    assert_eq!(paths[..3], ["", "/observed_data", "/posterior"]);
    assert_eq!(paths[3..], expected);
    let theta = [1.0, f64::NAN, -0.0, 4.0, 5.0, 6.5].map(f64::to_le_bytes).concat();
    assert_eq!(found["/posterior/theta"], Some(&theta[..]));
    assert_eq!(found["/posterior/steps"], Some(&[-3_i64, 9].map(i64::to_le_bytes).concat()[..]));
    assert_eq!(found["/posterior/bare"], None);
}

#[test]
fn labels_are_in_the_heap() {
    let bytes = sample().to_bytes().unwrap();
    let references = walk(&bytes)["/posterior/theta_dim_0"].unwrap();
    let label = |reference: &[u8]| {
        let length = number(&reference[..4]) as usize;
        let collection = &bytes[number(&reference[4..12]) as usize..];
        assert_eq!(&collection[..4], b"GCOL");
        let mut piece = &collection[16..];
        while piece[..2] != reference[12..14] {
            piece = &piece[16 + number(&piece[8..16]).next_multiple_of(8) as usize..];
        }
        assert_eq!(number(&piece[8..16]) as usize, length);
        piece[16..16 + length].to_vec()
    };
    let labels: Vec<Vec<u8>> = references.chunks(16).map(label).collect();
    assert_eq!(labels, [&b"a"[..], b"", b"ccc"]);
}

#[test]
fn bytes_depend_on_the_file_alone() {
    let bytes = sample().to_bytes().unwrap();
    assert_eq!(bytes, sample().to_bytes().unwrap());
    let mut other = sample();
    other.groups[0].variables[0].values = Values::Numbers(vec![1.0, f64::NAN, 0.0, 4.0, 5.0, 6.5]);
    assert_ne!(bytes, other.to_bytes().unwrap());
}

#[test]
fn blocks_join_without_seam() {
    for count in [super::BLOCK - 1, super::BLOCK, 2 * super::BLOCK + 1] {
        let values: Vec<i64> = (0..count as i64).collect();
        let mut file = sample();
        file.groups[0].dimensions = vec![Dimension::labelled("draw", Values::Integers(values))];
        file.groups[0].variables.clear();
        let bytes = file.to_bytes().unwrap();
        let found = walk(&bytes)["/posterior/draw"].unwrap();
        assert!(found.chunks(8).map(number).eq(0..count as u64), "{count} values");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let mut room = [0_u8; 1000];
    let error = sample().write(&mut &mut room[..]).unwrap_err();
    assert!(error.to_string().contains("cannot write the netCDF file"), "{error}");
}
