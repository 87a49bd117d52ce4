//! Tests of what there is once a process.

mod alone;
mod clock;
mod costs;
#[path = "../observers/eventually.rs"]
mod eventually;
mod exports;
#[path = "../metrics/exposition.rs"]
mod exposition;
mod install;
mod leaving;
mod page;
mod store;
mod threads;

use std::alloc::System;

use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::StatsAlloc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;
