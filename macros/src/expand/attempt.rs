//! Writes one call under the guard: asking, running, judging, and what the caller gets.

use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;

use crate::args::When;
use crate::expand::Expansion;
use crate::expand::Locals;
use crate::expand::lone::Lone;
use crate::expand::lone::Waiting;
use crate::model::Answer;
use crate::model::Judgement;
use crate::model::Plan;

impl Lone<'_> {
    /// Asks the breaker, runs the body, tells the breaker, and puts the fallback in its place.
    pub(super) fn guarded(
        &self,
        waiting: Waiting,
        breaker: &TokenStream,
        body: &TokenStream,
    ) -> TokenStream {
        let attempt = self.attempt(waiting, body);
        let Locals {
            guarded,
            failed,
            rejected,
            error,
            ret,
            ..
        } = &self.shared.locals;
        let Expansion {
            krate,
            output,
            span,
            ..
        } = self.shared;
        let Some(Plan { when, answer }) = &self.guard.fallback else {
            return quote_spanned!(*span=> #breaker #attempt);
        };
        let asked = match when {
            When::Rejected | When::TimedOut | When::Failed | When::Any => None,
            When::Predicate(predicate) => {
                let pattern = error.to_token_stream();
                let no = quote_spanned!(*span=> false);
                Some(self.shared.on_error(
                    failed,
                    output,
                    &pattern,
                    &self.shared.ask(predicate),
                    &no,
                ))
            }
        };
        match (answer, when) {
            (Answer::Value(value), When::Predicate(_)) => {
                let value = self.shared.value(&self.shared.statement(value), output);
                quote_spanned! {*span=>
                    #breaker
                    let #failed: #output = #guarded: { #attempt };
                    if !#asked { return #failed; }
                    #value
                }
            }
            (Answer::Value(value), _) => {
                let value = self.shared.value(&self.shared.statement(value), output);
                quote_spanned!(*span=> #breaker #guarded: { #attempt } #value)
            }
            (Answer::Inline(inline), When::Rejected) => {
                let ty = quote_spanned!(*span=> #krate::Rejected);
                let answer = self.shared.inline(inline, rejected, Some(&ty));
                quote_spanned!(*span=> #breaker let #rejected = #guarded: { #attempt }; #answer)
            }
            (Answer::Inline(inline), _) => {
                let answer = self.shared.inline(inline, error, None);
                let unasked =
                    asked.map(|asked| quote_spanned!(*span=> if !#asked { return #failed; }));
                quote_spanned! {*span=>
                    #breaker
                    let #failed: #output = #guarded: { #attempt };
                    #unasked
                    match #failed {
                        ::core::result::Result::Err(#error) => { #answer }
                        #ret => #ret,
                    }
                }
            }
        }
    }

    /// One call under the guard. It ends the function with the output, or it breaks out
    /// with what the fallback is about.
    fn attempt(&self, waiting: Waiting, body: &TokenStream) -> TokenStream {
        let Expansion {
            krate, plain, span, ..
        } = self.shared;
        let Locals {
            breaker,
            guard,
            made,
            out,
            rejected,
            verdict,
            ..
        } = &self.shared.locals;
        let on_rejected = self.on_rejected();
        let entered = self.entered(waiting, body);
        let settled = self.settled();
        let ending = self.ending();
        // The guard is made, filled and settled in one place: moving it through the
        // state of the future would cost more than all the rest.
        let enter = match waiting {
            Waiting::Made => TokenStream::new(),
            Waiting::Async | Waiting::Blocking => {
                quote_spanned!(*span=> let mut #guard = #krate::__private::enter(#breaker);)
            }
        };
        quote_spanned! {*span=>
            #enter
            let #out: #plain = #made: {
                let #rejected = #entered;
                #on_rejected
            };
            let #verdict = #settled;
            #ending
        }
    }

    /// Goes in and runs the body: breaks out with its output, or with the rejection.
    fn entered(&self, waiting: Waiting, body: &TokenStream) -> TokenStream {
        let Expansion { krate, span, .. } = self.shared;
        let Locals {
            future,
            guard,
            made,
            out,
            refused,
            rejected,
            ..
        } = &self.shared.locals;
        let watch = quote_spanned! {*span=>
            match #krate::__private::wait_and_watch(&mut #guard, #body).await {
                ::core::option::Option::Some(#out) => break #made #out,
                ::core::option::Option::None => #krate::__private::rejection(&#guard),
            }
        };
        let (ask, run) = match waiting {
            Waiting::Made => {
                return quote_spanned! {*span=>
                    match #future {
                        ::core::result::Result::Err(#rejected) => #rejected,
                        ::core::result::Result::Ok(#future) => #watch,
                    }
                };
            }
            Waiting::Blocking => (
                quote_spanned!(*span=> #krate::__private::wait_blocking(&mut #guard)),
                quote_spanned!(*span=> break #made #krate::__private::run(&mut #guard, #body)),
            ),
            // The fallback may use the arguments, so nothing is asked after the body has
            // taken them. An await before that keeps copies of them in the future.
            Waiting::Async if self.fallback_answers_rejections() => (
                quote_spanned!(*span=> #krate::__private::wait(&mut #guard).await),
                quote_spanned!(*span=> break #made #krate::__private::watch(&mut #guard, #body).await),
            ),
            Waiting::Async => (
                quote_spanned!(*span=> #krate::__private::refuse(&mut #guard)),
                watch,
            ),
        };
        quote_spanned! {*span=>
            #refused: {
                if !#krate::__private::is_in(&#guard) {
                    if let ::core::option::Option::Some(#rejected) = #ask {
                        break #refused #rejected;
                    }
                }
                #run
            }
        }
    }

    fn fallback_answers_rejections(&self) -> bool {
        self.guard
            .fallback
            .as_ref()
            .is_some_and(|plan| matches!(plan.when, When::Rejected | When::Any))
    }

    fn on_rejected(&self) -> TokenStream {
        let Expansion { span, .. } = self.shared;
        let Locals {
            guarded, rejected, ..
        } = &self.shared.locals;
        match &self.guard.fallback {
            Some(Plan {
                when: When::Rejected,
                answer: Answer::Inline(_),
            }) => {
                quote_spanned!(*span=> break #guarded #rejected)
            }
            Some(Plan {
                when: When::Rejected | When::Any,
                answer: Answer::Value(_),
            }) => {
                quote_spanned!(*span=> { let _ = #rejected; break #guarded })
            }
            Some(Plan {
                when: When::Any,
                answer: Answer::Inline(_),
            })
            | Some(Plan {
                when: When::Predicate(_),
                ..
            }) => {
                let output = self.shared.rejection();
                quote_spanned!(*span=> break #guarded #output)
            }
            // A breaker alone has no timeout.
            Some(Plan {
                when: When::Failed | When::TimedOut,
                ..
            })
            | None => {
                let output = self.shared.rejection();
                quote_spanned!(*span=> return #output)
            }
        }
    }

    /// What follows once the breaker knows: the output, or the way to the fallback.
    fn ending(&self) -> TokenStream {
        let Expansion {
            krate,
            output,
            span,
            ..
        } = self.shared;
        let Locals { out, verdict, .. } = &self.shared.locals;
        let out = if self.shared.options.wrap_error {
            let wrap = self.shared.function_for("wrap", output);
            quote_spanned!(*span=> #wrap(#out))
        } else {
            out.to_token_stream()
        };
        let Some(Plan { when, answer }) = &self.guard.fallback else {
            return out;
        };
        if let When::Rejected = when {
            return quote_spanned!(*span=> return #out;);
        }
        let value = match (answer, when) {
            (Answer::Inline(_), _) | (_, When::Predicate(_)) => out.clone(),
            (Answer::Value(_), _) => TokenStream::new(),
        };
        // An error that the breaker does not count is the caller's to see.
        quote_spanned! {*span=>
            match #verdict {
                #krate::Verdict::Success | #krate::Verdict::Ignore => return #out,
                _ => {}
            }
            #value
        }
    }

    /// Judges the output and tells the breaker; the verdict.
    fn settled(&self) -> TokenStream {
        let Expansion {
            krate, plain, span, ..
        } = self.shared;
        let Locals {
            error,
            guard,
            out,
            verdict,
            ..
        } = &self.shared.locals;
        let (fails_on, ignores) = match &self.guard.verdict {
            Judgement::Output(judge) => {
                let judge = judge.to_token_stream();
                let judged =
                    self.shared
                        .call_at("classify", &judge, &quote_spanned!(*span=> &#out, #judge));
                return quote_spanned! {*span=> {
                    let #verdict = #judged;
                    #krate::__private::settle(&mut #guard, #verdict);
                    #verdict
                }};
            }
            Judgement::Error { fails_on, ignores } => (fails_on, ignores),
        };
        let mut judged = quote_spanned!(*span=> #krate::Verdict::Failure);
        if let Some(fails_on) = fails_on {
            let asked = self.shared.ask(fails_on);
            judged =
                quote_spanned!(*span=> if #asked { #judged } else { #krate::Verdict::Success });
        }
        if let Some(ignores) = ignores {
            let asked = self.shared.ask(ignores);
            judged = quote_spanned!(*span=> if #asked { #krate::Verdict::Ignore } else { #judged });
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
        self.shared
            .on_error(out, plain, &error.to_token_stream(), &failed, &answered)
    }
}
