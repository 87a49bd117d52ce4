//! The text of the failure that opened a circuit.

use std::fmt;
use std::fmt::Write;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::breaker::Breaker;
use crate::name;

/// How much of a text is kept, in bytes.
const KEPT: usize = 256;

/// The text that was told last. It is asked for only where a circuit has just opened,
/// so that an ordinary failure formats nothing.
#[derive(Debug, Default)]
pub(super) struct LastFailure(Mutex<Option<Box<str>>>);

impl LastFailure {
    pub(super) fn get(&self) -> Option<String> {
        let text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        text.as_deref().map(str::to_owned)
    }

    /// The circuit has opened, and nobody has said yet on what failure.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Breaker {
    /// The circuit was opened by a call that failed with `error`.
    #[cold]
    pub(crate) fn opened_by(&self, error: &dyn fmt::Display) {
        let mut beginning = Beginning(String::new());
        // The error is on its way to the caller, who must get it also where it cannot be
        // shown; and a long text ends with an error of ours.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| write!(beginning, "{error}")));
        let text = (!beginning.0.is_empty()).then(|| beginning.0.into_boxed_str());
        *self
            .service
            .last_failure
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// Takes the beginning of a text and stops whoever writes more.
struct Beginning(String);

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let left = KEPT - self.0.len();
        if more.len() <= left {
            self.0.push_str(more);
            return Ok(());
        }
        self.0.push_str(name::beginning(more, left));
        Err(fmt::Error)
    }
}
