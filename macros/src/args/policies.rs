//! The keys of the other policies, one table each.

use syn::Expr;

use crate::args::Flag;
use crate::args::Names;
use crate::args::Predicate;
use crate::args::Switch;
use crate::args::When;
use crate::args::table::first_code;
use crate::args::table::first_value;
use crate::args::table::keys;

keys! {
    /// The arguments of a retry.
    RetryArgs, "attempts" "attempts = 3";
    "attempts" attempts: Expr, "attempts = 3";
    "delay" delay: Expr, "delay = \"100ms\"";
    "factor" factor: Expr, "factor = 2";
    "max_delay" max_delay: Expr, "max_delay = \"10s\"";
    "jitter" jitter: Switch, "jitter = false";
    "max_elapsed" max_elapsed: Expr, "max_elapsed = \"30s\"";
    "budget" budget: Expr, "budget = \"20%\"";
    "clone" clone: Names, "clone(order)";
    "retry_on" retry_on: Predicate, "retry_on = is_transient";
    "idempotent" idempotent: Flag, "idempotent";
    "wait_for_circuit" wait_for_circuit: Flag, "wait_for_circuit";
    others: [
        "max_attempts" => "attempts",
        "max_retries" => "attempts",
        "retries" => "attempts",
        "tries" => "attempts",
        "max_tries" => "attempts",
        "times" => "attempts",
        "stop_after_attempt" => "attempts",
        "wait" => "delay",
        "interval" => "delay",
        "min_delay" => "delay",
        "base_delay" => "delay",
        "initial_delay" => "delay",
        "initial_interval" => "delay",
        "wait_duration" => "delay",
        "backoff" => "factor",
        "multiplier" => "factor",
        "exponential_base" => "factor",
        "backoff_factor" => "factor",
        "max_backoff" => "max_delay",
        "max_interval" => "max_delay",
        "max_wait" => "max_delay",
        "max_duration" => "max_elapsed",
        "max_elapsed_time" => "max_elapsed",
        "total_timeout" => "max_elapsed",
        "retry_budget" => "budget",
        "retry_if" => "retry_on",
        "retry_when" => "retry_on",
        "when" => "retry_on",
        "is_retryable" => "retry_on",
        "fails_on" => "retry_on",
        "clones" => "clone",
        "is_idempotent" => "idempotent",
    ];
}

keys! {
    /// The arguments of a timeout.
    TimeoutArgs, "duration" "timeout(\"8s\")";
    first limit: ["duration", "limit", "after", "timeout", "secs", "seconds", "millis", "ms"]
        first_value::<Self>;
    others: [];
}

keys! {
    /// The arguments of a bulkhead.
    BulkheadArgs, "max_concurrent" "max_concurrent = 10";
    "max_concurrent" max_concurrent: Expr, "max_concurrent = 10";
    "queue" queue: Expr, "queue = 20";
    "max_wait" max_wait: Expr, "max_wait = \"50ms\"";
    "counts" counts: Flag, "counts";
    others: [
        "max_concurrent_calls" => "max_concurrent",
        "max_concurrency" => "max_concurrent",
        "concurrency" => "max_concurrent",
        "limit" => "max_concurrent",
        "max" => "max_concurrent",
        "permits" => "max_concurrent",
        "max_parallelization" => "max_concurrent",
        "max_queue" => "queue",
        "queue_size" => "queue",
        "max_queued" => "queue",
        "max_queuing_actions" => "queue",
        "waiting_task_queue" => "queue",
        "max_wait_duration" => "max_wait",
        "timeout" => "max_wait",
        "wait" => "max_wait",
        "bulkhead_counts" => "counts",
    ];
}

keys! {
    /// The arguments of a rate limit.
    RateLimitArgs, "rate" "rate_limit(\"100/s\")";
    first rate: [
        "rate", "limit", "per_second", "per_minute", "per_hour", "rps", "quota", "requests",
        "limit_for_period", "period", "max_calls",
    ] first_value::<Self>;
    "burst" burst: Expr, "burst = 20";
    "max_wait" max_wait: Expr, "max_wait = \"50ms\"";
    others: [
        "burst_size" => "burst",
        "allow_burst" => "burst",
        "max_burst" => "burst",
        "timeout" => "max_wait",
        "timeout_duration" => "max_wait",
        "wait" => "max_wait",
    ];
}

keys! {
    /// The arguments of a fallback.
    FallbackArgs, "fallback" "fallback(Ok(cached))";
    first answer: ["fallback", "value", "with", "expr", "answer", "handler"] first_code;
    "when" when: When, "when = rejected";
    others: [
        "fallback_when" => "when",
        "on" => "when",
        "apply_on" => "when",
        "fails_on" => "when",
    ];
}
