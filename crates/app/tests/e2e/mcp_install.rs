//! `convoke mcp install` and `uninstall`: the entry in clients' settings.

use std::fs;

use serde_json::Value;

use crate::harness::Project;

/// The clients that start MCP servers, each with its settings and the list of servers in them.
const JSON: [(&str, &str, &str); 4] = [
    ("claude", ".mcp.json", "mcpServers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("opencode", "opencode.json", "mcp"),
    ("qwen", ".qwen/settings.json", "mcpServers"),
];

/// Returns what a file of a project has; nothing without a file.
fn text(project: &Project, name: &str) -> Option<String> {
    fs::read_to_string(project.path(name)).ok()
}

#[test]
fn an_installed_server_can_be_taken_out_again() {
    let project = Project::new().file(".gemini/settings.json", "{\n  \"theme\": \"dark\"\n}\n");
    let before = project.listing();
    for client in ["claude", "codex", "gemini", "opencode", "qwen"] {
        assert_eq!(project.run(&["mcp", "status", client]).code, Some(1));
        let shown = project.stdout(&["mcp", "install", client, "--dry-run"]);
        assert!(shown.contains("\"mcp\""), "{shown}");
        assert!(project.stdout(&["mcp", "install", client]).ends_with("  installed"));
        project.stdout(&["mcp", "install", client]);
        assert_eq!(project.run(&["mcp", "status", client]).code, Some(0));
        assert!(project.stdout(&["mcp", "uninstall", client]).ends_with("  not installed"));
        assert_eq!(project.run(&["mcp", "status", client]).code, Some(1));
    }
    assert_eq!(project.listing(), before);
    let codex = project.stdout(&["mcp", "install", "codex", "--dry-run"]);
    assert!(codex.contains("\nstartup_timeout_sec = 20\n"), "{codex}");
    assert!(!codex.contains("required"), "Codex starts without the server: {codex}");
    // Codex hides every other variable from the server, with the limits that they set.
    for name in [
        "AGENT",
        "LANE",
        "LANE_BUDGET_PER_DAY",
        "MCP_ALLOW",
        "MCP_BUDGET",
        "MCP_IN_LANES",
        "STORE",
        "STORE_PASSWORD",
        "STORE_PASSWORD_COMMAND",
        "STORE_PASSWORD_FILE",
    ] {
        assert!(codex.contains(&format!("\"CONVOKE_{name}\"")), "{name}: {codex}");
    }
    project.stdout(&["mcp", "install", "codex"]);
    project.stdout(&["mcp", "install", "codex", "--wait"]);
    let waits = text(&project, ".codex/config.toml").unwrap();
    assert!(waits.contains("\nrequired = true\n"), "{waits}");
    assert!(project.stdout(&["mcp", "uninstall", "codex"]).ends_with("  not installed"));
    assert_eq!(project.listing(), before);
    let other = project.run(&["mcp", "install", "gemini", "--wait"]);
    assert!(other.stderr.contains("waits for its MCP servers by itself"), "{other}");
    assert_eq!((other.code, project.listing()), (Some(1), before));
    let refused = project.file(".mcp.json", "[]").run(&["mcp", "install", "claude"]);
    assert_eq!(refused.code, Some(1), "{refused}");
}

// A server that its client does not start has no tools, and the client may say nothing about it.
#[test]
fn the_status_names_what_a_client_still_wants_from_its_user() {
    let project = Project::new().in_repository("main").variable("CONVOKE_MCP_BUDGET", "200k");
    for (client, words) in [
        (
            "claude",
            "note: Claude Code asks you first: start `claude` in this project, trust the folder",
        ),
        ("codex", "note: Codex asks you first: start `codex` in this project and trust the folder"),
        (
            "gemini",
            "note: Gemini CLI asks you first: start `gemini` in this project and trust the folder",
        ),
        ("opencode", "note: approval: unknown, opencode keeps no approval that Convoke knows of"),
    ] {
        let before = project.run(&["mcp", "status", client]);
        assert!(!before.stderr.contains("note:"), "there is nothing to approve: {before}");
        for command in ["install", "status"] {
            let outcome = project.run(&["mcp", command, client]);
            assert_eq!(outcome.code, Some(0), "{outcome}");
            assert!(outcome.stderr.contains(words), "{outcome}");
            assert_eq!(outcome.stdout.lines().count(), 1, "{outcome}");
        }
    }
    let report = project.stdout(&["mcp", "status", "claude", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["approval"]["state"], "needed", "{report}");
    let own = r#"{"enabledMcpjsonServers": ["convoke"]}"#;
    let project = project.file("../home/.claude/settings.json", own);
    let approved = project.run(&["mcp", "status", "claude"]);
    assert!(!approved.stderr.contains("note:"), "{approved}");
    let user = project.run(&["mcp", "install", "claude", "--user"]);
    assert!(!user.stderr.contains("asks you first"), "{user}");
}

// `mcp status` is about one client; these two show every client's state.
#[test]
fn status_and_doctor_name_what_a_client_still_waits_for() {
    let project = Project::new().in_repository("main");
    let steps = [
        (
            "claude",
            "Claude Code asks you first: start `claude` in this project, trust the folder and \
                    approve the server `convoke`",
        ),
        ("codex", "Codex asks you first: start `codex` in this project and trust the folder"),
        (
            "gemini",
            "Gemini CLI asks you first: start `gemini` in this project and trust the folder",
        ),
    ];
    for (client, words) in steps {
        project.stdout(&["mcp", "install", client]);
        for command in ["status", "doctor"] {
            let outcome = project.run(&[command]);
            assert!(in_one_line(&outcome.stdout).contains(words), "{outcome}");
        }
        project.stdout(&["mcp", "uninstall", client]);
        assert!(!project.run(&["status"]).stdout.contains("asks you first"));
    }
    project.stdout(&["mcp", "install", "opencode"]);
    let unknown = "approval: unknown, opencode keeps no approval that Convoke knows of";
    for command in ["status", "doctor"] {
        let outcome = project.run(&[command]);
        assert!(in_one_line(&outcome.stdout).contains(unknown), "{outcome}");
    }
    project.stdout(&["mcp", "uninstall", "opencode"]);

    project.stdout(&["mcp", "install", "claude"]);
    let report = report(&project, &["status", "--json"]);
    assert_eq!(report["mcp"][0]["approval"]["state"], "needed", "{report}");
    let refused = r#"{"disabledMcpjsonServers": ["convoke"]}"#;
    let project = project.file(".claude/settings.local.json", refused);
    for command in ["status", "doctor"] {
        let outcome = project.run(&[command]);
        let words = "you refused the server in Claude Code: start `claude` in this project";
        assert!(in_one_line(&outcome.stdout).contains(words), "{outcome}");
    }
    let approved = r#"{"enableAllProjectMcpServers": true}"#;
    let project = project
        .file(".claude/settings.local.json", "{}")
        .file("../home/.claude/settings.json", approved);
    let status = project.run(&["status"]);
    assert!(status.stdout.contains("installed for claude\n"), "{status}");
    assert!(!status.stdout.contains("asks you first"), "{status}");
    let doctor = project.run(&["doctor"]);
    assert!(doctor.stdout.contains(".mcp.json starts this convoke\n"), "{doctor}");
}

/// Returns what a command reports to programs.
fn report(project: &Project, words: &[&str]) -> Value {
    serde_json::from_str(&project.stdout(words)).unwrap()
}

/// Joins lines that were wrapped.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

// A client reads its user's settings where its variable says, and no longer where they usually are.
#[test]
fn a_users_entry_is_where_the_clients_variable_says() {
    for (client, variable, server, hooks) in [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json", Some("settings.json")),
        ("codex", "CODEX_HOME", "config.toml", Some("hooks.json")),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json", Some(".gemini/settings.json")),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            "opencode/opencode.json",
            Some("opencode/plugins/convoke.js"),
        ),
        ("qwen", "QWEN_HOME", "settings.json", None),
    ] {
        let project = Project::new().in_repository("main");
        let moved = project.path("../moved");
        let project = project.variable(variable, moved.to_str().unwrap());
        let installed = project.stdout(&["mcp", "install", client, "--user"]);
        let path = project.path("../moved").join(server);
        assert!(installed.contains(&format!("moved/{server}  installed")), "{installed}");
        assert!(fs::read_to_string(&path).unwrap().contains("convoke"), "{client}");
        assert!(!project.path("../home/.claude.json").exists());
        assert_eq!(project.run(&["mcp", "status", client, "--user"]).code, Some(0), "{client}");
        let status = report(&project, &["status", "--json"]);
        assert_eq!(status["mcp"][0]["client"], client, "{status}");
        if let Some(file) = hooks {
            let installed = project.run(&["hooks", "install", client, "--user"]);
            assert_eq!(installed.code, Some(0), "{installed}");
            let text = fs::read_to_string(project.path("../moved").join(file)).unwrap();
            assert!(text.contains("hook"), "{client}: {text}");
            let status = project.run(&["hooks", "status", client, "--user"]);
            assert!(status.stdout.contains(&format!("moved/{file}")), "{status}");
            project.stdout(&["hooks", "uninstall", client, "--user"]);
        }
        project.stdout(&["mcp", "uninstall", client, "--user"]);
        assert!(!path.exists(), "{client}");
        let usual = [".claude", ".claude.json", ".codex", ".gemini", ".config/opencode", ".qwen"];
        for name in usual {
            assert!(!project.path("../home").join(name).exists(), "{client}: {name}");
        }
    }
}

// Claude Code keeps approvals in the folder of its variable, also if that is the usual one.
#[test]
fn approvals_are_read_where_claude_code_keeps_them() {
    let project = Project::new().in_repository("main");
    project.stdout(&["mcp", "install", "claude"]);
    let root = project.root().canonicalize().unwrap();
    let approved = serde_json::json!({ "projects": { root.to_str().unwrap(): {
        "hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["convoke"],
    } } });
    let folder = project.path("../home/.claude");
    let project = project.file("../home/.claude/.claude.json", approved.to_string());
    let state = |project: &Project| {
        report(project, &["mcp", "status", "claude", "--json"])["approval"]["state"].clone()
    };
    assert_eq!(state(&project), "needed");
    let project = project.variable("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    assert_eq!(state(&project), "given");
}

// A client whose settings name a missing program has no tools, and may not even start.
#[test]
fn an_entry_whose_program_is_gone_is_named_with_its_remedy() {
    let project = Project::new().in_repository("main");
    project.stdout(&["mcp", "install", "codex"]);
    let settings = fs::read_to_string(project.path(".codex/config.toml")).unwrap();
    let doctor = project.run(&["doctor"]);
    assert!(doctor.stdout.contains("config.toml starts this convoke only after"), "{doctor}");
    let undone = project.run(&["init", "--undo"]);
    assert!(undone.stdout.contains("convoke mcp uninstall codex"), "{undone}");

    let gone = settings.replace(env!("CARGO_BIN_EXE_convoke"), "/gone/convoke");
    assert_ne!(gone, settings);
    let project = project.file(".codex/config.toml", gone);
    let status = project.run(&["mcp", "status", "codex"]);
    assert_eq!(status.code, Some(1), "{status}");
    assert!(status.stdout.contains("installed, but `/gone/convoke` does not exist"), "{status}");
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{doctor}");
    let remedy = "run `convoke mcp install codex`, or `convoke mcp uninstall codex`";
    for words in ["starts `/gone/convoke` as MCP server, which does not exist", remedy] {
        assert!(doctor.stdout.contains(words), "{doctor}");
    }
    let upgrade = project.run(&["upgrade", "--check"]);
    assert!(upgrade.stdout.contains("run `convoke mcp install codex`"), "{upgrade}");
    project.stdout(&["mcp", "uninstall", "codex"]);
    assert!(!project.run(&["doctor"]).stdout.contains("mcp:"));
}

// A server of the user's with our name is the user's.
#[test]
fn a_server_that_convoke_did_not_write_is_neither_replaced_nor_removed() {
    let toml = "[mcp_servers.convoke]\ncommand = \"mine\"\nenv = { KEY = \"1\" }\n";
    let json = |section| {
        format!("{{\"{section}\":{{\"convoke\":{{\"command\":\"mine\",\"timeout\":5}}}}}}")
    };
    let cases = JSON.map(|(client, name, section)| (client, name, json(section)));
    for (client, name, mine) in
        cases.into_iter().chain([("codex", ".codex/config.toml", toml.to_owned())])
    {
        let project = Project::new().file(name, &mine);
        let refused = project.run(&["mcp", "install", client]);
        assert_eq!(refused.code, Some(1), "{refused}");
        let words = "it has a server named `convoke` that Convoke did not write";
        assert!(refused.stderr.contains(words), "{refused}");
        assert!(
            refused.stderr.contains("hint: nothing was changed; rename that server"),
            "{refused}"
        );
        let kept = project.run(&["mcp", "uninstall", client]);
        assert_eq!(kept.code, Some(0), "{kept}");
        let note = format!("{name} keeps a server named `convoke` that Convoke did not write");
        assert!(kept.stderr.contains(&note), "{kept}");
        assert!(kept.stdout.ends_with("  not installed\n"), "{kept}");
        assert_eq!(project.run(&["mcp", "status", client]).code, Some(1));
        assert!(!project.run(&["doctor"]).stdout.contains("mcp:"));
        assert_eq!(text(&project, name), Some(mine));
    }
}

// Files that hold little are files, too: only one that Convoke made goes.
#[test]
fn a_file_with_little_in_it_gets_its_bytes_back() {
    for (client, name, section) in JSON {
        let empty = format!("{{\"{section}\": {{}}}}");
        for before in
            ["", " \n", "{}", "{ }\n", "// keep me\n", "// keep me", "{\n // keep me\n}", &empty]
        {
            let project = Project::new().file(name, before);
            project.stdout(&["mcp", "install", client]);
            let once = text(&project, name).unwrap();
            assert_eq!(once.contains("keep me"), before.contains("keep me"), "{once}");
            project.stdout(&["mcp", "install", client]);
            assert_eq!(text(&project, name).unwrap(), once, "twice is once");
            project.stdout(&["mcp", "uninstall", client]);
            assert_eq!(text(&project, name).as_deref(), Some(before), "{client}: {once}");
        }
    }
}

// Codex: lines around the table are the user's, and a text that looks like its header is a text.
#[test]
fn a_toml_file_keeps_its_lines() {
    let name = ".codex/config.toml";
    for before in [
        "",
        "model = \"m\"",
        "# mine\r\nmodel = \"m\"\r\n",
        "notes = \"\"\"\n[mcp_servers.convoke]\n\"\"\"\n",
    ] {
        let project = Project::new().file(name, before);
        project.stdout(&["mcp", "install", "codex"]);
        let once = text(&project, name).unwrap();
        assert_eq!(once.contains("\r\n"), !once.replace("\r\n", "").contains('\n'), "{once:?}");
        let more = format!("{once}# after\n\n# above\n[other]\na = 1\n");
        let project = project.file(name, &more);
        project.stdout(&["mcp", "install", "codex"]);
        assert_eq!(text(&project, name).unwrap(), more);
        let project = project.file(name, &once);
        project.stdout(&["mcp", "uninstall", "codex"]);
        assert_eq!(text(&project, name).as_deref(), Some(before), "{once}");
    }
    let inline = "mcp_servers = { other = { command = \"x\" } }\n";
    let project = Project::new().file(name, inline);
    let refused = project.run(&["mcp", "install", "codex"]);
    let words = "`mcp_servers` is an inline table, which Convoke cannot edit";
    assert!(refused.stderr.contains(words) && refused.code == Some(1), "{refused}");
    assert!(refused.stderr.contains("hint: nothing was changed; write each server"), "{refused}");
}

// The user's additions to the entry outlive another install.
#[test]
fn an_entry_keeps_what_its_user_added() {
    let project = Project::new();
    project.stdout(&["mcp", "install", "claude"]);
    let ours = text(&project, ".mcp.json").unwrap();
    let mine = ours.replace("\"command\"", "\"env\": {\"KEY\": \"1\"}, // mine\n      \"command\"");
    let gone = mine.replace(env!("CARGO_BIN_EXE_convoke"), "/gone/convoke");
    assert!(mine != ours && gone != mine, "{ours}");
    let project = project.file(".mcp.json", &gone);
    project.stdout(&["mcp", "install", "claude"]);
    assert_eq!(text(&project, ".mcp.json"), Some(mine));
    project.stdout(&["mcp", "uninstall", "claude"]);
    assert_eq!(text(&project, ".mcp.json"), None);
}

// One file can have the hooks and the server; the last of them takes the file along.
#[test]
fn hooks_and_server_in_one_file_leave_nothing_behind() {
    let install = |project: &Project, what: &str| project.stdout(&[what, "install", "gemini"]);
    let take = |project: &Project, what: &str| project.stdout(&[what, "uninstall", "gemini"]);
    for [first, second] in [["hooks", "mcp"], ["mcp", "hooks"]] {
        for [one, other] in [["hooks", "mcp"], ["mcp", "hooks"]] {
            let project = Project::new().in_repository("main");
            install(&project, first);
            install(&project, second);
            take(&project, one);
            let left = text(&project, ".gemini/settings.json").unwrap();
            assert_eq!(left.contains("mcpServers"), other == "mcp", "{left}");
            take(&project, other);
            assert_eq!(text(&project, ".gemini/settings.json"), None, "{first} {second} {one}");
            assert!(!project.path(".gemini").exists());
        }
    }
}

// A link that a stranger committed must not reach the user's own settings.
#[cfg(unix)]
#[test]
fn server_settings_that_lead_out_of_the_project_are_refused() {
    use std::os::unix::fs::symlink;
    let mine = "{\"mine\": 1}\n";
    let project = Project::new().file("../elsewhere/settings.json", mine);
    let outside = project.path("../elsewhere/settings.json");
    symlink(&outside, project.path(".mcp.json")).unwrap();
    symlink(project.path("../elsewhere"), project.path(".gemini")).unwrap();
    for client in ["claude", "gemini"] {
        for command in ["install", "uninstall"] {
            let refused = project.run(&["mcp", command, client]);
            assert_eq!(refused.code, Some(1), "{refused}");
            assert!(refused.stderr.contains("it leads out of the project"), "{refused}");
            assert_eq!(fs::read_to_string(&outside).unwrap(), mine);
        }
    }
}
