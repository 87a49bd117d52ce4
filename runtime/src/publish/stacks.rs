//! The metrics of the policies beside the breaker.

use metrics::counter;
use metrics::describe_counter;
use metrics::describe_gauge;
use metrics::gauge;

use crate::policies::Policies;

/// Each series of a policy that the service has, also at zero.
pub(super) fn publish(policies: &Policies) {
    let Some(service) = policies.service() else {
        return;
    };
    if policies.uses().timeouts() || policies.timeouts() > 0 {
        counter!("breakerbox_timeouts_total", "service" => service).absolute(policies.timeouts());
    }
    if policies.uses().fallbacks() || policies.fallbacks() != [0, 0] {
        for (result, count) in ["success", "failure"].into_iter().zip(policies.fallbacks()) {
            counter!("breakerbox_fallbacks_total", "service" => service, "result" => result)
                .absolute(count);
        }
    }
    if let Some(bulkhead) = policies.get_bulkhead() {
        gauge!("breakerbox_bulkhead_available", "service" => service)
            .set(f64::from(bulkhead.available()));
        counter!("breakerbox_bulkhead_rejected_total", "service" => service)
            .absolute(bulkhead.rejected());
    }
    #[cfg(feature = "rate-limit")]
    if let Some(limiter) = policies.get_rate_limiter() {
        counter!("breakerbox_rate_limited_total", "service" => service)
            .absolute(limiter.rejected());
    }
    #[cfg(feature = "retry")]
    publish_retries(policies, service);
}

#[cfg(feature = "retry")]
fn publish_retries(policies: &Policies, service: &'static str) {
    let counts = policies.retries().counts();
    let is_used = policies.uses().retries() || counts.by_label().iter().any(|(_, n)| *n > 0);
    if !is_used {
        return;
    }
    for (result, count) in counts.by_label() {
        counter!("breakerbox_retries_total", "service" => service, "result" => result)
            .absolute(count);
    }
    counter!("breakerbox_retry_attempts_total", "service" => service).absolute(counts.attempts());
    counter!("breakerbox_retry_budget_exhausted_total", "service" => service)
        .absolute(counts.budget_exhausted());
}

/// Says what the metrics mean.
pub(super) fn describe() {
    describe_counter!(
        "breakerbox_timeouts_total",
        "Calls that a timeout gave up while they ran."
    );
    describe_counter!(
        "breakerbox_fallbacks_total",
        "Answers of fallbacks, and fallbacks that failed."
    );
    describe_gauge!(
        "breakerbox_bulkhead_available",
        "How many more calls may run at once."
    );
    describe_counter!(
        "breakerbox_bulkhead_rejected_total",
        "Calls for which the bulkhead had no place."
    );
    #[cfg(feature = "rate-limit")]
    describe_counter!(
        "breakerbox_rate_limited_total",
        "Calls that were too many for the rate limit."
    );
    #[cfg(feature = "retry")]
    {
        describe_counter!(
            "breakerbox_retries_total",
            "Calls that were retried, by what became of them."
        );
        describe_counter!(
            "breakerbox_retry_attempts_total",
            "Attempts after the first that began."
        );
        describe_counter!(
            "breakerbox_retry_budget_exhausted_total",
            "Retries that were not made, since the budget of the service was used up."
        );
    }
}
