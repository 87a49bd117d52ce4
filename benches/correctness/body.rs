//! A body that ends when and how it is told.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Poll;

/// The error of the body.
#[derive(Debug, thiserror::Error)]
#[error("the service failed")]
pub(crate) struct Failed;

/// How a body ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Success,
    Failure,
    Panic,
}

/// It waits until it is told how to end, by its clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    end: Arc<Mutex<Option<End>>>,
}

impl Body {
    pub(crate) fn ends(&self, end: End) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }
}

impl Future for Body {
    type Output = Result<(), Failed>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            None => Poll::Pending,
            Some(End::Success) => Poll::Ready(Ok(())),
            Some(End::Failure) => Poll::Ready(Err(Failed)),
            Some(End::Panic) => panic!("the body was told to panic"),
        }
    }
}
