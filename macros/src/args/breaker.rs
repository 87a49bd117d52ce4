//! The keys of `circuit_breaker`.

use syn::Expr;

use crate::args::Callable;
use crate::args::Fallback;
use crate::args::OnCancel;
use crate::args::Predicate;
use crate::args::Switch;
use crate::args::When;
use crate::args::table::keys;

keys! {
    /// The arguments of a circuit breaker as they are written; nothing is judged yet.
    BreakerArgs, "service" "service = \"name\"";
    "handle" handle: Expr, "handle = self.breaker";
    "threshold" threshold: Expr, "threshold = 5";
    "window" window: Expr, "window = \"60s\"";
    "failure_rate" failure_rate: Expr, "failure_rate = 0.5";
    "min_calls" min_calls: Expr, "min_calls = 20";
    "min_failures" min_failures: Expr, "min_failures = 3";
    "slow_call" slow_call: Expr, "slow_call = \"2s\"";
    "slow_call_rate" slow_call_rate: Expr, "slow_call_rate = 0.5";
    "cooldown" cooldown: Expr, "cooldown = \"60s\"";
    "backoff" backoff: Expr, "backoff = 2";
    "max_cooldown" max_cooldown: Expr, "max_cooldown = \"10m\"";
    "jitter" jitter: Expr, "jitter = 0.1";
    "probes" probes: Expr, "probes = 1";
    "probe_concurrency" probe_concurrency: Expr, "probe_concurrency = 1";
    "close_after" close_after: Expr, "close_after = 1";
    "probe_failure_rate" probe_failure_rate: Expr, "probe_failure_rate = 0.5";
    "probe_timeout" probe_timeout: Expr, "probe_timeout = \"30s\"";
    "max_open_for" max_open_for: Expr, "max_open_for = \"1h\"";
    "ramp" ramp: Expr, "ramp = \"30s\"";
    "shadow" shadow: Switch, "shadow = true";
    "key" by_key: Expr, "key = tenant";
    "max_keys" max_keys: Expr, "max_keys = 1000";
    "min_instances" min_instances: Expr, "min_instances = 2";
    "probe_wait" probe_wait: Expr, "probe_wait = \"50ms\"";
    "fails_on" fails_on: Predicate, "fails_on = is_failure";
    "ignores" ignores: Predicate, "ignores = is_not_their_fault";
    "classify" classify: Callable, "classify = verdict_of";
    "on_cancel" on_cancel: OnCancel, "on_cancel = after(\"2s\")";
    "fallback" fallback: Fallback, "fallback = Ok(cached)";
    "fallback_when" fallback_when: When, "fallback_when = any";
    others: [
        "breaker" => "handle",
        "failures" => "threshold",
        "max_failures" => "threshold",
        "failure_threshold" => "threshold",
        "open_for" => "cooldown",
        "open_duration" => "cooldown",
        "reset_timeout" => "cooldown",
        "recovery_timeout" => "cooldown",
        "wait_duration" => "cooldown",
        "half_open_calls" => "probes",
        "half_open_max_calls" => "probes",
        "permitted_calls_in_half_open" => "probes",
        "success_threshold" => "close_after",
        "failure_predicate" => "fails_on",
        "is_failure" => "fails_on",
        "fails_if" => "fails_on",
        "failure_if" => "fails_on",
        "ignore" => "ignores",
        "sliding_window" => "window",
        "window_size" => "window",
        "failure_rate_threshold" => "failure_rate",
        "failure_ratio" => "failure_rate",
        "error_rate" => "failure_rate",
        "minimum_number_of_calls" => "min_calls",
        "minimum_throughput" => "min_calls",
        "slow_call_duration" => "slow_call",
        "slow_call_rate_threshold" => "slow_call_rate",
        "backoff_factor" => "backoff",
        "max_open_duration" => "max_cooldown",
        "dry_run" => "shadow",
        "instances" => "min_instances",
        "quorum" => "min_instances",
        "wait_for_probe" => "probe_wait",
    ];
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::args::Given;
    use crate::args::Table;
    use crate::errors::Errors;

    fn read(tokens: TokenStream) -> (BreakerArgs, Vec<String>) {
        let mut errors = Errors::default();
        let args = BreakerArgs::read(tokens, &mut errors);
        (args, errors.messages())
    }

    #[test]
    fn every_key_is_read_in_any_order_with_or_without_a_last_comma() {
        let (args, errors) = read(quote!(
            boxed, wrap_error, crate = ::other, operation = "o", fallback_when = any,
            fallback = |rejected| f(rejected).await, map_rejected = Own::from, on_cancel = after("2s"),
            classify = |out| out.is_err(), ignores = matches(A | B(1..=3) if c), fails_on = Own::infra,
            max_open_for = "1h", probe_timeout = LIMIT, close_after = 1, probe_concurrency = 1,
            probes = 1, cooldown = "60s", threshold = 5, handle = self.b, service = names::A,
            probe_wait = "0s", min_instances = 2,
        ));
        assert_eq!(errors, Vec::<String>::new());
        assert!(args.common.service.is_some() && args.handle.is_some() && args.threshold.is_some());
        assert!(args.cooldown.is_some() && args.probes.is_some() && args.common.boxed.is_some());
        assert!(args.probe_concurrency.is_some() && args.close_after.is_some());
        assert!(args.probe_timeout.is_some() && args.max_open_for.is_some());
        assert!(args.min_instances.is_some() && args.probe_wait.is_some());
        assert!(
            args.common.wrap_error.is_some()
                && args.common.operation.is_some()
                && args.common.krate.is_some()
        );
        let value = |given: Option<Given<Predicate>>| given.map(|given| given.value);
        assert!(matches!(value(args.fails_on), Some(Predicate::Path(_))));
        assert!(matches!(
            value(args.ignores),
            Some(Predicate::Pattern { guard: Some(_), .. })
        ));
        assert!(matches!(
            args.classify.map(|given| given.value),
            Some(Callable::Closure(_))
        ));
        assert!(matches!(
            args.common.map_rejected.map(|given| given.value),
            Some(Callable::Path(_))
        ));
        assert!(matches!(
            args.on_cancel.map(|given| given.value),
            Some(OnCancel::After(_))
        ));
        assert!(matches!(
            args.fallback.map(|given| given.value),
            Some(Fallback::Closure(_))
        ));
        assert!(matches!(
            args.fallback_when.map(|given| given.value),
            Some(When::Any)
        ));
        assert!(read(quote!(service = "a")).1.is_empty());
        assert!(read(quote!()).1.is_empty());
    }

    #[test]
    fn one_mistake_does_not_hide_the_next() {
        let (args, errors) = read(quote!(
            treshold = 5,
            cooldown: "60s",
            service = "a",
            service = "b",
            fails_on
        ));
        assert!(args.common.service.is_some());
        assert_eq!(
            errors,
            [
                "unknown key `treshold`: did you mean `threshold`?",
                "`cooldown` takes its value after an equals sign: `cooldown = \"60s\"`",
                "`service` is given twice",
                "`fails_on` has no value: write for example `fails_on = is_failure`",
            ]
        );
    }

    #[test]
    fn a_forgotten_comma_is_all_that_is_said() {
        let (args, errors) = read(quote!(service = "a" threshold = 5 boxed));
        assert!(
            args.common.service.is_some()
                && args.threshold.is_some()
                && args.common.boxed.is_some()
        );
        assert_eq!(
            errors,
            [
                "a comma is missing before this key",
                "a comma is missing before this key"
            ]
        );
    }

    #[test]
    fn a_pattern_that_matches_everything_is_no_question() {
        for (tokens, expected) in [
            (
                quote!(fails_on = matches(is_infra)),
                "`is_infra` is a new variable here and matches every error: write `fails_on = is_infra`",
            ),
            (
                quote!(ignores = matches(_)),
                "`_` matches every error: leave `ignores` out, or name some of them",
            ),
            (quote!(ignores = matches()), "`matches()` needs a pattern"),
        ] {
            assert_eq!(read(tokens).1, [expected]);
        }
        for tokens in [
            quote!(fails_on = matches(LIMIT)),
            quote!(fails_on = matches(Timeout)),
            quote!(fails_on = matches(e if e.is_infra())),
            quote!(fails_on = matches(e @ (A | B))),
            quote!(fails_on = matches(|A| B)),
        ] {
            assert_eq!(read(tokens).1, Vec::<String>::new());
        }
    }
}
