//! Models' APIs: whether each can be used as it is configured, and whether anybody is there.

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::http::unanswered;

use super::Check;
use crate::app::App;
use crate::config::endpoint::{Configured, KeyState, Listed, listed};

/// How long an API may take to say anything.
const PATIENCE: Duration = Duration::from_secs(3);

const NAME: &str = "models' APIs";

/// Tells whether any is configured.
pub(super) fn are_there(app: &App) -> bool {
    listed(app).is_ok_and(|all| !all.is_empty())
}

/// Looks at all of them, and asks them at the same time; `None` if somebody asks to stop meanwhile.
/// Whoever is being asked then is not waited for.
pub(super) fn endpoints(app: &App, no_probe: bool, cancel: &Cancel) -> Option<Vec<Check>> {
    let all = match listed(app) {
        Ok(all) => all,
        Err(failure) => return Some(vec![Check::failure(NAME, &failure, "mend the file")]),
    };
    let (sender, found) = sync_channel(1);
    let stops = sender.clone();
    let watch = cancel.watch(move || stops.try_send(None).unwrap_or_default());
    // Who does not wait any more does not hear the answer.
    thread::spawn(move || sender.send(Some(looked_at_all(&all, no_probe))).unwrap_or_default());
    let checks = found.recv().ok().flatten();
    drop(watch);
    checks.filter(|_| !cancel.is_asked())
}

fn looked_at_all(all: &[Listed], no_probe: bool) -> Vec<Check> {
    thread::scope(|threads| {
        let asked: Vec<_> =
            all.iter().map(|it| threads.spawn(move || looked_at(it, no_probe))).collect();
        asked.into_iter().filter_map(|it| it.join().ok()).collect()
    })
}

fn looked_at(listed: &Listed, no_probe: bool) -> Check {
    let Configured { endpoint, .. } = match &listed.configured {
        Ok(configured) => configured,
        Err(failure) => {
            let check = Check::failure(NAME, failure, "mend your configuration");
            // Who does not use it now needs no key.
            let is_keyless = listed.key == Some(KeyState::Missing);
            return if is_keyless { Check::warn(NAME, check.found, KEY_FIX) } else { check };
        }
    };
    let found = format!("http:{} at {}", listed.name, endpoint.url);
    if no_probe {
        return Check::ok(NAME, found);
    }
    match unanswered(endpoint, PATIENCE) {
        None => Check::ok(NAME, format!("{found} answers")),
        Some(why) => Check::warn(
            NAME,
            format!("{found} does not answer: {why}"),
            format!("start it, or mend `url` in `[lane.http.{}]`", listed.name),
        ),
    }
}

const KEY_FIX: &str = "set the variable, or name a file of yours that holds the key";
