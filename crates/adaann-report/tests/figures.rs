//! Every kind of figure as a separate file.

mod gallery;

use adaann_report::Figure;

fn figure(name: &str) -> Figure {
    gallery::figures().into_iter().find(|figure| figure.name == name).expect("in the gallery")
}

#[test]
fn drawings_stand_alone_and_have_numbers_only() {
    for figure in gallery::figures() {
        let svg = figure.svg();
        let name = &figure.name;
        assert!(svg.starts_with("<svg viewBox=\"0 0 ") && svg.ends_with("</svg>"), "{name}");
        assert!(svg.contains("xmlns=\"http://www.w3.org/2000/svg\""), "{name}");
        for bad in ["NaN", "inf ", "inf\"", "<script", "<img", "data-"] {
            assert!(!svg.contains(bad), "{bad} in {name}");
        }
        for tag in ["svg", "g", "text"] {
            let opened =
                svg.matches(&format!("<{tag} ")).count() + svg.matches(&format!("<{tag}>")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag} in {name}");
        }
    }
}

#[test]
fn pixels_are_enough_for_print() {
    for figure in gallery::figures() {
        let png = figure.png().unwrap();
        let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert!(
            png.starts_with(b"\x89PNG") && side(16) >= 1600 && side(20) > 400,
            "{}",
            figure.name
        );
    }
}

#[test]
fn a_label_is_in_the_legend_once() {
    let svg = figure("rates").svg();
    assert_eq!(svg.matches(">planar, AdaAnn<").count(), 1, "three panels share it");
    assert_eq!(svg.matches(">19 of 20<").count(), 1);
}

/// Neighbouring numbers along an axis must not touch.
#[test]
fn numbers_along_an_axis_keep_apart() {
    for figure in gallery::figures() {
        let svg = figure.svg();
        let mut rows: Vec<(String, f64, f64)> = Vec::new();
        for text in svg.split("<text ").skip(1).filter(|text| text.contains("font-size=\"11\"")) {
            let attribute = |name: &str| {
                text.split_once(&format!("{name}=\""))
                    .and_then(|(_, after)| after.split_once('"'))
                    .unwrap()
                    .0
            };
            let words = text.split_once('>').unwrap().1.split('<').next().unwrap();
            if !attribute("x").is_empty() && text.contains("text-anchor=\"middle\"") {
                // Half the width of an average digit for each character, on either side.
                let half = 3.0 * words.chars().count() as f64;
                rows.push((attribute("y").to_owned(), attribute("x").parse().unwrap(), half));
            }
        }
        for pair in rows.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1) {
            let gap = pair[1].1 - pair[1].2 - (pair[0].1 + pair[0].2);
            assert!(gap > 2.0, "{}: {pair:?}", figure.name);
        }
    }
}
