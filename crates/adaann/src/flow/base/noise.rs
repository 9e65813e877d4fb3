//! The random numbers that become points of a base.

use crate::Batch;

/// Standard normals, and the component that each point belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Noise {
    pub(crate) normal: Batch,
    /// One entry per point, padding included. A Gaussian base leaves it at 0 and ignores it.
    pub(super) component: Vec<usize>,
}

impl Noise {
    pub(crate) fn zeros(dim: usize, len: usize) -> Self {
        Batch::zeros(dim, len).into()
    }

    /// Truncates it to the first `len` points of its storage.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.normal.truncate(len);
    }
}

impl From<Batch> for Noise {
    fn from(normal: Batch) -> Self {
        Self { component: vec![0; normal.padded_len()], normal }
    }
}
