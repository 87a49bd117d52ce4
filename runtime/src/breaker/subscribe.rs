//! Events of one service as a stream.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use futures_core::Stream;

use crate::breaker::Breaker;
use crate::breaker::Service;
use crate::breaker::service::Note;
use crate::breaker::waiting::wake;
use crate::event::Event;

/// What a subscriber may be behind; the oldest events beyond are lost to it.
const QUEUE: usize = 256;

/// The events of one service from the moment at which it was subscribed to: transitions,
/// openings that a shadow would have made, warnings. Those of all its keys are among them.
///
/// A subscriber that is more than 256 events behind loses the oldest: see
/// [`Transition::generation`](field@crate::Transition::generation). The stream does not end.
///
/// ```
/// # async fn example() {
/// # let stripe = breakerbox::breaker("stripe").unwrap();
/// let mut events = stripe.subscribe();
/// while let Some(event) = events.next().await {
///     println!("{event:?}");
/// }
/// # }
/// ```
pub struct Subscription {
    service: &'static Service,
    channel: Arc<Channel>,
}

#[derive(Default)]
pub(super) struct Channel {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<Note>,
    waker: Option<Waker>,
}

impl Channel {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, note: Note) {
        let mut inner = self.lock();
        if inner.queue.len() == QUEUE {
            inner.queue.pop_front();
        }
        inner.queue.push_back(note);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            wake(waker);
        }
    }
}

impl Breaker {
    /// The events of this service from now on, as a stream.
    pub fn subscribe(&self) -> Subscription {
        let channel = Arc::new(Channel {
            inner: Mutex::new(Inner {
                // Taken now, so that whoever moves a circuit allocates nothing.
                queue: VecDeque::with_capacity(QUEUE),
                waker: None,
            }),
        });
        let mut subscribers = self.service.subscribers();
        let earlier = subscribers.iter().cloned();
        *subscribers = earlier.chain([Arc::clone(&channel)]).collect();
        drop(subscribers);
        Subscription {
            service: self.service,
            channel,
        }
    }
}

impl Subscription {
    /// The next event.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, it has taken none.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll(context)).await.into()
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Event> {
        let mut inner = self.channel.lock();
        match inner.queue.pop_front() {
            Some(note) => {
                drop(inner);
                Poll::Ready(self.service.event_of(note))
            }
            None => {
                inner.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Stream for Subscription {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll(context).map(Some)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut subscribers = self.service.subscribers();
        let all = subscribers.iter();
        let others = all.filter(|channel| !Arc::ptr_eq(channel, &self.channel));
        *subscribers = others.cloned().collect();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("service", &self.service.name)
            .finish_non_exhaustive()
    }
}
