//! The arguments of a function: what they bind, and in which order they are dropped.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::format_ident;
use quote::quote;
use syn::Attribute;
use syn::FnArg;
use syn::Ident;
use syn::Pat;
use syn::PatIdent;
use syn::ReceiverKind;
use syn::Signature;
use syn::Token;
use syn::Type;
use syn::parse_quote;
use syn::visit_mut::VisitMut;

use crate::item::mentions;
use crate::respan;

/// A name that an argument brings into the body.
pub(crate) struct Binding {
    /// The argument's own attributes, so far as a `let` understands them.
    pub(crate) attrs: TokenStream,
    /// Lints of clippy that would take the rebinding for the user's.
    pub(crate) allowed: TokenStream,
    pub(crate) mutability: Option<Token![mut]>,
    pub(crate) name: Ident,
}

/// Who may speak of an argument.
pub(crate) struct Uses<'t> {
    pub(crate) attribute: &'t TokenStream,
    pub(crate) body: &'t TokenStream,
}

/// Lists what the body must bind anew, and prepares the signature for that.
///
/// The block around the body owns the arguments that the body uses, and drops them in
/// an order of its own. Where several may have something to drop, the body moves them
/// into variables of its own, in turn; where not, this would only make the future
/// larger. `mut` then stands there and not in the signature, where it would be reported
/// as unused. An `expect` moves along, since it is fulfilled only where the body's own
/// lints fire. What only the attribute's own expressions speak of stays in their reach.
pub(crate) fn take(sig: &mut Signature, uses: &Uses<'_>) -> Vec<Binding> {
    let mut bindings = Vec::new();
    if sig.inputs.iter().filter(|input| may_drop(input)).count() < 2 {
        return bindings;
    }
    let mut movable = false;
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        if !may_drop(input) {
            continue;
        }
        let FnArg::Typed(argument) = input else {
            movable = true;
            continue;
        };
        // Plain functions drop their arguments in turn, used or not. One that the body
        // does not name stays outside of the block and outlives those moved into it,
        // which nobody can notice unless one of them was given before it.
        if let Pat::Wild(wild) = &*argument.pat
            && movable
        {
            let name = format_ident!("_{index}", span = respan::local(wild.underscore_token.span));
            *argument.pat = parse_quote!(#name);
        }

        let attrs = argument
            .attrs
            .iter()
            .filter(|attr| suits_a_let(attr))
            .map(ToTokens::to_token_stream)
            .collect();
        let before = bindings.len();
        let mut names = Names {
            attrs,
            outlives: movable,
            uses,
            keeps_mut: false,
            bindings: &mut bindings,
        };
        names.visit_pat_mut(&mut argument.pat);
        if names.keeps_mut {
            argument.attrs.push(parse_quote!(#[allow(unused_mut)]));
        }
        if bindings.len() > before {
            movable = true;
            argument
                .attrs
                .retain(|attr| !attr.path().is_ident("expect"));
        }
    }
    bindings
}

/// Of the attributes an argument can have, those that mean the same on a `let`.
fn suits_a_let(attr: &Attribute) -> bool {
    [
        "cfg", "cfg_attr", "allow", "expect", "warn", "deny", "forbid",
    ]
    .iter()
    .any(|name| attr.path().is_ident(name))
}

/// Whether anybody could notice when an argument is dropped, as far as its type tells.
fn may_drop(input: &FnArg) -> bool {
    match input {
        FnArg::Receiver(receiver) => !matches!(receiver.kind, ReceiverKind::Reference(..)),
        FnArg::Typed(argument) => type_may_drop(&argument.ty),
    }
}

fn type_may_drop(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => type_may_drop(&group.elem),
        Type::Paren(paren) => type_may_drop(&paren.elem),
        Type::Array(array) => type_may_drop(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(type_may_drop),
        Type::Reference(_) | Type::Ptr(_) | Type::FnPtr(_) | Type::Never(_) => false,
        Type::Path(path) => !PRIMITIVES.iter().any(|name| path.path.is_ident(name)),
        _ => true,
    }
}

const PRIMITIVES: [&str; 16] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32",
    "f64", "bool", "char",
];

/// Collects the names of a pattern and takes their `mut` away.
struct Names<'b> {
    attrs: TokenStream,
    outlives: bool,
    uses: &'b Uses<'b>,
    /// Whether a `mut` is needed in both places.
    keeps_mut: bool,
    bindings: &'b mut Vec<Binding>,
}

impl VisitMut for Names<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        let in_attribute = mentions(self.uses.attribute, &pat.ident);
        let unused = pat.ident.to_string().starts_with('_');
        if in_attribute && !mentions(self.uses.body, &pat.ident) {
            // Moved into the body it would be out of the attribute's reach.
        } else if !unused || self.outlives {
            self.take(pat, unused, in_attribute);
        }
        syn::visit_mut::visit_pat_ident_mut(self, pat);
    }

    // A pattern may hold constants and types, whose names are no bindings.
    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
}

impl Names<'_> {
    fn take(&mut self, pat: &mut PatIdent, unused: bool, in_attribute: bool) {
        // `ref mut x` says what the reference may do; it stays.
        let mutability = if pat.by_ref.is_some() {
            None
        } else {
            pat.mutability
        };
        if mutability.is_some() {
            if in_attribute {
                self.keeps_mut = true;
            } else {
                pat.mutability = None;
            }
        }
        // Clippy takes the rebinding for code of the user.
        let allowed = if unused {
            quote!(#[allow(clippy::no_effect_underscore_binding, clippy::used_underscore_binding)])
        } else if mutability.is_some() && in_attribute {
            quote!(#[allow(unused_mut, clippy::collection_is_never_read)])
        } else if mutability.is_some() {
            quote!(#[allow(clippy::collection_is_never_read)])
        } else {
            TokenStream::new()
        };
        self.bindings.push(Binding {
            attrs: self.attrs.clone(),
            allowed,
            mutability,
            name: pat.ident.clone(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sig: Signature) -> (String, Vec<String>) {
        taken_with(sig, &TokenStream::new(), &TokenStream::new())
    }

    fn taken_with(
        mut sig: Signature,
        attribute: &TokenStream,
        body: &TokenStream,
    ) -> (String, Vec<String>) {
        let bindings = take(&mut sig, &Uses { attribute, body });
        let lets = bindings.iter().map(|binding| {
            let Binding {
                attrs,
                mutability,
                name,
                ..
            } = binding;
            quote!(#attrs #mutability #name)
        });
        (
            sig.to_token_stream().to_string(),
            lets.map(|tokens| tokens.to_string()).collect(),
        )
    }

    fn text(tokens: &TokenStream) -> String {
        tokens.to_string()
    }

    #[test]
    fn mut_moves_from_the_signature_into_the_body() {
        let (sig, lets) =
            taken(parse_quote!(fn f(mut self, mut a: A, (mut b, c): (B, B), ref mut d: D)));
        assert_eq!(
            sig,
            text(&quote!(fn f(mut self, a: A, (b, c): (B, B), ref mut d: D)))
        );
        assert_eq!(lets, ["mut a", "mut b", "c", "d"]);
    }

    #[test]
    fn a_cfg_goes_with_its_argument_and_an_expectation_leaves_the_signature() {
        let (sig, lets) = taken(parse_quote!(fn f(#[cfg(x)] a: A, #[expect(unused)] b: B)));
        assert_eq!(sig, text(&quote!(fn f(#[cfg(x)] a: A, b: B))));
        assert_eq!(
            lets,
            [
                text(&quote!(
                    #[cfg(x)]
                    a
                )),
                text(&quote!(
                    #[expect(unused)]
                    b
                ))
            ]
        );
    }

    #[test]
    fn an_unused_argument_is_moved_only_where_it_would_be_dropped_too_late() {
        let (sig, lets) = taken(parse_quote!(
            fn f(&self, _: A, b: &B, _: C, _c: C, d: D, _: E, mut _e: E, _: &F)
        ));
        assert_eq!(
            sig,
            text(&quote!(fn f(&self, _: A, b: &B, _: C, _c: C, d: D, _6: E, _e: E, _: &F)))
        );
        assert_eq!(lets, ["d", "_6", "mut _e"]);
    }

    #[test]
    fn every_name_of_a_pattern_is_found() {
        let (_, lets) = taken(parse_quote!(fn f(S { a, b: T(c, ..), .. }: S, d @ [e, _]: [D; 2])));
        assert_eq!(lets, ["a", "c", "d", "e"]);
    }

    #[test]
    fn one_argument_alone_has_no_order() {
        let sig: Signature = parse_quote!(
            fn f(&mut self, mut a: A, b: &B, mut c: u8, (d, mut e): (f64, [bool; 2]), f: *const F)
        );
        let (after, lets) = taken(sig.clone());
        assert_eq!(after, text(&sig.into_token_stream()));
        assert!(lets.is_empty());
    }

    #[test]
    fn what_the_attribute_speaks_of_stays_in_its_reach() {
        let (sig, lets) = taken_with(
            parse_quote!(fn f(mut a: A, mut b: B, c: C, mut d: D)),
            &quote!(fallback = Ok(a + b + c)),
            &quote!(b + c + d),
        );
        let expected = quote!(fn f(mut a: A, #[allow(unused_mut)] mut b: B, c: C, d: D));
        assert_eq!(sig, text(&expected));
        assert_eq!(lets, ["mut b", "c", "mut d"]);
    }
}
