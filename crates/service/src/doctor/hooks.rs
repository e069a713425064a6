//! Whether hooks that are installed also work: called by a program that is there, and trusted.

use std::path::Path;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_engine::client::codex::trust::{HookTrust, trust};
use convoke_engine::file;
use convoke_engine::hooks::{HooksLevel, programs};

use super::DoctorCheck;
use crate::environment::agent_variable::AGENT_VARIABLE;
use crate::hooks::{
    HooksTarget, codex_trust_steps, is_same, is_there, last_failed, obstacle, plugin,
};
use crate::session::Session;
use crate::wake::hook_settings;
use crate::workspace::Workspace;

/// No settings file a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Another check reports a store that is busy for longer.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn hooks(session: &Session) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    let mut installed = Vec::new();
    for client in Client::WITH_HOOKS {
        for level in [HooksLevel::Project, HooksLevel::User] {
            let Ok(path) = (HooksTarget { client, level }).path(session) else {
                continue;
            };
            let found = check(client, level, &path, session);
            installed.extend(found.as_ref().map(|_| client));
            checks.extend(found);
        }
    }
    if let Some(name) = plugin(session, HooksLevel::Project) {
        checks.push(DoctorCheck::ok("hooks", format!("the plugin {name} provides them")));
        installed.push(Client::Claude);
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::ok(
            "hooks",
            "none are installed; run `convoke hooks install CLIENT`, such as `claude`",
        ));
    }
    checks.extend(wake_ups(&installed, session));
    checks
}

/// Tells whether a session that begins now receives a wake-up.
fn wake_ups(installed: &[Client], session: &Session) -> Option<DoctorCheck> {
    let (name, client) = ("wake-ups", *installed.first()?);
    // Another check reports a store that does not open.
    let (workspace, _) = Workspace::open_for_hook(session, PATIENCE).ok()?;
    let (settings, left_out) = hook_settings(session, &workspace).ok()?;
    let failed = || installed.iter().find_map(|client| last_failed(session, &workspace, *client));
    Some(match (obstacle(client, session, &workspace, &settings).ok()?, left_out.as_slice()) {
        (Some(obstacle), _) => {
            DoctorCheck::warn(name, format!("not delivered: {}", obstacle.why), obstacle.fix)
        }
        (None, []) => match failed() {
            None => DoctorCheck::ok(name, "a session that begins now receives one"),
            Some(failed) => {
                let fix = match failed.instead {
                    Some(_) => "correct the variable where you start the client, or unset it there",
                    None => {
                        "the next hook that works ends this warning; until then, mend the cause"
                    }
                };
                DoctorCheck::warn(name, failed.words(), fix)
            }
        },
        (None, left_out) => {
            let found = format!("delivered without settings of {}", left_out.join(" and "));
            let is_variable = |name: &String| name == AGENT_VARIABLE;
            let variable = session.environment.unusable_agent();
            let variable = variable.map(|error| format!("{error}: set another one, or unset it"));
            let others = !left_out.iter().all(is_variable);
            let others = others.then(|| "mend what `configuration` names".to_owned());
            let fixes: Vec<_> = variable.into_iter().chain(others).collect();
            DoctorCheck::warn(name, found, fixes.join("; "))
        }
    })
}

fn check(client: Client, level: HooksLevel, path: &Path, session: &Session) -> Option<DoctorCheck> {
    let text = file::text(path, MAX_BYTES)?;
    let shown = path.display();
    let again = match level {
        HooksLevel::Project => format!("convoke hooks install {}", client.name()),
        HooksLevel::User => format!("convoke hooks install {} --user", client.name()),
    };
    let called = match programs(&text, client) {
        Ok(called) if called.is_empty() => return None,
        Ok(called) => called,
        Err(error) => {
            let found = format!("{shown} cannot be read: {error}");
            return Some(DoctorCheck::warn("hooks", found, "correct the file"));
        }
    };
    if let Some(gone) = called.iter().find(|program| !is_there(program, session)) {
        let found = format!("{shown} calls {}, which does not exist", gone.display());
        return Some(DoctorCheck::fail("hooks", found, format!("run `{again}`")));
    }
    let own = session.environment.program();
    if let Some(other) =
        called.iter().find(|program| program.is_absolute() && !is_same(program, &own))
    {
        let found = format!("{shown} calls another convoke: {}", other.display());
        return Some(DoctorCheck::warn(
            "hooks",
            found,
            format!("run `{again}`, or leave it as it is"),
        ));
    }
    let trusted = (client == Client::Codex).then(|| codex_trust(&text, path, session)).flatten();
    Some(match trusted {
        None | Some(HookTrust::Trusted) => {
            DoctorCheck::ok("hooks", format!("{shown} calls this convoke"))
        }
        Some(trust) => {
            let found = format!("{shown} is not called: {}", trust.words());
            let folder = HooksTarget { client, level }.folder_trust(session);
            DoctorCheck::warn("hooks", found, codex_trust_steps(folder))
        }
    })
}

fn codex_trust(settings: &str, path: &Path, session: &Session) -> Option<HookTrust> {
    let config = session.environment.codex_home()?.join("config.toml");
    trust(settings, path, &file::text(&config, MAX_BYTES).unwrap_or_default())
}
