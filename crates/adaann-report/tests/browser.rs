//! The page in a real browser: it renders, fits the window, makes no requests, and is interactive.

mod chromium;
mod gallery;

use std::{collections::HashMap, time::Instant};

/// The page with the probe script at its end.
fn probed() -> String {
    let probe = include_str!("probe.js");
    let html = gallery::page().html();
    let (before, after) = html.rsplit_once("</body>").expect("a page has a body");
    format!("{before}<script>{{{probe}}}</script></body>{after}")
}

/// The page in a frame, because windows cannot be as narrow as a phone.
fn framed(html: &str, width: u32) -> String {
    let html = html.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><body><iframe style=\"width:{width}px;height:844px;border:0\" \
         srcdoc=\"{html}\"></iframe></body>"
    )
}

/// The output of the probe.
fn said(dom: &str) -> HashMap<&str, &str> {
    let (_, list) = dom.split_once("<ul id=\"said\">").expect("the probe finished");
    let items = list.split("<li title=\"").skip(1);
    items
        .map(|item| {
            let (name, text) = item.split_once("\">").expect("a name");
            (name, text.split_once("</li>").expect("an end").0)
        })
        .collect()
}

/// The number behind a label in a readout.
fn number(readout: &str, label: &str) -> f64 {
    let (_, after) =
        readout.split_once(&format!("{label}: ")).unwrap_or_else(|| panic!("{label} in {readout}"));
    let text = after.split("; ").next().unwrap_or_default().replace('−', "-");
    text.parse().unwrap_or_else(|_| panic!("{label} in {readout}"))
}

#[test]
fn the_page_renders_and_asks_nobody() {
    let html = gallery::page().html();
    let names = ["http://www.w3.org/2000/svg"];
    let rest = names.iter().fold(html.clone(), |text, name| text.replace(name, ""));
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("//cdn"));
    let Some(browser) = chromium::find() else { return };
    let loaded = chromium::load(&browser, &html, 1280);
    assert_eq!(loaded.console, [""; 0]);
    assert_eq!(
        loaded.dom.matches("class=\"chart\"").count(),
        html.matches("class=\"chart\"").count()
    );
    // The script of the page creates the readouts, so it ran completely.
    assert_eq!(loaded.dom.matches("class=\"readout\"").count(), gallery::figures().len());
    assert!(loaded.dom.contains("<dialog"));
    assert!(!loaded.dom.contains("<img"), "hostile words stay words");
}

#[test]
fn charts_answer() {
    let Some(browser) = chromium::find() else { return };
    for width in [1280, 390] {
        let started = Instant::now();
        let loaded = chromium::load(&browser, &framed(&probed(), width), 1400);
        eprintln!("{width} px: {:.1?} with the browser's own start", started.elapsed());
        assert_eq!(loaded.console, [""; 0]);
        check(&said(&loaded.dom), width);
    }
}

fn check(said: &HashMap<&str, &str>, width: u32) {
    let is = |name: &str, expected: &str| assert_eq!(said[name], expected, "{name} at {width}");
    is("width", &width.to_string());
    is("overflow", "0");
    is("requests", "");
    is("images", "0");
    is("broken", "undefined");
    is("labelled", "true");
    // Hostile text is shown verbatim. The dump escapes markup.
    let words = gallery::HOSTILE.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for name in ["heading", "caption", "legend", "axis"] {
        is(name, &words);
    }
    is("details", &format!("a = 1\n{words}\n"));

    // The pointer at 0.22 of the axis is near the left peak, whose height is known.
    let hover = said["hover"];
    let z = number(hover, "z");
    let height = |z: f64| {
        let bell = |mean: f64| (-0.5 * ((z - mean) / 0.3_f64).powi(2)).exp();
        0.5 * (bell(-3.7) + bell(-0.3)) / (0.3 * std::f64::consts::TAU.sqrt())
    };
    assert!((-4.5..-3.0).contains(&z), "{hover}");
    assert!((number(hover, "target") - height(z)).abs() < 2e-3, "{hover}");
    assert!((number(hover, "approximation") - height(z + 0.05)).abs() < 2e-3, "{hover}");
    assert!(number(hover, "draws") > 0.1, "{hover}");
    is("left", "");
    let plane = said["plane"];
    assert!(number(plane, "x").abs() < 0.01 && number(plane, "y").abs() < 0.01, "{plane}");
    assert!((number(said["tap"], "z") - z).abs() > 1.0, "{}", said["tap"]);

    is("rectangle", "1");
    is("redrawn", "true");
    let view: Vec<f64> = said["dragged"].split(' ').map(|text| text.parse().unwrap()).collect();
    assert!(view.len() == 4 && view[0] < view[1] && view[2] < view[3], "{view:?}");
    is("doubleClicked", "home");
    is("asBefore", "true");
    is("plainWheel", "false home");
    is("zoomWheel", "true");
    assert_ne!(said["wheeled"], "home");
    assert!(said["logNumbers"].contains("0.01"), "{}", said["logNumbers"]);
    is("reset", "home");
    is("buttons", "4");

    let (key, keys) = (number(said["key"], "mu"), number(said["keys"], "mu"));
    assert!(keys > key, "{} then {}", said["key"], said["keys"]);
    assert!(number(said["keys"], "planar, AdaAnn") > number(said["keys"], "realNVP, AdaAnn"));
    assert_ne!(said["plus"], "home");
    is("zero", "home");

    is("turned", "true");
    is("keyTurned", "true");
    // The difference is only rounding: tenths of a unit in the script, hundredths here.
    let farthest: f64 = said["farthest"].parse().unwrap();
    assert!(farthest < 0.2, "the script's view differs from the drawing by {farthest}");
    is("places", "0");
    assert!(said["space"].starts_with("solution; x: "), "{}", said["space"]);
    is("faded", "9");
    is("unfaded", "0");
    is("large", "true");
    is("largeHover", "true");
    is("back", "true");
}
