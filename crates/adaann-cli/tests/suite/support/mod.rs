//! Shared helpers of the tests: the binary in a temporary folder, a browser, Python.

#[path = "../../../../adaann-report/tests/chromium/mod.rs"]
pub(crate) mod chromium;
pub(crate) mod common;
#[path = "../../../../adaann-netcdf/tests/python/mod.rs"]
pub(crate) mod python;
