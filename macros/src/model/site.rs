//! Judges where a call finds its breaker.

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::ExprLit;
use syn::Ident;
use syn::Lit;
use syn::LitStr;
use syn::Path;
use syn::PathArguments;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::args::Given;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;
use crate::model::policy::CancelRule;
use crate::model::policy::Setting;
use crate::model::policy::SettingValue;
use crate::value::bare;

const MAX_NAME_BYTES: usize = 128;

/// Where the breaker comes from.
pub(crate) enum Site {
    /// A name known while compiling, listed when the program is linked.
    Static(Declaration),
    /// A name that is worked out for each call.
    Dynamic(Declaration),
    /// A breaker that the caller holds.
    Handle(Expr),
}

pub(crate) struct Declaration {
    pub(crate) service: Expr,
    /// What tells the breakers of the service apart.
    pub(crate) key: Option<Expr>,
    pub(crate) operation: LitStr,
    pub(crate) policy: Vec<Setting>,
}

impl Site {
    /// Calls are given up after so long: what the compiler alone knows is to be before that.
    pub(super) fn given_up_after(&mut self, timeout: Duration) {
        let (Self::Static(declaration) | Self::Dynamic(declaration)) = self else {
            return;
        };
        for setting in &mut declaration.policy {
            if let SettingValue::OnCancel(CancelRule::After { before, .. }) = &mut setting.value {
                *before = Some(timeout);
            }
        }
    }
}

/// How an attribute says which breaker it means.
pub(super) struct Named {
    pub(super) handle: Option<Given<Expr>>,
    pub(super) service: Option<Given<Expr>>,
    pub(super) by_key: Option<Given<Expr>>,
    pub(super) operation: Option<Given<LitStr>>,
}

pub(super) fn judge(
    named: Named,
    policy: Vec<Setting>,
    at: Span,
    function: Option<&Function>,
    errors: &mut Errors,
) -> Option<Site> {
    let Named {
        handle,
        service,
        by_key,
        operation,
    } = named;
    if let Some(text) = &operation {
        check_name("an operation", &text.value, errors);
    }
    if let Some(handle) = handle {
        if let Some(service) = service {
            errors.at(
                service.key.span(),
                "`handle` names its own service: remove `service`",
            );
        }
        if let Some(by_key) = by_key {
            errors.at(
                by_key.key.span(),
                "`handle` is one breaker for all calls: remove `key`, or write `service` in place of \
                 `handle`",
            );
        }
        if let Some(operation) = operation {
            errors.at(
                operation.key.span(),
                "`operation` has no effect with `handle`: remove it",
            );
        }
        for Setting { setter, .. } in policy {
            errors.at(
                setter.span(),
                format!("`handle` brings its own numbers: remove `{setter}`"),
            );
        }
        return Some(Site::Handle(handle.value));
    }
    let Some(Given { value: service, .. }) = service else {
        if !errors.mentions("service") {
            errors.at(at, "which service is guarded? add `service = \"name\"`");
        }
        return None;
    };

    let (service, linked) = self::service(service, errors)?;
    let operation = self::operation(operation, function)?;
    let key = by_key.map(|by_key| {
        let value = bare(by_key.value);
        check_key(&by_key.key, &value, function, errors);
        value
    });
    let declaration = Declaration {
        service,
        key,
        operation,
        policy,
    };
    Some(if linked {
        Site::Static(declaration)
    } else {
        Site::Dynamic(declaration)
    })
}

/// The name of a service, and whether it is known while linking.
pub(super) fn service(service: Expr, errors: &mut Errors) -> Option<(Expr, bool)> {
    let service = bare(service);
    let linked = match &service {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => {
            check_name("a service", name, errors);
            true
        }
        Expr::Lit(other) => {
            errors.at(
                other.span(),
                "a service is named by a string, such as `service = \"stripe\"`",
            );
            return None;
        }
        Expr::Path(path) => path.qself.is_none() && names_a_constant(&path.path),
        Expr::Macro(call) => call.mac.path.segments.last().is_some_and(|last| {
            ["concat", "env", "stringify"]
                .iter()
                .any(|name| last.ident == name)
        }),
        _ => false,
    };
    Some((service, linked))
}

/// What the function is called where it is counted.
fn operation(operation: Option<Given<LitStr>>, function: Option<&Function>) -> Option<LitStr> {
    operation.map(|given| given.value).or_else(|| {
        let name = function?.name();
        Some(LitStr::new(&name.to_string(), name.span()))
    })
}

/// A key is worked out for each call, and its breaker is held while the call lasts.
fn check_key(key: &Ident, value: &Expr, function: Option<&Function>, errors: &mut Errors) {
    if let Some(Shape::Future { .. }) = function.map(|function| &function.shape) {
        errors.at(
            key.span(),
            "the breaker of a `key` is held by the call, and this function makes its future \
             before that: make it `async`, or put all of its body into one `async move` block",
        );
    }
    if let Expr::Lit(literal) = value {
        errors.at(
            literal.span(),
            "all calls would have this key: write what tells them apart, such as `key = tenant` \
             or `key = tenant.id.to_string()`",
        );
    }
}

/// Whether a path reads like a constant in a module: associated constants may
/// belong to a generic type, which a static cannot see.
fn names_a_constant(path: &Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let plain = path
        .segments
        .iter()
        .all(|segment| matches!(segment.arguments, PathArguments::None));
    let constant = segments.next().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
    });
    plain
        && constant
        && segments.all(|module| {
            !module
                .ident
                .unraw()
                .to_string()
                .contains(char::is_uppercase)
        })
}

fn check_name(what: &str, name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    if text.is_empty() {
        errors.at(
            name.span(),
            format!("{what} needs a name that is not empty"),
        );
    } else if text.len() > MAX_NAME_BYTES {
        let length = text.len();
        errors.at(
            name.span(),
            format!(
                "{what} has a name of at most {MAX_NAME_BYTES} bytes, and this one has {length}"
            ),
        );
    } else if text.contains(char::is_control) {
        errors.at(
            name.span(),
            format!("{what} has a name without control characters"),
        );
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn a_constant_in_a_module_is_told_from_one_of_a_type() {
        for path in [
            parse_quote!(STRIPE),
            parse_quote!(names::STRIPE_2),
            parse_quote!(crate::names::STRIPE),
            parse_quote!(::other::STRIPE),
            parse_quote!(self::A),
        ] {
            assert!(names_a_constant(&path));
        }
        for path in [
            parse_quote!(name),
            parse_quote!(Self::NAME),
            parse_quote!(T::NAME),
            parse_quote!(names::Kind::NAME),
            parse_quote!(name::<T>::NAME),
            parse_quote!(Stripe),
            parse_quote!(_1),
        ] {
            assert!(!names_a_constant(&path));
        }
    }

    #[test]
    fn names_are_short_and_can_be_read() {
        let wrong = |name: &str| {
            let mut errors = Errors::default();
            check_name(
                "a service",
                &LitStr::new(name, Span::call_site()),
                &mut errors,
            );
            errors.messages().pop()
        };
        assert_eq!(wrong("stripe"), None);
        assert_eq!(wrong(&"é".repeat(64)), None);
        assert!(wrong(&"é".repeat(65)).is_some());
        assert!(wrong("").is_some());
        assert!(wrong("a\u{7f}").is_some());
    }
}
