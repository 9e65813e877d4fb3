//! The tests of the command line, as one program: the real binary, in folders of its own.

mod support;

mod book;
mod density;
mod endless;
mod hostile;
mod interrupt;
mod killed;
mod ladder;
mod late_failures;
mod longer;
mod memory;
mod models;
mod outputs;
mod own_files;
mod paper;
mod posteriors;
mod program_failures;
mod programs;
mod refusals;
mod report;
mod reserved;
mod rooms;
mod run;
mod secrets;
mod smc;
mod trust;
mod unfinished;
mod verify;
