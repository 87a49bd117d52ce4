//! The other attributes of ours on a function: those that have not expanded, and the traces
//! of one that has.
//!
//! The attribute that stands first expands first. It takes the others off the function, so
//! that all of them become one nest in the order in which they are written.

use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::Meta;
use syn::Path;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;
use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::kind::Attribute;
use crate::kind::Kind;

/// Takes our attributes out of all of them.
pub(super) fn split(
    attrs: Vec<syn::Attribute>,
    args: &TokenStream,
    errors: &mut Errors,
) -> (Vec<syn::Attribute>, Vec<Attribute>) {
    let krate = krate(args);
    let mut others = Vec::new();
    let mut ours = Vec::new();
    for attr in attrs {
        let Some(kind) = kind(attr.path(), krate.as_ref()) else {
            others.push(attr);
            continue;
        };
        let args = match &attr.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(pair) => {
                let name = kind.name();
                errors.at(
                    pair.eq_token.span,
                    format!("the arguments stand in parentheses: write `#[{name}(..)]`"),
                );
                continue;
            }
        };
        let path = attr.path().clone();
        ours.push(Attribute {
            kind,
            at: path
                .segments
                .last()
                .map_or_else(|| path.span(), |last| last.ident.span()),
            path: Some(path),
            args,
        });
    }
    (others, ours)
}

/// Which of our attributes a path names: `retry`, `breakerbox::retry`, also where that is behind
/// something, as in `$crate::breakerbox::retry`, or that of the crate under the name that it has
/// here. `other::retry` is somebody else's, and so, for all one knows, is `$crate::retry`.
pub(crate) fn kind(path: &Path, krate: Option<&Path>) -> Option<Kind> {
    let names: Vec<String> = names(path);
    let (last, before) = names.split_last()?;
    let kind = Kind::named(last)?;
    let is_ours = before.is_empty()
        || before.last().is_some_and(|module| module == "breakerbox")
        || krate.is_some_and(|krate| self::names(krate) == before);
    is_ours.then_some(kind)
}

fn names(path: &Path) -> Vec<String> {
    let segments = path.segments.iter();
    segments
        .map(|segment| segment.ident.unraw().to_string())
        .collect()
}

/// What `crate = ..` says among the arguments, which are read later.
fn krate(args: &TokenStream) -> Option<Path> {
    let parser = |input: ParseStream<'_>| {
        let mut found = None;
        while !input.is_empty() {
            if input.peek(Token![crate]) && input.peek2(Token![=]) {
                input.parse::<Token![crate]>()?;
                input.parse::<Token![=]>()?;
                found = input.call(Path::parse_mod_style).ok();
            } else {
                input.parse::<TokenTree>()?;
            }
        }
        Ok(found)
    };
    parser.parse2(args.clone()).ok()?
}

/// What every expansion names and no people do.
const TRACES: [&str; 4] = ["enter", "unnamed", "PolicySite", "DynamicPolicySite"];

/// Whether an attribute of ours has expanded in this body.
pub(super) fn is_expanded(body: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(colon) if colon.as_char() == ':');
    let has_path = tokens.windows(4).any(|window| {
        let [
            TokenTree::Ident(module),
            first,
            second,
            TokenTree::Ident(name),
        ] = window
        else {
            return false;
        };
        module == "__private"
            && is_colon(first)
            && is_colon(second)
            && TRACES.iter().any(|trace| name == trace)
    });
    has_path
        || tokens.iter().any(|token| match token {
            TokenTree::Group(group) => is_expanded(&group.stream()),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn our_attributes_are_known_by_their_last_name() {
        for (path, expected) in [
            (parse_quote!(retry), Some(Kind::Retry)),
            (parse_quote!(breakerbox::timeout), Some(Kind::Timeout)),
            (parse_quote!(::breakerbox::fallback), Some(Kind::Fallback)),
            (parse_quote!(::safe::bulkhead), Some(Kind::Bulkhead)),
            (parse_quote!(facade::breakerbox::retry), Some(Kind::Retry)),
            (parse_quote!(other::retry), None),
            (parse_quote!(breakerbox::other::retry), None),
            (parse_quote!(tracing::instrument), None),
            (parse_quote!(again), None),
        ] {
            assert_eq!(kind(&path, Some(&parse_quote!(safe))), expected);
        }
    }

    #[test]
    fn what_stands_between_ours_stays() {
        let mut errors = Errors::default();
        let attrs = vec![
            parse_quote!(#[doc = "x"]),
            parse_quote!(#[timeout("8s")]),
            parse_quote!(#[inline]),
            parse_quote!(#[renamed::fallback]),
        ];
        let args = quote!(attempts = 3, crate = ::renamed);
        let (others, ours) = split(attrs, &args, &mut errors);
        assert_eq!(others.len(), 2);
        let kinds: Vec<_> = ours.iter().map(|attribute| attribute.kind).collect();
        assert_eq!(kinds, [Kind::Timeout, Kind::Fallback]);
        assert!(errors.messages().is_empty());
    }

    #[test]
    fn an_expansion_is_known_wherever_it_stands_in_the_body() {
        assert!(is_expanded(&quote!(Box::pin(async move {
            let mut guard = ::breakerbox::__private::enter(breaker);
        }))));
        assert!(!is_expanded(&quote!(enter(__private::other, __breaker))));
    }
}
