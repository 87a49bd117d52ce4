//! Where generated tokens stand and what they see.

use proc_macro2::Group;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;

/// Points errors at `span`, while lints still take the token for generated code.
pub(crate) fn generated(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}

/// The same for local names, which no user code can see.
pub(crate) fn local(span: Span) -> Span {
    span.resolved_at(Span::mixed_site())
}

/// Marks the user's tokens as generated where they are written a second time.
pub(crate) fn repeated(tokens: TokenStream) -> TokenStream {
    map(tokens, &generated)
}

/// Where an error about all of the tokens belongs, from the first to the last. Only rustc
/// can make one span of two.
pub(crate) fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// Points all errors of a path at one place.
pub(crate) fn moved(tokens: TokenStream, span: Span) -> TokenStream {
    map(tokens, &|_| generated(span))
}

fn map(tokens: TokenStream, to: &impl Fn(Span) -> Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| match &mut token {
            TokenTree::Group(group) => {
                let mut copy = Group::new(group.delimiter(), map(group.stream(), to));
                copy.set_span(to(group.span()));
                TokenTree::Group(copy)
            }
            // `$crate` is resolved through its span.
            TokenTree::Ident(ident) if *ident == "$crate" => token,
            _ => {
                token.set_span(to(token.span()));
                token
            }
        })
        .collect()
}
