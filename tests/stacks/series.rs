//! What is published of the policies beside the breaker.

use std::future::pending;
use std::time::Duration;

use breakerbox::BulkheadPolicy;
use breakerbox::Error;
use breakerbox::RatePolicy;
use breakerbox::Registry;
use breakerbox::RetryPolicy;

use crate::metrics::Exporter;
use crate::metrics::exposition::Exposition;

const SERVICE: (&str, &str) = ("service", "stacks: series");

#[tokio::test(start_paused = true)]
async fn each_policy_counts_what_it_did() {
    let registry = Registry::builder().build().unwrap();
    let exporter = Exporter::new();
    let policies = registry.policies(SERVICE.1);
    let value = |scrape: &Exposition, name: &str, more: &[(&str, &str)]| {
        let labels: Vec<_> = [SERVICE].into_iter().chain(more.iter().copied()).collect();
        scrape.value(name, &labels)
    };
    let before = exporter.published(&registry);
    assert_eq!(value(&before, "breakerbox_bulkhead_available", &[]), None);

    let bulkhead = policies.bulkhead(BulkheadPolicy::new(2)).unwrap();
    let rate = RatePolicy::new(1, Duration::from_secs(1));
    let limiter = policies.rate_limiter(rate).unwrap();
    let idle = exporter.published(&registry);
    for (name, expected) in [
        ("breakerbox_bulkhead_available", 2.0),
        ("breakerbox_bulkhead_rejected_total", 0.0),
        ("breakerbox_rate_limited_total", 0.0),
    ] {
        assert_eq!(value(&idle, name, &[]), Some(expected), "{name}");
    }

    let _slots = [
        bulkhead.try_acquire().unwrap(),
        bulkhead.try_acquire().unwrap(),
    ];
    bulkhead.try_acquire().unwrap_err();
    limiter.try_acquire().unwrap();
    limiter.try_acquire().unwrap_err();
    let gone = policies
        .timeout(Duration::from_secs(1), pending::<()>())
        .await;
    gone.unwrap_err();
    let retry = policies.retry(RetryPolicy::new().attempts(3)).unwrap();
    let failed = retry
        .idempotent()
        .call(|| async { Err::<(), _>(Error::Inner(())) })
        .await;
    failed.unwrap_err();
    let after = exporter.published(&registry);
    for (name, result, expected) in [
        ("breakerbox_bulkhead_available", None, 0.0),
        ("breakerbox_bulkhead_rejected_total", None, 1.0),
        ("breakerbox_rate_limited_total", None, 1.0),
        ("breakerbox_timeouts_total", None, 1.0),
        ("breakerbox_retries_total", Some("exhausted"), 1.0),
        ("breakerbox_retries_total", Some("succeeded"), 0.0),
        ("breakerbox_retry_attempts_total", None, 2.0),
        ("breakerbox_retry_budget_exhausted_total", None, 0.0),
    ] {
        let labels = result.map(|result| ("result", result));
        let labels = labels.as_slice();
        assert_eq!(value(&after, name, labels), Some(expected), "{name}");
    }
}
