//! Allocations a call.
//!
//! The counter belongs to a thread, so neither the background nor another thread is in the
//! figures, and two threads do not contend for it. Where time or instructions are measured
//! it is switched off; what is left of it costs about 3 ns an allocation.

use super::work::Work;

/// Those of calls that one thread makes.
pub(crate) fn of(work: &mut dyn Work) -> f64 {
    let calls = u32::try_from(work.most().min(1_000)).unwrap_or(1_000);
    work.prepare();
    let info = allocation_counter::measure(|| {
        work.run(calls.into());
    });
    let allocations = u32::try_from(info.count_total).unwrap_or(u32::MAX);
    f64::from(allocations) / f64::from(calls)
}
