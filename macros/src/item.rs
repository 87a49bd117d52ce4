//! Facts of the item under the attribute; only a function with a body can be guarded.

mod arguments;
mod bindings;
mod hoist;
mod mentions;
mod other;
mod returns;
mod siblings;
mod tail;

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::Ident;
use syn::Signature;
use syn::Token;
use syn::Visibility;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::Parser;

use crate::errors::Errors;
use crate::kind::Attribute;
use crate::kind::Kind;

use self::bindings::Uses;
use self::returns::Delivery;

pub(crate) use self::arguments::Argument;
pub(crate) use self::arguments::WithoutMut;
pub(crate) use self::bindings::Binding;
pub(crate) use self::hoist::Hoisted;
pub(crate) use self::mentions::mentions;
pub(crate) use self::returns::Output;
pub(crate) use self::siblings::kind as our_kind;
pub(crate) use self::tail::AsyncTail;

/// A function, apart from its body, which stays a heap of tokens: an error in it
/// is for the compiler to report.
pub(crate) struct Function {
    /// Everything before the signature.
    pub(crate) head: TokenStream,
    /// The signature as it is given back.
    pub(crate) sig: Signature,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) output: Output,
    pub(crate) shape: Shape,
    /// `#![..]` at the top of the body.
    pub(crate) inner_attrs: TokenStream,
    /// The braces without the inner attributes.
    pub(crate) body: Group,
}

/// How the body is run.
pub(crate) enum Shape {
    /// `async fn`
    Async,
    /// A function that returns its output.
    Sync,
    /// A function that returns a future, made by its body when it is called.
    Future { boxed: bool },
    /// A function whose body ends with an async block, guarded inside it.
    Tail(AsyncTail),
}

/// The item under the attribute, taken apart, with what must change before it is given back.
pub(crate) struct Item {
    pub(crate) function: Option<Function>,
    /// The item as it was written, without further attributes of ours.
    pub(crate) original: TokenStream,
    /// Those attributes, in the order in which they stand.
    pub(crate) siblings: Vec<Attribute>,
}

impl Item {
    /// Takes the item apart under an attribute of this kind, whose arguments may say what the
    /// crate is called here.
    pub(crate) fn read(
        tokens: TokenStream,
        kind: Kind,
        args: &TokenStream,
        errors: &mut Errors,
    ) -> Self {
        let tokens = without_group(tokens);
        let parser = |input: ParseStream<'_>| Ok(read(input, kind, args, errors));
        match parser.parse2(tokens.clone()) {
            Ok(Some(item)) => item,
            Ok(None) | Err(_) => Self {
                function: None,
                original: tokens,
                siblings: Vec::new(),
            },
        }
    }
}

fn read(
    input: ParseStream<'_>,
    kind: Kind,
    args: &TokenStream,
    errors: &mut Errors,
) -> Option<Item> {
    let attrs = input.call(syn::Attribute::parse_outer).ok()?;
    let (attrs, siblings) = siblings::split(attrs, args, errors);
    let mut head: TokenStream = attrs.iter().map(ToTokens::to_token_stream).collect();
    let rest: TokenStream = input.fork().parse().ok()?;
    let mut original = head.clone();
    original.extend(rest);

    let function = input.parse::<Visibility>().ok().and_then(|vis| {
        let default = input.call(default_keyword).ok()?;
        vis.to_tokens(&mut head);
        default.to_tokens(&mut head);
        read_function(head, input, kind, errors)
    });
    Some(Item {
        function,
        original,
        siblings,
    })
}

fn read_function(
    head: TokenStream,
    input: ParseStream<'_>,
    kind: Kind,
    errors: &mut Errors,
) -> Option<Function> {
    let start = input.span();
    let Ok(sig) = input.fork().parse::<Signature>() else {
        errors.at(start, other::message(kind, input));
        // Nothing else is said about it.
        let _: TokenStream = input.parse().ok()?;
        return None;
    };
    let _: Signature = input.parse().ok()?;

    if let Some(constness) = sig.constness {
        errors.at(
            constness.span,
            "a `const fn` cannot be guarded, since it may run while compiling: remove `const`",
        );
    }
    let rest: TokenStream = input.parse().ok()?;
    let Some(body) = body(rest) else {
        errors.at(
            sig.ident.span(),
            format!("`{}` has no body to guard here: put the attribute on the functions that implement it", sig.ident),
        );
        return None;
    };
    if sig.constness.is_some() {
        return None;
    }
    if siblings::is_expanded(&body.stream()) {
        errors.at(
            proc_macro2::Span::call_site(),
            "an attribute of breakerbox has expanded here already and could not see this one \
             under its other name: write all policies of the function in one \
             `#[breakerbox::resilient(..)]`",
        );
        return None;
    }
    Some(Function::new(head, sig, &body))
}

impl Function {
    fn new(head: TokenStream, sig: Signature, body: &Group) -> Self {
        let (inner_attrs, body) = split_inner_attrs(body);
        let name = sig.ident.span();
        let (shape, output) = if sig.asyncness.is_some() {
            (Shape::Async, Output::of(&sig.output, name))
        } else {
            let (delivery, output) = returns::delivery(&sig.output, name);
            let shape = match delivery {
                Delivery::Direct => Shape::Sync,
                Delivery::ImplFuture => {
                    AsyncTail::plain(&body).map_or(Shape::Future { boxed: false }, Shape::Tail)
                }
                Delivery::BoxedFuture => {
                    AsyncTail::boxed(&body).map_or(Shape::Future { boxed: true }, Shape::Tail)
                }
            };
            (shape, output)
        };
        Self {
            head,
            sig,
            bindings: Vec::new(),
            output,
            shape,
            inner_attrs,
            body,
        }
    }

    /// Lists the arguments that the block around the body must own. A retried body borrows
    /// them, and the function drops them as it always does.
    pub(crate) fn take_arguments(&mut self, attributes: &TokenStream) {
        // The statements before a boxed tail use the arguments where they are.
        if let Shape::Tail(_) = self.shape {
            return;
        }
        let uses = Uses {
            attribute: attributes,
            body: &self.body.stream(),
        };
        self.bindings = bindings::take(&mut self.sig, &uses);
    }

    /// Whether `#[async_trait]` has rewritten the function; it names its lifetime after itself.
    pub(crate) fn is_from_async_trait(&self) -> bool {
        self.sig
            .generics
            .lifetimes()
            .any(|param| param.lifetime.ident == "async_trait")
    }

    /// The function's name as people say it.
    pub(crate) fn name(&self) -> Ident {
        self.sig.ident.unraw()
    }
}

/// Whether a call of the function gives a future, as far as its signature tells.
pub(crate) fn makes_a_future(sig: &Signature) -> bool {
    let delivery = || returns::delivery(&sig.output, sig.ident.span()).0;
    sig.asyncness.is_some() || !matches!(delivery(), Delivery::Direct)
}

fn default_keyword(input: ParseStream<'_>) -> syn::Result<Option<Token![default]>> {
    // A lone `default` could be a macro or anything else.
    let keyword =
        input.peek(Token![default]) && !input.peek2(Token![!]) && !input.peek2(Token![::]);
    if keyword {
        input.parse().map(Some)
    } else {
        Ok(None)
    }
}

/// The braces a function ends with; nothing may follow them.
fn body(rest: TokenStream) -> Option<Group> {
    let mut rest = without_group(rest).into_iter();
    match (rest.next(), rest.next()) {
        (Some(TokenTree::Group(body)), None) if body.delimiter() == Delimiter::Brace => Some(body),
        _ => None,
    }
}

/// What an invisible group of `macro_rules!` holds, where it is all there is.
fn without_group(tokens: TokenStream) -> TokenStream {
    let mut iter = tokens.clone().into_iter();
    match (iter.next(), iter.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            without_group(group.stream())
        }
        _ => tokens,
    }
}

/// `#![..]` may stand at the top of a function's body and nowhere deeper.
fn split_inner_attrs(body: &Group) -> (TokenStream, Group) {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let is = |token: &TokenTree, punct| matches!(token, TokenTree::Punct(found) if found.as_char() == punct);
    let mut split = 0;
    while let [pound, bang, TokenTree::Group(attr), ..] = &tokens[split..]
        && is(pound, '#')
        && is(bang, '!')
        && attr.delimiter() == Delimiter::Bracket
    {
        split += 3;
    }
    if split == 0 {
        return (TokenStream::new(), body.clone());
    }
    let (attrs, rest) = tokens.split_at(split);
    let mut group = Group::new(Delimiter::Brace, rest.iter().cloned().collect());
    group.set_span(body.span());
    (attrs.iter().cloned().collect(), group)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn read(tokens: TokenStream) -> (Item, Vec<String>) {
        let mut errors = Errors::default();
        let item = Item::read(
            tokens,
            Kind::CircuitBreaker,
            &TokenStream::new(),
            &mut errors,
        );
        (item, errors.messages())
    }

    #[test]
    fn a_function_is_taken_apart_and_its_body_is_not() {
        let (item, errors) = read(quote!(
            #[doc = "x"] #[inline]
            pub(crate) async unsafe fn r#match<T>(mut a: T) -> Result<T, E> where T: Copy { this is @ not rust }
        ));
        assert!(errors.is_empty());
        let function = item.function.unwrap();
        assert_eq!(
            function.head.to_string(),
            quote!(#[doc = "x"] #[inline] pub(crate)).to_string()
        );
        assert_eq!(function.name(), "match");
        assert_eq!(
            function.body.to_string(),
            quote!({ this is @ not rust }).to_string()
        );
        assert!(matches!(function.shape, Shape::Async));
    }

    #[test]
    fn inner_attributes_are_kept_apart_from_the_body() {
        let (item, _) = read(quote!(
            fn f() -> R {
                #![allow(a)]
                #![expect(b)]
                #[allow(c)]
                d
            }
        ));
        let function = item.function.unwrap();
        assert_eq!(
            function.inner_attrs.to_string(),
            quote!(#![allow(a)] #![expect(b)]).to_string()
        );
        assert_eq!(
            function.body.to_string(),
            quote!({
                #[allow(c)]
                d
            })
            .to_string()
        );
    }

    #[test]
    fn what_is_no_function_with_a_body_is_named_and_comes_back_unchanged() {
        for (tokens, expected) in [
            (
                quote!(
                    pub struct S;
                ),
                "and this is a struct: put it on the methods that make the calls",
            ),
            (
                quote!(
                    enum E {}
                ),
                "and this is an enum: put it on the methods that make the calls",
            ),
            (
                quote!(impl S { fn f() {} }),
                "and this is an `impl` block: put it on each method that makes a call",
            ),
            (
                quote!(unsafe impl S {}),
                "and this is an `impl` block: put it on each method that makes a call",
            ),
            (
                quote!(
                    pub trait T {}
                ),
                "and this is a trait: put it on the methods that implement it",
            ),
            (
                quote!(
                    mod m {}
                ),
                "and this is a module: put it on the functions in it",
            ),
            (
                quote!(
                    const C: fn() = || ();
                ),
                "and this is a constant: put it on a function",
            ),
            (
                quote!(
                    static S: u8 = 1;
                ),
                "and this is a static: put it on a function",
            ),
            (
                quote!(
                    extern "C" {
                        fn f();
                    }
                ),
                "and this is a foreign item: put it on a function of yours that calls it",
            ),
            (
                quote!(
                    use a::b;
                ),
                "and this is an import: put it on the function where it is written",
            ),
            (
                quote!(make! {}),
                "and this is a macro call: put it on the function that it makes",
            ),
            (
                quote!(let f = || 1;),
                "and this is a `let` statement: put it on a function",
            ),
            (
                quote!(
                    macro_rules! m {
                        () => {};
                    }
                ),
                "and this is a macro: put it on the function that it makes",
            ),
        ] {
            let (item, errors) = read(tokens.clone());
            assert!(item.function.is_none());
            assert_eq!(item.original.to_string(), tokens.to_string());
            assert_eq!(
                errors,
                [format!(
                    "`#[circuit_breaker]` guards a function, {expected}"
                )]
            );
        }
    }

    #[test]
    fn a_method_without_a_body_is_sent_to_its_implementations() {
        let (item, errors) = read(quote!(
            async fn f(&self) -> R;
        ));
        assert!(item.function.is_none());
        assert_eq!(
            errors,
            ["`f` has no body to guard here: put the attribute on the functions that implement it"]
        );
    }

    #[test]
    fn a_const_fn_is_told_to_stop_being_one() {
        let (item, errors) = read(quote!(
            pub const fn f() -> R {
                r
            }
        ));
        assert!(item.function.is_none());
        assert_eq!(
            errors,
            ["a `const fn` cannot be guarded, since it may run while compiling: remove `const`"]
        );
    }

    #[test]
    fn our_attributes_are_left_out_of_what_comes_back() {
        let (item, errors) = read(quote!(
            #[breakerbox::retry(idempotent)]
            #[a]
            #[circuit_breaker(service = "x")]
            fn f() {}
        ));
        let kinds: Vec<_> = item.siblings.iter().map(|sibling| sibling.kind).collect();
        assert_eq!(kinds, [Kind::Retry, Kind::CircuitBreaker]);
        assert_eq!(
            item.original.to_string(),
            quote!(
                #[a]
                fn f() {}
            )
            .to_string()
        );
        assert!(errors.is_empty());
    }

    #[test]
    fn a_function_that_was_expanded_before_is_not_taken_again() {
        let (item, errors) = read(quote!(
            async fn f() {
                let breaker = ::breakerbox::__private::enter(breaker);
            }
        ));
        assert!(item.function.is_none());
        assert!(errors[0].contains("under its other name"), "{errors:?}");
    }
}
