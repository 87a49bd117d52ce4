//! Judges the code that is asked about errors and outputs.

use syn::ExprClosure;
use syn::Ident;
use syn::spanned::Spanned;

use crate::args::Predicate;
use crate::errors::Errors;

pub(super) fn check_predicate(key: &Ident, predicate: &Predicate, errors: &mut Errors) {
    if let Predicate::Closure(closure) = predicate {
        check_closure(&key.to_string(), closure, "the error", errors);
    }
}

/// A closure of ours takes one argument and does not await.
pub(super) fn check_closure(
    key: &str,
    closure: &ExprClosure,
    about: &str,
    errors: &mut Errors,
) -> bool {
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
