//! Judges what bounds the calls of a service: a bulkhead and a rate limit.

use std::time::Duration;

use crate::args::BulkheadArgs;
use crate::args::RateLimitArgs;
use crate::errors::Errors;
use crate::model::Setting;
use crate::model::order::Facts;
use crate::model::order::Waiting;
use crate::model::policy::settings::Said;
use crate::model::policy::settings::Settings;
use crate::rate::Rate;
use crate::rate::rate;
use crate::value::Value;

/// How long a call waits in the queue of a bulkhead where nothing is written.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// So many calls at a time.
pub(crate) struct Bulkhead {
    /// The first one is what a policy is made with.
    pub(crate) settings: Vec<Setting>,
    /// A full bulkhead is a failure for the breaker around it.
    pub(crate) counts: bool,
}

/// So many calls in a time.
pub(crate) struct RateLimit {
    pub(crate) rate: Value<Rate>,
    pub(crate) settings: Vec<Setting>,
}

impl Bulkhead {
    pub(super) fn judge(
        args: BulkheadArgs,
        facts: &mut Facts,
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut settings = Settings::new(errors);
        let max_concurrent = settings.take_number(
            args.max_concurrent,
            "`max_concurrent = 0` would let nothing through: use 1 or more",
            u32::MAX,
        );
        let queue = settings.take_amount(args.queue);
        let max_wait = settings.take_duration(args.max_wait);
        let settings = settings.into_settings();
        if let (Said::Known(0, span), Said::Known(..) | Said::Unknown(_)) = (queue, max_wait) {
            errors.at(
                span,
                "`queue = 0` leaves nobody to wait: remove it, or remove `max_wait`",
            );
        }
        facts.waiting = match (queue, max_wait) {
            (_, Said::Known(longest, span)) => Some(Waiting { longest, at: span }),
            (Said::Known(1.., span) | Said::Unknown(span), Said::Nothing) => Some(Waiting {
                longest: MAX_WAIT,
                at: span,
            }),
            _ => None,
        };
        facts.counts = args.counts.as_ref().map(|flag| flag.key.span());
        if let Said::Nothing = max_concurrent {
            if facts.is_read {
                errors.at(
                    facts.at,
                    "how many calls may run at a time? add `max_concurrent = 10`",
                );
            }
            return None;
        }
        Some(Self {
            settings,
            counts: args.counts.is_some(),
        })
    }
}

impl RateLimit {
    pub(super) fn judge(
        args: RateLimitArgs,
        facts: &mut Facts,
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut settings = Settings::new(errors);
        settings.take_number(
            args.burst,
            "`burst = 0` would let nothing through: use 1 or more",
            u32::MAX,
        );
        if let Said::Known(longest, at) = settings.take_duration(args.max_wait) {
            facts.waiting = Some(Waiting { longest, at });
        }
        let settings = settings.into_settings();
        let Some(written) = args.rate else {
            if facts.is_read {
                errors.at(
                    facts.at,
                    "how many calls are let through? write `rate_limit(\"100/s\")`",
                );
            }
            return None;
        };
        Some(Self {
            rate: errors.keep(rate(written))?,
            settings,
        })
    }
}
