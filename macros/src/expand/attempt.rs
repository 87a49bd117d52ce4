//! Writes one call under the guard: asking, running, judging, and what the caller gets.

use proc_macro2::Delimiter;
use proc_macro2::Ident;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Expr;

use crate::args::Predicate;
use crate::args::When;
use crate::expand::Expansion;
use crate::expand::Locals;
use crate::expand::Waiting;
use crate::expand::user_block;
use crate::model::Answer;
use crate::model::Inline;
use crate::model::Judgement;
use crate::model::Plan;

impl Expansion<'_> {
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
        } = &self.locals;
        let Self {
            krate,
            output,
            span,
            ..
        } = self;
        let Some(Plan { when, answer }) = &self.guard.fallback else {
            return quote_spanned!(*span=> #breaker #attempt);
        };
        let asked = match when {
            When::Rejected | When::Failed | When::Any => None,
            When::Predicate(predicate) => {
                let pattern = error.to_token_stream();
                let no = quote_spanned!(*span=> false);
                Some(self.on_error(failed, output, &pattern, &self.ask(predicate), &no))
            }
        };
        match (answer, when) {
            (Answer::Value(value), When::Predicate(_)) => {
                let value = self.value(&self.statement(value), output);
                quote_spanned! {*span=>
                    #breaker
                    let #failed: #output = #guarded: { #attempt };
                    if !#asked { return #failed; }
                    #value
                }
            }
            (Answer::Value(value), _) => {
                let value = self.value(&self.statement(value), output);
                quote_spanned!(*span=> #breaker #guarded: { #attempt } #value)
            }
            (Answer::Inline(inline), When::Rejected) => {
                let ty = quote_spanned!(*span=> #krate::Rejected);
                let answer = self.inline(inline, rejected, Some(&ty));
                quote_spanned!(*span=> #breaker let #rejected = #guarded: { #attempt }; #answer)
            }
            (Answer::Inline(inline), When::Failed | When::Any | When::Predicate(_)) => {
                let answer = self.inline(inline, error, None);
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

    /// The body of a fallback closure in place of a call of it.
    fn inline(&self, inline: &Inline, argument: &Ident, ty: Option<&TokenStream>) -> TokenStream {
        let Inline {
            pattern,
            ty: own_type,
            output,
            body,
        } = inline;
        let ty = own_type
            .as_ref()
            .map(ToTokens::to_token_stream)
            .or_else(|| ty.cloned());
        let ty = ty.map(|ty| quote_spanned!(self.span=> : #ty));
        let output = output
            .as_ref()
            .map_or_else(|| self.output.clone(), ToTokens::to_token_stream);
        let value = self.value(&self.statement(body), &output);
        quote_spanned! {self.span=>
            #[allow(clippy::no_effect_underscore_binding)]
            let #pattern #ty = #argument;
            #value
        }
    }

    /// One call under the guard. It ends the function with the output, or it breaks out
    /// with what the fallback is about.
    fn attempt(&self, waiting: Waiting, body: &TokenStream) -> TokenStream {
        let Self {
            krate, plain, span, ..
        } = self;
        let Locals {
            breaker,
            guard,
            made,
            out,
            rejected,
            verdict,
            ..
        } = &self.locals;
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
        let Self { krate, span, .. } = self;
        let Locals {
            future,
            guard,
            made,
            out,
            refused,
            rejected,
            ..
        } = &self.locals;
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
        let Self { span, .. } = self;
        let Locals {
            guarded, rejected, ..
        } = &self.locals;
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
                let output = self.rejection();
                quote_spanned!(*span=> break #guarded #output)
            }
            Some(Plan {
                when: When::Failed, ..
            })
            | None => {
                let output = self.rejection();
                quote_spanned!(*span=> return #output)
            }
        }
    }

    /// The output for a call that was never made.
    fn rejection(&self) -> TokenStream {
        let Self { output, span, .. } = self;
        let Locals { rejected, .. } = &self.locals;
        match &self.guard.map_rejected {
            None => {
                let make = self.function_for("rejected", output);
                quote_spanned!(*span=> #make(#rejected))
            }
            Some(map) => {
                let make = self.function_for("map_rejected", output);
                quote_spanned!(*span=> #make(#rejected, #map))
            }
        }
    }

    /// What follows once the breaker knows: the output, or the way to the fallback.
    fn ending(&self) -> TokenStream {
        let Self {
            krate,
            output,
            span,
            ..
        } = self;
        let Locals { out, verdict, .. } = &self.locals;
        let out = if self.guard.wrap_error {
            let wrap = self.function_for("wrap", output);
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
        let Self {
            krate, plain, span, ..
        } = self;
        let Locals {
            error,
            guard,
            out,
            verdict,
            ..
        } = &self.locals;
        let (fails_on, ignores) = match &self.guard.verdict {
            Judgement::Output(judge) => {
                let judge = judge.to_token_stream();
                let judged =
                    self.call_at("classify", &judge, &quote_spanned!(*span=> &#out, #judge));
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
            let asked = self.ask(fails_on);
            judged =
                quote_spanned!(*span=> if #asked { #judged } else { #krate::Verdict::Success });
        }
        if let Some(ignores) = ignores {
            let asked = self.ask(ignores);
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
        self.on_error(out, plain, &error.to_token_stream(), &failed, &answered)
    }

    /// One value for an error of an output, another where there is none.
    fn on_error(
        &self,
        out: &Ident,
        ty: &TokenStream,
        pattern: &TokenStream,
        error: &TokenStream,
        none: &TokenStream,
    ) -> TokenStream {
        let Self { span, .. } = self;
        let error_of = self.function_for("error_of", ty);
        quote_spanned! {*span=>
            match #error_of(&#out) {
                ::core::option::Option::Some(#pattern) => #error,
                ::core::option::Option::None => #none,
            }
        }
    }

    fn ask(&self, predicate: &Predicate) -> TokenStream {
        let Self { span, .. } = self;
        let Locals { error, .. } = &self.locals;
        match predicate {
            Predicate::Path(path) => {
                let path = path.to_token_stream();
                self.call_at("ask", &path, &quote_spanned!(*span=> #path, #error))
            }
            Predicate::Closure(closure) => {
                let closure = closure.to_token_stream();
                let arguments = quote_spanned!(*span=> #error, #closure);
                self.call_at("ask_closure", &closure, &arguments)
            }
            // `matches!` could be the user's own.
            Predicate::Pattern { pattern, guard } => {
                let guard = guard
                    .as_ref()
                    .map(|guard| quote_spanned!(*span=> if #guard));
                quote_spanned!(*span=> match #error { #pattern #guard => true, _ => false })
            }
        }
    }

    /// An expression of the user as the value of a `let`.
    fn statement(&self, code: &Expr) -> TokenStream {
        let tokens = code.to_token_stream();
        let mut trees = tokens.clone().into_iter();
        match (trees.next(), trees.next()) {
            (Some(TokenTree::Group(block)), None) if block.delimiter() == Delimiter::Brace => {
                user_block(&block, self.span).into_token_stream()
            }
            _ => tokens,
        }
    }
}
