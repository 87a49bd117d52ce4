//! The first error, from when a fallback begins until it has failed, too.

use std::marker::PhantomData;

use crate::first_error::FirstError;
use crate::first_error::KeepsFirst;
use crate::rejected::Rejected;

/// A fallback for an output of this type begins. As with [`Telling`](super::Telling), the
/// compiler takes the method of [`Keeps`] where its error wants the first one.
#[derive(Debug)]
pub struct Keeping<Out>(PhantomData<fn() -> Out>);

impl<Out> Keeping<Out> {
    /// For this type.
    #[inline]
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// For outputs whose error wants the first one.
pub trait Keeps {
    /// Their type.
    type Out;
    /// A place for the first error.
    type First;

    /// The place for it, which is empty.
    fn __breakerbox_first(&self) -> Self::First;
}

/// For all others.
pub trait KeepsNot {
    /// Their type.
    type Out;

    /// No place at all.
    fn __breakerbox_first(&self) -> NoFirst<Self::Out>;
}

impl<T, E: KeepsFirst> Keeps for &Keeping<Result<T, E>> {
    type Out = Result<T, E>;
    type First = First<T, E>;

    #[inline]
    fn __breakerbox_first(&self) -> First<T, E> {
        First(Kept::Nothing, PhantomData)
    }
}

impl<Out> KeepsNot for Keeping<Out> {
    type Out = Out;

    #[inline]
    fn __breakerbox_first(&self) -> NoFirst<Out> {
        NoFirst(PhantomData)
    }
}

/// The first error, while the fallback runs.
#[derive(Debug)]
pub struct First<T, E>(Kept<E>, PhantomData<fn() -> T>);

#[derive(Debug)]
enum Kept<E> {
    /// A success that counts as a failure has no error.
    Nothing,
    Rejected(Rejected),
    Failed(E),
}

impl<T, E: KeepsFirst> First<T, E> {
    /// The call was rejected.
    #[inline]
    #[must_use]
    pub fn rejected(self, rejected: Rejected) -> Self {
        Self(Kept::Rejected(rejected), PhantomData)
    }

    /// The call was made, and brought this.
    #[inline]
    #[must_use]
    pub fn failed(self, out: Result<T, E>) -> Self {
        match out {
            Ok(_) => self,
            Err(error) => Self(Kept::Failed(error), PhantomData),
        }
    }

    /// One of the two; `out` was made of the rejection.
    #[inline]
    #[must_use]
    pub fn either(self, out: Result<T, E>, rejected: Option<Rejected>) -> Self {
        match rejected {
            Some(rejected) => self.rejected(rejected),
            None => self.failed(out),
        }
    }

    /// The fallback has answered, and its error, if it is one, gets the first.
    #[inline]
    pub fn kept_by(self, out: Result<T, E>) -> Result<T, E> {
        out.map_err(|error| match self.0 {
            Kept::Nothing => error,
            Kept::Rejected(rejected) => error.keep_first(FirstError::rejected(rejected)),
            Kept::Failed(first) => error.keep_first(FirstError::new(first)),
        })
    }
}

/// Nothing is kept, and it takes no room.
#[derive(Debug)]
pub struct NoFirst<Out>(PhantomData<fn() -> Out>);

impl<Out> NoFirst<Out> {
    /// The call was rejected.
    #[inline]
    #[must_use]
    pub const fn rejected(self, _: Rejected) -> Self {
        self
    }

    /// The call was made, and brought this.
    #[inline]
    #[must_use]
    pub fn failed(self, out: Out) -> Self {
        drop(out);
        self
    }

    /// One of the two.
    #[inline]
    #[must_use]
    pub fn either(self, out: Out, _: Option<Rejected>) -> Self {
        self.failed(out)
    }

    /// The fallback has answered.
    #[inline]
    pub const fn kept_by(self, out: Out) -> Out {
        out
    }
}
