//! The atomics and the locks of what is shared: those of std, or loom's under test.

#[cfg(not(breakerbox_loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU16, AtomicU32, AtomicU64, fence},
};

#[cfg(breakerbox_loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU16, AtomicU32, AtomicU64, fence},
};

/// Locks, also after a panic of another holder: nothing that is held here is
/// ever left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
