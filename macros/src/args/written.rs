//! All attributes of one function, read in the order in which they stand.

use std::mem;

use proc_macro2::Span;
use syn::Path;

use crate::args::BreakerArgs;
use crate::args::BulkheadArgs;
use crate::args::Common;
use crate::args::FallbackArgs;
use crate::args::RateLimitArgs;
use crate::args::ResilientArgs;
use crate::args::RetryArgs;
use crate::args::Table;
use crate::args::TimeoutArgs;
use crate::errors::Errors;
use crate::kind::Attribute;
use crate::kind::Kind;

/// What stands on a function.
#[derive(Default)]
pub(crate) struct Written {
    /// Outermost first.
    pub(crate) policies: Vec<Policy>,
    /// What each attribute says about the whole function.
    pub(crate) common: Vec<Common>,
    /// The names of attributes that were taken off the function: without a use of them their
    /// imports would be unused.
    pub(crate) imports: Vec<Path>,
}

/// One policy as it is written.
pub(crate) struct Policy {
    pub(crate) kind: Kind,
    /// Where something about it as a whole is said.
    pub(crate) at: Span,
    /// Whether all of its arguments could be read.
    pub(crate) is_read: bool,
    /// Whether it stands on the `impl` block around the method.
    pub(crate) of_block: bool,
    pub(crate) keys: Keys,
}

pub(crate) enum Keys {
    Breaker(Box<BreakerArgs>),
    Retry(Box<RetryArgs>),
    Timeout(TimeoutArgs),
    Bulkhead(Box<BulkheadArgs>),
    RateLimit(RateLimitArgs),
    Fallback(FallbackArgs),
}

impl Written {
    pub(crate) fn read(attributes: Vec<Attribute>, errors: &mut Errors) -> Self {
        let mut written = Self::default();
        let is_alone = attributes.len() == 1;
        for attribute in attributes {
            written.imports.extend(attribute.path.clone());
            if attribute.kind == Kind::Resilient {
                written.read_resilient(attribute, is_alone, errors);
            } else {
                written.read_one(attribute, errors);
            }
        }
        written
    }

    fn read_resilient(&mut self, attribute: Attribute, is_alone: bool, errors: &mut Errors) {
        let Attribute { at, args, .. } = attribute;
        let before = errors.count();
        let ResilientArgs { common, policies } = ResilientArgs::read(args, errors);
        if !is_alone {
            errors.at(
                at,
                "`resilient` holds all policies of a function: write the other attributes into it, \
                 in their place",
            );
        } else if policies.is_empty() && errors.count() == before {
            errors.at(
                at,
                "`resilient` of what? write its policies, outermost first: \
                 `resilient(retry(..), circuit_breaker(..), timeout(\"8s\"))`",
            );
        }
        self.common.push(common);
        for policy in policies {
            self.read_one(policy, errors);
        }
    }

    fn read_one(&mut self, attribute: Attribute, errors: &mut Errors) {
        let Attribute { kind, at, args, .. } = attribute;
        let before = errors.count();
        let (common, keys) = match kind {
            Kind::CircuitBreaker | Kind::Resilient => {
                let mut args = BreakerArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::Breaker(Box::new(args)))
            }
            Kind::Retry => {
                let mut args = RetryArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::Retry(Box::new(args)))
            }
            Kind::Timeout => {
                let mut args = TimeoutArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::Timeout(args))
            }
            Kind::Bulkhead => {
                let mut args = BulkheadArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::Bulkhead(Box::new(args)))
            }
            Kind::RateLimit => {
                let mut args = RateLimitArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::RateLimit(args))
            }
            Kind::Fallback => {
                let mut args = FallbackArgs::read(args, errors);
                (mem::take(&mut args.common), Keys::Fallback(args))
            }
        };
        // A second breaker is one too many, whatever service it names.
        if kind != Kind::CircuitBreaker || self.policies.iter().all(|policy| policy.kind != kind) {
            self.common.push(common);
        }
        self.policies.push(Policy {
            kind,
            at,
            is_read: errors.count() == before,
            of_block: false,
            keys,
        });
    }

    /// Whether the body has another type than the signature says.
    pub(crate) fn wraps_errors(&self) -> bool {
        self.common.iter().any(|common| common.wrap_error.is_some())
    }

    /// Whether the body may run more than once.
    pub(crate) fn has_retry(&self) -> bool {
        self.policies
            .iter()
            .any(|policy| policy.kind == Kind::Retry)
    }
}
