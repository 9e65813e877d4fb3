//! Settings of a fit: from the model file, and from flags, which override it.

use super::{refuse, succeed};
use crate::support::common::{Place, stderr, stdout};
use adaann::model::Model;

const MODEL: &str = "density = \"-z^2\"\n[parameters]\nz = {}\n";

fn with_fit(place: &Place, lines: &str) {
    place.write("m.toml", &format!("{MODEL}[fit]\n{lines}\n"));
}

#[test]
fn flags_count_before_the_file() {
    let place = Place::new();
    with_fit(
        &place,
        "tau = 0.3\ndraws = 123\nflow = \"planar\"\nlayers = 3\nbase-mean = [1.5]\nseed = 9",
    );
    let settings = |words: &str| stdout(&succeed(&place, &format!("fit m.toml --dry-run {words}")));
    let own = settings("");
    for line in ["tau = 0.3", "draws = 123", "layers = 3", "mean = [1.5]", "seed = 9"] {
        assert!(own.contains(line), "{line} is not in\n{own}");
    }
    let given = settings("--tau 0.7 --layers=5 --seed 4");
    for line in ["tau = 0.7", "draws = 123", "layers = 5", "mean = [1.5]", "seed = 4"] {
        assert!(given.contains(line), "{line} is not in\n{given}");
    }
    assert_eq!(place.entries(), ["m.toml"]);
}

#[test]
fn switches_and_folders_stand_in_the_file() {
    let place = Place::new();
    let quick = "warmup = 5\nupdates = 1\nrefine = 5\nsamples = 8\nrefine-samples = 8\n\
                 variance-samples = 16\nflow = \"planar\"\nlayers = 2\ndraws = 50";
    with_fit(&place, &format!("{quick}\nquiet = true\nforce = false\nout = \"here\""));
    let output = succeed(&place, "fit m.toml");
    assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()));
    assert_eq!(place.entries(), ["here", "m.toml"]);
    refuse(&place, "fit m.toml", 2);
    succeed(&place, "fit m.toml --force");
}

#[test]
fn mistakes_among_settings_have_their_place() {
    let place = Place::new();
    for (lines, at, words) in [
        ("taw = 1", "m.toml:5:", "taw"),
        ("draws = 10\ntau = \"high\"", "m.toml:6:7", "high"),
        ("flow = \"plannar\"", "m.toml:5:8", "plannar"),
        ("layers = 2.5", "m.toml:5:10", "2.5"),
        ("help = true", "m.toml:5:", "help"),
        ("data = \"other.csv\"", "m.toml:5:", "data"),
    ] {
        with_fit(&place, lines);
        let said = refuse(&place, "fit m.toml", 2);
        assert!(said.contains(at) && said.contains(words), "{lines}: {said}");
    }
    with_fit(&place, "tau = -1");
    let said = refuse(&place, "fit m.toml", 2);
    assert!(said.contains("tau is -1"), "{said}");
    assert_eq!(place.entries(), ["m.toml"]);
}

#[test]
fn training_beyond_algorithm_1_is_set_by_file_and_flags() {
    let place = Place::new();
    with_fit(
        &place,
        "t0 = \"auto\"\nstep-ess = 0.99\ngradient = \"path\"\nstage-ess = 0.6\nstage-most = 40\n\
         forward-kl = 3\nforward-kl-divergence = \"alpha2\"",
    );
    let settings = |words: &str| stdout(&succeed(&place, &format!("fit m.toml --dry-run {words}")));
    let own = settings("");
    for line in [
        "auto-t0 = true",
        "tau = 0.10025",
        "gradient = \"path\"",
        "ess = 0.6",
        "most-updates = 40",
        "rounds = 3",
        "divergence = \"alpha2\"",
    ] {
        assert!(own.contains(line), "{line} is not in\n{own}");
    }
    let given =
        settings("--t0 0.2 --step-ess 0.5 --gradient total --stage-ess 0.7 --forward-kl-draws 77");
    for line in [
        "auto-t0 = false",
        "t0 = 0.2",
        "ess = 0.5",
        "gradient = \"total\"",
        "ess = 0.7",
        "most-updates = 40",
        "draws = 77",
        "rounds = 3",
    ] {
        assert!(given.contains(line), "{line} is not in\n{given}");
    }
    place.write("m.toml", MODEL);
    let none = settings("");
    for word in ["rounds", "most-updates"] {
        assert!(!none.contains(word), "{word} is in\n{none}");
    }
    for (words, said) in [
        ("--stage-most 5", "--stage-most belongs to --stage-ess"),
        ("--forward-kl-lr 0.1", "--forward-kl-lr belongs to --forward-kl"),
        ("--forward-kl 0 --forward-kl-draws 5", "--forward-kl-draws belongs to --forward-kl"),
        ("--forward-kl 2 --forward-kl-draws 1", "forward-kl-draws is 1"),
        ("--step-ess 0.9 --tau 1", "--step-ess and --tau both"),
        ("--step-ess 0.9 --schedule ess", "--step-ess and --schedule both"),
        ("--step-ess 1", "step-ess is 1"),
        ("--stage-ess 1", "stage-ess is 1"),
        ("--schedule none --t0 auto", "--t0 does not apply to the none schedule"),
        ("--t0 soon", "auto"),
        ("--gradient half", "must be total or path"),
    ] {
        let found = refuse(&place, &format!("fit m.toml {words}"), 2);
        assert!(found.contains(said), "{words}: {found}");
    }
}

/// All errors in a file, in settings and elsewhere, are reported at once.
#[test]
fn mistakes_among_settings_are_told_with_all_others() {
    let place = Place::new();
    let lines = [
        "taw = 1",
        "layers = \"three\"",
        "samples = 1",
        "stage-most = 5",
        "draws = 1",
        "base_sd = 2",
    ];
    let at = |row: usize, column: usize| format!("m.toml:{row}:{column}\n");
    let told = [
        (at(5, 1), "unknown key `taw`"),
        (at(6, 10), "`layers` must be a whole number"),
        (at(7, 11), "samples is 1, but must be from 2"),
        (at(8, 1), "`stage-most` belongs to `stage-ess`, which is not given"),
        (at(9, 9), "draws is 1, but must be from 2"),
        (at(10, 1), "did you mean `base-sd`?"),
    ];
    with_fit(&place, &lines.join("\n"));
    let whole = refuse(&place, "fit m.toml", 2);
    let text = place.read("m.toml").replace("-z^2", "-z^2 + q");
    place.write("m.toml", &text);
    let broken = refuse(&place, "check m.toml", 2);
    assert!(broken.contains("unknown name `q`"), "{broken}");
    for (at, words) in &told {
        for said in [&whole, &broken] {
            assert!(said.contains(at) && said.contains(words), "{at}{words} is not in\n{said}");
        }
    }
    // The flow of such a file is unknown, so that `bins` cannot be checked.
    with_fit(&place, "flow = \"splein\"\nbins = 8");
    let said = refuse(&place, "fit m.toml", 2);
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert!(said.contains("did you mean 'spline'?"), "{said}");
}

/// A setting that a flag makes wrong is shown at its line in the file; a flag is named as a flag.
#[test]
fn what_flags_make_wrong_is_shown_where_it_is() {
    let place = Place::new();
    with_fit(&place, "flow = \"planar\"\nactivation = \"algebraic\"");
    let said = refuse(&place, "fit m.toml --flow maf", 2);
    assert!(said.contains("m.toml:6:1\n"), "{said}");
    assert!(said.contains("`activation` does not apply to the maf flow"), "{said}");
    let said = refuse(&place, "fit m.toml --bins 4", 2);
    assert!(said.starts_with("error: --bins does not apply to the planar flow"), "{said}");
}

/// A Rust program that reads the file gives bit for bit the run of the command line.
#[test]
fn rust_and_the_command_line_run_the_same() {
    let place = Place::new();
    place.write(
        "m.toml",
        "density = \"-(z^2 - 2*z)^2 - z - w^2\"\n[parameters]\nz = {}\nw = { lower = -1 }\n[fit]\n\
         flow = \"maf\"\nlayers = 2\nhidden = 5\nwarmup = 8\nupdates = 2\nrefine = 12\nsamples = 16\n\
         refine-samples = 16\nvariance-samples = 64\nschedule = \"guarded\"\ntau = 0.5\nseed = 11\n\
         base-sd = [2, 0.5]\ndraws = 40\nforward-kl = 1\nforward-kl-draws = 64\n\
         forward-kl-updates = 3\ncheck-particles = 0\nquiet = true\nout = \"r\"\n",
    );
    succeed(&place, "fit m.toml");
    let model = Model::read(&place.path("m.toml")).unwrap_or_else(|faults| panic!("{faults}"));
    let (target, settings) = (model.target(), model.settings());
    let outcome = adaann::fit(&*target, &settings, &mut ()).unwrap();
    let saved = place.path("own.safetensors");
    outcome.flow.save(&saved).unwrap();
    let bytes = |path| std::fs::read(path).unwrap();
    assert_eq!(bytes(saved), bytes(place.path("r/flow.safetensors")), "the flow");
    let count = model.given().output.draws.unwrap();
    let draws = outcome.approximation(&*target).unwrap().sample(count, settings.seed).unwrap();
    let text = place.read("r/draws.csv");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), count);
    for (i, row) in rows.iter().enumerate() {
        let written: Vec<f64> = row.split(',').take(2).map(|x| x.parse().unwrap()).collect();
        assert_eq!(written, draws.x().point(i), "draw {i}");
    }
}

/// All settings at once: the folder is complete, the schedule has the shares of the stages, and the trace
/// continues through the rounds.
#[test]
fn a_run_with_all_of_it_has_its_folder() {
    let place = Place::new();
    place.write("m.toml", "density = \"-(z^2 - 2*z)^2 - z\"\n[parameters]\nz = {}\n");
    succeed(
        &place,
        "fit m.toml --quiet --flow planar --layers 4 --warmup 6 --updates 2 --refine 10 --samples 16 \
         --refine-samples 16 --variance-samples 64 --draws 100 --t0 auto --step-ess 0.8 --gradient path \
         --stage-ess 0.5 --stage-most 8 --forward-kl 2 --forward-kl-draws 128 --forward-kl-updates 5 --forward-kl-batch 16 \
         --out r",
    );
    let schedule = place.read("r/schedule.csv");
    let mut lines = schedule.lines();
    assert!(lines.next().unwrap().ends_with(",lost,ess"), "{schedule}");
    let first = lines.next().unwrap();
    let share: f64 = first.rsplit(',').next().unwrap().parse().unwrap();
    assert!((0.0..=1.0).contains(&share), "{first}");
    assert!(schedule.trim_end().ends_with(','), "none is taken at t = 1: {schedule}");
    let updates: usize = lines
        .chain([first])
        .map(|line| line.split(',').nth(4).unwrap().parse::<usize>().unwrap())
        .sum();
    assert_eq!(place.read("r/trace.csv").lines().count(), 1 + updates + 2 * 5);
    succeed(&place, "report r");
}
