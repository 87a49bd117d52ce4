//! Writes the guarded function; the only place that makes code.

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::Ident;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::ToTokens;
use quote::quote_spanned;
use syn::Lifetime;

use crate::args::Callable;
use crate::args::Predicate;
use crate::args::When;
use crate::bindings::Binding;
use crate::item::Function;
use crate::item::Shape;
use crate::model::Answer;
use crate::model::Guard;
use crate::model::Judgement;
use crate::model::Plan;
use crate::model::Site;
use crate::respan;
use crate::site;
use crate::tail::AsyncTail;

/// The function with its guard.
pub(crate) fn expand(function: &Function, guard: &Guard) -> TokenStream {
    Expansion::new(function, guard).function()
}

/// The function for its callers, where the attribute is wrong and the body would be
/// taken for wrong as well.
pub(crate) fn without_body(function: &Function) -> TokenStream {
    let Function { head, sig, .. } = function;
    let span = Span::call_site();
    quote_spanned!(span=> #head #sig { ::core::panic!() })
}

/// Everything the parts of one expansion share.
struct Expansion<'a> {
    function: &'a Function,
    guard: &'a Guard,
    /// The return type, as generated code where lints are concerned.
    span: Span,
    krate: TokenStream,
    /// The function's output.
    output: TokenStream,
    /// The output of the body: without the wrapper of `wrap_error`.
    plain: TokenStream,
    locals: Locals,
}

/// Names that no user code can see.
struct Locals {
    breaker: Ident,
    permit: Ident,
    out: Ident,
    verdict: Ident,
    error: Ident,
    rejected: Ident,
    failed: Ident,
    future: Ident,
    ret: Ident,
    guarded: Lifetime,
}

/// How the code around the body waits for a shared probe.
#[derive(Clone, Copy)]
enum Waiting {
    Async,
    Blocking,
}

impl<'a> Expansion<'a> {
    fn new(function: &'a Function, guard: &'a Guard) -> Self {
        let span = respan::generated(function.output.span);
        let krate = respan::moved(guard.krate.to_token_stream(), span);
        let output = respan::repeated(function.output.ty.clone());
        let plain = if guard.wrap_error {
            quote_spanned!(span=> <#output as #krate::__private::Wrapped>::Plain)
        } else {
            output.clone()
        };
        Self {
            function,
            guard,
            span,
            krate,
            output,
            plain,
            locals: Locals::new(function.output.span),
        }
    }

    fn function(&self) -> TokenStream {
        let Function {
            head,
            sig,
            inner_attrs,
            ..
        } = self.function;
        let code = match &self.function.shape {
            Shape::Async => {
                let body = self.body(self.function.body.clone());
                self.guarded(
                    Waiting::Async,
                    &self.breaker(),
                    &self.boxed(quote_spanned!(self.span=> async move #body)),
                )
            }
            Shape::Sync => self.sync(),
            Shape::Future { boxed } => self.wrapped(*boxed),
            Shape::Tail(tail) => self.inside(tail),
        };
        let mut block = Group::new(
            Delimiter::Brace,
            quote_spanned!(self.span=> #inner_attrs #code),
        );
        // Where rustc says that a function ends without a value, it shows this.
        block.set_span(self.function.body.span());
        quote_spanned!(self.span=> #head #sig #block)
    }

    fn sync(&self) -> TokenStream {
        let plain = &self.plain;
        let body = self.block(&self.function.body, plain);
        let closure = quote_spanned!(self.span=> move || -> #plain #body);
        self.guarded(Waiting::Blocking, &self.breaker(), &closure)
    }

    /// The function's own code makes the future when it is called, as it would unguarded;
    /// the guard is taken when the future is first polled.
    fn wrapped(&self, boxed: bool) -> TokenStream {
        let Locals { future, .. } = &self.locals;
        let handle = self.handle_at_call();
        let inferred = quote_spanned!(self.span=> _);
        let returned = match &self.function.sig.output {
            syn::ReturnType::Type(_, ty) if boxed => respan::repeated(ty.to_token_stream()),
            _ => inferred,
        };
        let body = self.block(&self.function.body, &returned);
        let breaker = if handle.is_empty() {
            self.breaker()
        } else {
            TokenStream::new()
        };
        let typed = self.typed_return(&self.output);
        let guarded = self.guarded(
            Waiting::Async,
            &breaker,
            &self.boxed(future.to_token_stream()),
        );
        let block = quote_spanned!(self.span=> async move { #typed #guarded });
        let block = if boxed {
            quote_spanned!(self.span=> ::std::boxed::Box::pin(#block))
        } else {
            block
        };
        quote_spanned! {self.span=>
            #handle
            let #future = (move || -> #returned #body)();
            #block
        }
    }

    /// The guard goes into the async block that the body ends with.
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
        let body = self.body(tail.block.clone());
        let typed = self.typed_return(&self.output);
        let guarded = self.guarded(
            Waiting::Async,
            &breaker,
            &self.boxed(quote_spanned!(self.span=> #opening #body)),
        );
        let mut block = Group::new(
            Delimiter::Brace,
            quote_spanned!(self.span=> #typed #guarded),
        );
        block.set_span(tail.block.span());
        let body = tail.with_block(block);
        quote_spanned!(self.span=> #handle #body)
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
        let Locals { breaker, .. } = &self.locals;
        site::breaker(&self.guard.site, &self.krate, breaker)
    }

    /// The user's code as a block for `async move`, with the type of its output known
    /// from the start: `?`, `return` and coercions depend on it.
    fn body(&self, code: Group) -> TokenStream {
        let typed = self.typed_return(&self.plain);
        let block = self.block(&code, &self.plain);
        let Some(proc_macro2::TokenTree::Group(group)) = block.into_iter().next() else {
            return TokenStream::new();
        };
        let content = group.stream();
        quote_spanned!(self.span=> { #typed #content })
    }

    /// The user's code as a block that owns the arguments and drops them in the order of
    /// a plain function: after the temporaries of its tail, the last one first.
    fn block(&self, code: &Group, ty: &TokenStream) -> TokenStream {
        let Locals { ret, .. } = &self.locals;
        let arguments = self
            .function
            .bindings
            .iter()
            .map(|binding| self.rebind(binding));
        let mut code = code.clone();
        // As the user's own braces they would be reported as needless.
        code.set_span(respan::generated(code.span()));
        quote_spanned!(self.span=> { #(#arguments)* let #ret: #ty = #code; #ret })
    }

    fn rebind(&self, binding: &Binding) -> TokenStream {
        let Binding {
            attrs,
            allowed,
            mutability,
            name,
        } = binding;
        let allowed = respan::moved(allowed.clone(), self.span);
        quote_spanned!(self.span=> #attrs #allowed let #mutability #name = #name;)
    }

    fn typed_return(&self, ty: &TokenStream) -> TokenStream {
        let Locals { ret, .. } = &self.locals;
        quote_spanned! {self.span=>
            if let ::core::option::Option::Some(#ret) = ::core::option::Option::None::<#ty> {
                return #ret;
            }
        }
    }

    fn boxed(&self, body: TokenStream) -> TokenStream {
        let Self { krate, .. } = self;
        if self.guard.boxed {
            quote_spanned!(self.span=> #krate::__private::boxed(#body))
        } else {
            body
        }
    }

    /// Asks the breaker, runs the body, tells the breaker, and puts the fallback in its place.
    fn guarded(&self, waiting: Waiting, breaker: &TokenStream, body: &TokenStream) -> TokenStream {
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
        match (answer, when) {
            (Answer::Value(value), _) => {
                quote_spanned!(*span=> #breaker #guarded: { #attempt } #value)
            }
            (
                Answer::Inline {
                    argument,
                    ty,
                    output: body_ty,
                    body,
                },
                When::Rejected,
            ) => {
                let ty = ty.as_ref().map_or_else(
                    || quote_spanned!(*span=> #krate::Rejected),
                    ToTokens::to_token_stream,
                );
                let body = typed(body_ty.as_ref(), body, ret, *span);
                quote_spanned! {*span=>
                    #breaker
                    let #rejected = #guarded: { #attempt };
                    let #argument: #ty = #rejected;
                    #body
                }
            }
            (
                Answer::Inline {
                    argument,
                    ty,
                    output: body_ty,
                    body,
                },
                _,
            ) => {
                let ty = ty.as_ref().map(|ty| quote_spanned!(*span=> : #ty));
                let body = typed(body_ty.as_ref(), body, ret, *span);
                quote_spanned! {*span=>
                    #breaker
                    let #failed: #output = #guarded: { #attempt };
                    match #failed {
                        ::core::result::Result::Err(#error) => {
                            let #argument #ty = #error;
                            #body
                        }
                        #ret => #ret,
                    }
                }
            }
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
            permit,
            out,
            verdict,
            rejected,
            ..
        } = &self.locals;
        let on_rejected = self.on_rejected();
        let (wait, run) = match waiting {
            Waiting::Async => (
                quote_spanned!(*span=> #krate::__private::wait(#breaker).await),
                quote_spanned!(*span=> #krate::__private::watch(&mut #permit, #body).await),
            ),
            Waiting::Blocking => (
                quote_spanned!(*span=> #krate::__private::wait_blocking(#breaker)),
                quote_spanned!(*span=> #krate::__private::run(&mut #permit, #body)),
            ),
        };
        let judged = self.verdict();
        let ending = self.ending();
        quote_spanned! {*span=>
            let mut #permit = match #krate::__private::enter(#breaker) {
                ::core::option::Option::Some(#permit) => #permit,
                ::core::option::Option::None => match #wait {
                    ::core::result::Result::Ok(#permit) => #permit,
                    ::core::result::Result::Err(#rejected) => #on_rejected,
                },
            };
            let #out: #plain = #run;
            let #verdict = #judged;
            #krate::Permit::record(#permit, #verdict);
            #ending
        }
    }

    fn on_rejected(&self) -> TokenStream {
        let Self { span, .. } = self;
        let Locals {
            guarded, rejected, ..
        } = &self.locals;
        match &self.guard.fallback {
            Some(Plan {
                when: When::Rejected,
                answer: Answer::Inline { .. },
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
                answer: Answer::Inline { .. },
            }) => {
                let output = self.rejection();
                quote_spanned!(*span=> break #guarded #output)
            }
            Some(Plan {
                when: When::Failed | When::Predicate(_),
                ..
            })
            | None => {
                let output = self.rejection();
                quote_spanned!(*span=> return #output)
            }
        }
    }

    /// The output for a call that was never made.
    fn rejection(&self) -> TokenStream {
        let Self {
            krate,
            output,
            span,
            ..
        } = self;
        let Locals { rejected, .. } = &self.locals;
        match &self.guard.map_rejected {
            None => quote_spanned!(*span=> #krate::__private::rejected::<#output>(#rejected)),
            Some(map) => {
                quote_spanned!(*span=> #krate::__private::map_rejected::<#output>(#rejected, #map))
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
            quote_spanned!(*span=> #krate::__private::wrap::<#output>(#out))
        } else {
            out.to_token_stream()
        };
        let Some(Plan { when, answer }) = &self.guard.fallback else {
            return out;
        };
        let failed = match when {
            When::Rejected => return quote_spanned!(*span=> return #out;),
            When::Failed | When::Any => quote_spanned!(*span=> true),
            When::Predicate(predicate) => {
                let error = &self.locals.error;
                let asked = self.ask(predicate);
                self.on_error(
                    &quote_spanned!(*span=> #error),
                    &asked,
                    &quote_spanned!(*span=> false),
                )
            }
        };
        let value = match answer {
            Answer::Value(_) => TokenStream::new(),
            Answer::Inline { .. } => out.clone(),
        };
        // An error that the breaker does not count is the caller's to see.
        quote_spanned! {*span=>
            if !match #verdict {
                #krate::Verdict::Success | #krate::Verdict::Ignore => false,
                _ => #failed,
            } {
                return #out;
            }
            #value
        }
    }

    fn verdict(&self) -> TokenStream {
        let Self {
            krate, plain, span, ..
        } = self;
        let Locals { out, error, .. } = &self.locals;
        let (fails_on, ignores) = match &self.guard.verdict {
            Judgement::Output(judge) => {
                return quote_spanned!(*span=> #krate::__private::classify::<#plain, _>(&#out, #judge));
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
        let pattern = if fails_on.is_some() || ignores.is_some() {
            error.to_token_stream()
        } else {
            quote_spanned!(*span=> _)
        };
        self.on_error(
            &pattern,
            &judged,
            &quote_spanned!(*span=> #krate::Verdict::Success),
        )
    }

    /// One value for an error, another where there is none.
    fn on_error(
        &self,
        pattern: &TokenStream,
        error: &TokenStream,
        none: &TokenStream,
    ) -> TokenStream {
        let Self {
            krate, plain, span, ..
        } = self;
        let Locals { out, .. } = &self.locals;
        quote_spanned! {*span=>
            match #krate::__private::error_of::<#plain>(&#out) {
                ::core::option::Option::Some(#pattern) => #error,
                ::core::option::Option::None => #none,
            }
        }
    }

    fn ask(&self, predicate: &Predicate) -> TokenStream {
        let Self { krate, span, .. } = self;
        let Locals { error, .. } = &self.locals;
        match predicate {
            Predicate::Path(path) => quote_spanned!(*span=> #krate::__private::ask(#path, #error)),
            Predicate::Closure(closure) => {
                quote_spanned!(*span=> #krate::__private::ask_closure(#error, #closure))
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
}

/// The body of a fallback closure, with its own return type where it has one.
fn typed(ty: Option<&syn::Type>, body: &syn::Expr, ret: &Ident, span: Span) -> TokenStream {
    match ty {
        None => body.to_token_stream(),
        Some(ty) => quote_spanned!(span=> let #ret: #ty = #body; #ret),
    }
}

impl Locals {
    fn new(span: Span) -> Self {
        let span = respan::local(span);
        let local = |name| Ident::new(name, span);
        Self {
            breaker: local("__breaker"),
            permit: local("__permit"),
            out: local("__out"),
            verdict: local("__verdict"),
            error: local("__error"),
            rejected: local("__rejected"),
            failed: local("__failed"),
            future: local("__future"),
            ret: local("__ret"),
            guarded: Lifetime {
                apostrophe: span,
                ident: local("__guarded"),
            },
        }
    }
}

impl ToTokens for Callable {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Path(path) => path.to_tokens(tokens),
            Self::Closure(closure) => closure.to_tokens(tokens),
        }
    }
}
