//! Judges what is returned in place of the function's own output, and when.

use syn::Expr;
use syn::ExprClosure;
use syn::Pat;
use syn::ReturnType;
use syn::Type;
use syn::spanned::Spanned;

use crate::args::Callable;
use crate::args::Fallback;
use crate::args::Given;
use crate::args::When;
use crate::errors::Errors;
use crate::model::Judgement;
use crate::model::questions::check_closure;
use crate::model::questions::check_predicate;

/// What is returned in place of the function's own output, and when.
pub(crate) struct Plan {
    pub(crate) when: When,
    pub(crate) answer: Answer,
}

pub(crate) enum Answer {
    Value(Expr),
    Inline(Box<Inline>),
}

/// The parts of a closure whose body is written in place, so that it can await and return.
pub(crate) struct Inline {
    pub(crate) pattern: Pat,
    pub(crate) ty: Option<Type>,
    pub(crate) output: Option<Type>,
    pub(crate) body: Expr,
}

/// The keys `fallback` and `fallback_when` of a breaker.
pub(super) fn of_breaker(
    fallback: Option<Given<Fallback>>,
    when: Option<Given<When>>,
    map_rejected: Option<&Given<Callable>>,
    verdict: &Judgement,
    errors: &mut Errors,
) -> Option<Plan> {
    if let Some(Given {
        key,
        value: When::Predicate(predicate),
    }) = &when
    {
        check_predicate(key, predicate, errors);
    }
    let Some(Given {
        key,
        value: fallback,
    }) = fallback
    else {
        if let Some(when) = when {
            errors.at(
                when.key.span(),
                "`fallback_when` needs a `fallback`: say what is returned then",
            );
        }
        return None;
    };
    let when = when.map_or(When::Rejected, |given| given.value);
    let answer = match fallback {
        Fallback::Value(value) => Answer::Value(value),
        Fallback::Closure(closure) => inline(&key.to_string(), closure, errors)?,
    };

    if let Some(map) = map_rejected
        && match (&when, &answer) {
            (When::Rejected, _) | (When::Any, Answer::Value(_)) => true,
            (When::Any, Answer::Inline(_))
            | (When::Failed | When::TimedOut | When::Predicate(_), _) => false,
        }
    {
        errors.at(
            map.key.span(),
            "`map_rejected` has no effect, since `fallback` answers every rejection: remove one",
        );
    }
    // An `Ok` that counts as a failure has no error that a closure could be given.
    if let (Judgement::Output(_), When::Failed | When::Any, Answer::Inline(inline)) =
        (verdict, &when, &answer)
    {
        errors.at(
            inline.pattern.span(),
            "with `classify` a failure need not be an error: write `fallback` as an expression without an argument",
        );
    }
    Some(Plan { when, answer })
}

/// A fallback that is a policy of its own.
pub(super) fn of_policy(
    answer: Fallback,
    when: Option<Given<When>>,
    errors: &mut Errors,
) -> Option<Plan> {
    if let Some(Given {
        key,
        value: When::Predicate(predicate),
    }) = &when
    {
        check_predicate(key, predicate, errors);
    }
    let answer = match answer {
        Fallback::Value(value) => Answer::Value(value),
        Fallback::Closure(closure) => inline("fallback", closure, errors)?,
    };
    Some(Plan {
        when: when.map_or(When::Rejected, |given| given.value),
        answer,
    })
}

/// The parts of a fallback closure.
fn inline(key: &str, closure: ExprClosure, errors: &mut Errors) -> Option<Answer> {
    if let Some(asyncness) = closure.asyncness {
        errors.at(
            asyncness.span,
            "the body of a fallback may `.await` as it stands: remove `async`",
        );
        return None;
    }
    if !check_closure(key, &closure, "the rejection or the error", errors) {
        return None;
    }
    let (pattern, ty) = match closure.inputs.into_iter().next()? {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        pat => (pat, None),
    };
    let output = match closure.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(*ty),
    };
    Some(Answer::Inline(Box::new(Inline {
        pattern,
        ty,
        output,
        body: *closure.body,
    })))
}
