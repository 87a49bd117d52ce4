//! Finds the async block a body consists of: `async move { .. }`, perhaps in `Box::pin(..)`.
//!
//! `async-trait` turns an `async fn` into a function with a boxed block before
//! attributes on methods expand. The guard goes inside the async block, so that
//! nothing is counted before the future is polled. Where anything stands before the
//! block it runs when the function is called, and must not run for a call that is not
//! made: such a body is not taken here. This is the only place where the tokens of a
//! body are looked at.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::quote;
use syn::Path;

/// A body that is an async block.
pub(crate) struct AsyncTail {
    /// `Box::pin` and its parentheses.
    boxing: Option<(TokenStream, Group)>,
    /// `async` or `async move`
    pub(crate) opening: Vec<TokenTree>,
    /// The block of the async block.
    pub(crate) block: Group,
}

impl AsyncTail {
    /// `Box::pin(async move { .. })`
    pub(crate) fn boxed(body: &Group) -> Option<Self> {
        let mut before: Vec<TokenTree> = body.stream().into_iter().collect();
        let TokenTree::Group(parens) = before.pop()? else {
            return None;
        };
        if parens.delimiter() != Delimiter::Parenthesis || !is_box_pin(&before) {
            return None;
        }
        let mut content: Vec<TokenTree> = parens.stream().into_iter().collect();
        if matches!(content.last(), Some(TokenTree::Punct(comma)) if comma.as_char() == ',') {
            content.pop();
        }
        let (start, block) = async_block(&mut content)?;
        (start == 0).then(|| Self {
            boxing: Some((before.into_iter().collect(), parens)),
            opening: content,
            block,
        })
    }

    /// `async move { .. }`
    pub(crate) fn plain(body: &Group) -> Option<Self> {
        let mut opening: Vec<TokenTree> = body.stream().into_iter().collect();
        let (start, block) = async_block(&mut opening)?;
        (start == 0).then_some(Self {
            boxing: None,
            opening,
            block,
        })
    }

    /// Whether the block owns what it uses of the function's variables.
    pub(crate) fn is_move(&self) -> bool {
        self.opening.len() == 2
    }

    pub(crate) fn is_boxed(&self) -> bool {
        self.boxing.is_some()
    }

    /// The whole body again, with another block behind `async move`.
    pub(crate) fn with_block(&self, block: &Group) -> TokenStream {
        let opening: TokenStream = self.opening.iter().cloned().collect();
        let body = quote!(#opening #block);
        match &self.boxing {
            Some((pin, parens)) => {
                let mut group = Group::new(Delimiter::Parenthesis, body);
                group.set_span(parens.span());
                quote!(#pin #group)
            }
            None => body,
        }
    }
}

/// Whether the tokens are a path that ends with `Box::pin`, and nothing else.
fn is_box_pin(tokens: &[TokenTree]) -> bool {
    let path: TokenStream = tokens.iter().cloned().collect();
    let Ok(path) = syn::parse2::<Path>(path) else {
        return false;
    };
    let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "pin") && names.next().is_some_and(|name| name == "Box")
}

/// Takes the block off tokens that end with `async { .. }` or `async move { .. }`,
/// and says where the `async` stands.
fn async_block(tokens: &mut Vec<TokenTree>) -> Option<(usize, Group)> {
    let TokenTree::Group(block) = tokens.pop()? else {
        return None;
    };
    let is = |index: usize, word| matches!(&tokens[index], TokenTree::Ident(name) if *name == word);
    let last = tokens.len().checked_sub(1)?;
    let start = if is(last, "move") {
        last.checked_sub(1)?
    } else {
        last
    };
    (is(start, "async") && block.delimiter() == Delimiter::Brace).then_some((start, block))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(body: TokenStream) -> Option<AsyncTail> {
        let body = Group::new(Delimiter::Brace, body);
        AsyncTail::boxed(&body).or_else(|| AsyncTail::plain(&body))
    }

    #[test]
    fn an_async_block_is_found() {
        for body in [
            quote!(Box::pin(async move { 1 })),
            quote!(::std::boxed::Box::pin(async { 1 },)),
            quote!(async move { 1 }),
            quote!(async { 1 }),
        ] {
            assert!(find(body.clone()).is_some(), "{body}");
        }
    }

    #[test]
    fn what_is_around_the_block_stays() {
        let block = Group::new(Delimiter::Brace, quote!(guarded));
        for (body, expected) in [
            (
                quote!(std::boxed::Box::pin(async move { b })),
                quote!(std::boxed::Box::pin(async move { guarded })),
            ),
            (quote!(async { b }), quote!(async { guarded })),
        ] {
            let tail = find(body).unwrap();
            assert_eq!(tail.block.to_string(), quote!({ b }).to_string());
            assert_eq!(tail.with_block(&block).to_string(), expected.to_string());
        }
    }

    #[test]
    fn other_tails_are_left_alone() {
        for body in [
            quote!(),
            quote!(make(a)),
            quote!(Box::pin(inner(a))),
            quote!(Box::new(async move { 1 })),
            quote!(Box::pin(async move { 1 }.map(f))),
            quote!(Box::pin(async move { 1 }) as _),
            quote!(let x = Box::pin(async move { 1 })),
            quote!(other::pin(async move { 1 })),
            quote!(async move { 1 }.boxed()),
            quote!(Box::pin(x, async move { 1 })),
            quote!(let x = async { 1 }),
            quote!(move {}),
        ] {
            assert!(find(body.clone()).is_none(), "{body}");
        }
    }

    #[test]
    fn a_body_that_does_something_before_is_left_alone() {
        for body in [
            quote!(let b = a + 1; Box::pin(async move { b })),
            quote!(send(); async move { 1 }),
            quote!(if a { return Box::pin(ready(1)); } Box::pin(async move { 1 })),
            quote!(early!(a); async move { 1 }),
        ] {
            assert!(find(body.clone()).is_none(), "{body}");
        }
    }
}
