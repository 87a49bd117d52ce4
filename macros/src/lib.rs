//! The attributes of breakerbox.
#![doc(test(attr(deny(warnings))))]

mod args;
mod bindings;
mod errors;
mod expand;
mod item;
mod model;
mod respan;
mod returns;
mod site;
mod tail;
mod value;

use proc_macro::TokenStream;

use args::Args;
use errors::Errors;
use item::Item;
use model::Guard;

/// Guards a function with the circuit breaker of a service.
#[proc_macro_attribute]
pub fn circuit_breaker(args: TokenStream, item: TokenStream) -> TokenStream {
    guard(args.into(), item.into()).into()
}

/// Parse, judge, expand. The function comes back in any case, so that a mistake
/// in an attribute is not followed by one at each of its callers.
fn guard(
    args: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    let args = Args::read(args, &mut errors);
    let Item {
        function,
        mut original,
    } = Item::read(item, &mut errors);
    let wrap_error = args.wrap_error.is_some();
    let guard = Guard::judge(args, function.as_ref(), &mut errors);
    if let Some(messages) = errors.into_compile_errors() {
        // With `wrap_error` the body has another type than the signature says.
        if let Some(function) = function.filter(|_| wrap_error) {
            original = expand::without_body(&function);
        }
        original.extend(messages);
        return original;
    }
    match (function, guard) {
        (Some(function), Some(guard)) => expand::expand(&function, &guard),
        _ => original,
    }
}
