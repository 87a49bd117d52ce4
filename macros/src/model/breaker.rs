//! Judges a circuit breaker: where it is, when it opens, and what a failure is.

use proc_macro2::Span;
use syn::Expr;
use syn::LitStr;

use crate::args::BreakerArgs;
use crate::args::Callable;
use crate::args::Given;
use crate::args::Predicate;
use crate::errors::Errors;
use crate::item::Function;
use crate::model::Plan;
use crate::model::Site;
use crate::model::fallback;
use crate::model::policy;
use crate::model::questions::check_closure;
use crate::model::questions::check_predicate;
use crate::model::site;

/// All that a correct breaker asks for.
pub(crate) struct Guard {
    pub(crate) site: Site,
    pub(crate) verdict: Judgement,
    pub(crate) fallback: Option<Plan>,
}

/// How an output becomes a verdict.
pub(crate) enum Judgement {
    Error {
        fails_on: Option<Predicate>,
        ignores: Option<Predicate>,
    },
    Output(Callable),
}

/// What is said for the whole function.
pub(super) struct Whole<'w> {
    pub(super) service: Option<Given<Expr>>,
    pub(super) operation: Option<Given<LitStr>>,
    pub(super) map_rejected: Option<&'w Given<Callable>>,
}

impl Guard {
    pub(super) fn judge(
        mut args: BreakerArgs,
        whole: Whole<'_>,
        at: Span,
        function: Option<&Function>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let policy = policy::judge(&mut args, errors);
        let named = site::Named {
            handle: args.handle,
            service: whole.service,
            by_key: args.by_key,
            operation: whole.operation,
        };
        let site = site::judge(named, policy, at, function, errors);
        let verdict = verdict(args.fails_on, args.ignores, args.classify, errors);
        let fallback = fallback::of_breaker(
            args.fallback,
            args.fallback_when,
            whole.map_rejected,
            &verdict,
            errors,
        );
        Some(Self {
            site: site?,
            verdict,
            fallback,
        })
    }
}

fn verdict(
    fails_on: Option<Given<Predicate>>,
    ignores: Option<Given<Predicate>>,
    classify: Option<Given<Callable>>,
    errors: &mut Errors,
) -> Judgement {
    for Given { key, value } in [&fails_on, &ignores].into_iter().flatten() {
        check_predicate(key, value, errors);
    }
    let Some(classify) = classify else {
        return Judgement::Error {
            fails_on: fails_on.map(|given| given.value),
            ignores: ignores.map(|given| given.value),
        };
    };
    for Given { key, .. } in [fails_on, ignores].into_iter().flatten() {
        errors.at(
            key.span(),
            format!("`{key}` cannot be used together with `classify`, which judges the whole output: remove one"),
        );
    }
    if let Callable::Closure(closure) = &classify.value {
        check_closure(&classify.key.to_string(), closure, "the output", errors);
    }
    Judgement::Output(classify.value)
}
