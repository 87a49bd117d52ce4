//! Judges the arguments together with the function, and collects all that is wrong.

mod policy;
mod site;

use syn::Expr;
use syn::ExprClosure;
use syn::Ident;
use syn::Pat;
use syn::Path;
use syn::ReturnType;
use syn::Type;
use syn::spanned::Spanned;

use crate::args::Args;
use crate::args::Callable;
use crate::args::Fallback;
use crate::args::Given;
use crate::args::Predicate;
use crate::args::When;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;

pub(crate) use policy::CancelRule;
pub(crate) use policy::Setting;
pub(crate) use policy::SettingValue;
pub(crate) use policy::Window;
pub(crate) use site::Declaration;
pub(crate) use site::Site;

/// All that a correct attribute asks for.
pub(crate) struct Guard {
    pub(crate) krate: Path,
    pub(crate) site: Site,
    pub(crate) verdict: Judgement,
    pub(crate) map_rejected: Option<Callable>,
    pub(crate) fallback: Option<Plan>,
    pub(crate) wrap_error: bool,
    pub(crate) boxed: bool,
}

/// How an output becomes a verdict.
pub(crate) enum Judgement {
    Error {
        fails_on: Option<Predicate>,
        ignores: Option<Predicate>,
    },
    Output(Callable),
}

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

impl Guard {
    pub(crate) fn judge(
        mut args: Args,
        function: Option<&Function>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let before = errors.count();
        let krate = args
            .krate
            .take()
            .map_or_else(|| syn::parse_quote!(::breakerbox), |krate| krate.value);

        let policy = policy::judge(&mut args, errors);

        let site = site::judge(
            args.handle,
            args.service,
            args.by_key,
            args.operation,
            policy,
            function,
            errors,
        );
        let verdict = verdict(args.fails_on, args.ignores, args.classify, errors);
        if let Some(Given {
            key,
            value: Callable::Closure(closure),
        }) = &args.map_rejected
        {
            check_closure(key, closure, "the rejection", errors);
        }
        let fallback = fallback(
            args.fallback,
            args.fallback_when,
            args.map_rejected.as_ref(),
            &verdict,
            errors,
        );
        if let (Some(flag), Some(function)) = (&args.boxed, function) {
            check_boxed(&flag.key, function, errors);
        }
        if let (Some(flag), Some(function)) = (&args.wrap_error, function)
            && function.is_from_async_trait()
        {
            errors.at(
                flag.key.span(),
                "`wrap_error` cannot change the body that `#[async_trait]` has made: \
                 remove it, and let the body return `breakerbox::Error::Inner`",
            );
        }

        if let (Some(map), Some(_)) = (&args.map_rejected, &args.wrap_error) {
            errors.at(
                map.key.span(),
                "`map_rejected` has no effect, since `wrap_error` makes \
                 `breakerbox::Error::Rejected` of every rejection: remove one",
            );
        }

        let site = site?;
        (errors.count() == before).then_some(Self {
            krate,
            site,
            verdict,
            map_rejected: args.map_rejected.map(|given| given.value),
            fallback,
            wrap_error: args.wrap_error.is_some(),
            boxed: args.boxed.is_some(),
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
        check_closure(&classify.key, closure, "the output", errors);
    }
    Judgement::Output(classify.value)
}

fn fallback(
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
        Fallback::Closure(closure) => inline(&key, closure, errors)?,
    };

    if let Some(map) = map_rejected
        && match (&when, &answer) {
            (When::Rejected, _) | (When::Any, Answer::Value(_)) => true,
            (When::Any, Answer::Inline(_)) | (When::Failed | When::Predicate(_), _) => false,
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

/// The parts of a fallback closure.
fn inline(key: &Ident, closure: ExprClosure, errors: &mut Errors) -> Option<Answer> {
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

fn check_predicate(key: &Ident, predicate: &Predicate, errors: &mut Errors) {
    if let Predicate::Closure(closure) = predicate {
        check_closure(key, closure, "the error", errors);
    }
}

/// A closure of ours takes one argument and does not await.
fn check_closure(key: &Ident, closure: &ExprClosure, about: &str, errors: &mut Errors) -> bool {
    if let Some(asyncness) = closure.asyncness {
        errors.at(
            asyncness.span,
            format!("`{key}` is asked on the spot and cannot await: remove `async`"),
        );
        return false;
    }
    if closure.inputs.len() == 1 {
        return true;
    }
    let span = match closure.inputs.iter().nth(1) {
        Some(second) => second.span(),
        None => closure.inputs_begin.spans[0],
    };
    errors.at(
        span,
        format!("the closure of `{key}` takes one argument, {about}"),
    );
    false
}

fn check_boxed(key: &Ident, function: &Function, errors: &mut Errors) {
    match function.shape {
        Shape::Async | Shape::Future { boxed: false } => {}
        Shape::Tail(ref tail) if !tail.is_boxed() => {}
        Shape::Sync => errors.at(
            key.span(),
            "`boxed` is for futures, and this function is not async: remove `boxed`",
        ),
        Shape::Future { boxed: true } | Shape::Tail(_) => {
            errors.at(
                key.span(),
                "this function returns a boxed future already: remove `boxed`",
            );
        }
    }
}
