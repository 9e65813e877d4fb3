use super::*;
use crate::{
    Error, Program, Settings,
    schedule::{AdaAnn, EssBisection},
};

/// A skewed density in three dimensions, without a prior.
fn target() -> Program {
    Program::record(3, |z| -(z[0] - 1.0).square() - (z[1] * z[2] - 2.0).square() - z[2].square())
}

/// Settings from the arguments of a command line.
fn given(words: &[(&str, &str)]) -> Overlay {
    let mut overlay = Overlay::default();
    for (name, word) in words {
        let setting = Overlay::find(name).unwrap_or_else(|| panic!("no setting {name}"));
        let written = match setting.form {
            Form::Switch => Written::Switch(word.parse().unwrap()),
            _ => Written::Word(word),
        };
        setting.read(&mut overlay, written).unwrap_or_else(|message| panic!("{name}: {message}"));
    }
    overlay
}

fn faults(words: &[(&str, &str)]) -> Vec<String> {
    let (_, faults) = given(words).examine(Settings::default(), Some(&target()));
    faults.iter().map(Error::to_string).collect()
}

#[test]
fn nothing_given_changes_nothing() {
    for settings in [
        Settings::default(),
        Settings::default().with_flow(FlowSpec::named("maf").unwrap()),
        Settings { schedule: Schedule::None, ..Settings::default() },
    ] {
        let same = Overlay::default().apply(settings.clone(), &target()).unwrap();
        assert_eq!(same, settings);
    }
}

#[test]
fn what_is_given_counts_and_the_rest_stays() {
    let overlay = given(&[("flow", "radial"), ("tau", "0.3"), ("clip", "none"), ("seed", "7")]);
    let base = Settings { clip: Some(2.0), lr: 0.07, ..Settings::default() };
    let settings = overlay.apply(base, &target()).unwrap();
    // The number of radial layers is that of the planar ones.
    assert_eq!(settings.flow, FlowSpec::Radial { layers: 50 });
    assert_eq!((settings.clip, settings.seed, settings.lr), (None, 7, 0.07));
    let above = given(&[("tau", "0.5"), ("base-sd", "3")]).over(&overlay);
    assert_eq!((above.tau, above.seed), (Some(0.5), Some(7)));
    assert_eq!(above.base_sd, Some(vec![3.0]));
}

/// Each value alone is out of range; the error names the given key.
#[test]
fn ranges_are_refused_by_the_name_that_was_given() {
    for (context, name, word) in [
        ("", "layers", "0"),
        ("flow=realnvp", "hidden", "0"),
        ("flow=realnvp", "hidden-layers", "0"),
        ("flow=realnvp", "mask", "0,9"),
        ("flow=spline", "bins", "1"),
        ("flow=spline", "spline-bound", "-1"),
        ("", "initial-scale", "-1"),
        ("", "initial-scale", "0"),
        ("", "base-mean", "1,2"),
        ("", "base-sd", "0"),
        ("", "base-matrix", "1,2,3"),
        ("", "base-components", "0"),
        ("base-components=2", "base-means", "1,2,3"),
        ("", "path", "likelihood"),
        ("", "t0", "2"),
        ("", "step-ess", "1"),
        ("", "tau", "0"),
        ("schedule=linear", "epsilon", "0"),
        ("schedule=exponential", "steps", "0"),
        ("schedule=list", "temperatures", "0.5,0.1,1"),
        ("schedule=ess", "ess", "1"),
        ("schedule=guarded", "max-ratio", "1"),
        ("schedule=guarded", "min-epsilon", "-1"),
        ("schedule=guarded", "max-epsilon", "0"),
        ("", "warmup", "1000000000"),
        ("", "updates", "0"),
        ("", "refine", "1000000000"),
        ("", "samples", "1"),
        ("", "refine-samples", "1"),
        ("", "variance-samples", "1"),
        ("", "stage-ess", "1"),
        ("stage-ess=0.5", "stage-most", "0"),
        ("optimizer=sgd", "momentum", "1"),
        ("", "beta1", "1"),
        ("", "beta2", "-1"),
        ("optimizer=rmsprop", "decay", "1"),
        ("", "optimizer-epsilon", "0"),
        ("", "lr", "0"),
        ("", "refine-lr", "-1"),
        ("", "point-clip", "0.5"),
        ("forward-kl=2", "forward-kl-draws", "1"),
        ("forward-kl=2", "forward-kl-updates", "0"),
        ("forward-kl=2", "forward-kl-batch", "0"),
        ("forward-kl=2", "forward-kl-lr", "0"),
    ] {
        let words: Vec<_> = context.split_once('=').into_iter().chain([(name, word)]).collect();
        let overlay = given(&words);
        let error = overlay.apply(Settings::default(), &target()).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }), "{name}: {error}");
        assert_eq!(error.setting(), Some(name), "{error}");
    }
}

#[test]
fn strangers_and_contradictions_are_refused() {
    for (words, said) in [
        (&[("bins", "4")][..], "`bins` does not apply to the planar flow; it belongs to spline, "),
        (&[("flow", "maf"), ("activation", "tanh")], "`activation` does not apply to the maf flow"),
        (&[("flow", "maf"), ("one-network", "true")], "`one-network` does not apply to the maf"),
        (&[("epsilon", "0.1")], "`epsilon` does not apply to the adaann schedule; it belongs to l"),
        (&[("schedule", "none"), ("t0", "auto")], "`t0` does not apply to the none schedule"),
        (&[("momentum", "0.5")], "`momentum` does not apply to the adam optimizer"),
        (&[("base", "laplace"), ("base-sd", "1")], "`base-sd` does not apply to the laplace base"),
        (&[("stage-most", "5")], "`stage-most` belongs to `stage-ess`, which is not given"),
        (&[("forward-kl", "0"), ("forward-kl-lr", "1")], "`forward-kl-lr` belongs to `forward-kl`"),
        (&[("step-ess", "0.9"), ("tau", "1")], "`step-ess` and `tau` both say how long a step is"),
        (
            &[("base-sd", "1"), ("base-matrix", "1,0,0,0,1,0,0,0,1")],
            "`base-matrix` and `base-sd` both say how wide the base is",
        ),
        (
            &[("base-covariance", "diagonal"), ("base-matrix", "1,0,0,0,1,0,0,0,1")],
            "`base-covariance` is diagonal, but must be full for `base-matrix`",
        ),
    ] {
        let found = faults(words);
        assert_eq!(found.len(), 1, "{words:?}: {found:?}");
        assert!(found[0].starts_with(said), "{}", found[0]);
    }
    // A switch that is off does not count as given.
    assert!(faults(&[("flow", "maf"), ("one-network", "false")]).is_empty());
}

#[test]
fn all_that_is_wrong_is_found_at_once() {
    let found = faults(&[("bins", "4"), ("hidden", "3"), ("samples", "1"), ("lr", "0")]);
    let starts = ["`bins` does", "`hidden` does", "samples is 1", "lr is 0"];
    assert_eq!(found.len(), starts.len(), "{found:?}");
    for start in starts {
        assert!(found.iter().any(|fault| fault.starts_with(start)), "{start}: {found:?}");
    }
}

/// Networks learn at a lower rate unless a rate is given, and their rate falls over the given number
/// of updates.
#[test]
fn another_family_brings_its_own_defaults() {
    let base = Settings { lr: 0.01, ..Settings::default() };
    let settings = given(&[("flow", "maf"), ("refine", "70")]).apply(base, &target()).unwrap();
    assert_eq!(settings.lr, 0.002);
    assert_eq!(settings.refine_lr_rule, RateRule::Cosine { over: 70, floor: 1e-3 });
    let base = Settings { lr: 0.01, ..Settings::default() };
    let settings = given(&[("flow", "maf"), ("lr", "0.03")]).apply(base, &target()).unwrap();
    assert_eq!(settings.lr, 0.03);
}

#[test]
fn base_and_seed_are_common_and_a_switch_that_is_off_is_nothing() {
    let common = given(&[("base-sd", "2"), ("base", "laplace"), ("seed", "7")]);
    assert_eq!(common.of_adaann(), [""; 0]);
    assert_eq!(common.common(), common);
    let both = given(&[("seed", "7"), ("tau", "0.1"), ("train-base", "true")]);
    assert_eq!(both.of_adaann(), ["train-base", "tau"]);
    assert_eq!(both.common(), given(&[("seed", "7")]));
    assert_eq!(given(&[("one-network", "false")]).of_adaann(), [""; 0]);
}

#[test]
fn a_rule_that_cannot_start_at_0_starts_at_its_own() {
    let at_0 = Settings {
        path: PathKind::Bridge,
        schedule: Schedule::AdaAnn(AdaAnn { t0: 0.0, tau: 0.1 }),
        ..Settings::default()
    };
    let settings = given(&[("path", "power")]).apply(at_0.clone(), &target()).unwrap();
    assert_eq!(settings.schedule, Schedule::AdaAnn(AdaAnn { t0: 0.01, tau: 0.1 }));
    let settings = given(&[("schedule", "ess"), ("t0", "auto")]).apply(at_0, &target()).unwrap();
    assert_eq!(settings.schedule, Schedule::EssBisection(EssBisection { t0: 0.0, ess: 0.9 }));
    assert!(settings.auto_t0);
}

#[test]
fn names_and_help_are_fit_for_files_and_flags() {
    for setting in Overlay::TABLE {
        let name = setting.name;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(name.chars().all(plain), "{name}");
        assert!(!setting.about().contains("--"), "{name} speaks of a flag");
        assert_eq!(setting.symbol.is_empty(), setting.form == Form::Switch, "{name}");
        // Every name in backticks is a setting.
        for named in setting.about().split('`').skip(1).step_by(2) {
            assert!(Overlay::find(named).is_some(), "{name} speaks of {named}");
        }
    }
}
