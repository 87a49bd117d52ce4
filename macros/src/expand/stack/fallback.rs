//! Writes a fallback: what is returned in place of the output of all that is inside.

use proc_macro2::Ident;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote_spanned;

use crate::args::When;
use crate::expand::Expansion;
use crate::expand::stack::Around;
use crate::expand::stack::Nest;
use crate::expand::stack::flags::set;
use crate::expand::stack::local;
use crate::leave::may_leave;
use crate::model::Answer;
use crate::model::Layer;
use crate::model::Plan;

const FIRST: &str = "__first";

impl Nest<'_> {
    pub(super) fn fallback(&self, index: usize, plan: &Plan, around: &Around) -> TokenStream {
        match plan.when {
            When::Rejected => self.for_rejections(index, plan, around),
            When::TimedOut | When::Failed => self.for_errors(index, plan, around),
            When::Any | When::Predicate(_) if self.may_refuse(index + 1, around.in_retry) => {
                self.for_both(index, plan, around)
            }
            When::Any | When::Predicate(_) => self.for_errors(index, plan, around),
        }
    }

    /// What is refused and was never begun. The arguments are all there.
    fn for_rejections(&self, index: usize, plan: &Plan, around: &Around) -> TokenStream {
        let Expansion {
            span,
            krate,
            locals,
            ..
        } = self.shared;
        let (out, rejected) = (&locals.out, &locals.rejected);
        let answered = self.label("__answered", index);
        let refused = self.label("__refused", index);
        let inside = Around {
            refused: refused.clone(),
            ..around.clone()
        };
        let ty = self.layer_type(around);
        let inner = self.layer(index + 1, &inside);
        let goes_on = self.goes_on(index, around);
        let answer = match &plan.answer {
            Answer::Value(value) => {
                let value = self
                    .shared
                    .value(&self.shared.statement(value), &self.shared.output);
                let first = self.first(&quote_spanned!(*span=> rejected(#rejected)));
                let answer = self.answer(&value, true, around);
                let kept = first.unwrap_or_else(|| quote_spanned!(*span=> let _ = #rejected;));
                quote_spanned!(*span=> #kept #answer)
            }
            Answer::Inline(inline) => {
                let ty = quote_spanned!(*span=> #krate::Rejected);
                let answer = self.shared.inline(inline, rejected, Some(&ty));
                self.answer(&answer, false, around)
            }
        };
        quote_spanned! {*span=> {
            let #out: #ty = #answered: {
                let #rejected = #refused: {
                    let #out: #ty = #inner;
                    break #answered #out
                };
                #goes_on
                #answer
            };
            #out
        }}
    }

    /// What was made and failed.
    fn for_errors(&self, index: usize, plan: &Plan, around: &Around) -> TokenStream {
        let Expansion { span, locals, .. } = self.shared;
        let out = &locals.out;
        let answered = self.label("__answered", index);
        let ty = self.layer_type(around);
        let inner = self.layer(index + 1, around);
        let made = self.made(index, plan, around, &answered);
        let asked = match &plan.when {
            When::Predicate(predicate) => {
                let asked = self.asks(out, &self.shared.ask(predicate));
                let passed = self.some(around, &out.to_token_stream());
                quote_spanned!(*span=> if !#asked { break #answered #passed; })
            }
            _ => TokenStream::new(),
        };
        let first = self.first(&quote_spanned!(*span=> failed(#out)));
        let answer = self.answer_to_error(plan, out, first.as_ref(), &answered, around);
        quote_spanned! {*span=> {
            let #out: #ty = #answered: {
                let #out: #ty = #inner;
                #made
                #asked
                #answer
            };
            #out
        }}
    }

    /// Both, in one place: the code of the user is written once.
    fn for_both(&self, index: usize, plan: &Plan, around: &Around) -> TokenStream {
        let Expansion {
            span,
            krate,
            output,
            locals,
            ..
        } = self.shared;
        let (out, rejected, failed) = (&locals.out, &locals.rejected, &locals.failed);
        let answered = self.label("__answered", index);
        let refused = self.label("__refused", index);
        let failing = self.label("__failed", index);
        let inside = Around {
            refused: refused.clone(),
            ..around.clone()
        };
        let ty = self.layer_type(around);
        let inner = self.layer(index + 1, &inside);
        let made = self.made(index, plan, around, &answered);
        let goes_on = self.goes_on(index, around);
        let needs_error = matches!(plan.answer, Answer::Inline(_));
        if let When::Predicate(predicate) = &plan.when {
            let rejection = self.shared.rejection();
            let asked = self.asks(failed, &self.shared.ask(predicate));
            let passed = self.some(around, &failed.to_token_stream());
            let target = &around.refused;
            let first = self.first(&quote_spanned!(*span=> either(#failed, #rejected)));
            let answer = self.answer_to_error(plan, failed, first.as_ref(), &answered, around);
            return quote_spanned! {*span=> {
                let #out: #ty = #answered: {
                    let (#failed, #rejected): (
                        #output,
                        ::core::option::Option<#krate::Rejected>,
                    ) = #failing: {
                        let #rejected = #refused: {
                            let #out: #ty = #inner;
                            #made
                            break #failing (#out, ::core::option::Option::None);
                        };
                        #goes_on
                        (#rejection, ::core::option::Option::Some(#rejected))
                    };
                    if !#asked {
                        match #rejected {
                            ::core::option::Option::Some(#rejected) => break #target #rejected,
                            ::core::option::Option::None => break #answered #passed,
                        }
                    }
                    #answer
                };
                #out
            }};
        }
        let (leave, refusal, bound) = if needs_error {
            let rejection = self.shared.rejection();
            let bound = quote_spanned!(*span=> #failed: #output);
            (quote_spanned!(*span=> #out), rejection, bound)
        } else if let Some(first) = self.place_for_first() {
            let refusal = quote_spanned!(*span=> #first.rejected(#rejected));
            let bound = local(self.shared, FIRST).into_token_stream();
            (quote_spanned!(*span=> #first.failed(#out)), refusal, bound)
        } else {
            let refusal = quote_spanned!(*span=> { let _ = #rejected; });
            let bound = quote_spanned!(*span=> #failed: ());
            (quote_spanned!(*span=> ()), refusal, bound)
        };
        let answer = self.answer_to_error(plan, failed, None, &answered, around);
        quote_spanned! {*span=> {
            let #out: #ty = #answered: {
                let #bound = #failing: {
                    let #rejected = #refused: {
                        let #out: #ty = #inner;
                        #made
                        break #failing #leave;
                    };
                    #goes_on
                    #refusal
                };
                #answer
            };
            #out
        }}
    }

    /// Lets everything pass that was made and does not call for this fallback; what is left is
    /// bound as an output.
    fn made(
        &self,
        index: usize,
        plan: &Plan,
        around: &Around,
        answered: &syn::Lifetime,
    ) -> TokenStream {
        let Expansion {
            span,
            output,
            locals,
            ..
        } = self.shared;
        let out = &locals.out;
        let struck = around.bound.as_ref().map(|_| {
            quote_spanned! {*span=>
                let #out: #output = match #out {
                    ::core::option::Option::Some(#out) => #out,
                    ::core::option::Option::None => break #answered ::core::option::Option::None,
                };
            }
        });
        let inside = &self.layers()[index + 1..];
        let has_timeout = inside
            .iter()
            .any(|layer| matches!(layer, Layer::Timeout(_)));
        let has_breaker = inside
            .iter()
            .any(|layer| matches!(layer, Layer::Breaker(_)));
        let timed_out = self.flags.timed_out.as_ref().filter(|_| has_timeout);
        // A breaker knows which outputs are failures; without one every error is.
        let counted = match self.flags.counted.as_ref().filter(|_| has_breaker) {
            Some(counted) => counted.to_token_stream(),
            None => {
                let yes = quote_spanned!(*span=> true);
                self.asks(out, &yes)
            }
        };
        let called = match (&plan.when, timed_out) {
            (When::TimedOut, Some(timed_out)) => quote_spanned!(*span=> #timed_out),
            (When::Failed, Some(timed_out)) => quote_spanned!(*span=> !#timed_out && #counted),
            (When::Any | When::Predicate(_), Some(timed_out)) if has_breaker => {
                quote_spanned!(*span=> #timed_out || #counted)
            }
            _ => counted,
        };
        // It would be given up as it begins, and nobody knew what it had done.
        let too_late = self
            .is_struck(around)
            .map(|is_struck| quote_spanned!(*span=> || #is_struck));
        let passed = self.some(around, &out.to_token_stream());
        quote_spanned! {*span=>
            #struck
            if !(#called) #too_late { break #answered #passed; }
        }
    }

    /// Asks about the error of an output; there is nothing to ask about where there is none.
    fn asks(&self, out: &Ident, asked: &TokenStream) -> TokenStream {
        let Expansion {
            span,
            output,
            locals,
            ..
        } = self.shared;
        let no = quote_spanned!(*span=> false);
        let pattern = locals.error.to_token_stream();
        self.shared.on_error(out, output, &pattern, asked, &no)
    }

    /// A refusal of a later attempt is not this fallback's: something has left the process. Nor
    /// is one at a deadline that has struck: nothing has been sent, and nothing is now.
    fn goes_on(&self, index: usize, around: &Around) -> TokenStream {
        let Expansion { span, locals, .. } = self.shared;
        let polled = self.flags.polled.as_ref().filter(|_| around.in_retry);
        let polled = polled.map(ToTokens::to_token_stream);
        let struck = self.is_struck(around).filter(|_| self.may_be_late(index));
        let (target, rejected) = (&around.refused, &locals.rejected);
        let occasions = [polled, struck].into_iter().flatten();
        occasions
            .map(|occasion| quote_spanned!(*span=> if #occasion { break #target #rejected; }))
            .collect()
    }

    /// Whether the nearest timeout around has struck, where there is one.
    fn is_struck(&self, around: &Around) -> Option<TokenStream> {
        let Expansion { span, krate, .. } = self.shared;
        let bound = around.bound.as_ref()?;
        Some(quote_spanned!(*span=> #krate::__private::is_struck(&#bound)))
    }

    /// Whether a refusal may come out of this fallback once the timeout around it has struck:
    /// where a policy inside lets a call wait.
    pub(super) fn may_be_late(&self, index: usize) -> bool {
        let (around, inside) = (&self.layers()[..index], &self.layers()[index + 1..]);
        let is_timeout = |layer: &Layer| matches!(layer, Layer::Timeout(_));
        let waits = |layer: &Layer| {
            matches!(
                layer,
                Layer::Bulkhead(_) | Layer::RateLimit(_) | Layer::Retry(_)
            )
        };
        around.iter().any(is_timeout) && inside.iter().any(waits)
    }

    /// The answer to an output that is at hand; a closure is given its error. An expression is
    /// given nothing, and `first` keeps that for it.
    fn answer_to_error(
        &self,
        plan: &Plan,
        failed: &Ident,
        first: Option<&TokenStream>,
        answered: &syn::Lifetime,
        around: &Around,
    ) -> TokenStream {
        let Expansion { span, locals, .. } = self.shared;
        match &plan.answer {
            Answer::Value(value) => {
                let value = self
                    .shared
                    .value(&self.shared.statement(value), &self.shared.output);
                let answer = self.answer(&value, true, around);
                quote_spanned!(*span=> #first #answer)
            }
            Answer::Inline(inline) => {
                let error = &locals.error;
                let answer = self.shared.inline(inline, error, None);
                let answer = self.answer(&answer, false, around);
                let ret = &locals.ret;
                let passed = self.some(around, &ret.to_token_stream());
                quote_spanned! {*span=>
                    let #error = match #failed {
                        ::core::result::Result::Err(#error) => #error,
                        #ret => break #answered #passed,
                    };
                    #answer
                }
            }
        }
    }

    /// Where the first error is kept while the fallback runs: a value that is empty. Nothing
    /// where the compiler is still to find out what the output is.
    fn place_for_first(&self) -> Option<TokenStream> {
        let Expansion {
            krate,
            span,
            output,
            ..
        } = self.shared;
        if mentions_inferred(output) {
            return None;
        }
        Some(quote_spanned! {*span=> {
            #[allow(unused_imports)]
            use #krate::__private::{Keeps as _, KeepsNot as _};
            (&&#krate::__private::Keeping::<#output>::new()).__breakerbox_first()
        }})
    }

    /// Keeps what the fallback is to answer for.
    fn first(&self, kept: &TokenStream) -> Option<TokenStream> {
        let Expansion { span, .. } = self.shared;
        let place = self.place_for_first()?;
        let first = local(self.shared, FIRST);
        Some(quote_spanned!(*span=> let #first = #place.#kept;))
    }

    /// Runs the user's code, and says that it has. Under a timeout the deadline holds for it, too.
    /// An error of code that was given nothing keeps the first one.
    fn answer(&self, code: &TokenStream, keeps: bool, around: &Around) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            locals,
            ..
        } = self.shared;
        let (out, policies) = (&locals.out, &self.policies);
        let timed_out = set(*span, self.flags.timed_out.as_ref(), false);
        let is_error =
            quote_spanned!(*span=> (&&#krate::__private::Answered(&#out)).__breakerbox_failed());
        let failed = &locals.failed;
        let counted = self
            .flags
            .counted
            .as_ref()
            .map(|flag| quote_spanned!(*span=> #flag = #failed;));
        let kept = (keeps && !mentions_inferred(output)).then(|| {
            let first = local(self.shared, FIRST);
            quote_spanned!(*span=> let #out: #output = #first.kept_by(#out);)
        });
        let told = quote_spanned! {*span=>
            #kept
            #[allow(unused_imports)]
            use #krate::__private::{CannotFail as _, MayFail as _};
            let #failed = #is_error;
            #krate::__private::fell_back(#policies, #failed);
            #timed_out
            #counted
        };
        let unjudged = self.flags.unjudged(*span, krate);
        let told = quote_spanned!(*span=> #told #unjudged);
        let typed = self.shared.typed_return(output);
        match &around.bound {
            None => {
                // What leaves it with `?` or `return` is its answer, and not the function's.
                let code = match (may_leave(code), self.is_async()) {
                    (false, _) => quote_spanned!(*span=> { #code }),
                    (true, true) => quote_spanned!(*span=> async { #typed #code }.await),
                    (true, false) => quote_spanned!(*span=> (|| -> #output { #code })()),
                };
                quote_spanned! {*span=>
                    let #out: #output = #code;
                    #told
                    #out
                }
            }
            Some(bound) => {
                quote_spanned! {*span=>
                    match #krate::__private::within(&#bound, async { #typed #code }).await {
                        ::core::option::Option::Some(#out) => {
                            #told
                            ::core::option::Option::Some(#out)
                        }
                        ::core::option::Option::None => ::core::option::Option::None,
                    }
                }
            }
        }
    }
}

/// Whether `_` is in a type: it stands where the user has written `impl Trait`. A lifetime may
/// have that name, too.
fn mentions_inferred(ty: &TokenStream) -> bool {
    let mut is_lifetime = false;
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions_inferred(&group.stream()),
        TokenTree::Ident(ident) => ident == "_" && !std::mem::take(&mut is_lifetime),
        TokenTree::Punct(punct) => {
            is_lifetime = punct.as_char() == '\'';
            false
        }
        TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_lifetime_is_not_taken_for_a_type_that_is_inferred() {
        assert!(mentions_inferred(&quote!(Result<Vec<_>, E>)));
        assert!(mentions_inferred(&quote!((u8, _))));
        assert!(mentions_inferred(&quote!(Result<A<'_>, _>)));
        assert!(!mentions_inferred(&quote!(Result<A<'_>, E<'_, u8>>)));
    }
}
