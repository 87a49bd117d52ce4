//! The rows of the table, in order.

/// One row: by how many threads at once the calls are made, and whether they are let through.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) threads: usize,
    pub(crate) admits: bool,
}

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

/// The row of this name.
pub(crate) fn named(name: &str) -> &'static Row {
    let row = ROWS.iter().find(|row| row.name == name);
    row.expect("every case is in a row")
}

const fn row(name: &'static str) -> Row {
    Row {
        name,
        threads: 1,
        admits: true,
    }
}

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
