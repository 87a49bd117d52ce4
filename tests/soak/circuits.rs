//! The services whose circuits are shared: each mode of counting, and each way back.

use std::time::Duration;

use breakerbox::Policy;
use breakerbox::Window;

pub(crate) struct Circuit {
    pub(crate) name: &'static str,
    pub(crate) policy: Policy,
    /// After so long its callers give up.
    pub(crate) patience: Duration,
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Openings are short, so that there are many, and all of them are over soon at the end.
pub(crate) const CIRCUITS: [Circuit; 5] = [
    Circuit {
        name: "till",
        policy: Policy::new()
            .threshold(5)
            .cooldown(ms(300))
            .backoff(2.0)
            .max_cooldown(ms(2_000))
            .probes(2),
        patience: ms(400),
    },
    Circuit {
        name: "ledger",
        policy: Policy::new()
            .window(Window::Time(ms(2_000)))
            .failure_rate(0.4)
            .min_calls(10)
            .slow_call(ms(200))
            .slow_call_rate(0.5)
            .cooldown(ms(400))
            .jitter(0.2)
            .probes(2),
        patience: ms(600),
    },
    Circuit {
        name: "mail",
        policy: Policy::new()
            .threshold(8)
            .window(Window::Time(ms(4_000)))
            .cooldown(ms(250))
            .backoff(1.5)
            .max_cooldown(ms(1_500))
            .probes(2)
            .ramp(ms(1_500)),
        patience: ms(400),
    },
    // One process alone does not open it, and its probes outlive a lease that is not renewed.
    Circuit {
        name: "vault",
        policy: Policy::new()
            .threshold(4)
            .min_instances(2)
            .cooldown(ms(300))
            .probes(2),
        patience: ms(3_500),
    },
    Circuit {
        name: "stamp",
        policy: Policy::new()
            .window(Window::Calls(40))
            .failure_rate(0.5)
            .min_calls(20)
            .cooldown(ms(350))
            .probes(4)
            .probe_concurrency(2)
            .probe_failure_rate(0.5),
        patience: ms(400),
    },
];
