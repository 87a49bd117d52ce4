//! Writes the body, where it begins.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;
use crate::expand::stack::flags::set;

impl Nest<'_> {
    /// The body itself, begun only here.
    pub(super) fn leaf(&self, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            plain,
            locals,
            ..
        } = self.shared;
        let (out, guard) = (&locals.out, &locals.guard);
        let polled = set(*span, self.flags.polled.as_ref(), true);
        // Without another attempt nothing was set before.
        let timed_out = match &self.flags.timed_out {
            Some(flag) if around.in_retry => set(*span, Some(flag), false),
            _ => None,
        };
        let wrapped = if self.shared.options.wrap_error {
            let wrap = self.shared.function_for("wrap", &self.shared.output);
            quote_spanned!(*span=> #wrap(#out))
        } else {
            out.to_token_stream()
        };
        let body = &self.body;
        if !self.is_async() {
            let run = if around.in_breaker {
                quote_spanned!(*span=> #krate::__private::run(&mut #guard, #body))
            } else {
                let future = &locals.future;
                quote_spanned!(*span=> match #body { #future => #future() })
            };
            return quote_spanned! {*span=> {
                #polled
                let #out: #plain = #run;
                #timed_out
                #wrapped
            }};
        }
        let body = match &around.bound {
            Some(bound) => quote_spanned!(*span=> #krate::__private::within(&#bound, #body)),
            None => body.clone(),
        };
        let body = if around.in_breaker {
            quote_spanned!(*span=> #krate::__private::watch(&mut #guard, #body))
        } else {
            body
        };
        if around.bound.is_none() {
            return quote_spanned! {*span=> {
                #polled
                let #out: #plain = #body.await;
                #timed_out
                #wrapped
            }};
        }
        if timed_out.is_none() && !self.shared.options.wrap_error {
            return quote_spanned!(*span=> { #polled #body.await });
        }
        quote_spanned! {*span=> {
            #polled
            match #body.await {
                ::core::option::Option::Some(#out) => {
                    #timed_out
                    ::core::option::Option::Some(#wrapped)
                }
                ::core::option::Option::None => ::core::option::Option::None,
            }
        }}
    }
}
