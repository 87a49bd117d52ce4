//! Writes a breaker that stands alone, around every kind of body.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::Locals;
use crate::expand::site;
use crate::item::AsyncTail;
use crate::item::Shape;
use crate::model::Guard;
use crate::model::Site;
use crate::respan;

/// The expansion of a breaker without other policies.
pub(super) struct Lone<'a> {
    pub(super) shared: &'a Expansion<'a>,
    pub(super) guard: &'a Guard,
}

/// How the code around the body gets in.
#[derive(Clone, Copy)]
pub(super) enum Waiting {
    /// The body is an async block.
    Async,
    /// The body is a future that was made when the function was called, if it got in.
    Made,
    /// The body is a closure.
    Blocking,
}

impl<'a> Lone<'a> {
    pub(super) const fn new(shared: &'a Expansion<'a>, guard: &'a Guard) -> Self {
        Self { shared, guard }
    }

    pub(super) fn code(&self) -> TokenStream {
        match &self.shared.function.shape {
            Shape::Async => {
                let body = self.shared.body(&self.shared.function.body);
                self.guarded(
                    Waiting::Async,
                    &self.breaker(),
                    &self
                        .shared
                        .boxed(quote_spanned!(self.shared.span=> async move #body)),
                )
            }
            Shape::Sync => self.sync(),
            Shape::Future { boxed } => self.wrapped(*boxed),
            Shape::Tail(tail) => self.inside(tail),
        }
    }

    fn sync(&self) -> TokenStream {
        let plain = &self.shared.plain;
        let body = self.shared.block(&self.shared.function.body, plain);
        let closure = quote_spanned!(self.shared.span=> move || -> #plain #body);
        self.guarded(Waiting::Blocking, &self.breaker(), &closure)
    }

    /// The function's own code makes the future when it is called, and may do more. So the
    /// breaker is asked before, and not when the future is first polled.
    fn wrapped(&self, boxed: bool) -> TokenStream {
        let Expansion { krate, span, .. } = self.shared;
        let Locals {
            breaker,
            future,
            guard,
            rejected,
            ..
        } = &self.shared.locals;
        let inferred = quote_spanned!(*span=> _);
        let returned = match &self.shared.function.sig.output {
            syn::ReturnType::Type(_, ty) if boxed => respan::repeated(ty.to_token_stream()),
            _ => inferred,
        };
        let lookup = self.breaker();
        let body = self.shared.block(&self.shared.function.body, &returned);
        let typed = self.shared.typed_return(&self.shared.output);
        let guarded = self.guarded(
            Waiting::Made,
            &TokenStream::new(),
            &self.shared.boxed(future.to_token_stream()),
        );
        let block = quote_spanned!(*span=> async move { #typed #guarded });
        let block = if boxed {
            quote_spanned!(*span=> ::std::boxed::Box::pin(#block))
        } else {
            block
        };
        quote_spanned! {*span=>
            #lookup
            let mut #guard = #krate::__private::enter(#breaker);
            let #rejected = if #krate::__private::is_in(&#guard) {
                ::core::option::Option::None
            } else {
                #krate::__private::refuse(&mut #guard)
            };
            let #future = match #rejected {
                ::core::option::Option::Some(#rejected) => ::core::result::Result::Err(#rejected),
                ::core::option::Option::None => ::core::result::Result::Ok(
                    #krate::__private::make(&mut #guard, move || -> #returned #body)
                ),
            };
            #block
        }
    }

    /// The guard goes into the async block that is all of the body.
    fn inside(&self, tail: &AsyncTail) -> TokenStream {
        let handle = if tail.is_move() {
            self.handle_at_call()
        } else {
            TokenStream::new()
        };
        let breaker = if handle.is_empty() {
            self.breaker()
        } else {
            TokenStream::new()
        };
        let opening = respan::repeated(tail.opening.iter().cloned().collect());
        let body = self.shared.body(&tail.block);
        let typed = self.shared.typed_return(&self.shared.output);
        let guarded = self.guarded(
            Waiting::Async,
            &breaker,
            &self
                .shared
                .boxed(quote_spanned!(self.shared.span=> #opening #body)),
        );
        let mut block = Group::new(
            Delimiter::Brace,
            quote_spanned!(self.shared.span=> #typed #guarded),
        );
        block.set_span(tail.block.span());
        let body = tail.with_block(&block);
        quote_spanned!(self.shared.span=> #handle #body)
    }

    /// A handle is read when the function is called, where its borrow ends at once.
    fn handle_at_call(&self) -> TokenStream {
        match self.guard.site {
            Site::Handle(_) => self.breaker(),
            Site::Static(_) | Site::Dynamic(_) => TokenStream::new(),
        }
    }

    /// Lays the breaker ready in a local.
    fn breaker(&self) -> TokenStream {
        let Locals { breaker, .. } = &self.shared.locals;
        site::breaker(&self.guard.site, &self.shared.krate, breaker)
    }
}
