//! Which coordinates depend on which, and in what order they become known.

use std::ops::Range;

/// A step through a layer.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    /// Places of the coordinates that it is the first to read.
    pub(super) read: Range<usize>,
    /// Hidden units that depend on these and earlier ones alone.
    pub(super) units: Range<usize>,
    /// Which of the moved coordinates it moves.
    pub(super) moved: Range<usize>,
}

/// Which coordinates depend on which.
#[derive(Debug, Clone)]
pub(in crate::flow) struct Plan {
    /// The coordinates by place; networks read those of the first `read` places.
    pub(super) order: Vec<usize>,
    pub(super) read: usize,
    /// Place of the first moved coordinate; all after it are moved.
    pub(super) first_moved: usize,
    /// For each hidden unit and each moved coordinate, how many places it depends on.
    pub(super) unit_reach: Vec<usize>,
    pub(super) moved_reach: Vec<usize>,
    pub(super) stages: Vec<Stage>,
}

impl Plan {
    /// A coupling: coordinates with `kept` set are read and stay, the others move. If none is kept,
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

    /// Each coordinate moves by outputs that depend on those before it in `order`.
    pub(in crate::flow) fn autoregressive(order: Vec<usize>, units: usize) -> Self {
        let dim = order.len();
        // Units depend on 1 to d − 1 coordinates, as evenly as can be.
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
