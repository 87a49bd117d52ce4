//! The syntax of the attributes' arguments: `key = value` pairs, flags and first values.

mod breaker;
mod policies;
mod read;
mod resilient;
mod table;
mod written;

use syn::Expr;
use syn::ExprClosure;
use syn::ExprPath;
use syn::Ident;
use syn::Pat;

pub(crate) use self::breaker::BreakerArgs;
pub(crate) use self::policies::BulkheadArgs;
pub(crate) use self::policies::FallbackArgs;
pub(crate) use self::policies::RateLimitArgs;
pub(crate) use self::policies::RetryArgs;
pub(crate) use self::policies::TimeoutArgs;
pub(crate) use self::table::Common;
pub(crate) use self::table::Table;
pub(crate) use self::written::Keys;
pub(crate) use self::written::Policy;
pub(crate) use self::written::Written;

use self::resilient::ResilientArgs;

/// A value, and the key it was written with.
pub(crate) struct Given<T> {
    pub(crate) key: Ident,
    pub(crate) value: T,
}

/// A key that stands alone.
pub(crate) struct Flag;

/// A key that stands alone, or says whether it is meant.
pub(crate) enum Switch {
    Literal(bool),
    Code(Expr),
}

/// A question about an error.
pub(crate) enum Predicate {
    Path(ExprPath),
    Closure(ExprClosure),
    Pattern {
        pattern: Box<Pat>,
        guard: Option<Box<Expr>>,
    },
}

/// A function by name or on the spot.
pub(crate) enum Callable {
    Path(ExprPath),
    Closure(ExprClosure),
}

/// What the caller gets in place of the function's own output.
pub(crate) enum Fallback {
    Value(Expr),
    Closure(ExprClosure),
}

/// The occasions for the fallback.
pub(crate) enum When {
    Rejected,
    /// Known to the attribute of its own, since a breaker alone has no timeout.
    TimedOut,
    Failed,
    Any,
    Predicate(Predicate),
}

/// What a dropped call counts as.
pub(crate) enum OnCancel {
    Ignore,
    Failure,
    After(Expr),
}

/// Names of arguments: `clone(a, b)`.
pub(crate) struct Names(pub(crate) Vec<Ident>);
