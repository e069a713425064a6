//! Models' APIs: whether each can be used as it is configured, and whether it answers.

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use convoke_engine::lane::http::unanswered;

use super::{ApiCheck, DoctorCheck};
use crate::session::Session;
use crate::settings::endpoint::{Configured, KeyState, Listed, listed};

/// How long an API may take until its first byte.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) const NAME: &str = "models' APIs";

/// Tells whether any is configured.
pub(super) fn are_there(session: &Session) -> bool {
    listed(session).is_ok_and(|all| !all.is_empty())
}

/// Checks all of them, and probes them in parallel; `None` if the user stops Convoke meanwhile. It
/// then does not wait for the running probes.
pub(super) fn endpoints(session: &Session, wanted: ApiCheck) -> Option<Vec<DoctorCheck>> {
    let cancel = session.cancel();
    let all = match listed(session) {
        Ok(all) => all,
        Err(failure) => {
            return Some(vec![DoctorCheck::failure(NAME, &failure, "correct the file")]);
        }
    };
    let (sender, found) = sync_channel(1);
    let stops = sender.clone();
    let watch = cancel.watch(move || stops.try_send(None).unwrap_or_default());
    // A caller that no longer waits does not receive the answer.
    thread::spawn(move || sender.send(Some(look_at_all(&all, wanted))).unwrap_or_default());
    let checks = found.recv().ok().flatten();
    drop(watch);
    checks.filter(|_| !cancel.is_cancelled())
}

fn look_at_all(all: &[Listed], wanted: ApiCheck) -> Vec<DoctorCheck> {
    thread::scope(|threads| {
        let asked: Vec<_> =
            all.iter().map(|api| threads.spawn(move || look_at(api, wanted))).collect();
        asked.into_iter().filter_map(|look| look.join().ok()).collect()
    })
}

fn look_at(listed: &Listed, wanted: ApiCheck) -> DoctorCheck {
    let Configured { endpoint, .. } = match &listed.configured {
        Ok(configured) => configured,
        Err(failure) => {
            let check = DoctorCheck::failure(NAME, failure, "correct your configuration");
            // An API that is not in use needs no key.
            let is_keyless = listed.key == Some(KeyState::Missing);
            return if is_keyless { DoctorCheck::warn(NAME, check.found, KEY_FIX) } else { check };
        }
    };
    let found = format!("http:{} at {}", listed.name, endpoint.url);
    if wanted == ApiCheck::Configured {
        return DoctorCheck::ok(NAME, found);
    }
    match unanswered(endpoint, PATIENCE) {
        None => DoctorCheck::ok(NAME, format!("{found} answers")),
        Some(why) => DoctorCheck::warn(
            NAME,
            format!("{found} does not answer: {why}"),
            format!("start it, or correct `url` in `[lane.http.{}]`", listed.name),
        ),
    }
}

const KEY_FIX: &str = "set the variable, or name a file of yours that holds the key";
