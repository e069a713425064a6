//! The one door to signals: what Ctrl-C, `kill` and a closed terminal mean while agents work.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_engine::scratch;
use convoke_service::interruption::{ExitHold, Interruption};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals as SignalStream;
use signal_hook::low_level::exit;

use crate::exit::Exit;

static CANCEL: OnceLock<Cancel> = OnceLock::new();

static URGENT: OnceLock<Cancel> = OnceLock::new();

/// A signal this soon after another counts as the same.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Held while a use case shuts down in order and must not be killed.
static HELD: Mutex<()> = Mutex::new(());

/// Signals of the terminal and of other programs, as use cases see them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Signals;

impl Interruption for Signals {
    fn cancel(&self) -> Cancel {
        cancel()
    }

    fn urgent(&self) -> Cancel {
        urgent()
    }

    /// A second signal waits until the returned value is gone.
    fn hold(&self) -> ExitHold {
        ExitHold::new(hold())
    }
}

fn hold() -> MutexGuard<'static, ()> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value that a second signal sets, right before it ends the process.
pub fn urgent() -> Cancel {
    URGENT.get_or_init(Cancel::default).clone()
}

/// Returns the value that stops all lanes. From the first call on, a signal sets it; a second
/// signal ends the process immediately, without leaving a temporary folder, and guardians end the
/// clients.
pub fn cancel() -> Cancel {
    CANCEL
        .get_or_init(|| {
            let cancel = Cancel::default();
            let asked = cancel.clone();
            // Without it a signal ends the process, as by default.
            if let Ok(mut signals) = SignalStream::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]) {
                thread::spawn(move || {
                    loop {
                        if signals.wait().next().is_none() {
                            continue;
                        }
                        if asked.is_cancelled() {
                            urgent().cancel();
                            let _held = hold();
                            scratch::clear();
                            exit(Exit::Interrupted.code().into());
                        }
                        asked.cancel();
                        // A program that signals a process and its group, as `timeout` does,
                        // requests one stop.
                        thread::sleep(AT_ONCE);
                        signals.pending().for_each(drop);
                    }
                });
            }
            cancel
        })
        .clone()
}
