//! Writes a timeout: a deadline for all that is inside, and the output once it has struck.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::site;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;
use crate::expand::stack::flags::set;
use crate::model::Timeout;

impl Nest<'_> {
    pub(super) fn timeout(&self, index: usize, timeout: &Timeout, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            locals,
            ..
        } = self.shared;
        let (out, policies) = (&locals.out, &self.policies);
        let bound = self.numbered("__bound", index);
        let outer = self.bound_of(around);
        let limit = site::duration_value(&timeout.limit);
        let inside = Around {
            bound: Some(bound.clone()),
            ..around.clone()
        };
        let inner = self.layer(index + 1, &inside);
        let make = self.shared.function_for("timed_out", output);
        let timed_out = set(*span, self.flags.timed_out.as_ref(), true);
        let made = self.some(around, &quote_spanned!(*span=> #make(&#bound)));
        let struck = match around.bound {
            None => quote_spanned!(*span=> { #timed_out #made }),
            // It may be one around this one that has struck.
            Some(_) => quote_spanned! {*span=>
                if #krate::__private::is_over(&#bound) {
                    #timed_out
                    #made
                } else {
                    ::core::option::Option::None
                }
            },
        };
        let passed = self.some(around, &quote_spanned!(*span=> #out));
        let inner_type = self.layer_type(&inside);
        quote_spanned! {*span=> {
            let #bound = #krate::__private::bound(#policies, #limit, #outer);
            let #out: #inner_type = #inner;
            match #out {
                ::core::option::Option::Some(#out) => #passed,
                ::core::option::Option::None => #struck,
            }
        }}
    }
}
