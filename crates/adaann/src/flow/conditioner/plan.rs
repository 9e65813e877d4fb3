//! The dependencies between coordinates, and the order in which they become known.

use std::ops::Range;

/// One stage of a layer.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Places of the coordinates that this stage is the first to read.
    pub(super) read: Range<usize>,
    /// Hidden units that depend only on these and earlier coordinates.
    pub(super) units: Range<usize>,
    /// The moved coordinates that it moves.
    pub(super) moved: Range<usize>,
}

/// The dependencies between coordinates.
#[derive(Debug, Clone)]
pub(in crate::flow) struct Plan {
    /// The order of the coordinates; networks read the first `read` of them.
    pub(super) order: Vec<usize>,
    pub(super) read: usize,
    /// Place of the first moved coordinate; all later coordinates move too.
    pub(super) first_moved: usize,
    /// For each hidden unit and each moved coordinate, the number of places it depends on.
    pub(super) unit_reach: Vec<usize>,
    pub(super) moved_reach: Vec<usize>,
    pub(super) stages: Vec<Stage>,
}

impl Plan {
    /// A coupling: coordinates with `kept` set are read and stay; the others move. If none is kept,
    /// the outputs are constants.
    pub(in crate::flow) fn coupling(kept: &[bool], units: usize) -> Self {
        let with = |wanted: bool| (0..kept.len()).filter(move |d| kept[*d] == wanted);
        let order: Vec<usize> = with(true).chain(with(false)).collect();
        let read = with(true).count();
        let moved = order.len() - read;
        Self {
            order,
            read,
            first_moved: read,
            unit_reach: vec![read; units],
            moved_reach: vec![read; moved],
            stages: vec![Stage { read: 0..read, units: 0..units, moved: 0..moved }],
        }
    }

    /// An autoregressive layer: each coordinate's outputs depend on the coordinates before it in
    /// `order`.
    pub(in crate::flow) fn autoregressive(order: Vec<usize>, units: usize) -> Self {
        let dim = order.len();
        // Units depend on 1 to d − 1 coordinates, spread evenly.
        let unit_reach: Vec<usize> =
            (0..units).map(|u| if dim == 1 { 0 } else { 1 + u * (dim - 1) / units }).collect();
        let up_to = |reach: usize| unit_reach.partition_point(|unit| *unit <= reach);
        let stages = (0..dim)
            .map(|i| Stage {
                read: i.saturating_sub(1)..i,
                units: if i == 0 { 0 } else { up_to(i - 1) }..up_to(i),
                moved: i..i + 1,
            })
            .collect();
        Self {
            order,
            read: dim - 1,
            first_moved: 0,
            unit_reach,
            moved_reach: (0..dim).collect(),
            stages,
        }
    }
}
