//! All knowledge about a client is in one place.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the repository should stop")]

use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_engine::client::adapter;

/// The enum, and the folders of the clients with their table.
const HOMES: [&str; 3] =
    ["crates/domain/src/client.rs", "crates/engine/src/client.rs", "crates/engine/src/client/"];

/// These write a client's name as the original workflow does: in files and columns that other
/// programs read, and on its panel. They do not decide what a client can do.
const ORIGINAL_WORDS: [&str; 4] = [
    "crates/domain/src/design/seat.rs",
    "crates/domain/src/compat/session_env.rs",
    "crates/domain/src/compat/ledger.rs",
    "crates/domain/src/compat/ledger/timing.rs",
];

/// These decide by a client beside its adapter: what to say about trust and plugins, the panel of the
/// original workflow, vendors' names in telemetry, a default.
const DECIDE: [&str; 11] = [
    "crates/app/src/cli/agent.rs",
    "crates/domain/src/telemetry/names.rs",
    "crates/service/src/compat/session_setup.rs",
    "crates/service/src/design/rehearsal.rs",
    "crates/service/src/doctor/hooks.rs",
    "crates/service/src/environment.rs",
    "crates/service/src/hooks.rs",
    "crates/service/src/hooks/binding.rs",
    "crates/service/src/hooks/install.rs",
    "crates/service/src/hooks/status.rs",
    "crates/service/src/init/plan.rs",
];

/// Returns the sources of a crate, without its tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_tests {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_tests {
            found.push(path);
        }
    }
    found
}

/// Returns the lines of a text that write a client's name as a string, alone or as the name of its agent of
/// the Agent Client Protocol, up to its tests.
fn naming_lines(text: &str) -> Vec<&str> {
    let words = |client: &Client| [format!("\"{client}\""), format!("\"acp:{client}\"")];
    let quoted: Vec<_> = Client::ALL.iter().flat_map(words).collect();
    let names_one = |line: &&str| quoted.iter().any(|name| line.contains(name.as_str()));
    text.lines().take_while(|line| *line != "#[cfg(test)]").filter(names_one).collect()
}

// Adding a client touches its folder, the enum and its fixtures: no other code knows it by name.
#[test]
fn only_a_clients_own_files_write_its_name() {
    for krate in fs::read_dir(xtask::root().join("crates")).unwrap() {
        for path in sources(&krate.unwrap().path().join("src")) {
            let name = path.strip_prefix(xtask::root()).unwrap().display().to_string();
            let may_name = HOMES.iter().any(|home| name.starts_with(home))
                || ORIGINAL_WORDS.contains(&name.as_str());
            let text = fs::read_to_string(&path).unwrap();
            let found = naming_lines(&text);
            assert!(
                may_name || found.is_empty(),
                "{name} knows a client by its name, so ask its adapter instead: {found:?}"
            );
        }
    }
}

// A decision about one client belongs in its adapter; this list can only shrink.
#[test]
fn few_files_decide_by_a_client() {
    let variants = Client::ALL.map(|client| format!("Client::{client:?}"));
    let mut found = Vec::new();
    for krate in fs::read_dir(xtask::root().join("crates")).unwrap() {
        for path in sources(&krate.unwrap().path().join("src")) {
            let name = path.strip_prefix(xtask::root()).unwrap().display().to_string();
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let decides = variants.iter().any(|variant| code.contains(variant.as_str()));
            if decides && !HOMES.iter().any(|home| name.starts_with(home)) {
                found.push(name);
            }
        }
    }
    found.sort();
    assert_eq!(found, DECIDE);
}

// Every exception must be needed, so that the list can only shrink.
#[test]
fn every_exception_is_needed() {
    for name in ORIGINAL_WORDS {
        let text = fs::read_to_string(xtask::root().join(name)).unwrap();
        assert!(!naming_lines(&text).is_empty(), "{name} needs no exception any more");
    }
}

#[test]
fn every_client_has_a_folder() {
    for client in Client::ALL {
        let folder = xtask::root().join("crates/engine/src/client").join(client.name());
        let adapter = adapter(client);
        for (file, is_needed) in [
            ("launch.rs", true),
            ("listener.rs", true),
            ("versions.rs", true),
            ("transcript.rs", adapter.transcript.is_some()),
            ("hooks.rs", adapter.hooks.is_some()),
            ("usage.rs", adapter.usage_records.is_some()),
        ] {
            assert_eq!(folder.join(file).is_file(), is_needed, "{client}: {file}");
        }
        let has_hooks = Client::WITH_HOOKS.contains(&client);
        assert_eq!((adapter.hooks.is_some(), adapter.transcript.is_some()), (has_hooks, has_hooks));
    }
}
