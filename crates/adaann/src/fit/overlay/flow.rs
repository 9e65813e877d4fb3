//! Applies the given flow settings over the problem's own.

use super::{Overlay, apply::set};
use crate::{
    Error, error,
    flow::{Autoregressive, FlowSpec, Glow, Hidden, Mask, RealNvp, SplineSpec},
};

impl Overlay {
    /// The flow of a run: the problem's flow or the requested family, with the given settings.
    pub(super) fn flow_over(&self, preset: &FlowSpec, faults: &mut Vec<Error>) -> FlowSpec {
        let mut flow = match &self.flow {
            Some(asked) if asked.label() != preset.label() => asked.clone(),
            _ => preset.clone(),
        };
        if self.layers.is_none() && !preset.has_networks() {
            // A radial flow has as many layers as the planar flow that it replaces.
            for_each(&mut flow, &mut |flow| {
                if let FlowSpec::Planar { layers, .. } | FlowSpec::Radial { layers } = flow {
                    *layers = preset.layers();
                }
            });
        }
        let mut used = Used::default();
        for_each(&mut flow, &mut |flow| apply(self, flow, &mut used));
        let settings = [
            ("layers", self.layers.is_some(), used.layers, "families with a number of layers"),
            ("activation", self.activation.is_some(), used.planar, "planar"),
            ("precision", self.precision.is_some(), used.planar, "planar"),
            ("hidden", self.hidden.is_some(), used.hidden, NETWORKS),
            ("hidden-layers", self.hidden_layers.is_some(), used.hidden, NETWORKS),
            ("hidden-activation", self.hidden_activation.is_some(), used.hidden, NETWORKS),
            ("mask", self.mask.is_some(), used.mask, "realnvp, glow, spline"),
            ("order", self.order.is_some(), used.order, "iaf, maf, spline-autoregressive"),
            ("scale-map", self.scale_map.is_some(), used.scale, "realnvp, iaf, maf, glow"),
            ("one-network", self.one_network == Some(true), used.separate, "realnvp"),
            ("bins", self.bins.is_some(), used.spline, SPLINES),
            ("spline-bound", self.spline_bound.is_some(), used.spline, SPLINES),
        ];
        let strangers = settings.iter().filter(|(_, given, used, _)| *given && !*used);
        faults.extend(strangers.map(|(name, _, _, owners)| {
            let label = flow.label();
            let message =
                format!("`{name}` does not apply to the {label} flow; it belongs to {owners}");
            error::conflict(name, message)
        }));
        flow
    }
}

const NETWORKS: &str = "realnvp, iaf, maf, glow, spline, spline-autoregressive";
const SPLINES: &str = "spline, spline-autoregressive";

/// The kinds of settings that the flow has.
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

/// Visits the parts of a composition.
fn for_each(flow: &mut FlowSpec, change: &mut impl FnMut(&mut FlowSpec)) {
    match flow {
        FlowSpec::Compose(flows) => flows.iter_mut().for_each(|flow| for_each(flow, change)),
        one => change(one),
    }
}

/// Applies the settings given for a family, and records which kinds of settings it uses.
fn apply(given: &Overlay, flow: &mut FlowSpec, used: &mut Used) {
    match flow {
        FlowSpec::Planar { layers, activation, precision } => {
            set_layers(given, layers, used);
            used.planar = true;
            set(activation, given.activation);
            set(precision, given.precision);
        }
        FlowSpec::Radial { layers } => set_layers(given, layers, used),
        FlowSpec::RealNvp(RealNvp { layers, hidden, mask, scale, separate }) => {
            set_layers(given, layers, used);
            set_hidden(given, hidden, used);
            set_mask(given, mask, used);
            used.scale = true;
            set(scale, given.scale_map);
            used.separate = true;
            *separate &= given.one_network != Some(true);
        }
        FlowSpec::Iaf(settings) | FlowSpec::Maf(settings) => {
            let Autoregressive { layers, hidden, order, scale } = settings;
            set_layers(given, layers, used);
            set_hidden(given, hidden, used);
            used.order = true;
            set(order, given.order);
            used.scale = true;
            set(scale, given.scale_map);
        }
        FlowSpec::Glow(Glow { layers, hidden, mask, scale }) => {
            set_layers(given, layers, used);
            set_hidden(given, hidden, used);
            set_mask(given, mask, used);
            used.scale = true;
            set(scale, given.scale_map);
        }
        FlowSpec::Spline(SplineSpec { layers, bins, bound, hidden, mask, .. }) => {
            set_layers(given, layers, used);
            set_hidden(given, hidden, used);
            set_splines(given, bins, bound, used);
            set_mask(given, mask, used);
        }
        FlowSpec::SplineAutoregressive(SplineSpec {
            layers, bins, bound, hidden, order, ..
        }) => {
            set_layers(given, layers, used);
            set_hidden(given, hidden, used);
            set_splines(given, bins, bound, used);
            used.order = true;
            set(order, given.order);
        }
        FlowSpec::Affine
        | FlowSpec::Linear
        | FlowSpec::Lu
        | FlowSpec::Quadratic
        | FlowSpec::Marginals { .. }
        | FlowSpec::Permutation(_) => {}
        FlowSpec::Compose(_) => unreachable!("its parts are visited"),
    }
}

fn set_layers(given: &Overlay, layers: &mut usize, used: &mut Used) {
    used.layers = true;
    set(layers, given.layers);
}

fn set_hidden(given: &Overlay, hidden: &mut Hidden, used: &mut Used) {
    used.hidden = true;
    set(&mut hidden.units, given.hidden);
    set(&mut hidden.layers, given.hidden_layers);
    set(&mut hidden.activation, given.hidden_activation);
}

fn set_mask(given: &Overlay, mask: &mut Mask, used: &mut Used) {
    used.mask = true;
    set(mask, given.mask.clone());
}

fn set_splines(given: &Overlay, bins: &mut usize, bound: &mut f64, used: &mut Used) {
    used.spline = true;
    set(bins, given.bins);
    set(bound, given.spline_bound);
}
