//! Judges the policies of a function one by one, and then together.

use std::time::Duration;

use proc_macro2::Span;
use quote::ToTokens;
use syn::Expr;
use syn::ExprCall;
use syn::LitStr;
use syn::spanned::Spanned;

use crate::args::BreakerArgs;
use crate::args::Common;
use crate::args::Fallback;
use crate::args::FallbackArgs;
use crate::args::Given;
use crate::args::Keys;
use crate::args::OnCancel;
use crate::args::Policy;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;
use crate::kind::Kind;
use crate::leave::may_leave;
use crate::model::Answer;
use crate::model::Bulkhead;
use crate::model::Guard;
use crate::model::Plan;
use crate::model::RateLimit;
use crate::model::Retry;
use crate::model::Site;
use crate::model::Timeout;
use crate::model::breaker::Whole;
use crate::model::fallback;
use crate::model::order;
use crate::model::order::Facts;
use crate::model::order::Occasion;
use crate::model::site;
use crate::value;
use crate::value::Value;
use crate::value::bare;

/// The policies of one function, outermost first.
pub(crate) struct Stack {
    pub(crate) place: Place,
    pub(crate) layers: Vec<Layer>,
    pub(crate) warnings: Vec<Warning>,
}

pub(crate) enum Layer {
    Retry(Retry),
    Timeout(Timeout),
    Breaker(Box<Guard>),
    Bulkhead(Bulkhead),
    RateLimit(RateLimit),
    Fallback(Plan),
}

/// Where what the policies of a service share is found.
pub(crate) enum Place {
    /// Nowhere: no service is named.
    Unnamed,
    /// A name known while compiling, listed when the program is linked.
    Static(Expr),
    /// A name that is worked out for each call.
    Dynamic(Expr),
}

/// What is legal and hardly meant.
pub(crate) struct Warning {
    pub(crate) at: Span,
    /// The policy that it is about.
    pub(crate) kind: Kind,
    pub(crate) text: &'static str,
}

impl Stack {
    pub(super) fn judge(
        policies: Vec<Policy>,
        common: &mut Common,
        function: Option<&Function>,
        errors: &mut Errors,
    ) -> Option<Self> {
        if let (Some(Shape::Future { .. }), Some(first)) =
            (function.map(|function| &function.shape), policies.first())
        {
            errors.at(
                first.at,
                "what this function does before its future exists can be neither repeated nor \
                 bounded: make it `async`, or put all of its body into one `async move` block",
            );
        }
        let service = common.service.take();
        let operation = common.operation.take();
        let has_service = service.is_some() || errors.mentions("service");

        let mut facts = Vec::new();
        let mut layers = Vec::new();
        let mut whole = Some(Whole {
            service: service.as_ref().map(again),
            operation: operation.as_ref().map(again),
            map_rejected: common.map_rejected.as_ref(),
        });
        let count = policies.len();
        for policy in policies {
            let (its, layer) = judge(policy, &mut whole, function, errors);
            facts.push(its);
            layers.extend(layer);
        }
        order::judge(&facts, has_service, errors);
        if let Some(map) = &common.map_rejected
            && !facts
                .iter()
                .any(|facts| facts.rejects() || facts.takes_errors())
        {
            errors.at(
                map.key.span(),
                "`map_rejected` has no effect, since nothing here rejects a call: remove it",
            );
        }
        if layers.len() == count {
            for (index, layer) in layers.iter_mut().enumerate() {
                if let Layer::Breaker(guard) = layer
                    && let Some(timeout) = order::gives_up_after(&facts, index)
                {
                    guard.site.given_up_after(timeout);
                }
            }
        }
        let place = place(&layers, service, operation, errors);
        (layers.len() == count).then_some(Self {
            place: place?,
            layers,
            warnings: order::warnings(&facts),
        })
    }
}

/// One policy, and what others must know of it.
fn judge(
    policy: Policy,
    whole: &mut Option<Whole<'_>>,
    function: Option<&Function>,
    errors: &mut Errors,
) -> (Facts, Option<Layer>) {
    let Policy {
        kind,
        at,
        is_read,
        of_block,
        keys,
    } = policy;
    let mut facts = Facts::new(kind, at, is_read);
    facts.of_block = of_block;
    let layer = match keys {
        Keys::Breaker(args) => breaker(*args, whole, &mut facts, function, errors)
            .map(Box::new)
            .map(Layer::Breaker),
        Keys::Retry(args) => Retry::judge(*args, function, &mut facts, errors).map(Layer::Retry),
        Keys::Timeout(args) => {
            Timeout::judge(args, function, &mut facts, errors).map(Layer::Timeout)
        }
        Keys::Bulkhead(args) => Bulkhead::judge(*args, &mut facts, errors).map(Layer::Bulkhead),
        Keys::RateLimit(args) => RateLimit::judge(args, &mut facts, errors).map(Layer::RateLimit),
        Keys::Fallback(args) => fallback(args, &mut facts, errors).map(Layer::Fallback),
    };
    (facts, layer)
}

fn breaker(
    mut args: BreakerArgs,
    whole: &mut Option<Whole<'_>>,
    facts: &mut Facts,
    function: Option<&Function>,
    errors: &mut Errors,
) -> Option<Guard> {
    for key in [
        args.fallback.take().map(|given| given.key),
        args.fallback_when.take().map(|given| given.key),
    ]
    .into_iter()
    .flatten()
    {
        let message = if facts.of_block {
            format!(
                "`{key}` is for methods without other policies, and this block has one with some: \
                 write `#[fallback(..)]` and a `#[circuit_breaker(..)]` of its own below on that \
                 method"
            )
        } else {
            format!(
                "beside other policies a fallback has its own place: write `#[fallback(..)]` above \
                 all that it answers for, in place of `{key}`"
            )
        };
        errors.at(key.span(), message);
    }
    if let Some(Given { key, value }) = &args.on_cancel {
        facts.drops_fail_after = match value {
            OnCancel::Ignore => Some((Duration::MAX, key.span())),
            OnCancel::Failure => None,
            OnCancel::After(after) => match value::duration("after", after.clone()) {
                Ok(Value::Known(after, at)) => Some((after, at)),
                // What is wrong with it is said elsewhere.
                Ok(Value::Code(_)) | Err(_) => None,
            },
        };
    }
    facts.classifies = args.classify.is_some();
    // A second one is said to be too many, and nothing else of it.
    let mut whole = whole.take()?;
    if args.handle.is_some() {
        whole.service = None;
        whole.operation = None;
    }
    Guard::judge(args, whole, facts.at, function, errors)
}

fn fallback(args: FallbackArgs, facts: &mut Facts, errors: &mut Errors) -> Option<Plan> {
    let when = args.when;
    facts.occasion = Some(Occasion::of(when.as_ref().map(|given| &given.value)));
    let Some(answer) = args.answer else {
        if facts.is_read {
            errors.at(
                facts.at,
                "what is returned instead? write `fallback(Ok(..))`, or `fallback(|rejected| ..)`",
            );
        }
        return None;
    };
    let answer = match bare(answer) {
        Expr::Closure(closure) => Fallback::Closure(closure),
        value => Fallback::Value(value),
    };
    let code = match &answer {
        Fallback::Value(value) => value,
        Fallback::Closure(closure) => &closure.body,
    };
    facts.never_fails = is_ok(code) && !may_leave(&code.to_token_stream());
    let plan = fallback::of_policy(answer, when, errors)?;
    if let Answer::Inline(inline) = &plan.answer {
        facts.parameter = Some(inline.pattern.span());
    }
    Some(plan)
}

/// Whether code is `Ok(..)`, as far as one can see.
fn is_ok(code: &Expr) -> bool {
    match code {
        Expr::Group(group) => is_ok(&group.expr),
        Expr::Paren(paren) => is_ok(&paren.expr),
        Expr::Block(block) => match block.block.stmts.last() {
            Some(syn::Stmt::Expr(last, None)) => is_ok(last),
            _ => false,
        },
        Expr::Call(ExprCall { func, .. }) => {
            matches!(&**func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Ok"))
        }
        _ => false,
    }
}

fn place(
    layers: &[Layer],
    service: Option<Given<Expr>>,
    operation: Option<Given<LitStr>>,
    errors: &mut Errors,
) -> Option<Place> {
    // What the breaker says of its service was judged with it.
    for layer in layers {
        if let Layer::Breaker(guard) = layer {
            match &guard.site {
                Site::Static(site) => return Some(Place::Static(site.service.clone())),
                Site::Dynamic(site) => return Some(Place::Dynamic(site.service.clone())),
                Site::Handle(_) => {}
            }
        }
    }
    if let Some(operation) = operation
        && !errors.mentions("service")
    {
        errors.at(
            operation.key.span(),
            "`operation` names a call site of a circuit breaker, and there is none with a `service` \
             here: remove it",
        );
    }
    let Some(service) = service else {
        return Some(Place::Unnamed);
    };
    let (service, linked) = site::service(service.value, errors)?;
    Some(if linked {
        Place::Static(service)
    } else {
        Place::Dynamic(service)
    })
}

fn again<T: Clone>(given: &Given<T>) -> Given<T> {
    Given {
        key: given.key.clone(),
        value: given.value.clone(),
    }
}
