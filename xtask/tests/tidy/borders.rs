//! Borders between the crates that their dependencies alone do not hold.

use std::fs;
use std::path::Path;

use toml::Table;

use super::{files, relative, sources};

// A use case must run for any front end: no command line, terminal, process-wide state or exit code.
#[test]
fn use_cases_know_no_front_end() {
    let forbidden =
        ["clap", "anstream", "std::env", "stdout()", "stderr()", "stdin()", "process::exit"];
    for path in files(&xtask::root().join("crates/service/src"), ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let used = forbidden.iter().find(|word| text.contains(**word));
        assert_eq!(used, None, "{}", relative(&path));
    }
    let manifest = fs::read_to_string(xtask::root().join("crates/service/Cargo.toml")).unwrap();
    let manifest: Table = manifest.parse().unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    for front_end in ["clap", "anstream", "comfy-table", "signal-hook", "rustix"] {
        assert!(!dependencies.contains_key(front_end), "service uses {front_end}");
    }
}

// Rules, effects and storage know no command line either.
#[test]
fn only_the_program_parses_a_command_line() {
    for krate in ["domain", "guard", "store", "engine"] {
        let folder = xtask::root().join("crates").join(krate);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: Table = manifest.parse().unwrap();
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let names = manifest.get(table).and_then(|table| table.as_table());
            assert!(names.is_none_or(|names| !names.contains_key("clap")), "{krate}: {table}");
        }
        for path in files(&folder.join("src"), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("clap::"), "{} uses clap", relative(&path));
        }
    }
}

/// Returns the string literals of a source, up to its tests, that begin with one of these words.
fn literals<'t>(text: &'t str, words: &[&str]) -> Vec<&'t str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let has = |line: &&str| words.iter().any(|word| line.contains(&format!("\"{word}")));
    lines.filter(has).collect()
}

// How grave a message is is part of its type. Each front end has its own way to show that.
#[test]
fn messages_do_not_name_their_level() {
    let levels = ["note: ", "warning: "];
    for krate in ["service", "engine"] {
        for path in files(&xtask::root().join("crates").join(krate).join("src"), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let found = literals(&text, &levels);
            assert!(is_of_tests(&path) || found.is_empty(), "{}: {found:?}", relative(&path));
        }
    }
    assert_eq!(literals("say(\"note: x\")\n// \"note: y\"\n\"a note: z\"", &levels).len(), 1);
}

// Other programs parse these words. Each is written in few places, so that a change of a rule
// cannot change one by accident.
#[test]
fn contract_words_are_written_in_few_places() {
    let listed: [(&str, &[&str]); 4] = [
        ("DESIGN_HEAVY=", &["crates/domain/src/design/heavy.rs"]),
        (
            "PREFLIGHT_",
            &["crates/domain/src/design/setup.rs", "crates/service/src/compat/preflight.rs"],
        ),
        ("ENTRY_GATE=", &["crates/domain/src/design/setup/entry_gate.rs"]),
        ("GATE_ERROR=", &["crates/domain/src/design/setup/entry_gate.rs"]),
    ];
    for (word, known) in listed {
        let folders = ["domain", "engine", "service", "app", "mcp", "web", "page"];
        let folders = folders.map(|krate| xtask::root().join("crates").join(krate).join("src"));
        let mut found = Vec::new();
        for path in folders.iter().flat_map(|folder| files(folder, ".rs")) {
            let text = fs::read_to_string(&path).unwrap();
            if !is_of_tests(&path) && !literals(&text, &[word]).is_empty() {
                found.push(relative(&path));
            }
        }
        found.sort();
        assert_eq!(found, known, "{word}");
    }
}

/// Tells whether a file below `src` holds tests alone.
fn is_of_tests(path: &Path) -> bool {
    path.with_extension("").components().any(|part| part.as_os_str() == "tests")
}

/// Returns the lines of a source that declare a `static`, public or not, up to its tests.
fn statics(text: &str) -> Vec<&str> {
    let declares = |line: &&str| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(") ").map_or("", |(_, after)| after)
            }
            Some(rest) => rest.trim_start(),
            None => line,
        };
        line.starts_with("static ")
    };
    text.lines().take_while(|line| *line != "#[cfg(test)]").filter(declares).collect()
}

// What one session does must not change another in the same process. An adapter is a table that
// does not change; a process removes old temporary folders once, and is on one machine; faults are
// for tests.
#[test]
fn only_the_program_has_state_of_the_process() {
    let known = [
        "crates/engine/src/design/fault.rs",
        "crates/engine/src/owner.rs",
        "crates/engine/src/scratch.rs",
    ];
    let mut found = Vec::new();
    for krate in ["domain", "store", "engine", "service", "page"] {
        for path in files(&xtask::root().join("crates").join(krate).join("src"), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let is_test = is_of_tests(&path);
            let of_process = |line: &&str| !line.contains("static ADAPTER: ClientAdapter");
            if !is_test && statics(&text).iter().any(of_process) {
                found.push(relative(&path));
            }
        }
    }
    assert_eq!(found, known);
    let declared = "static A: u8 = 0;\npub static B: u8 = 0;\n    pub(super) static C: u8 = 0;\n";
    assert_eq!(statics(declared).len(), 3);
    assert_eq!(statics("let a: &'static str;\nconst B: &str = \"static \";\n"), [""; 0]);
}

// A front end calls use cases: it opens no store, starts no lane and reads no file by itself.
#[test]
fn front_ends_leave_effects_to_use_cases() {
    let forbidden = [
        "Workspace::open",
        "convoke_store::open",
        "StoreLocation",
        "run_with_progress(",
        "run_and_warn(",
        "engine::lane::drive",
        "engine::lane::start",
        "engine::file;",
        "engine::file::read",
        "convoke_engine::process",
        "convoke_engine::editor",
        "convoke_engine::{",
    ];
    let folders = ["crates/app/src/cli", "crates/mcp/src", "crates/web/src"];
    let folders = folders.iter().flat_map(|folder| files(&xtask::root().join(folder), ".rs"));
    // A long-running command has a file of its own beside the folder of commands.
    let alone = ["crates/app/src/server.rs", "crates/app/src/dashboard.rs"];
    for path in folders.chain(alone.map(|path| xtask::root().join(path))) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let used = forbidden.iter().find(|word| code.contains(**word));
        assert!(is_of_tests(&path) || used.is_none(), "{} uses {used:?}", relative(&path));
    }
}

// A backend of the store must change nothing outside `crates/store`. The values of its SQL are
// `rusqlite`'s for every database. The bench writes rows into
// the database directly, to make large stores.
#[test]
fn only_the_stores_backend_knows_its_database() {
    let library = concat!("rusq", "lite");
    let may = |path: &str| {
        path.starts_with("crates/store/src/sql/")
            || path.starts_with("crates/store/src/sqlite")
            || path.starts_with("crates/store/src/postgres/")
            || path.contains("/tests/")
            || path == "xtask/src/bench/serve.rs"
            || path == "xtask/src/bench/wake.rs"
    };
    for path in sources().iter().map(|path| relative(path)).filter(|path| !may(path)) {
        let text = fs::read_to_string(xtask::root().join(&path)).unwrap();
        assert!(!text.contains(library), "{path} mentions {library}");
    }
    for path in files(&xtask::root().join("crates"), "Cargo.toml") {
        let manifest: Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let uses = manifest["dependencies"].as_table().unwrap().contains_key(library);
        let is_store = relative(&path) == "crates/store/Cargo.toml";
        assert_eq!(uses, is_store, "{}", relative(&path));
    }
}

// Scripts of the original workflows are served from above: no rule of Convoke's depends on them.
#[test]
fn rules_do_not_depend_on_the_original_scripts() {
    let domain = xtask::root().join("crates/domain/src");
    let compat = domain.join("compat");
    for path in files(&domain, ".rs") {
        let uses = fs::read_to_string(&path).unwrap().contains("compat::");
        assert!(!uses || path.starts_with(&compat), "{} uses compat", relative(&path));
    }
}
