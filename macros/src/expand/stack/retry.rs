//! Writes a retry: a loop around all that is inside, with a sleep between two attempts.

use proc_macro2::Ident;
use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::expand::Expansion;
use crate::expand::site;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;
use crate::item::Argument;
use crate::model::Again;
use crate::model::Layer;
use crate::model::Retry;
use crate::respan;

impl Nest<'_> {
    pub(super) fn retry(&self, index: usize, policy: &Retry, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            locals,
            ..
        } = self.shared;
        let (out, rejected, policies) = (&locals.out, &locals.rejected, &self.policies);
        let retry = self.numbered("__retry", index);
        let attempts = self.label("__attempts", index);
        let refused = self.label("__refused", index);
        let sleep = self.numbered("__sleep", index);
        let inside = Around {
            refused: refused.clone(),
            in_retry: true,
            ..around.clone()
        };
        let numbers = site::retry_policy(&policy.policy, krate);
        let bound = self.bound_of(around);
        let begin = self.shared.function_for("retrying", output);
        let copies = self.copies();
        let ty = self.layer_type(&inside);
        let inner = self.layer(index + 1, &inside);
        let struck = around.bound.as_ref().map(|_| {
            quote_spanned! {*span=>
                let #out: #output = match #out {
                    ::core::option::Option::Some(#out) => #out,
                    ::core::option::Option::None => break #attempts ::core::option::Option::None,
                };
            }
        });
        let again = self.again(&policy.again);
        let asked = self.numbered("__again", index);
        let verdict = match &self.flags.judged {
            Some(flag) => quote_spanned!(*span=> #flag),
            None => quote_spanned!(*span=> #krate::Verdict::Failure),
        };
        let answer = self.some(around, &quote_spanned!(*span=> #out));
        let rest = self.rest(around, &sleep);
        let (next, refuse, slept) = if self.is_async() {
            ("next", "refused", quote_spanned!(*span=> #sleep))
        } else {
            let slept = quote_spanned!(*span=> ());
            ("next_blocking", "refused_blocking", slept)
        };
        let next = self.shared.function_for(next, output);
        // Whoever wakes the task may have been late.
        let late = self.is_async().then(|| {
            quote_spanned! {*span=>
                if let ::core::option::Option::Some(#out) =
                    #krate::__private::too_late(&mut #retry)
                {
                    break #attempts #answer;
                }
            }
        });
        let attempt = quote_spanned! {*span=>
            #copies
            let #out: #ty = #inner;
            #struck
            let #asked: bool = #again;
            // The usual call, which is made once: its output is handed on where it is.
            if !#asked && #krate::__private::is_first(&#retry) {
                break #attempts #answer;
            }
            match #next(&mut #retry, #out, #asked, #verdict) {
                ::core::ops::ControlFlow::Break(#out) => break #attempts #answer,
                ::core::ops::ControlFlow::Continue(#slept) => { #rest #late continue #attempts }
            }
        };
        let body = if self.may_refuse(index + 1, true) {
            let refuse = self.shared.function_for(refuse, output);
            let target = &around.refused;
            let ends = quote_spanned! {*span=>
                #krate::__private::Refusal::Last(#out) => break #attempts #answer,
                #krate::__private::Refusal::Rejected(#rejected) => break #target #rejected,
            };
            let again = quote_spanned! {*span=>
                #krate::__private::Refusal::Again | #krate::__private::Refusal::Wait(_) => {}
            };
            let wait = if self.is_async() {
                quote_spanned! {*span=>
                    #krate::__private::Refusal::Wait(#sleep) => {
                        #rest
                        match #krate::__private::waited(&mut #retry) { #ends #again }
                    }
                    // Only a thread that sleeps has slept already.
                    #krate::__private::Refusal::Again => {}
                }
            } else {
                again
            };
            quote_spanned! {*span=>
                let #rejected = #refused: { #attempt };
                match #refuse(&mut #retry, #rejected) { #ends #wait }
            }
        } else {
            attempt
        };
        quote_spanned! {*span=> {
            let mut #retry = #begin(#policies, #numbers, #bound);
            #attempts: loop { #body }
        }}
    }

    /// Whether what came out calls for another attempt.
    fn again(&self, again: &Again) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            locals,
            ..
        } = self.shared;
        let no = match (again, &self.flags.judged) {
            // It asks for another attempt, whatever it is about.
            (Again::AnyError, Some(flag)) => quote_spanned! {*span=>
                match #flag { #krate::Verdict::RetryAfter(_) => true, _ => false }
            },
            _ => quote_spanned!(*span=> false),
        };
        match again {
            Again::AnyError => {
                let yes = quote_spanned!(*span=> true);
                let any = quote_spanned!(*span=> _);
                self.shared.on_error(&locals.out, output, &any, &yes, &no)
            }
            Again::Asked(predicate) => {
                let ask = self.shared.ask(predicate);
                self.on_inner_error(&ask, &no)
            }
        }
    }

    /// One value for the body's own error, another where there is none.
    pub(super) fn on_inner_error(&self, error: &TokenStream, none: &TokenStream) -> TokenStream {
        let Expansion {
            span,
            output,
            locals,
            options,
            ..
        } = self.shared;
        let (out, name) = (&locals.out, &locals.error);
        let error_of = if options.wrap_error {
            self.shared.function_for("plain_error_of", output)
        } else {
            self.shared.function_for("error_of", output)
        };
        quote_spanned! {*span=>
            match #error_of(&#out) {
                ::core::option::Option::Some(#name) => #error,
                ::core::option::Option::None => #none,
            }
        }
    }

    /// Waits before the next attempt. A breaker around it is told that nothing runs meanwhile.
    fn rest(&self, around: &Around, sleep: &Ident) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        if !self.is_async() {
            return TokenStream::new();
        }
        let guard = &locals.guard;
        let resting = around
            .in_breaker
            .then(|| quote_spanned!(*span=> #krate::__private::resting(&mut #guard);));
        quote_spanned!(*span=> #resting #sleep.await;)
    }

    fn cloned(&self) -> impl Iterator<Item = &Argument> {
        self.layers().iter().flat_map(|layer| match layer {
            Layer::Retry(retry) => retry.cloned.as_slice(),
            _ => &[],
        })
    }

    pub(super) fn cloned_names(&self) -> Vec<Ident> {
        self.cloned()
            .map(|argument| argument.name.clone())
            .collect()
    }

    /// The copies of one attempt.
    fn copies(&self) -> TokenStream {
        let Expansion { krate, span, .. } = self.shared;
        let copies = self.cloned().map(|argument| {
            let name = &argument.name;
            let at = respan::generated(name.span());
            let krate = respan::moved(krate.clone(), name.span());
            let clone = quote_spanned!(at=> #krate::__private::cloned(&#name));
            quote_spanned!(*span=> let #name = #clone;)
        });
        quote_spanned!(*span=> #(#copies)*)
    }

    /// The body owns its copies, so that they need not be shared between threads. One that may
    /// be changed is a variable there.
    pub(super) fn copies_moved(&self) -> TokenStream {
        let span = self.shared.span;
        let moves = self.cloned().map(
            |Argument { name, mutable, .. }| quote_spanned!(span=> let #mutable #name = #name;),
        );
        quote_spanned!(span=> #(#moves)*)
    }
}
