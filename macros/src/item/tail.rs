//! Finds the async block a body ends with: `async move { .. }`, perhaps in `Box::pin(..)`.
//!
//! `async-trait` turns an `async fn` into a function with a boxed tail before
//! attributes on methods expand. The guard goes inside the async block, so that
//! nothing is counted before the future is polled. This is the only place where
//! the tokens of a body are looked at, and all but the block stay as they are.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote;

/// A body whose tail is an async block.
pub(crate) struct AsyncTail {
    /// The statements, and the tail up to the async block or its parentheses.
    before: Vec<TokenTree>,
    /// The parentheses of `Box::pin`.
    parens: Option<Group>,
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
        let path = path_start(&before)?;
        if parens.delimiter() != Delimiter::Parenthesis
            || !is_box_pin(&before[path..])
            || !is_tail(&before[..path])
        {
            return None;
        }
        let mut content: Vec<TokenTree> = parens.stream().into_iter().collect();
        if matches!(content.last(), Some(TokenTree::Punct(comma)) if comma.as_char() == ',') {
            content.pop();
        }
        let (start, block) = async_block(&mut content)?;
        (start == 0).then(|| Self {
            before,
            parens: Some(parens),
            opening: content,
            block,
        })
    }

    /// `async move { .. }`
    pub(crate) fn plain(body: &Group) -> Option<Self> {
        let mut before: Vec<TokenTree> = body.stream().into_iter().collect();
        let (start, block) = async_block(&mut before)?;
        let opening = before.split_off(start);
        is_tail(&before).then_some(Self {
            before,
            parens: None,
            opening,
            block,
        })
    }

    /// Whether the block owns what it uses of the function's variables.
    pub(crate) fn is_move(&self) -> bool {
        self.opening.len() == 2
    }

    pub(crate) fn is_boxed(&self) -> bool {
        self.parens.is_some()
    }

    /// The whole body again, with another block behind `async move`.
    pub(crate) fn with_block(&self, block: &Group) -> TokenStream {
        let opening: TokenStream = self.opening.iter().cloned().collect();
        let mut body: TokenStream = self.before.iter().cloned().collect();
        match &self.parens {
            Some(parens) => {
                let mut group = Group::new(Delimiter::Parenthesis, quote!(#opening #block));
                group.set_span(parens.span());
                group.to_tokens(&mut body);
            }
            None => body.extend(quote!(#opening #block)),
        }
        body
    }
}

/// Whether an expression behind these tokens is the body's tail, and the only way out.
fn is_tail(before: &[TokenTree]) -> bool {
    let starts_a_statement = match before.last() {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == ';',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(_) => false,
    };
    starts_a_statement && !leaves_early(before)
}

/// Where the path that ends the tokens begins.
fn path_start(tokens: &[TokenTree]) -> Option<usize> {
    let mut start = tokens.len();
    loop {
        match tokens.get(start.checked_sub(1)?) {
            Some(TokenTree::Ident(_)) => start -= 1,
            _ => return None,
        }
        match start
            .checked_sub(2)
            .and_then(|colons| tokens.get(colons..start))
        {
            Some([TokenTree::Punct(a), TokenTree::Punct(b)])
                if a.as_char() == ':' && b.as_char() == ':' =>
            {
                start -= 2
            }
            _ => return Some(start),
        }
        if !matches!(
            start.checked_sub(1).map(|last| &tokens[last]),
            Some(TokenTree::Ident(_))
        ) {
            return Some(start);
        }
    }
}

fn is_box_pin(path: &[TokenTree]) -> bool {
    let mut names = path.iter().rev().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name),
        _ => None,
    });
    names.next().is_some_and(|name| name == "pin") && names.next().is_some_and(|name| name == "Box")
}

/// Whether the statements before the tail may return another future, which a
/// guard in the tail would miss. A macro can hide a `return`.
fn leaves_early(statements: &[TokenTree]) -> bool {
    statements.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(name) => {
            let bang = matches!(statements.get(index + 1), Some(TokenTree::Punct(punct)) if punct.as_char() == '!');
            let invoked = bang && matches!(statements.get(index + 2), Some(TokenTree::Group(_)));
            name == "return" || invoked
        }
        TokenTree::Group(group) => leaves_early(&group.stream().into_iter().collect::<Vec<_>>()),
        _ => false,
    })
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
    fn an_async_block_at_the_end_is_found() {
        for body in [
            quote!(Box::pin(async move { 1 })),
            quote!(::std::boxed::Box::pin(async { 1 },)),
            quote!(let b = a + 1; Box::pin(async move { b })),
            quote!(if a { log() } Box::pin(async move { b })),
            quote!(let b = !(a); Box::pin(async move { b })),
            quote!(async move { 1 }),
            quote!(let b = a + 1; async { 1 }),
        ] {
            assert!(find(body.clone()).is_some(), "{body}");
        }
    }

    #[test]
    fn what_is_before_the_block_stays() {
        let block = Group::new(Delimiter::Brace, quote!(guarded));
        for (body, expected) in [
            (
                quote!(let b = a + 1; Box::pin(async move { b })),
                quote!(let b = a + 1; Box::pin(async move { guarded })),
            ),
            (
                quote!(let b = a + 1; async { b }),
                quote!(let b = a + 1; async { guarded }),
            ),
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
    fn a_body_that_may_return_another_future_is_left_alone() {
        for body in [
            quote!(if a { return Box::pin(ready(1)); } Box::pin(async move { 1 })),
            quote!(early!(a); async move { 1 }),
        ] {
            assert!(find(body.clone()).is_none(), "{body}");
        }
    }
}
