//! `convoke hooks`: entries in clients' settings.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::Project;

const ODD: &str = "{ \"model\" : \"opus\",\n\t\"hooks\":{\"Stop\":[ ]} }";

#[test]
fn an_unchanged_file_gets_its_old_bytes_back() {
    let project = Project::new().in_repository("main").file(".claude/settings.json", ODD);
    let path = project.path(".claude/settings.json");
    let installed = project.run(&["hooks", "install", "claude", "--entries", "2"]);
    assert_snapshot!(installed.stable(&project), @"
    exit: 0
    --- stdout
    TOP/project/.claude/settings.json  installed (4 entries)
    agent: @me (convoke.local.toml)
    fired: never
    delivered: never
    not delivered: @me has no open task and no unread message on the branch `main`; run `convoke task import PLAN.md` or `convoke task add TITLE`
    --- stderr
    note: `convoke` is not on the PATH, so the settings hold an absolute path, which works on this machine only
    note: added convoke.local.toml to TOP/project/.git/info/exclude, so that git ignores it
    note: sessions in this project belong to @me (convoke.local.toml)
    ");
    let text = fs::read_to_string(&path).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&settings["model"], &settings["hooks"]["Stop"]),
        (&"opus".into(), &Value::Array(vec![]))
    );
    project.run(&["hooks", "install", "claude"]);
    assert_snapshot!(project.run(&["hooks", "uninstall", "claude"]).stable(&project), @"
    exit: 0
    --- stdout
    removed 8 hook entries from TOP/project/.claude/settings.json
    sessions here no longer belong to @me
    --- stderr
    ");
    assert_eq!(fs::read_to_string(&path).unwrap(), ODD);
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "cursor"]);
    assert!(project.path(".cursor/hooks.json").exists());
    project.stdout(&["hooks", "uninstall", "cursor"]);
    assert!(!project.path(".cursor/hooks.json").exists());
    assert_eq!(project.run(&["hooks", "status", "cursor"]).code, Some(1));
}

#[test]
fn a_file_that_changed_since_loses_only_our_entries() {
    let project = Project::new().in_repository("main").file(".claude/settings.json", ODD);
    let path = project.path(".claude/settings.json");
    project.stdout(&["hooks", "install", "claude"]);
    let changed = fs::read_to_string(&path).unwrap().replace("opus", "sonnet");
    fs::write(&path, changed).unwrap();
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), ODD.replace("opus", "sonnet"));
}

#[test]
fn a_malformed_file_is_left_alone() {
    let project =
        Project::new().in_repository("main").file(".claude/settings.json", "// mine\n{,}");
    let before = project.listing();
    let outcome = project.run(&["hooks", "install", "claude"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(outcome.stderr.contains("line 2, column 2: a comma follows nothing"), "{outcome}");
    assert!(outcome.stderr.contains("hint: nothing was changed"), "{outcome}");
    assert_eq!(project.listing(), before);
}

#[test]
fn a_dry_run_writes_nothing_and_the_user_level_is_the_users() {
    let project = Project::new().in_repository("main");
    let before = project.listing();
    let shown = project.stdout(&["hooks", "install", "codex", "--dry-run"]);
    assert!(shown.contains("hook codex SessionStart --part 4 --of 4"), "{shown}");
    assert_eq!(project.listing(), before);
    let user = project.run(&["hooks", "install", "codex", "--user"]);
    assert!(user.stderr.contains("Codex skips hooks until you trust them"), "{user}");
    assert!(project.path("../home/.codex/hooks.json").exists());
    assert_eq!(project.listing(), before);
}

#[test]
fn opencode_gets_a_plugin_and_keeps_its_own() {
    let project = Project::new().in_repository("main");
    let path = project.path(".opencode/plugins/convoke.js");
    project.stdout(&["hooks", "install", "opencode"]);
    let plugin = fs::read_to_string(&path).unwrap();
    let program = env!("CARGO_BIN_EXE_convoke");
    assert!(plugin.contains(&format!("const PROGRAM = \"{program}\";")), "{plugin}");
    fs::write(&path, format!("{plugin}// looked at\n")).unwrap();
    project.stdout(&["hooks", "uninstall", "opencode"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "// looked at\n");
    fs::remove_file(&path).unwrap();
    project.stdout(&["hooks", "install", "opencode"]);
    project.stdout(&["hooks", "uninstall", "opencode"]);
    assert!(!path.exists());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "// mine\n").unwrap();
    let refused = project.run(&["hooks", "install", "opencode"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    project.stdout(&["hooks", "uninstall", "opencode"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "// mine\n");
}

// Codex runs only trusted entries, and does not report the rest; Convoke does.
#[test]
fn entries_that_codex_does_not_trust_are_shown_as_such() {
    let project = Project::new().in_repository("main");
    let state = || {
        let status = project.run(&["hooks", "status", "codex"]).stdout;
        status.lines().next().unwrap().split_once("installed ").unwrap().1.to_owned()
    };
    project.run(&["hooks", "install", "codex", "--entries", "1"]);
    assert_eq!(state(), "(2 entries), not trusted");
    let path = project.path(".codex/hooks.json").display().to_string();
    let trusted = format!(
        "[hooks.state.\"{path}:session_start:0:0\"]\ntrusted_hash = \"sha256:0\"\n\
         [hooks.state.\"{path}:user_prompt_submit:0:0\"]\ntrusted_hash = \"sha256:0\"\n"
    );
    let project = &project;
    fs::create_dir_all(project.path("../home/.codex")).unwrap();
    fs::write(project.path("../home/.codex/config.toml"), trusted).unwrap();
    assert_eq!(state(), "(2 entries), changed since it was trusted");
}

// A user's additions between two installs are still there at the end.
#[test]
fn nothing_of_the_users_is_lost_between_installs() {
    let project =
        Project::new().in_repository("main").file(".claude/settings.json", "{\"model\":\"a\"}");
    let path = project.path(".claude/settings.json");
    project.stdout(&["hooks", "install", "claude"]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('{', "{\"permissions\":{},", 1)).unwrap();
    project.stdout(&["hooks", "install", "claude"]);
    project.stdout(&["hooks", "uninstall", "claude"]);
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left, "{\"permissions\":{},\"model\":\"a\"}");
    // A file that was taken away meanwhile does not come back.
    project.stdout(&["hooks", "install", "claude"]);
    fs::remove_file(&path).unwrap();
    project.stdout(&["hooks", "uninstall", "claude"]);
    fs::write(&path, "{\"new\":2}").unwrap();
    project.stdout(&["hooks", "install", "claude"]);
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"new\":2}");
}

// Projects stay separate even if they are named by a relative path.
#[test]
fn installs_of_two_projects_do_not_mix() {
    let project = Project::new()
        .file("one/.claude/settings.json", "{\"one\":1}")
        .file("two/.claude/settings.json", "{\"two\":2}");
    for name in ["one", "two"] {
        project.stdout(&["-C", name, "hooks", "install", "claude"]);
    }
    project.stdout(&["-C", "two", "hooks", "uninstall", "claude"]);
    project.stdout(&["-C", "./one", "hooks", "uninstall", "claude"]);
    let text = |name: &str| fs::read_to_string(project.path(name)).unwrap();
    assert_eq!(text("one/.claude/settings.json"), "{\"one\":1}");
    assert_eq!(text("two/.claude/settings.json"), "{\"two\":2}");
}

// A committed file is replaced like any other, and a dangling link is left alone.
#[cfg(unix)]
#[test]
fn files_are_made_and_replaced_with_care() {
    use std::os::unix::fs::{MetadataExt, symlink};
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "cursor"]);
    let mode = fs::metadata(project.path(".cursor/hooks.json")).unwrap().mode();
    assert_eq!(mode & 0o044, 0o044, "{mode:o}");
    fs::create_dir(project.path(".claude")).unwrap();
    symlink("/nowhere/settings.json", project.path(".claude/settings.json")).unwrap();
    let refused = project.run(&["hooks", "install", "claude"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(project.path(".claude/settings.json").is_symlink());
}

// The plugin includes the hooks, at any level where it is enabled.
#[test]
fn hooks_of_the_plugin_are_known() {
    let plugin = "{\"enabledPlugins\": {\"convoke@convoke\": true}}";
    for path in
        [".claude/settings.json", ".claude/settings.local.json", "../home/.claude/settings.json"]
    {
        let project = Project::new().in_repository("main").file(path, plugin);
        let status = project.run(&["hooks", "status", "claude"]);
        assert_eq!(status.code, Some(0), "{status}");
        let line = "settings.json  installed by the plugin convoke@convoke\n";
        assert!(status.stdout.contains(line), "{status}");
        let checked = project.run(&["doctor"]).stdout;
        assert!(checked.contains("the plugin convoke@convoke provides them"), "{checked}");
        let of_user = project.run(&["hooks", "status", "claude", "--user"]);
        assert_eq!(of_user.code == Some(0), path.contains("home"), "{of_user}");
        assert_eq!(project.run(&["hooks", "status", "codex"]).code, Some(1));
    }
    let project = Project::new().in_repository("main").file(".claude/settings.json", plugin);
    let declined = project.run(&["hooks", "install", "claude"]);
    assert_eq!(declined.code, Some(1), "{declined}");
    assert!(
        declined.stderr.contains("the plugin `convoke@convoke` already provides the hooks"),
        "{declined}"
    );
    assert_eq!(fs::read_to_string(project.path(".claude/settings.json")).unwrap(), plugin);
    assert!(!project.path("convoke.local.toml").exists());
    // An agent that is named is bound, and no entries are written.
    let bound = project.run(&["hooks", "install", "claude", "--as", "june"]);
    assert_eq!(bound.code, Some(0), "{bound}");
    assert!(bound.stdout.contains("agent: @june (convoke.local.toml)\n"), "{bound}");
    assert_eq!(fs::read_to_string(project.path(".claude/settings.json")).unwrap(), plugin);
    let both = project.stdout(&["hooks", "install", "claude", "--force"]);
    assert!(both.contains("installed (8 entries), and by the plugin convoke@convoke\n"), "{both}");
    // Stronger settings switch it off.
    let off = plugin.replace("true", "false");
    let project = project.file(".claude/settings.local.json", off);
    assert!(!project.stdout(&["hooks", "status", "claude"]).contains("plugin"));
}

// Folders that `install` made go with what it put there; others, and full ones, stay.
#[test]
fn uninstall_leaves_no_empty_folder_of_its_own() {
    for (client, folders, name) in [
        ("claude", &[".claude"][..], ".claude/mine.txt"),
        ("codex", &[".codex"], ".codex/mine.txt"),
        ("opencode", &[".opencode/plugins", ".opencode"], ".opencode/mine.txt"),
    ] {
        let project = Project::new().in_repository("main");
        project.stdout(&["hooks", "install", client]);
        project.stdout(&["hooks", "install", client]);
        project.run(&["hooks", "uninstall", client]);
        for folder in folders {
            assert!(!project.path(folder).exists(), "{client}: {folder}");
        }
        fs::create_dir_all(project.path(folders[0])).unwrap();
        project.stdout(&["hooks", "install", client]);
        project.run(&["hooks", "uninstall", client]);
        assert!(project.path(folders[0]).is_dir(), "{client}: it was there before");
        fs::remove_dir_all(project.path(folders.last().unwrap())).unwrap();
        project.stdout(&["hooks", "install", client]);
        let project = project.file(name, "mine");
        project.run(&["hooks", "uninstall", client]);
        assert!(project.path(name).exists(), "{client}");
    }
}

// The earlier text of a file in an imported store is not written into the file.
#[test]
fn a_forged_memory_of_a_file_is_not_restored() {
    let project =
        Project::new().in_repository("main").file(".claude/settings.json", "{\"a\": 1}\n");
    project.stdout(&["hooks", "install", "claude"]);
    let export = project.stdout(&["store", "export", "all.jsonl"]);
    let text = fs::read_to_string(project.path("all.jsonl")).unwrap();
    let forged =
        text.replace("{\\\"a\\\": 1}\\n", "{\\\"a\\\": 1, \\\"hooks\\\": \\\"evil\\\"}\\n");
    assert_ne!(text, forged, "{export}");
    let new = project.path("../new.db").display().to_string();
    let project = project.file("forged.jsonl", forged).variable("CONVOKE_STORE", &new);
    project.stdout(&["store", "import", "forged.jsonl"]);
    project.run(&["hooks", "uninstall", "claude"]);
    let left = fs::read_to_string(project.path(".claude/settings.json")).unwrap();
    assert_eq!(left, "{\"a\": 1}\n");
}

// An entry that its user wrote around our command is the user's.
#[test]
fn entries_of_the_user_that_call_us_outlive_uninstall() {
    let mine = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"convoke hook claude Stop && notify-send done"}]}],"SessionStart":[{"matcher":"compact","hooks":[{"type":"command","command":"convoke hook claude SessionStart | tee log"}]}]}}"#;
    let project = Project::new().in_repository("main").file(".claude/settings.json", mine);
    project.stdout(&["hooks", "install", "claude"]);
    let removed = project.run(&["hooks", "uninstall", "claude"]);
    assert_eq!(removed.code, Some(0), "{removed}");
    assert_eq!(fs::read_to_string(project.path(".claude/settings.json")).unwrap(), mine);
    for command in ["Stop && notify-send done", "SessionStart | tee log"] {
        let note =
            format!("keeps a hook that Convoke did not write: `convoke hook claude {command}`");
        assert!(removed.stderr.contains(&note), "{removed}");
    }
    // Also where the file changed since.
    project.stdout(&["hooks", "install", "claude"]);
    let path = project.path(".claude/settings.json");
    let changed = fs::read_to_string(&path).unwrap().replacen('{', "{\"model\":\"opus\",", 1);
    fs::write(&path, changed).unwrap();
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), mine.replacen('{', "{\"model\":\"opus\",", 1));
}

// A plugin that still runs is never called "not installed".
#[test]
fn a_plugin_with_a_line_above_it_is_refused_and_still_installed() {
    let project = Project::new().in_repository("main");
    project.stdout(&["hooks", "install", "opencode"]);
    let path = project.path(".opencode/plugins/convoke.js");
    let edited = format!("// mine\n{}", fs::read_to_string(&path).unwrap());
    fs::write(&path, &edited).unwrap();
    for command in ["uninstall", "install"] {
        let outcome = project.run(&["hooks", command, "opencode"]);
        assert_eq!(outcome.code, Some(1), "{outcome}");
        assert!(outcome.stderr.contains("delete the file by hand"), "{outcome}");
        assert_eq!(fs::read_to_string(&path).unwrap(), edited);
    }
    let status = project.run(&["hooks", "status", "opencode"]);
    assert!(!status.stdout.contains("not installed"), "{status}");
}

// A link that a stranger committed must not reach the user's own settings.
#[cfg(unix)]
#[test]
fn settings_that_lead_out_of_the_project_are_refused() {
    use std::os::unix::fs::symlink;
    let mine = "{\"mine\": 1}\n";
    let project = Project::new()
        .in_repository("main")
        .file("../elsewhere/settings.json", mine)
        .file(".gemini/real.json", mine);
    let outside = project.path("../elsewhere/settings.json");
    let refuse = |command: &str| {
        let refused = project.run(&["hooks", command, "claude"]);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains("it leads out of the project"), "{refused}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), mine);
    };
    fs::create_dir(project.path(".claude")).unwrap();
    symlink(&outside, project.path(".claude/settings.json")).unwrap();
    refuse("install");
    refuse("uninstall");
    fs::remove_dir_all(project.path(".claude")).unwrap();
    symlink(project.path("../elsewhere"), project.path(".claude")).unwrap();
    refuse("install");
    // A link to a file of the project is the project's.
    symlink("real.json", project.path(".gemini/settings.json")).unwrap();
    project.stdout(&["hooks", "install", "gemini"]);
    assert!(fs::read_to_string(project.path(".gemini/real.json")).unwrap().contains("convoke"));
}

// The author's comma was there for our entries; without them it would be one too many.
#[test]
fn a_comma_before_our_entries_goes_with_them() {
    let project =
        Project::new().in_repository("main").file(".claude/settings.json", "{ // only\n}\n");
    let path = project.path(".claude/settings.json");
    project.stdout(&["hooks", "install", "claude"]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("{ // only", "{/*mine*/ \"mine\": 1, // only")).unwrap();
    project.stdout(&["hooks", "uninstall", "claude"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{/*mine*/ \"mine\": 1 // only\n}\n");
}
