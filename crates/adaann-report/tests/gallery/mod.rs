//! A page with every kind of block and figure, and with hostile texts that contain markup.
#![allow(dead_code, reason = "each test file uses its own part")]

use adaann_report::{
    Axis, Block, Color, Figure, Mark, Page, Panel, Shape, Space, SpaceMark, Table, bins,
};

/// Markup of all kinds, which must be shown verbatim.
pub(crate) const HOSTILE: &str = "</script></svg><script>window.broken=1</script>'\"&<img src=x>";

/// Deterministic pseudo-random numbers, roughly normal.
fn draws(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

fn bell(x: f64, mean: f64, sd: f64) -> f64 {
    (-0.5 * ((x - mean) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt())
}

fn density() -> Figure {
    let draws: Vec<f64> = draws(4_000, 1)
        .iter()
        .enumerate()
        .map(|(i, z)| if i % 2 == 0 { -3.7 + 0.3 * z } else { -0.3 + 0.3 * z })
        .collect();
    let shown = bins::range(&draws, &[], [f64::NEG_INFINITY, f64::INFINITY]);
    let height = |x: f64| 0.5 * (bell(x, -3.7, 0.3) + bell(x, -0.3, 0.3));
    let curve = |shift: f64| -> Vec<(f64, f64)> {
        bins::midpoints(shown, 400).into_iter().map(|x| (x, height(x + shift))).collect()
    };
    let panel = Panel {
        title: None,
        x: Axis::new("z").between(shown[0], shown[1]),
        y: Axis::new("density"),
        marks: vec![
            Mark::columns(bins::histogram(&draws, shown, 80), Color::Sky).label("draws"),
            Mark::line(curve(0.0), Color::Vermillion).label("target"),
            Mark::dashed(curve(0.05), Color::Blue).label("approximation"),
        ],
    };
    Figure::grid("density", "The target's density, the flow's, and its draws.", 1, vec![panel])
}

fn rates() -> Figure {
    let panel = |title: &str, floor: f64| {
        let line = |power: f64, dashed: bool, color: Color, label: &str| {
            let points =
                (0..8).map(|i| (f64::from(i), 1.0 - floor * (f64::from(i) / 7.0).powf(power)));
            let shape = Shape::LineMarkers { points: points.collect(), dashed };
            Mark { shape, color, label: Some(label.to_owned()) }
        };
        Panel {
            title: Some(title.to_owned()),
            x: Axis::new("mu"),
            y: Axis::new("share of trials with both modes").between(-0.04, 1.04),
            marks: vec![
                line(3.0, false, Color::Blue, "planar, AdaAnn"),
                line(2.0, true, Color::Vermillion, "realNVP, no annealing"),
                line(1.0, false, Color::Green, "realNVP, AdaAnn"),
                Mark::horizontal(0.95, Color::Grey).label("19 of 20"),
            ],
        }
    };
    let panels = vec![panel("symmetric", 0.4), panel("asymmetric", 0.9), panel(HOSTILE, 1.0)];
    Figure::grid("rates", "Success over the distance of the modes.", 3, panels)
}

fn schedule() -> Figure {
    let rise: Vec<(f64, f64)> =
        (0..2_000).map(|i| (f64::from(i), 1e-4 * (f64::from(i) / 217.1).exp())).collect();
    let sizes: Vec<(f64, f64)> = rise.iter().map(|&(_, t)| (t, 0.005 * t)).collect();
    let band = (1..300).map(|i| {
        let x = f64::from(i) * 40.0;
        (x, -1.0 - 20.0 / x.sqrt(), 2.0 + 300.0 / x)
    });
    let panels = vec![
        Panel {
            title: None,
            x: Axis::new("step"),
            y: Axis::new("t").log(),
            marks: vec![Mark::line(rise, Color::Blue)],
        },
        Panel {
            title: None,
            x: Axis::new("t").log(),
            y: Axis::new("epsilon").log(),
            marks: vec![Mark::line(sizes, Color::Blue)],
        },
        Panel {
            title: None,
            x: Axis::new("update"),
            y: Axis::new("neg-ELBO"),
            marks: vec![
                Mark::band(band.collect::<Vec<_>>(), Color::Sky).label("80 per cent"),
                Mark::vertical(6_000.0, Color::Vermillion).label("arrival at t = 1"),
            ],
        },
        Panel { title: None, x: Axis::new("nothing"), y: Axis::new("at all"), marks: Vec::new() },
    ];
    Figure::grid("schedule", "Logarithmic axes, a band, a rule, and nothing.", 2, panels)
}

fn plane() -> Figure {
    let panel = |title: &str, shift: f64| {
        let (x, y) = (bins::midpoints([-3.0, 3.0], 80), bins::midpoints([-2.0, 2.0], 80));
        let height = |x: f64, y: f64| {
            bell(x, -1.5 + shift, 0.4) * bell(y, 0.3, 0.4) + bell(x, 1.5, 0.3) * bell(y, -0.3, 0.5)
        };
        let z: Vec<f64> = y
            .iter()
            .flat_map(|&y| x.iter().map(move |&x| height(x, y)).collect::<Vec<_>>())
            .collect();
        let levels = [0.02, 0.1, 0.25, 0.45, 0.65, 0.85];
        Panel {
            title: Some(title.to_owned()),
            x: Axis::new("x"),
            y: Axis::new("y"),
            marks: vec![Mark::contours(x, y, z, levels, Color::Blue)],
        }
    };
    let panels = vec![panel("target", 0.0), panel("approximation", 0.2)];
    Figure::grid("plane", "Contours of two densities at the same levels.", 2, panels)
}

fn corner() -> Figure {
    let columns: Vec<Vec<f64>> = (0..4).map(|d| draws(3_000, 10 + d)).collect();
    let bent = columns[0].iter().zip(&columns[3]).map(|(x, z)| x * x + 0.3 * z).collect();
    let columns = [vec![bent], columns[1..].to_vec()].concat();
    let names = ["s", "beta", "r", "a rather long name"].map(str::to_owned);
    Figure::corner("corner", "Draws.", &names, &columns, Some(&[0.5, 0.0, 1.0, f64::NAN]))
}

fn spaces() -> Figure {
    let (mut state, mut path) = ([1.0, 1.0, 1.0], Vec::new());
    for _ in 0..1_500 {
        let [x, y, z] = state;
        let slope = [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
        state = [0, 1, 2].map(|d| state[d] + 0.01 * slope[d]);
        path.push(state);
    }
    let cloud: Vec<[f64; 3]> = (0..3)
        .map(|d| draws(500, 20 + d))
        .reduce(|_, last| last)
        .map(|z| {
            z.chunks(3).filter(|c| c.len() == 3).map(|c| [c[0], c[1] * 2.0, c[2] + c[0]]).collect()
        })
        .unwrap_or_default();
    let mark = |points, line, color, label: &str| SpaceMark {
        points,
        line,
        color,
        label: Some(label.to_owned()),
        size: if line { 1.0 } else { 2.2 },
        opacity: 0.6,
    };
    let labels = ["x", "y", "z"].map(str::to_owned);
    Figure::spaces(
        "spaces",
        "A trajectory and a cloud of draws.",
        vec![
            Space {
                title: Some("trajectory".into()),
                labels: labels.clone(),
                marks: vec![mark(path, true, Color::Blue, "solution")],
            },
            Space {
                title: Some("draws".into()),
                labels,
                marks: vec![mark(cloud, false, Color::Vermillion, "draws")],
            },
        ],
    )
}

/// All figures.
pub(crate) fn figures() -> Vec<Figure> {
    let hostile = Panel {
        title: Some(HOSTILE.into()),
        x: Axis::new(HOSTILE),
        y: Axis::new(HOSTILE),
        marks: vec![
            Mark::dots([(0.0, f64::NAN), (1.0, 2.0), (2.0, -1e300)], Color::Green).label(HOSTILE),
            Mark::line([(0.0, 1.0), (2.0, f64::INFINITY), (3.0, 4.0)], Color::Black),
        ],
    };
    vec![
        density(),
        rates(),
        schedule(),
        plane(),
        corner(),
        spaces(),
        Figure::grid(HOSTILE, HOSTILE, 1, vec![hostile]),
    ]
}

/// The page.
pub(crate) fn page() -> Page {
    let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let narrow = Table {
        caption: "Parameters".into(),
        header: row(&["parameter", "mean", "sd"]),
        rows: vec![row(&["s", "10.0831", "0.0627"]), row(&[HOSTILE, "2.6625", "0.0119"])],
        note: Some(HOSTILE.into()),
    };
    let wide = Table {
        caption: "A table that is wider than a telephone".into(),
        header: (0..14).map(|i| format!("column {i}")).collect(),
        rows: vec![(0..14).map(|i| format!("{:.4}", f64::from(i) / 7.0)).collect()],
        note: None,
    };
    let heading = |id: &str, text: &str, level| Block::Heading {
        id: id.to_owned(),
        text: text.to_owned(),
        level,
    };
    let mut blocks = vec![
        Block::Text("Text with `code`, **strong words** and a [link](#figures).".into()),
        Block::Warning("Something that **should not** be missed.".into()),
        heading("tables", "Tables", 2),
        Block::SideBySide(vec![narrow.clone(), Table { header: Vec::new(), ..narrow }]),
        Block::Table(wide),
        heading("figures", "Figures", 2),
        heading("hostile", HOSTILE, 3),
        Block::Text(HOSTILE.into()),
    ];
    blocks.extend(figures().into_iter().map(Block::Figure));
    blocks.push(Block::Details { summary: "Settings".into(), text: format!("a = 1\n{HOSTILE}\n") });
    Page {
        title: format!("Gallery {HOSTILE}"),
        lead: "Every kind of figure.".into(),
        blocks,
        footer: "The end.".into(),
        contents: true,
    }
}
