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
use syn::visit_mut::VisitMut;

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

/// Lists what the arguments bind, and prepares the signature for the rebinding.
///
/// The body moves every argument into the guarded block, so `mut` stands there
/// and not in the signature, where it would be reported as unused. An `expect`
/// moves along, since it is fulfilled only where the body's own lints fire.
pub(crate) fn take(sig: &mut Signature) -> Vec<Binding> {
    let mut bindings = Vec::new();
    let mut movable = false;
    for (index, input) in sig.inputs.iter_mut().enumerate() {
        let argument = match input {
            FnArg::Receiver(receiver) => {
                movable = !matches!(receiver.kind, ReceiverKind::Reference(..));
                continue;
            }
            FnArg::Typed(argument) => argument,
        };
        // Plain functions drop their arguments in turn, used or not. One that the body
        // does not name stays outside of the block and outlives those moved into it,
        // which nobody can notice unless one of them was given before it.
        let outlives = movable && !is_reference(&argument.ty);
        if let Pat::Wild(wild) = &*argument.pat
            && outlives
        {
            let name = format_ident!("_{index}", span = respan::local(wild.underscore_token.span));
            argument.pat = Box::new(Pat::Ident(PatIdent {
                attrs: Vec::new(),
                by_ref: None,
                mutability: None,
                ident: name,
                subpat: None,
            }));
        }

        let attrs = argument
            .attrs
            .iter()
            .filter(|attr| suits_a_let(attr))
            .map(ToTokens::to_token_stream)
            .collect();
        let before = bindings.len();
        Names {
            attrs,
            outlives,
            bindings: &mut bindings,
        }
        .visit_pat_mut(&mut argument.pat);
        if bindings.len() > before {
            movable |= !is_reference(&argument.ty);
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

fn is_reference(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_reference(&group.elem),
        Type::Paren(paren) => is_reference(&paren.elem),
        Type::Reference(_) => true,
        _ => false,
    }
}

/// Collects the names of a pattern and takes their `mut` away.
struct Names<'b> {
    attrs: TokenStream,
    outlives: bool,
    bindings: &'b mut Vec<Binding>,
}

impl VisitMut for Names<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        let unused = pat.ident.to_string().starts_with('_');
        if !unused || self.outlives {
            self.take(pat, unused);
        }
        syn::visit_mut::visit_pat_ident_mut(self, pat);
    }

    // A pattern may hold constants and types, whose names are no bindings.
    fn visit_expr_mut(&mut self, _: &mut syn::Expr) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
}

impl Names<'_> {
    fn take(&mut self, pat: &mut PatIdent, unused: bool) {
        // `ref mut x` says what the reference may do; it stays.
        let mutability = if pat.by_ref.is_some() {
            None
        } else {
            pat.mutability.take()
        };
        // Clippy takes the rebinding for code of the user.
        let allowed = if unused {
            quote!(#[allow(clippy::no_effect_underscore_binding, clippy::used_underscore_binding)])
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
    use syn::parse_quote;

    use super::*;

    fn taken(mut sig: Signature) -> (String, Vec<String>) {
        let bindings = take(&mut sig);
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

    fn text(tokens: TokenStream) -> String {
        tokens.to_string()
    }

    #[test]
    fn mut_moves_from_the_signature_into_the_body() {
        let (sig, lets) =
            taken(parse_quote!(fn f(mut self, mut a: u8, (mut b, c): (u8, u8), ref mut d: u8)));
        assert_eq!(
            sig,
            text(quote!(fn f(mut self, a: u8, (b, c): (u8, u8), ref mut d: u8)))
        );
        assert_eq!(lets, ["mut a", "mut b", "c", "d"]);
    }

    #[test]
    fn a_cfg_goes_with_its_argument_and_an_expectation_leaves_the_signature() {
        let (sig, lets) = taken(parse_quote!(fn f(#[cfg(x)] a: u8, #[expect(unused)] b: u8)));
        assert_eq!(sig, text(quote!(fn f(#[cfg(x)] a: u8, b: u8))));
        assert_eq!(
            lets,
            [
                text(quote!(
                    #[cfg(x)]
                    a
                )),
                text(quote!(
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
            text(quote!(fn f(&self, _: A, b: &B, _: C, _c: C, d: D, _6: E, _e: E, _: &F)))
        );
        assert_eq!(lets, ["b", "d", "_6", "mut _e"]);
    }

    #[test]
    fn every_name_of_a_pattern_is_found() {
        let (_, lets) =
            taken(parse_quote!(fn f(S { a, b: T(c, ..), .. }: S, d @ [e, _]: [u8; 2], &g: &u8)));
        assert_eq!(lets, ["a", "c", "d", "e", "g"]);
    }
}
