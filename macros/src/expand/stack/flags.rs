//! What the layers tell each other about an output, as far as one of them asks.

use proc_macro2::Ident;
use proc_macro2::Span;
use proc_macro2::TokenStream;
use quote::quote_spanned;

use crate::args::When;
use crate::expand::stack::Nest;
use crate::expand::stack::local;
use crate::model::Judgement;
use crate::model::Layer;

/// The variables that are needed. Each is about the output that is on its way out, and is set
/// where that is made: so it stays right where an earlier output is given back after all.
#[derive(Default)]
pub(super) struct Flags {
    /// Whether the body of this call has begun.
    pub(super) polled: Option<Ident>,
    /// Whether the output was made by a timeout.
    pub(super) timed_out: Option<Ident>,
    /// Whether the breaker counts the output as a failure.
    pub(super) counted: Option<Ident>,
    /// What the breaker inside of a retry made of the output, where it is asked about all of it.
    pub(super) judged: Option<Ident>,
}

impl Nest<'_> {
    pub(super) fn needed_flags(&self) -> Flags {
        let layers = self.layers();
        let has = |layers: &[Layer], is: fn(&Layer) -> bool| layers.iter().any(is);
        let (mut polled, mut timed_out, mut counted, mut judged) = (false, false, false, false);
        for (index, layer) in layers.iter().enumerate() {
            let (around, inside) = (&layers[..index], &layers[index + 1..]);
            let in_retry = has(around, |layer| matches!(layer, Layer::Retry(_)));
            let has_timeout = has(inside, |layer| matches!(layer, Layer::Timeout(_)));
            let has_breaker = has(inside, |layer| matches!(layer, Layer::Breaker(_)));
            match layer {
                Layer::Breaker(guard) => match &guard.verdict {
                    Judgement::Error { fails_on, .. } => {
                        timed_out |=
                            has_timeout && fails_on.is_some() && !self.shared.options.wrap_error;
                    }
                    Judgement::Output(_) => judged |= in_retry,
                },
                Layer::Fallback(plan) => {
                    let (rejections, errors) = match plan.when {
                        When::Rejected => (true, false),
                        When::TimedOut | When::Failed => (false, true),
                        When::Any | When::Predicate(_) => (true, true),
                    };
                    polled |= rejections && in_retry && self.may_refuse(index + 1, in_retry);
                    timed_out |= errors
                        && has_timeout
                        && (has_breaker || matches!(plan.when, When::TimedOut | When::Failed));
                    counted |= errors && has_breaker && !matches!(plan.when, When::TimedOut);
                }
                Layer::Retry(_) | Layer::Timeout(_) | Layer::Bulkhead(_) | Layer::RateLimit(_) => {}
            }
        }
        let flag = |needed: bool, name| needed.then(|| local(self.shared, name));
        Flags {
            polled: flag(polled, "__polled"),
            timed_out: flag(timed_out, "__timed_out"),
            counted: flag(counted, "__counted"),
            judged: flag(judged, "__judged"),
        }
    }
}

impl Flags {
    pub(super) fn declared(&self, span: Span, krate: &TokenStream) -> TokenStream {
        let bools = [&self.polled, &self.timed_out, &self.counted]
            .into_iter()
            .flatten()
            .map(|flag| quote_spanned!(span=> let mut #flag = false;));
        let judged = self
            .judged
            .as_ref()
            .map(|flag| quote_spanned!(span=> let mut #flag = #krate::Verdict::Failure;));
        quote_spanned!(span=> #(#bools)* #judged)
    }

    /// Nobody has judged what is on its way out now.
    pub(super) fn unjudged(&self, span: Span, krate: &TokenStream) -> Option<TokenStream> {
        let flag = self.judged.as_ref()?;
        Some(quote_spanned!(span=> #flag = #krate::Verdict::Failure;))
    }
}

pub(super) fn set(span: Span, flag: Option<&Ident>, value: bool) -> Option<TokenStream> {
    flag.map(|flag| quote_spanned!(span=> #flag = #value;))
}
