//! The statements in which `#[async_trait]` binds the arguments anew inside its block.
//!
//! They move the arguments, which a body that runs more than once cannot do: they are
//! written once, before it.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::quote;
use syn::Ident;
use syn::Pat;
use syn::parse::Parser;

use crate::item::Function;
use crate::item::Shape;

/// The block of `#[async_trait]`, taken apart.
#[derive(Default)]
pub(crate) struct Hoisted {
    statements: Vec<Vec<TokenTree>>,
    /// The block without them.
    pub(crate) rest: Option<Group>,
}

impl Hoisted {
    /// Nothing for functions that `#[async_trait]` has not written.
    pub(crate) fn of(function: &Function) -> Self {
        match &function.shape {
            Shape::Tail(tail) if function.is_from_async_trait() => Self::split(&tail.block),
            _ => Self::default(),
        }
    }

    fn split(block: &Group) -> Self {
        let tokens: Vec<TokenTree> = block.stream().into_iter().collect();
        let mut rest: Vec<TokenTree> = Vec::new();
        let mut statements = Vec::new();
        let mut from = 0;
        // First the type of the output is told, in an `if` that never holds.
        if matches!(tokens.first(), Some(TokenTree::Ident(word)) if word == "if") {
            let end = tokens.iter().position(is_braces).map_or(0, |at| at + 1);
            rest.extend_from_slice(&tokens[..end]);
            from = end;
        }
        while let Some(length) = statement(&tokens[from..]) {
            statements.push(tokens[from..from + length].to_vec());
            from += length;
        }
        rest.extend_from_slice(&tokens[from..]);
        let mut group = Group::new(Delimiter::Brace, rest.into_iter().collect());
        group.set_span(block.span());
        Self {
            statements,
            rest: Some(group),
        }
    }

    /// The patterns that they bind.
    pub(super) fn patterns(&self) -> impl Iterator<Item = Pat> {
        self.statements
            .iter()
            .filter_map(|statement| pattern(statement))
    }

    /// The statements, without the `mut` of names whose copies have it.
    pub(crate) fn statements(&self, cloned: &[Ident]) -> TokenStream {
        let mut code = TokenStream::new();
        for statement in &self.statements {
            for (at, token) in statement.iter().enumerate() {
                let is_mut = matches!(token, TokenTree::Ident(word) if word == "mut");
                let before = statement.get(at + 1);
                let is_of_copy = is_mut
                    && matches!(before, Some(TokenTree::Ident(name)) if cloned.contains(name));
                if !is_of_copy {
                    code.extend(quote!(#token));
                }
            }
        }
        code
    }
}

/// The length of `let PATTERN = NAME;` or `let PATTERN = { let NAME = NAME; NAME };` with its
/// attributes, if that stands first.
fn statement(tokens: &[TokenTree]) -> Option<usize> {
    let end = tokens.iter().position(|token| is_punct(token, ';'))?;
    let statement = &tokens[..=end];
    let value = &statement[..end];
    let equals = value.iter().rposition(|token| is_punct(token, '='))?;
    let is_argument = match &value[equals + 1..] {
        [TokenTree::Ident(_)] => true,
        [TokenTree::Group(block)] => renames(block),
        _ => false,
    };
    (is_argument && pattern(statement).is_some()).then_some(end + 1)
}

/// `{ let NAME = NAME; NAME }`
fn renames(block: &Group) -> bool {
    let tokens: Vec<String> = block
        .stream()
        .into_iter()
        .map(|token| token.to_string())
        .collect();
    match tokens.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["let", name, "=", value, ";", last] => name == value && value == last,
        _ => false,
    }
}

/// The pattern of a `let` without a type.
fn pattern(statement: &[TokenTree]) -> Option<Pat> {
    let start = statement
        .iter()
        .position(|token| matches!(token, TokenTree::Ident(word) if word == "let"))?;
    let equals = statement.iter().position(|token| is_punct(token, '='))?;
    let pattern = statement.get(start + 1..equals)?.iter().cloned().collect();
    Pat::parse_single.parse2(pattern).ok()
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn is_braces(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_binds_arguments_is_taken_out_and_the_body_is_not() {
        let block = quote!({
            if let Some(__ret) = None::<R> {
                return __ret;
            }
            let __self = self;
            #[cfg(x)]
            let mut a = a;
            let (b, mut c) = {
                let __arg2 = __arg2;
                __arg2
            };
            let __ret: R = {
                let x = a;
                x
            };
            __ret
        });
        let Some(TokenTree::Group(block)) = block.into_iter().next() else {
            panic!("a block was expected")
        };
        let hoisted = Hoisted::split(&block);
        let a = Ident::new("a", proc_macro2::Span::call_site());
        assert_eq!(
            hoisted.statements(&[a]).to_string(),
            quote!(
                let __self = self;
                #[cfg(x)]
                let a = a;
                let (b, mut c) = {
                    let __arg2 = __arg2;
                    __arg2
                };
            )
            .to_string()
        );
        assert_eq!(
            hoisted.rest.unwrap().stream().to_string(),
            quote!(
                if let Some(__ret) = None::<R> {
                    return __ret;
                }
                let __ret: R = { let x = a; x };
                __ret
            )
            .to_string()
        );
    }
}
