//! What tests share and no test is: numbers, flows, systems and programs to try things on.

pub(crate) mod common;
pub(crate) mod dual;
pub(crate) mod flows;
pub(crate) mod lopsided;
pub(crate) mod own_layer;
pub(crate) mod programs;
pub(crate) mod stiff;
pub(crate) mod systems;
