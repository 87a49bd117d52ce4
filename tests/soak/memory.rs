//! Whether anything grows that should not.

use breakerbox_servers::Server;

use crate::circuits::CIRCUITS;
use crate::crew::Reports;
use crate::log::Log;

/// What lives on the heap of a process is bounded by its circuits, tasks and connections; how
/// much of it is in use varies with what is under way by some tens of kilobytes. A hundred bytes
/// that are lost in each call come to half a megabyte in twenty seconds of a process.
const HEAP: u64 = 384 * 1024;

/// The system counts pages that the allocator keeps: those of the stacks that were used, of
/// code that ran for the first time, and of the worst moment so far.
const PAGES: u64 = 6 * 1024 * 1024;

/// A circuit is one hash, a journal of a hundred lines of some two hundred bytes, and the numbers
/// that processes go by.
const OF_CIRCUIT: u64 = 64 * 1024;

/// Redis itself keeps the script, and buffers for each connection.
const OF_SERVER: u64 = 1024 * 1024;

/// Compares each process with itself when it was warm. Returns a line for the summary.
pub(crate) fn judge_workers(reports: &[Reports], log: &Log) -> String {
    let (mut heap, mut pages, mut count) = (0, 0, 0);
    for (seat, reports) in reports.iter().enumerate() {
        let (Some(first), Some(last)) = (&reports.first, &reports.last) else {
            // It was started later.
            continue;
        };
        let grown = |first: u64, last: u64| last.saturating_sub(first);
        let (more_heap, more_pages) =
            (grown(first.heap, last.heap), grown(first.pages, last.pages));
        let calls = last.calls - first.calls;
        if more_heap > HEAP || more_pages > PAGES {
            log.wrong(&format!(
                "worker {seat} has grown by {more_heap} bytes of heap and {more_pages} of pages \
                 in {calls} calls"
            ));
        }
        (heap, pages, count) = (more_heap.max(heap), more_pages.max(pages), count + 1);
    }
    if count == 0 {
        log.wrong("no process has lived long enough to see whether its memory grows");
    }
    format!(
        "memory: of {count} processes none has grown by more than {} KiB of heap and {} KiB of pages",
        heap / 1024,
        pages / 1024
    )
}

/// Compares Redis with what it held when it was empty.
pub(crate) fn judge_redis(server: &Server, empty: u64, log: &Log) -> String {
    let keys = server.order(&["DBSIZE"]).integer().unwrap_or(i64::MAX);
    let most = 3 * i64::try_from(CIRCUITS.len()).expect("a few");
    if keys > most {
        log.wrong(&format!("Redis has {keys} keys, and {most} are enough"));
    }
    let grown = server.memory().saturating_sub(empty);
    let bound = OF_SERVER + OF_CIRCUIT * u64::try_from(CIRCUITS.len()).expect("a few");
    if grown > bound {
        log.wrong(&format!(
            "Redis has grown by {grown} bytes, more than {bound}"
        ));
    }
    format!("Redis: {keys} keys, grown by {} KiB", grown / 1024)
}
