//! Stretches of time in which something was out of order.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

#[derive(Default)]
pub(crate) struct Spans(Mutex<Vec<(Instant, Option<Instant>)>>);

impl Spans {
    /// One lasts for as long as `during` does.
    pub(crate) fn during<T>(&self, during: impl FnOnce() -> T) -> T {
        let at = {
            let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            spans.push((Instant::now(), None));
            spans.len() - 1
        };
        let out = during();
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spans[at].1 = Some(Instant::now());
        out
    }

    /// Whether one of them has an instant in common with this stretch.
    pub(crate) fn touch(&self, begin: Instant, end: Instant) -> bool {
        let spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spans
            .iter()
            .any(|(from, to)| *from <= end && to.is_none_or(|to| to >= begin))
    }
}
