//! Judges what each attribute may say about the whole function.

use quote::ToTokens;
use syn::Expr;
use syn::Ident;
use syn::LitStr;
use syn::Path;

use crate::args::Callable;
use crate::args::Common;
use crate::args::Given;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;
use crate::model::questions::check_closure;

/// What holds for the whole function, whatever its policies are.
pub(crate) struct Options {
    pub(crate) krate: Path,
    pub(crate) map_rejected: Option<Callable>,
    pub(crate) wrap_error: bool,
    pub(crate) boxed: bool,
}

/// What is said once holds for all policies.
pub(super) fn once(all: Vec<Common>, errors: &mut Errors) -> Common {
    let mut common = Common::default();
    for one in all {
        let Common {
            service,
            map_rejected,
            wrap_error,
            operation,
            boxed,
            krate,
        } = one;
        keep(
            &mut common.service,
            service,
            |first: &Expr, key, second: &Expr| {
                if tokens(first) != tokens(second) {
                    let message = format!(
                        "one function calls one service, and a policy above this one has `{key} = {}`: \
                     remove one",
                        tokens(first)
                    );
                    errors.at(key.span(), message);
                }
            },
        );
        keep(
            &mut common.operation,
            operation,
            |first: &LitStr, key, second: &LitStr| {
                if first.value() != second.value() {
                    errors.at(key.span(), twice(key));
                }
            },
        );
        keep(&mut common.map_rejected, map_rejected, |_, key, _| {
            errors.at(key.span(), twice(key));
        });
        keep(
            &mut common.krate,
            krate,
            |first: &Path, key, second: &Path| {
                if tokens(first) != tokens(second) {
                    errors.at(key.span(), twice(key));
                }
            },
        );
        keep(&mut common.wrap_error, wrap_error, |_, _, _| {});
        keep(&mut common.boxed, boxed, |_, _, _| {});
    }
    common
}

/// The options, and what is wrong with them on this function.
pub(super) fn judge(common: Common, function: Option<&Function>, errors: &mut Errors) -> Options {
    let Common {
        map_rejected,
        wrap_error,
        boxed,
        krate,
        ..
    } = common;
    if let Some(Given {
        key,
        value: Callable::Closure(closure),
    }) = &map_rejected
    {
        check_closure(&key.to_string(), closure, "the rejection", errors);
    }
    if let (Some(flag), Some(function)) = (&boxed, function) {
        check_boxed(&flag.key, function, errors);
    }
    if let (Some(flag), Some(function)) = (&wrap_error, function)
        && function.is_from_async_trait()
    {
        errors.at(
            flag.key.span(),
            "`wrap_error` cannot change the body that `#[async_trait]` has made: \
             remove it, and let the body return `breakerbox::Error::Inner`",
        );
    }
    if let (Some(map), Some(_)) = (&map_rejected, &wrap_error) {
        errors.at(
            map.key.span(),
            "`map_rejected` has no effect, since `wrap_error` makes \
             `breakerbox::Error::Rejected` of every rejection: remove one",
        );
    }
    Options {
        krate: krate.map_or_else(|| syn::parse_quote!(::breakerbox), |krate| krate.value),
        map_rejected: map_rejected.map(|given| given.value),
        wrap_error: wrap_error.is_some(),
        boxed: boxed.is_some(),
    }
}

/// Keeps the first of two, and lets them be compared.
fn keep<T>(
    slot: &mut Option<Given<T>>,
    given: Option<Given<T>>,
    mut compare: impl FnMut(&T, &Ident, &T),
) {
    match (&slot, given) {
        (Some(first), Some(second)) => compare(&first.value, &second.key, &second.value),
        (None, Some(first)) => *slot = Some(first),
        (_, None) => {}
    }
}

fn twice(key: &Ident) -> String {
    format!("`{key}` is said by a policy above this one already: remove one")
}

fn tokens(code: &impl ToTokens) -> String {
    code.to_token_stream().to_string()
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
