//! Writes a breaker among other policies: asking, judging what came out, and telling it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;

use crate::args::Callable;
use crate::args::Predicate;
use crate::expand::Expansion;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;
use crate::model::Guard;
use crate::model::Judgement;
use crate::model::Layer;

impl Nest<'_> {
    pub(super) fn breaker(&self, index: usize, breaker: &Guard, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (out, guard, rejected) = (&locals.out, &locals.guard, &locals.rejected);
        let breaker_name = &locals.breaker;
        let made = self.label("__made", index);
        let refused = self.label("__refused", index);
        let target = &around.refused;
        let inside = Around {
            refused: refused.clone(),
            in_breaker: true,
            ..around.clone()
        };
        let ask = self.asked(&refused, around);
        let ty = self.layer_type(around);
        let inner = self.layer(index + 1, &inside);
        let told = self.may_refuse(index + 1, around.in_retry).then(|| {
            let counts = self.layers()[index + 1..]
                .iter()
                .any(|layer| matches!(layer, Layer::Bulkhead(bulkhead) if bulkhead.counts));
            quote_spanned! {*span=>
                #krate::__private::refused_inside(&mut #guard, &#rejected, #counts);
            }
        });
        let settled = self.settled(&breaker.verdict, around);
        quote_spanned! {*span=> {
            let mut #guard = #krate::__private::enter(#breaker_name);
            let #out: #ty = #made: {
                let #rejected = #refused: {
                    #ask
                    let #out: #ty = #inner;
                    break #made #out
                };
                #told
                break #target #rejected
            };
            #settled
            #out
        }}
    }

    /// Goes in, or leaves with the rejection.
    fn asked(&self, refused: &syn::Lifetime, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (guard, rejected) = (&locals.guard, &locals.rejected);
        let bound = self.bound_of(around);
        let asks = if self.is_async() {
            vec![
                quote_spanned!(*span=> #krate::__private::refuse_before(&mut #guard, #bound)),
                quote_spanned!(*span=> #krate::__private::wait(&mut #guard).await),
            ]
        } else {
            vec![quote_spanned!(*span=> #krate::__private::wait_blocking(&mut #guard))]
        };
        quote_spanned! {*span=> #(
            if !#krate::__private::is_in(&#guard) {
                if let ::core::option::Option::Some(#rejected) = #asks {
                    break #refused #rejected;
                }
            }
        )*}
    }

    /// Judges what came out, and tells the breaker.
    fn settled(&self, judgement: &Judgement, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (out, guard, verdict) = (&locals.out, &locals.guard, &locals.verdict);
        let settled = match judgement {
            Judgement::Output(judge) => self.classified(judge, around),
            Judgement::Error { fails_on, ignores } => {
                self.by_error(fails_on.as_ref(), ignores.as_ref())
            }
        };
        let counted = self.flags.counted.as_ref().map(|flag| {
            quote_spanned! {*span=>
                #flag = match #verdict {
                    #krate::Verdict::Success | #krate::Verdict::Ignore => false,
                    _ => true,
                };
            }
        });
        let classifies = matches!(judgement, Judgement::Output(_));
        let judged = self.flags.judged.as_ref().filter(|_| classifies);
        let judged = judged.map(|flag| quote_spanned!(*span=> #flag = #verdict;));
        let settled = quote_spanned!(*span=> let #verdict = #settled; #counted #judged);
        if around.bound.is_none() {
            return settled;
        }
        let forgotten = judged.and_then(|_| self.flags.unjudged(*span, krate));
        quote_spanned! {*span=>
            match #out {
                ::core::option::Option::Some(ref #out) => { #settled }
                ::core::option::Option::None => {
                    #krate::__private::struck(&mut #guard);
                    #forgotten
                }
            }
        }
    }

    fn classified(&self, judge: &Callable, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            locals,
            ..
        } = self.shared;
        let (out, guard, verdict) = (&locals.out, &locals.guard, &locals.verdict);
        let judge = judge.to_token_stream();
        // Under a timeout it is a reference.
        let reference = match around.bound {
            Some(_) => quote_spanned!(*span=> #out),
            None => quote_spanned!(*span=> &#out),
        };
        let arguments = quote_spanned!(*span=> #reference, #judge);
        let judged = self.shared.call_at("classify", &judge, &arguments);
        quote_spanned! {*span=> {
            let #verdict = #judged;
            #krate::__private::settle(&mut #guard, #verdict);
            #verdict
        }}
    }

    fn by_error(&self, fails_on: Option<&Predicate>, ignores: Option<&Predicate>) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            locals,
            options,
            ..
        } = self.shared;
        let (out, guard) = (&locals.out, &locals.guard);
        let (error, verdict) = (&locals.error, &locals.verdict);
        let failure = quote_spanned!(*span=> #krate::Verdict::Failure);
        let mut judged = failure.clone();
        if let Some(fails_on) = fails_on {
            let asked = self.shared.ask(fails_on);
            judged =
                quote_spanned!(*span=> if #asked { #judged } else { #krate::Verdict::Success });
            if let Some(timed_out) = self
                .flags
                .timed_out
                .as_ref()
                .filter(|_| !options.wrap_error)
            {
                judged = quote_spanned!(*span=> if #timed_out { #failure } else { #judged });
            }
        }
        if let Some(ignores) = ignores {
            let asked = self.shared.ask(ignores);
            judged = quote_spanned!(*span=> if #asked { #krate::Verdict::Ignore } else { #judged });
        }
        // The predicates know the body's own error, which that of a timeout is not.
        if options.wrap_error && (fails_on.is_some() || ignores.is_some()) {
            judged = self.on_inner_error(&judged, &failure);
        }
        let failed = quote_spanned! {*span=> {
            let #verdict = #judged;
            #[allow(unused_imports)]
            use #krate::__private::{NotShown as _, Shown as _};
            let #error = (&&#krate::__private::Telling(#error)).__breakerbox_shown();
            #krate::__private::settle_error(&mut #guard, #verdict, #error);
            #verdict
        }};
        let answered = quote_spanned! {*span=> {
            #krate::__private::settle(&mut #guard, #krate::Verdict::Success);
            #krate::Verdict::Success
        }};
        let pattern = error.to_token_stream();
        self.shared
            .on_error(out, output, &pattern, &failed, &answered)
    }
}
