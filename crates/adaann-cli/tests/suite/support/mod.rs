//! What tests share and no test is: the binary in a folder of its own, a browser, Python.

#[path = "../../../../adaann-report/tests/chromium/mod.rs"]
pub(crate) mod chromium;
pub(crate) mod common;
#[path = "../../../../adaann-netcdf/tests/python/mod.rs"]
pub(crate) mod python;
