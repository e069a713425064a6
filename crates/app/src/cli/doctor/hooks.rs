//! Whether hooks that are installed also work: called by a program that is there, and trusted.

use std::path::Path;

use convoke_domain::hook::Client;
use convoke_engine::file;
use convoke_engine::hooks::trust::{Trust, trust};
use convoke_engine::hooks::{Level, programs, settings_file};

use super::super::hooks::plugin;
use super::Check;
use crate::app::App;

/// No settings file a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn hooks(app: &App) -> Vec<Check> {
    let project = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
    let bases = [(Level::Project, Some(project)), (Level::User, app.environment.home())];
    let mut checks = Vec::new();
    for client in Client::ALL {
        for (level, base) in &bases {
            let Some(path) = base.as_ref().map(|it| settings_file(client, *level, it)) else {
                continue;
            };
            checks.extend(check(client, *level, &path, app));
        }
    }
    if let Some(name) = plugin(app, false) {
        checks.push(Check::ok("hooks", format!("the plugin {name} brings them along")));
    }
    if checks.is_empty() {
        checks.push(Check::ok("hooks", "none are installed; `convoke hooks install` does it"));
    }
    checks
}

fn check(client: Client, level: Level, path: &Path, app: &App) -> Option<Check> {
    let text = file::text(path, MAX_BYTES)?;
    let shown = path.display();
    let again = match level {
        Level::Project => format!("convoke hooks install {}", client.name()),
        Level::User => format!("convoke hooks install {} --user", client.name()),
    };
    let called = match programs(&text, client) {
        Ok(called) if called.is_empty() => return None,
        Ok(called) => called,
        Err(error) => {
            let found = format!("{shown} cannot be read: {error}");
            return Some(Check::warn("hooks", found, "mend the file"));
        }
    };
    if let Some(gone) = called.iter().find(|program| !is_there(program, app)) {
        let found = format!("{shown} calls {}, which is not there", gone.display());
        return Some(Check::fail("hooks", found, format!("run `{again}`")));
    }
    let own = app.environment.program();
    if let Some(other) = called.iter().find(|it| it.is_absolute() && !is_same(it, &own)) {
        let found = format!("{shown} calls another convoke: {}", other.display());
        return Some(Check::warn("hooks", found, format!("run `{again}`, or leave it so")));
    }
    let trusted = (client == Client::Codex).then(|| codex_trust(&text, path, app)).flatten();
    Some(match trusted {
        None | Some(Trust::Trusted) => Check::ok("hooks", format!("{shown} calls us")),
        Some(trust) => {
            let found = format!("{shown} is not called: {}", trust.words());
            Check::warn("hooks", found, "run `/hooks` in Codex once")
        }
    })
}

fn codex_trust(settings: &str, path: &Path, app: &App) -> Option<Trust> {
    let config = app.environment.codex_home()?.join("config.toml");
    trust(settings, path, &file::text(&config, MAX_BYTES).unwrap_or_default())
}

fn is_there(program: &Path, app: &App) -> bool {
    let name = program.to_string_lossy();
    if name.contains('/') {
        program.is_file()
    } else {
        app.environment.find_program(&[&name], &app.project).is_some()
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}
