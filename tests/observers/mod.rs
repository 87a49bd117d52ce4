//! Listeners: what they hear, and what they cannot harm.

pub(crate) mod eventually;

mod ends;
mod hearing;
mod misbehaving;
pub(crate) mod subscribing;
mod waiting;

use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;

use breakerbox::Event;
use breakerbox::RegistryBuilder;
use breakerbox::Transition;

use eventually::DEADLINE;

/// What a listener hears. Hangs up when the listener is gone.
pub(crate) struct Heard<T = Transition>(Receiver<T>);

/// One more listener, of transitions alone: other files of this binary contradict each
/// other on purpose, of which every registry warns.
pub(crate) fn listening(builder: RegistryBuilder) -> (RegistryBuilder, Heard) {
    hearing(builder, |event| match event {
        Event::Transition(transition) => Some(transition.clone()),
        _ => None,
    })
}

/// One more listener, of what `interest` takes out of the events.
pub(crate) fn hearing<T: Send + 'static>(
    builder: RegistryBuilder,
    interest: impl Fn(&Event) -> Option<T> + Send + 'static,
) -> (RegistryBuilder, Heard<T>) {
    let (hears, heard) = mpsc::channel();
    let builder = builder.on_event(move |event| {
        if let Some(heard) = interest(event) {
            // The test may have heard enough.
            let _ = hears.send(heard);
        }
    });
    (builder, Heard(heard))
}

impl<T> Heard<T> {
    /// The next, for which it waits.
    #[track_caller]
    pub(crate) fn next(&self) -> T {
        let heard = self.0.recv_timeout(DEADLINE);
        heard.expect("an event within the deadline")
    }

    /// Everything up to the end of the listener, which must come.
    #[track_caller]
    pub(crate) fn to_the_end(&self) -> Vec<T> {
        let mut all = Vec::new();
        loop {
            match self.0.recv_timeout(DEADLINE) {
                Ok(heard) => all.push(heard),
                Err(RecvTimeoutError::Disconnected) => return all,
                Err(RecvTimeoutError::Timeout) => panic!("the listener never ends"),
            }
        }
    }

    /// What it has heard by now.
    pub(crate) fn by_now(&self) -> Vec<T> {
        self.0.try_iter().collect()
    }
}
