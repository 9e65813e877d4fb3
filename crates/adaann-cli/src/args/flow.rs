//! The flow that flags ask for, over the target's own.

use crate::{
    args::{FlowArgs, overlay::set},
    text::failure::usage,
};
use adaann::flow::{Autoregressive, FlowSpec, Glow, Hidden, Mask, RealNvp, SplineSpec};
use anyhow::Result;

/// The flow of a run: the target's, or the family that was asked for, with what the flags say.
pub(crate) fn flow(args: &FlowArgs, preset: &FlowSpec) -> Result<FlowSpec> {
    let mut flow = match &args.flow {
        Some(asked) if asked.label() != preset.label() => asked.clone(),
        _ => preset.clone(),
    };
    if args.layers.is_none() && !preset.has_networks() {
        // Radial layers for a target that has planar ones are as many.
        for_each(&mut flow, &mut |flow| {
            if let FlowSpec::Planar { layers, .. } | FlowSpec::Radial { layers } = flow {
                *layers = preset.layers();
            }
        });
    }
    let mut used = Used::default();
    for_each(&mut flow, &mut |flow| apply(args, flow, &mut used));
    let flags = [
        ("layers", args.layers.is_some(), used.layers, "families with a number of layers"),
        ("activation", args.activation.is_some(), used.planar, "planar"),
        ("precision", args.precision.is_some(), used.planar, "planar"),
        ("hidden", args.hidden.is_some(), used.hidden, NETWORKS),
        ("hidden-layers", args.hidden_layers.is_some(), used.hidden, NETWORKS),
        ("hidden-activation", args.hidden_activation.is_some(), used.hidden, NETWORKS),
        ("mask", args.mask.is_some(), used.mask, "realnvp, glow, spline"),
        ("order", args.order.is_some(), used.order, "iaf, maf, spline-autoregressive"),
        ("scale-map", args.scale_map.is_some(), used.scale, "realnvp, iaf, maf, glow"),
        ("one-network", args.one_network, used.separate, "realnvp"),
        ("bins", args.bins.is_some(), used.spline, SPLINES),
        ("spline-bound", args.spline_bound.is_some(), used.spline, SPLINES),
    ];
    match flags.iter().find(|(_, given, used, _)| *given && !*used) {
        None => Ok(flow),
        Some((flag, _, _, owners)) => Err(usage(format!(
            "--{flag} does not apply to the {} flow; it belongs to {owners}",
            flow.label()
        ))),
    }
}

const NETWORKS: &str = "realnvp, iaf, maf, glow, spline, spline-autoregressive";
const SPLINES: &str = "spline, spline-autoregressive";

/// Which kinds of settings the flow has.
#[derive(Default)]
struct Used {
    layers: bool,
    planar: bool,
    hidden: bool,
    mask: bool,
    order: bool,
    scale: bool,
    separate: bool,
    spline: bool,
}

/// Goes through the parts of a composition.
fn for_each(flow: &mut FlowSpec, change: &mut impl FnMut(&mut FlowSpec)) {
    match flow {
        FlowSpec::Compose(flows) => flows.iter_mut().for_each(|flow| for_each(flow, change)),
        one => change(one),
    }
}

/// Sets what the flags say of a family, and notes which kinds of flags it looks at.
fn apply(args: &FlowArgs, flow: &mut FlowSpec, used: &mut Used) {
    match flow {
        FlowSpec::Planar { layers, activation, precision } => {
            set_layers(args, layers, used);
            used.planar = true;
            set(activation, args.activation);
            set(precision, args.precision);
        }
        FlowSpec::Radial { layers } => set_layers(args, layers, used),
        FlowSpec::RealNvp(RealNvp { layers, hidden, mask, scale, separate }) => {
            set_layers(args, layers, used);
            set_hidden(args, hidden, used);
            set_mask(args, mask, used);
            used.scale = true;
            set(scale, args.scale_map);
            used.separate = true;
            *separate &= !args.one_network;
        }
        FlowSpec::Iaf(settings) | FlowSpec::Maf(settings) => {
            let Autoregressive { layers, hidden, order, scale } = settings;
            set_layers(args, layers, used);
            set_hidden(args, hidden, used);
            used.order = true;
            set(order, args.order);
            used.scale = true;
            set(scale, args.scale_map);
        }
        FlowSpec::Glow(Glow { layers, hidden, mask, scale }) => {
            set_layers(args, layers, used);
            set_hidden(args, hidden, used);
            set_mask(args, mask, used);
            used.scale = true;
            set(scale, args.scale_map);
        }
        FlowSpec::Spline(SplineSpec { layers, bins, bound, hidden, mask, .. }) => {
            set_layers(args, layers, used);
            set_hidden(args, hidden, used);
            set_splines(args, bins, bound, used);
            set_mask(args, mask, used);
        }
        FlowSpec::SplineAutoregressive(SplineSpec {
            layers, bins, bound, hidden, order, ..
        }) => {
            set_layers(args, layers, used);
            set_hidden(args, hidden, used);
            set_splines(args, bins, bound, used);
            used.order = true;
            set(order, args.order);
        }
        FlowSpec::Affine | FlowSpec::Linear | FlowSpec::Lu | FlowSpec::Permutation(_) => {}
        FlowSpec::Compose(_) => unreachable!("its parts are visited"),
    }
}

fn set_layers(args: &FlowArgs, layers: &mut usize, used: &mut Used) {
    used.layers = true;
    set(layers, args.layers);
}

fn set_hidden(args: &FlowArgs, hidden: &mut Hidden, used: &mut Used) {
    used.hidden = true;
    set(&mut hidden.units, args.hidden);
    set(&mut hidden.layers, args.hidden_layers);
    set(&mut hidden.activation, args.hidden_activation);
}

fn set_mask(args: &FlowArgs, mask: &mut Mask, used: &mut Used) {
    used.mask = true;
    set(mask, args.mask.clone());
}

fn set_splines(args: &FlowArgs, bins: &mut usize, bound: &mut f64, used: &mut Used) {
    used.spline = true;
    set(bins, args.bins);
    set(bound, args.spline_bound);
}
