//! Values that do not match are refused, with their path.

use super::*;

fn refusal<T: DeserializeOwned>(state: &impl Serialize) -> String {
    match from_bytes::<T>(&to_bytes(state)) {
        Ok(_) => panic!("it fits"),
        Err(why) => why,
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Labelled {
    x: f64,
    y: f64,
    label: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Cloud<P> {
    points: Vec<P>,
}

#[test]
fn fields_too_many_or_too_few_are_named() {
    let labelled = || Labelled { x: 0.0, y: 1.0, label: "a".into() };
    let why = refusal::<Cloud<Point>>(&Cloud { points: vec![labelled(), labelled()] });
    assert!(why.starts_with("points.0.label: ") && why.contains("known"), "{why}");
    let why = refusal::<Cloud<Labelled>>(&Cloud { points: vec![Point { x: 0.0, y: 1.0 }] });
    assert_eq!(why, "points.0: missing field `label`");
}

#[test]
fn other_types_are_named() {
    let why = refusal::<Cloud<u8>>(&Cloud { points: vec![1u64, 2, 300] });
    assert!(why.starts_with("points.2: ") && why.contains("300"), "{why}");
    let why = refusal::<Cloud<bool>>(&Cloud { points: vec![1.5; 20] });
    assert!(why.starts_with("points.0: ") && why.contains("1.5"), "{why}");
    let why = refusal::<Cloud<f64>>(&Cloud { points: vec!["a"] });
    assert!(why.starts_with("points.0: "), "{why}");
    let why = refusal::<Point>(&(1.0, 2.0));
    assert!(why.contains("Point"), "a list is not a struct: {why}");
    let why = refusal::<Vec<f64>>(&Point { x: 0.0, y: 0.0 });
    assert!(why.contains("map"), "{why}");
    let why = refusal::<(f64, f64)>(&vec![1.0; 3]);
    assert!(why.contains("3 values found, 2 expected"), "{why}");
    let why = refusal::<(f64, f64)>(&(1.0, 2.0, "three"));
    assert!(why.contains("3 values found, 2 expected"), "{why}");
    let why = refusal::<[f64; 12]>(&vec![1.0; 11]);
    assert!(why.contains("12"), "{why}");
    let why = refusal::<f64>(&None::<f64>);
    assert!(why.contains("unit"), "{why}");
}

#[test]
fn other_variants_are_named() {
    #[derive(Serialize)]
    enum Other {
        Waiting(u8),
        At,
        Between { x: f64 },
        Moving(f64),
        Gone,
    }
    let others = [Other::Waiting(1), Other::At, Other::Between { x: 0.0 }, Other::Moving(1.0)];
    for (other, name) in others.iter().zip(["Waiting", "At", "Between", "Moving"]) {
        let why = refusal::<Phase>(other);
        assert!(why.starts_with(name), "{why}");
    }
    let why = refusal::<Phase>(&Other::Gone);
    assert!(why.contains("`Gone`") && why.contains("`Waiting`"), "{why}");
    assert!(refusal::<Phase>(&3.0).contains("variant"));
}

#[test]
fn what_cannot_be_kept_is_said() {
    let error = encode(&BTreeMap::from([("a", u128::MAX)])).unwrap_err().to_string();
    assert!(error.starts_with("a: ") && error.contains("128"), "{error}");
    let error = encode(&BTreeMap::from([([1, 2], 3)])).unwrap_err().to_string();
    assert!(error.contains("keys"), "{error}");
}

fn chain(depth: usize) -> Nested {
    let end = Nested { inner: None, values: Vec::new() };
    (1..depth).fold(end, |inner, _| Nested { inner: Some(Box::new(inner)), values: Vec::new() })
}

#[test]
fn nesting_has_a_bound() {
    let deepest = (1..200).take_while(|depth| encode(&chain(*depth)).is_ok()).last().unwrap();
    assert!((40..130).contains(&deepest), "{deepest}");
    let bytes = to_bytes(&chain(deepest));
    assert_eq!(from_bytes::<Nested>(&bytes).unwrap(), chain(deepest));
    let error = encode(&chain(deepest + 1)).unwrap_err().to_string();
    assert!(error.contains("deeper than"), "{error}");
}

/// A file with this head and body, and a matching checksum.
fn forged(head: &str, body: &[u8]) -> Vec<u8> {
    let length = (head.len() as u64).to_le_bytes();
    sealed([&length[..], head.as_bytes(), body, &[0; 8]].concat())
}

/// A head with this skeleton and these entries.
fn head(skeleton: &str, entries: &str) -> String {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let told = serde_json::to_string(&header()).unwrap();
    format!(
        "{{\"__metadata__\":{{\"format\":\"adaann-checkpoint-1\",\"header\":{},\"state\":{}}}{entries}}}",
        json(&told),
        json(skeleton)
    )
}

fn entry(name: &str, dtype: &str, shape: &str, from: usize, to: usize) -> String {
    format!(
        ",\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}"
    )
}

#[test]
fn forged_files_are_refused() {
    let sum = |at: usize| entry("$checksum", "U8", "[8]", at, at + 8);
    let list = |shape: &str, kind: &str| {
        let entries = entry("x", kind, shape, 0, 16) + &sum(16);
        forged(&head("{\"$tensor\":\"x\"}", &entries), &[0; 16])
    };
    assert_eq!(from_bytes::<Vec<f64>>(&list("[2]", "F64")).unwrap(), [0.0; 2]);
    assert_eq!(from_bytes::<Vec<Vec<f64>>>(&list("[1,2]", "F64")).unwrap(), [[0.0; 2]]);
    let many_ones = format!("[2{}]", ",1".repeat(200));
    let bad = [
        list("[3]", "F64"),
        list("[]", "F64"),
        list("[2,0]", "F64"),
        list("[1152921504606846976,16,1]", "F64"),
        list("[18446744073709551615]", "F64"),
        list("[18446744073709551616]", "F64"),
        list("[-2]", "F64"),
        list("[16]", "U8"),
        list("[2]", "F65"),
        list(&many_ones, "F64"),
        // No checksum, a gap, an overlap, offsets in the wrong order or beyond the end.
        forged(&head("{\"$tensor\":\"x\"}", &entry("x", "F64", "[2]", 0, 16)), &[0; 16]),
        forged(&head("1", &sum(8)), &[0; 8]),
        forged(&head("1", &sum(8)), &[]),
        forged(&head("1", &(entry("x", "F64", "[1]", 8, 0) + &sum(0))), &[]),
        forged(
            &head("[{\"$tensor\":\"x\"},{\"$tensor\":\"y\"}]", &{
                entry("x", "F64", "[2]", 0, 16) + &entry("y", "F64", "[1]", 8, 16) + &sum(16)
            }),
            &[0; 16],
        ),
        // A tensor that occurs twice, one that is missing, and one that is unused.
        forged(
            &head("[{\"$tensor\":\"x\"},{\"$tensor\":\"x\"}]", &{
                entry("x", "F64", "[2]", 0, 16) + &sum(16)
            }),
            &[0; 16],
        ),
        forged(&head("{\"$tensor\":\"x\"}", &sum(0)), &[]),
        forged(&head("1", &(entry("x", "F64", "[2]", 0, 16) + &sum(16))), &[0; 16]),
        // Invalid marks.
        forged(&head("{\"$f64\":\"0x7ff\"}", &sum(0)), &[]),
        forged(&head("{\"$f64\":\"0x+ff0000000000000\"}", &sum(0)), &[]),
        forged(&head("{\"$f64\":1}", &sum(0)), &[]),
        forged(&head("{\"$word\":1}", &sum(0)), &[]),
        forged(&head("{\"a\":1,\"$some\":1}", &sum(0)), &[]),
        forged(&head("{\"$some\":1,\"a\":1}", &sum(0)), &[]),
        forged(&head("1 2", &sum(0)), &[]),
        forged(&head("1e999", &sum(0)), &[]),
        forged(&head("", &sum(0)), &[]),
        forged(&head(&"[".repeat(100_000), &sum(0)), &[]),
        forged(&head(&"{\"$some\":".repeat(125), &sum(0)), &[]),
        forged("{}", &[]),
        forged("[]", &[]),
        forged("", &[]),
    ];
    for (i, bytes) in bad.iter().enumerate() {
        assert!(from_bytes::<serde_json::Value>(bytes).is_err(), "forgery {i} is read");
    }
    assert_eq!(from_bytes::<f64>(&forged(&head("1.5", &sum(0)), &[])).unwrap(), 1.5);
    let truth = entry("x", "BOOL", "[3]", 0, 3) + &sum(3);
    let why = from_bytes::<Vec<bool>>(&forged(&head("{\"$tensor\":\"x\"}", &truth), &[0, 1, 2]));
    assert!(why.unwrap_err().contains("[2] is not a BOOL"));
}
