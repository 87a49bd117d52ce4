//! Callers that call back to back.

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use breakerbox_servers::Server;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::commands::executed;
use crate::peers::Design;
use crate::peers::INSTANCES;
use crate::samples::Samples;

/// More of one caller are made and not timed.
const MOST_SAMPLES: usize = 50_000;

/// What became of the calls, and what the server did for them.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) calls: u32,
    pub(super) rejected: u32,
    pub(super) sent: Option<u64>,
    pub(super) executed: u64,
}

/// Makes calls back to back for so long; so many of a thousand fail.
pub(super) fn calls<D: Design>(
    runtime: &Runtime,
    server: &Server,
    design: &Arc<D>,
    callers: usize,
    failures: u32,
    how_long: Duration,
) -> (Samples, Counted) {
    server.reset_command_stats();
    let sent_before = design.sent();
    let until = Instant::now() + how_long;
    let mut samples = Samples::default();
    let mut counted = Counted::default();
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for caller in 0..callers {
            let design = Arc::clone(design);
            tasks.spawn(async move {
                let mut samples = Samples::with_capacity(MOST_SAMPLES);
                let (mut calls, mut rejected) = (0, 0);
                while Instant::now() < until {
                    let succeeds = fastrand::u32(..1000) >= failures;
                    let begin = Instant::now();
                    let is_in = design.call(caller % INSTANCES, succeeds).await;
                    if samples.len() < MOST_SAMPLES {
                        samples.push(begin.elapsed());
                    }
                    calls += 1;
                    rejected += u32::from(!is_in);
                    // Also where nothing is ever waited for, all callers have their turn.
                    tokio::task::yield_now().await;
                }
                (samples, calls, rejected)
            });
        }
        while let Some(done) = tasks.join_next().await {
            let (of_one, calls, rejected) = done.expect("a caller that does not panic");
            samples.extend(of_one);
            counted.calls += calls;
            counted.rejected += rejected;
        }
    });
    counted.executed = executed(server).values().sum();
    counted.sent = design
        .sent()
        .zip(sent_before)
        .map(|(now, before)| now - before);
    (samples, counted)
}
