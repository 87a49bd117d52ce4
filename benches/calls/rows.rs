//! The rows of the table, in order.

use crate::harness::Row;
use crate::harness::row;

/// The row that is measured last, with a recorder installed: nobody can take one out again.
pub(crate) const RECORDER: &str = "recorder";

pub(crate) const ROWS: &[Row] = &[
    row("bare"),
    row("closed_consecutive"),
    row("closed_window"),
    row("closed_window_1pct"),
    row("closed_count_window"),
    row("permit_consecutive"),
    row("permit_durations"),
    row("rejected").open(),
    row("rejected_permit").open(),
    row("two_threads_consecutive").by_two(),
    row("two_threads_window").by_two(),
    row("window_100"),
    row("window_1000"),
    row("window_10000"),
    row("keyed"),
    row(RECORDER),
];

impl Row {
    const fn by_two(self) -> Self {
        Self { threads: 2, ..self }
    }

    const fn open(self) -> Self {
        Self {
            admits: false,
            ..self
        }
    }
}
