//! Writes the policies of a function as one nest, outermost first, around one body.
//!
//! Each layer is an expression. Under a timeout it is an `Option`, which is `None` on the
//! way out once the timeout has struck. A refusal leaves by a label: so the compiler sees
//! that a fallback for it may use the arguments, which the body has not taken then.

mod breaker;
mod fallback;
mod flags;
mod leaf;
mod limits;
mod place;
mod retry;
mod timeout;

use proc_macro2::Delimiter;
use proc_macro2::Group;
use proc_macro2::Ident;
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::Lifetime;
use syn::Signature;
use syn::visit_mut::VisitMut;

use crate::args::When;
use crate::expand::Expansion;
use crate::item::AsyncTail;
use crate::item::Hoisted;
use crate::item::Shape;
use crate::item::WithoutMut;
use crate::model::Layer;
use crate::model::Site;
use crate::model::Stack;
use crate::model::Warning;
use crate::respan;

use self::flags::Flags;

/// The signature as it is given back, and the code of the body.
pub(super) fn code(shared: &Expansion<'_>, stack: &Stack) -> (Signature, TokenStream) {
    let nest = Nest::new(shared, stack);
    let mut sig = shared.function.sig.clone();
    for input in &mut sig.inputs {
        if let syn::FnArg::Typed(argument) = input {
            WithoutMut(&nest.cloned_names()).visit_pat_mut(&mut argument.pat);
        }
    }
    let warnings = stack.warnings.iter().map(warning);
    let code = nest.code();
    (sig, quote_spanned!(shared.span=> #(#warnings)* #code))
}

/// One expansion of a stack.
struct Nest<'a> {
    shared: &'a Expansion<'a>,
    stack: &'a Stack,
    /// The body, unless it is written once for each attempt.
    body: TokenStream,
    flags: Flags,
    policies: Ident,
}

/// What stands around a layer.
#[derive(Clone)]
struct Around {
    /// Where a refusal goes.
    refused: Lifetime,
    /// The nearest timeout.
    bound: Option<Ident>,
    in_breaker: bool,
    in_retry: bool,
}

impl<'a> Nest<'a> {
    fn new(shared: &'a Expansion<'a>, stack: &'a Stack) -> Self {
        let mut nest = Self {
            shared,
            stack,
            body: TokenStream::new(),
            flags: Flags::default(),
            policies: local(shared, "__policies"),
        };
        nest.flags = nest.needed_flags();
        nest
    }

    fn layers(&self) -> &'a [Layer] {
        &self.stack.layers
    }

    fn code(mut self) -> TokenStream {
        let shape = &self.shared.function.shape;
        match shape {
            Shape::Tail(tail) => self.inside(tail),
            // What else returns a future has been refused.
            Shape::Async | Shape::Sync | Shape::Future { .. } => {
                self.body = self.run(&self.shared.function.body);
                let lookups = self.lookups(true);
                let nest = self.nest();
                quote_spanned!(self.shared.span=> #lookups #nest)
            }
        }
    }

    /// The policies go into the async block that is all of the body.
    fn inside(&mut self, tail: &AsyncTail) -> TokenStream {
        let span = self.shared.span;
        let handle_at_call = tail.is_move() && self.has_handle();
        let handle = handle_at_call.then(|| self.handle());
        let hoisted = if self.repeats() {
            Hoisted::of(self.shared.function)
        } else {
            Hoisted::default()
        };
        let hoists = hoisted.statements(&self.cloned_names());
        let block = hoisted.rest.as_ref().unwrap_or(&tail.block);
        self.body = if self.repeats() {
            self.run(block)
        } else {
            let opening = respan::repeated(tail.opening.iter().cloned().collect());
            let body = self.shared.body(block);
            self.shared.boxed(quote_spanned!(span=> #opening #body))
        };
        let lookups = self.lookups(!handle_at_call);
        let typed = self.shared.typed_return(&self.shared.output);
        let nest = self.nest();
        let mut block = Group::new(
            Delimiter::Brace,
            quote_spanned!(span=> #typed #hoists #lookups #nest),
        );
        block.set_span(tail.block.span());
        let body = tail.with_block(&block);
        quote_spanned!(span=> #handle #body)
    }

    /// The body as a future or a closure. One that may run again borrows what it uses.
    fn run(&self, code: &Group) -> TokenStream {
        let Expansion { span, plain, .. } = self.shared;
        let owning = (!self.repeats()).then(|| quote_spanned!(*span=> move));
        if let Shape::Sync = self.shared.function.shape {
            let body = self.shared.block_after(&self.copies_moved(), code, plain);
            return quote_spanned!(*span=> #owning || -> #plain #body);
        }
        let body = self.shared.body_after(&self.copies_moved(), code);
        self.shared
            .boxed(quote_spanned!(*span=> async #owning #body))
    }

    fn is_async(&self) -> bool {
        !matches!(self.shared.function.shape, Shape::Sync)
    }

    /// The whole nest as the output of the function.
    fn nest(&self) -> TokenStream {
        let Expansion {
            krate,
            span,
            output,
            ..
        } = self.shared;
        let flags = self.flags.declared(*span, krate);
        let around = Around {
            refused: label(self.shared, "__refused"),
            bound: None,
            in_breaker: false,
            in_retry: false,
        };
        let nest = self.layer(0, &around);
        if !self.may_refuse(0, false) {
            return quote_spanned!(*span=> #flags #nest);
        }
        let rejected = &self.shared.locals.rejected;
        let made = label(self.shared, "__made");
        let refused = &around.refused;
        let rejection = self.shared.rejection();
        let out = &self.shared.locals.out;
        quote_spanned! {*span=>
            #flags
            let #out: #output = #made: {
                let #rejected = #refused: {
                    let #out: #output = #nest;
                    break #made #out
                };
                #rejection
            };
            #out
        }
    }

    /// The expression of a layer, with all that is inside of it.
    fn layer(&self, index: usize, around: &Around) -> TokenStream {
        match self.layers().get(index) {
            None => self.leaf(around),
            Some(Layer::Retry(retry)) => self.retry(index, retry, around),
            Some(Layer::Timeout(timeout)) => self.timeout(index, timeout, around),
            Some(Layer::Breaker(guard)) => self.breaker(index, guard, around),
            Some(Layer::Bulkhead(_)) => self.bulkhead(index, around),
            Some(Layer::RateLimit(_)) => self.rate_limit(index, around),
            Some(Layer::Fallback(plan)) => self.fallback(index, plan, around),
        }
    }

    /// Whether a refusal may come out of this layer.
    fn may_refuse(&self, index: usize, in_retry: bool) -> bool {
        match self.layers().get(index) {
            None => false,
            Some(Layer::Breaker(_) | Layer::Bulkhead(_) | Layer::RateLimit(_)) => true,
            Some(Layer::Timeout(_)) => self.may_refuse(index + 1, in_retry),
            Some(Layer::Retry(_)) => self.may_refuse(index + 1, true),
            Some(Layer::Fallback(plan)) => {
                let goes_on = match plan.when {
                    When::Rejected | When::Any => in_retry || self.may_be_late(index),
                    When::TimedOut | When::Failed | When::Predicate(_) => true,
                };
                goes_on && self.may_refuse(index + 1, in_retry)
            }
        }
    }

    fn repeats(&self) -> bool {
        self.layers()
            .iter()
            .any(|layer| matches!(layer, Layer::Retry(_)))
    }

    fn has_handle(&self) -> bool {
        self.layers().iter().any(
            |layer| matches!(layer, Layer::Breaker(guard) if matches!(guard.site, Site::Handle(_))),
        )
    }

    /// An output as the value of a layer.
    fn some(&self, around: &Around, out: &TokenStream) -> TokenStream {
        match around.bound {
            Some(_) => quote_spanned!(self.shared.span=> ::core::option::Option::Some(#out)),
            None => out.clone(),
        }
    }

    /// `Some(&bound)` for functions that wait.
    fn bound_of(&self, around: &Around) -> TokenStream {
        let span = self.shared.span;
        match &around.bound {
            Some(bound) => quote_spanned!(span=> ::core::option::Option::Some(&#bound)),
            None => quote_spanned!(span=> ::core::option::Option::None),
        }
    }

    /// The type of a layer's expression.
    fn layer_type(&self, around: &Around) -> TokenStream {
        let Expansion { span, output, .. } = self.shared;
        match around.bound {
            Some(_) => quote_spanned!(*span=> ::core::option::Option<#output>),
            None => output.clone(),
        }
    }

    fn numbered(&self, name: &str, index: usize) -> Ident {
        local(self.shared, &format!("{name}_{index}"))
    }

    fn label(&self, name: &str, index: usize) -> Lifetime {
        label(self.shared, &format!("{name}_{index}"))
    }
}

fn local(shared: &Expansion<'_>, name: &str) -> Ident {
    Ident::new(name, shared.locals.out.span())
}

fn label(shared: &Expansion<'_>, name: &str) -> Lifetime {
    let ident = local(shared, name);
    Lifetime {
        apostrophe: ident.span(),
        ident,
    }
}

/// A warning by way of a constant that is deprecated: it stands at the policy, and obeys the
/// level that the user has set.
fn warning(warning: &Warning) -> TokenStream {
    let Warning { at, kind, text } = warning;
    let name = Ident::new(kind.name(), *at);
    quote_spanned! {*at=> {
        #[deprecated(note = #text)]
        #[allow(non_upper_case_globals)]
        const #name: bool = true;
        let _: bool = #name;
    }}
}
