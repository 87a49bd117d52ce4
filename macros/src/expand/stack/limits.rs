//! Writes a bulkhead and a rate limit: a place or a token before what is inside.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;

impl Nest<'_> {
    pub(super) fn bulkhead(&self, index: usize, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (out, rejected, policies) = (&locals.out, &locals.rejected, &self.policies);
        let slot = self.numbered("__slot", index);
        let refused = &around.refused;
        let bound = self.bound_of(around);
        let waiting = if self.is_async() {
            quote_spanned!(*span=> #krate::__private::slot(#policies, #bound).await)
        } else {
            quote_spanned!(*span=> #krate::__private::slot_blocking(#policies))
        };
        let ty = self.layer_type(around);
        let inner = self.layer(index + 1, around);
        quote_spanned! {*span=> {
            let #slot = match #krate::__private::try_slot(#policies) {
                ::core::option::Option::Some(#slot) => #slot,
                ::core::option::Option::None => match #waiting {
                    ::core::result::Result::Ok(#slot) => #slot,
                    ::core::result::Result::Err(#rejected) => break #refused #rejected,
                },
            };
            let #out: #ty = #inner;
            ::core::mem::drop(#slot);
            #out
        }}
    }

    pub(super) fn rate_limit(&self, index: usize, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (rejected, policies) = (&locals.rejected, &self.policies);
        let refused = &around.refused;
        let bound = self.bound_of(around);
        let waiting = if self.is_async() {
            quote_spanned!(*span=> #krate::__private::token(#policies, #bound).await)
        } else {
            quote_spanned!(*span=> #krate::__private::token_blocking(#policies))
        };
        let inner = self.layer(index + 1, around);
        quote_spanned! {*span=> {
            if !#krate::__private::try_token(#policies) {
                if let ::core::result::Result::Err(#rejected) = #waiting {
                    break #refused #rejected;
                }
            }
            #inner
        }}
    }
}
