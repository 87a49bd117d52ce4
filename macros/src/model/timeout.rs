//! Judges a timeout.

use std::time::Duration;

use crate::args::TimeoutArgs;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;
use crate::model::order::Facts;
use crate::model::policy::settings::Said;
use crate::model::policy::settings::longer_than_zero;
use crate::value::Value;

/// How long everything inside may take.
pub(crate) struct Timeout {
    pub(crate) limit: Value<Duration>,
}

impl Timeout {
    pub(super) fn judge(
        args: TimeoutArgs,
        function: Option<&Function>,
        facts: &mut Facts,
        errors: &mut Errors,
    ) -> Option<Self> {
        if let Some(Shape::Sync) = function.map(|function| &function.shape) {
            errors.at(
                facts.at,
                "a function that is not async cannot be stopped from outside: give its client a \
                 timeout, or make it `async`",
            );
        }
        let Some(limit) = args.limit else {
            if facts.is_read {
                errors.at(facts.at, "how long may it take? write `timeout(\"8s\")`");
            }
            return None;
        };
        let limit = errors.keep(longer_than_zero("timeout", limit, ""));
        facts.limit = match &limit {
            Some(Value::Known(limit, span)) => Said::Known(*limit, *span),
            _ => Said::Unknown(facts.at),
        };
        Some(Self { limit: limit? })
    }
}
