//! Lets a test kill a run at a given event. A released program contains none of it.

/// Ends the process abruptly, after a given number of events.
#[cfg(feature = "faults")]
mod asked {
    use std::sync::atomic::{AtomicU64, Ordering};

    /// How many events are left; zero means that no end was requested.
    static LEFT: AtomicU64 = AtomicU64::new(0);

    /// Sets the number of events before the end.
    pub fn end_after(events: u64) {
        LEFT.store(events, Ordering::SeqCst);
    }

    pub(crate) fn point() {
        if LEFT.load(Ordering::SeqCst) > 0 && LEFT.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }
}

#[cfg(feature = "faults")]
pub use asked::end_after;
#[cfg(feature = "faults")]
pub(crate) use asked::point;

#[cfg(not(feature = "faults"))]
pub(crate) const fn point() {}
