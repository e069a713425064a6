//! Asking lanes to stop: Ctrl-C, a caller that has enough answers, a budget.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stops all work that checks it, once and irrevocably. Clones share the state.
#[derive(Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
    /// Forwards the parent's cancellation.
    _parent: Option<Arc<CancelWatch>>,
}

#[derive(Default)]
struct Shared {
    is_cancelled: AtomicBool,
    watchers: Mutex<Watchers>,
}

#[derive(Default)]
struct Watchers {
    count: u64,
    wake: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// A registered callback, called on cancellation for as long as this is held.
pub struct CancelWatch {
    shared: Arc<Shared>,
    number: u64,
}

impl Cancel {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::SeqCst);
        // Called without the lock: a callback may drop its registration, which takes the lock.
        let wake = std::mem::take(&mut self.shared.watchers().wake);
        for wake in wake.values() {
            wake();
        }
    }

    /// Tells whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled.load(Ordering::SeqCst)
    }

    /// Registers a callback for the cancellation; it runs even if that was requested already.
    pub fn watch(&self, wake: impl Fn() + Send + 'static) -> CancelWatch {
        let mut watchers = self.shared.watchers();
        let number = watchers.count;
        watchers.count += 1;
        if self.is_cancelled() {
            drop(watchers);
            wake();
        } else {
            watchers.wake.insert(number, Box::new(wake));
        }
        CancelWatch { shared: Arc::clone(&self.shared), number }
    }

    /// Returns a child that the parent's cancellation also cancels, and that can be cancelled
    /// alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Self::default();
        let alone = child.clone();
        Self { _parent: Some(Arc::new(self.watch(move || alone.cancel()))), ..child }
    }
}

impl Shared {
    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        self.shared.watchers().wake.remove(&self.number);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_callback_is_called_once() {
        let cancel = Cancel::default();
        let (sender, woken) = channel();
        let (early, late, gone) = (sender.clone(), sender.clone(), sender);
        let _early = cancel.watch(move || early.send("early").unwrap());
        drop(cancel.watch(move || gone.send("gone").unwrap()));
        cancel.clone().cancel();
        cancel.cancel();
        let _late = cancel.watch(move || late.send("late").unwrap());
        drop(cancel);
        assert_eq!(woken.try_iter().collect::<Vec<_>>(), ["early", "late"]);
    }

    #[test]
    fn a_child_is_cancelled_with_its_parent_and_alone() {
        let parent = Cancel::default();
        let (one, other) = (parent.child(), parent.child());
        one.cancel();
        assert_eq!([&parent, &one, &other].map(Cancel::is_cancelled), [false, true, false]);
        parent.cancel();
        assert!(other.is_cancelled());
        assert!(parent.child().is_cancelled(), "born too late");
    }
}
