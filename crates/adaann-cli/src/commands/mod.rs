//! One file or folder a command: from its arguments to what it prints and writes.

pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod density;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod init;
pub(crate) mod lengthen;
pub(crate) mod list;
pub(crate) mod opened;
pub(crate) mod paper;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod smc;
pub(crate) mod verify;
