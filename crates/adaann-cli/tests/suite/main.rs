//! The tests of the command line, as one program: the real binary, in folders of its own.

mod support;

mod book;
mod density;
mod interrupt;
mod ladder;
mod models;
mod paper;
mod posteriors;
mod refusals;
mod report;
mod rooms;
mod run;
mod smc;
mod trust;
