//! Tests of what there is once a process.

mod alone;
#[path = "../observers/eventually.rs"]
mod eventually;
mod exports;
#[path = "../metrics/exposition.rs"]
mod exposition;
mod install;
mod leaving;
mod page;
mod threads;
