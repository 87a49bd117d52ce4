//! The rows of the table, in order.

use crate::harness::Row;
use crate::harness::row;

pub(crate) const ROWS: &[Row] = &[
    row("bare"),
    row("retry"),
    row("timeout"),
    row("bulkhead"),
    row("rate_limit"),
    row("fallback"),
    row("circuit_breaker"),
    // A fallback, a timeout in total, a retry, a breaker, a timeout of each attempt and a
    // bulkhead, from the outside in.
    row("stack"),
    // The same around a body that is ready at its second poll: here timers are set.
    row("stack_pending"),
    // A fallback that answers for an open circuit.
    row("rejected_fallback"),
];
