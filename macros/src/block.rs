//! A circuit breaker on an `impl` block: it is put on each method that makes a future.
//!
//! The bodies are not looked at. Each method is expanded by an attribute of its own.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::Ident;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Attribute;
use syn::Path;
use syn::Signature;
use syn::Token;
use syn::Visibility;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;

use crate::errors::Errors;
use crate::item;
use crate::kind::Kind;

/// Whether the item is an `impl` block.
pub(crate) fn is_impl(item: &TokenStream) -> bool {
    let parser = |input: ParseStream<'_>| {
        input.call(Attribute::parse_outer)?;
        let start: Option<TokenTree> = input.fork().parse().ok();
        let found = match start.map(|token| token.to_string()).as_deref() {
            Some("unsafe") => input.peek2(Token![impl]),
            _ => input.peek(Token![impl]),
        };
        let _: TokenStream = input.parse()?;
        Ok(found)
    };
    parser.parse2(item.clone()).unwrap_or(false)
}

/// The block with the attribute on each of its methods.
pub(crate) fn stamp(
    item: TokenStream,
    args: &TokenStream,
    krate: &Path,
    errors: &mut Errors,
) -> TokenStream {
    let mark = Ident::new(MARK, Span::call_site());
    let attribute = quote_spanned!(Span::call_site()=> #[#krate::circuit_breaker(#mark, #args)]);
    copy(item, &attribute, krate, errors)
}

/// What stands first in the arguments that a block has put on its methods: what is said about
/// them there has to be something that can be written there.
const MARK: &str = "__of_block";

/// Whether arguments come from a block, and what the user has written of them.
pub(crate) fn take_mark(args: TokenStream) -> (bool, TokenStream) {
    let mut rest = args.clone().into_iter();
    match rest.next() {
        // The comma is the block's, too.
        Some(TokenTree::Ident(mark)) if mark == MARK => (true, rest.skip(1).collect()),
        _ => (false, args),
    }
}

/// The block as it was, without marks that only this attribute knows.
pub(crate) fn unmarked(item: TokenStream, krate: &Path) -> TokenStream {
    copy(item, &TokenStream::new(), krate, &mut Errors::default())
}

fn copy(
    item: TokenStream,
    attribute: &TokenStream,
    krate: &Path,
    errors: &mut Errors,
) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(block)) = tokens.pop() else {
        return tokens.into_iter().collect();
    };
    let mut stamped = Stamped {
        attribute,
        krate,
        guarded: 0,
        left_out: 0,
        own: 0,
    };
    let items = (|input: ParseStream<'_>| stamped.items(input)).parse2(block.stream());
    let items = items.unwrap_or_else(|_| block.stream());
    if stamped.guarded == 0 {
        errors.at(Span::call_site(), stamped.why_none());
    }
    let mut copy = Group::new(Delimiter::Brace, items);
    copy.set_span(block.span());
    tokens.push(TokenTree::Group(copy));
    tokens.into_iter().collect()
}

struct Stamped<'a> {
    attribute: &'a TokenStream,
    krate: &'a Path,
    guarded: usize,
    /// Methods that are left out by `#[unguarded]`.
    left_out: usize,
    /// Methods that have a breaker of their own.
    own: usize,
}

impl Stamped<'_> {
    fn items(&mut self, input: ParseStream<'_>) -> syn::Result<TokenStream> {
        let mut items = TokenStream::new();
        while !input.is_empty() {
            if input.peek(Token![#]) && input.peek2(Token![!]) {
                for attr in input.call(Attribute::parse_inner)? {
                    attr.to_tokens(&mut items);
                }
                continue;
            }
            let mut attrs = input.call(Attribute::parse_outer)?;
            let all = attrs.len();
            attrs.retain(|attr| !is_unguarded(attr.path()));
            let is_left_out = attrs.len() < all;
            let mut head = TokenStream::new();
            input.parse::<Visibility>()?.to_tokens(&mut head);
            if input.peek(Token![default]) && !input.peek2(Token![!]) {
                input.parse::<Token![default]>()?.to_tokens(&mut head);
            }
            if let Ok(sig) = input.fork().parse::<Signature>() {
                let _: Signature = input.parse()?;
                let has_breaker = attrs.iter().any(|attr| self.is_breaker(attr));
                if !item::makes_a_future(&sig) {
                    // Nothing to leave out, either.
                } else if is_left_out {
                    self.left_out += 1;
                } else if has_breaker {
                    self.own += 1;
                } else {
                    self.guarded += 1;
                    items.extend(self.attribute.clone());
                }
                sig.to_tokens(&mut head);
            }
            for attr in attrs {
                attr.to_tokens(&mut items);
            }
            items.extend(head);
            items.extend(rest_of_item(input)?);
        }
        Ok(items)
    }

    /// Whether an attribute is a breaker, or holds one.
    fn is_breaker(&self, attr: &Attribute) -> bool {
        match item::our_kind(attr.path(), Some(self.krate)) {
            Some(Kind::CircuitBreaker) => true,
            Some(Kind::Resilient) => {
                let name = Ident::new(Kind::CircuitBreaker.name(), Span::call_site());
                item::mentions(&attr.meta.to_token_stream(), &name)
            }
            _ => false,
        }
    }

    fn why_none(&self) -> &'static str {
        if self.own + self.left_out == 0 {
            "no method of this block is async or returns a future, so nothing would be guarded: put \
             the attribute on the methods that make calls, or on the `impl` above `#[async_trait]`"
        } else if self.left_out == 0 {
            "each async method of this block has a circuit breaker of its own, so this one would \
             guard nothing: remove it"
        } else {
            "each async method of this block is left out or has a circuit breaker of its own, so \
             this one would guard nothing: remove it"
        }
    }
}

/// Up to the body, the semicolon or the value that ends an item.
fn rest_of_item(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut rest = TokenStream::new();
    let is_value = input.peek(Token![const]) || input.peek(Token![type]);
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let ends = match &token {
            TokenTree::Group(group) => !is_value && group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        rest.extend([token]);
        if ends {
            break;
        }
    }
    Ok(rest)
}

fn is_unguarded(path: &Path) -> bool {
    let mut names = path.segments.iter().rev();
    names
        .next()
        .is_some_and(|last| last.ident.unraw() == "unguarded")
        && path.segments.len() <= 2
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn stamped(item: TokenStream) -> (String, Vec<String>) {
        let mut errors = Errors::default();
        assert!(is_impl(&item), "{item}");
        let krate = syn::parse_quote!(::breakerbox);
        let out = stamp(item, &quote!(service = "a"), &krate, &mut errors);
        (out.to_string(), errors.messages())
    }

    #[test]
    fn each_method_that_makes_a_future_is_guarded() {
        let (out, errors) = stamped(quote!(
            #[doc = "x"]
            unsafe impl<T: Copy> Api for Client<T> {
                const N: u8 = { 1 };
                type A = [u8; 2];
                make! {}
                /// Doc.
                #[timeout("8s")]
                pub async fn a(&self) -> R { this is @ not rust }
                fn b(&self) -> impl Future<Output = R> { async { 1 } }
                fn c<'async_trait>(&self) -> Pin<Box<dyn Future<Output = R>>> { x }
                fn sync(&self) -> R {}
                #[unguarded]
                async fn left(&self) {}
                #[circuit_breaker(service = "own")]
                async fn own(&self) {}
                #[resilient(circuit_breaker(service = "own"))]
                async fn also_own(&self) {}
            }
        ));
        assert_eq!(errors, Vec::<String>::new());
        let expected = quote!(
            #[doc = "x"]
            unsafe impl<T: Copy> Api for Client<T> {
                const N: u8 = { 1 };
                type A = [u8; 2];
                make! {}
                #[::breakerbox::circuit_breaker(__of_block, service = "a")]
                /// Doc.
                #[timeout("8s")]
                pub async fn a(&self) -> R { this is @ not rust }
                #[::breakerbox::circuit_breaker(__of_block, service = "a")]
                fn b(&self) -> impl Future<Output = R> { async { 1 } }
                #[::breakerbox::circuit_breaker(__of_block, service = "a")]
                fn c<'async_trait>(&self) -> Pin<Box<dyn Future<Output = R>>> { x }
                fn sync(&self) -> R {}
                async fn left(&self) {}
                #[circuit_breaker(service = "own")]
                async fn own(&self) {}
                #[resilient(circuit_breaker(service = "own"))]
                async fn also_own(&self) {}
            }
        );
        // The spaces tell how the tokens were made.
        assert_eq!(out.replace(' ', ""), expected.to_string().replace(' ', ""));
    }

    #[test]
    fn what_a_block_has_put_on_a_method_is_known_there() {
        for (args, of_block, rest) in [
            (quote!(__of_block, service = "a"), true, "service = \"a\""),
            (quote!(__of_block,), true, ""),
            (quote!(service = "a"), false, "service = \"a\""),
            (quote!(), false, ""),
        ] {
            let (is_of_block, left) = take_mark(args);
            assert_eq!((is_of_block, left.to_string().as_str()), (of_block, rest));
        }
    }

    #[test]
    fn a_block_in_which_nothing_is_guarded_is_a_mistake_that_is_explained() {
        for (item, expected) in [
            (quote!(impl A { fn f() {} }), "is async or returns a future"),
            (
                quote!(impl A { #[unguarded] async fn f() {} }),
                "is left out",
            ),
            (
                quote!(impl A { #[circuit_breaker(service = "b")] async fn f() {} }),
                "of its own",
            ),
        ] {
            let (_, errors) = stamped(item);
            assert_eq!(errors.len(), 1);
            assert!(errors[0].contains(expected), "{errors:?}");
        }
    }
}
