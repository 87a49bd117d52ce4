//! The arguments of a function: what they bind, and in which order they are dropped.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::format_ident;
use syn::FnArg;
use syn::Ident;
use syn::Pat;
use syn::PatIdent;
use syn::ReceiverKind;
use syn::Signature;
use syn::Type;
use syn::parse_quote;
use syn::visit::Visit;

use crate::item::mentions;
use crate::respan;

/// A name that an argument brings into the body.
pub(crate) struct Binding {
    /// The `#[cfg(..)]` of the argument.
    pub(crate) cfgs: TokenStream,
    pub(crate) name: Ident,
}

/// Who may speak of an argument.
pub(crate) struct Uses<'t> {
    pub(crate) attribute: &'t TokenStream,
    pub(crate) body: &'t TokenStream,
}

/// Lists what the block around the body must take, in the order of the signature.
///
/// That block owns the arguments that it speaks of, and drops them in the order in
/// which it first does. A plain function drops the last one first, so where several
/// may have something to drop, the block speaks of them all at its head, the last one
/// first. What only the attribute's own expressions speak of stays in their reach, and
/// what nobody speaks of stays outside, where rustc reports it as unused.
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
        let argument = match input {
            FnArg::Typed(argument) => argument,
            FnArg::Receiver(receiver) => {
                movable = true;
                let name = Ident::from(receiver.self_token);
                if mentions(uses.body, &name) {
                    bindings.push(Binding {
                        cfgs: TokenStream::new(),
                        name,
                    });
                }
                continue;
            }
        };
        // An argument without a name stays outside of the block and outlives those
        // moved into it, which nobody can notice unless one of them was given before.
        if let Pat::Wild(wild) = &*argument.pat
            && movable
        {
            let name = format_ident!("_{index}", span = respan::local(wild.underscore_token.span));
            *argument.pat = parse_quote!(#name);
        }

        let cfgs = argument
            .attrs
            .iter()
            .filter(|attr| attr.path().is_ident("cfg"))
            .map(ToTokens::to_token_stream)
            .collect();
        let before = bindings.len();
        Names {
            cfgs,
            outlives: movable,
            uses,
            bindings: &mut bindings,
        }
        .visit_pat(&argument.pat);
        movable |= bindings.len() > before;
    }
    bindings
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

/// Collects the names of a pattern that the block must take.
struct Names<'b> {
    cfgs: TokenStream,
    /// Whether an argument that stays outside would be dropped too late.
    outlives: bool,
    uses: &'b Uses<'b>,
    bindings: &'b mut Vec<Binding>,
}

impl Visit<'_> for Names<'_> {
    fn visit_pat_ident(&mut self, pat: &PatIdent) {
        let in_attribute = mentions(self.uses.attribute, &pat.ident);
        let unused = pat.ident.to_string().starts_with('_');
        if mentions(self.uses.body, &pat.ident) || (unused && self.outlives && !in_attribute) {
            self.bindings.push(Binding {
                cfgs: self.cfgs.clone(),
                name: pat.ident.clone(),
            });
        }
        syn::visit::visit_pat_ident(self, pat);
    }

    // A pattern may hold constants and types, whose names are no bindings.
    fn visit_expr(&mut self, _: &syn::Expr) {}
    fn visit_type(&mut self, _: &Type) {}
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn taken(sig: Signature, body: &TokenStream) -> (String, Vec<String>) {
        taken_with(sig, &TokenStream::new(), body)
    }

    fn taken_with(
        mut sig: Signature,
        attribute: &TokenStream,
        body: &TokenStream,
    ) -> (String, Vec<String>) {
        let bindings = take(&mut sig, &Uses { attribute, body });
        let names = bindings.iter().map(|binding| {
            let Binding { cfgs, name } = binding;
            quote!(#cfgs #name).to_string()
        });
        (sig.to_token_stream().to_string(), names.collect())
    }

    #[test]
    fn the_signature_stays_as_it_is() {
        let sig: Signature =
            parse_quote!(fn f(mut self, mut a: A, (mut b, c): (B, B), ref mut d: D));
        let (after, names) = taken(sig.clone(), &quote!(a + b + c + d));
        assert_eq!(after, sig.into_token_stream().to_string());
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_cfg_goes_with_its_argument() {
        let sig = parse_quote!(fn f(#[cfg(x)] a: A, #[expect(unused)] b: B));
        let (_, names) = taken(sig, &quote!(a + b));
        assert_eq!(
            names,
            [
                quote!(
                    #[cfg(x)]
                    a
                )
                .to_string(),
                "b".to_owned()
            ]
        );
    }

    #[test]
    fn an_unused_argument_is_taken_only_where_it_would_be_dropped_too_late() {
        let (sig, names) = taken(
            parse_quote!(fn f(&self, _: A, b: &B, _: C, _c: C, d: D, _: E, mut _e: E, g: G, _: &F)),
            &quote!(b + d),
        );
        let expected =
            quote!(fn f(&self, _: A, b: &B, _: C, _c: C, d: D, _6: E, mut _e: E, g: G, _: &F));
        assert_eq!(sig, expected.to_string());
        assert_eq!(names, ["d", "_6", "_e"]);
    }

    #[test]
    fn every_name_of_a_pattern_is_found() {
        let sig = parse_quote!(fn f(S { a, b: T(c, ..), .. }: S, d @ [e, _]: [D; 2]));
        let (_, names) = taken(sig, &quote!(a c d e));
        assert_eq!(names, ["a", "c", "d", "e"]);
    }

    #[test]
    fn one_argument_alone_has_no_order() {
        let sig = parse_quote!(
            fn f(&mut self, mut a: A, b: &B, mut c: u8, (d, mut e): (f64, [bool; 2]), f: *const F)
        );
        assert!(taken(sig, &quote!(a b c d e f)).1.is_empty());
    }

    #[test]
    fn what_only_the_attribute_speaks_of_stays_in_its_reach() {
        let (_, names) = taken_with(
            parse_quote!(fn f(a: A, b: B, c: C, d: D)),
            &quote!(fallback = Ok(a + b + c)),
            &quote!(b + c + d),
        );
        assert_eq!(names, ["b", "c", "d"]);
    }
}
