//! How clients are started.

use super::*;

const ERRAND: Errand<'static> = Errand {
    prompt: "Review it.",
    model: None,
    effort: None,
    resume: None,
    rights: Rights::ReadOnly,
    folder: "/p",
    scratch: "/s",
};

#[track_caller]
fn check(agent: Agent, errand: &Errand<'_>, expected: &str) {
    assert_eq!(launch(agent, errand).arguments.join(" "), expected, "{agent}");
}

#[test]
fn a_reader_has_nothing_to_write_with() {
    for (agent, expected) in [
        (
            Agent::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --tools=Read,Grep,Glob --permission-mode=dontAsk --strict-mcp-config",
        ),
        (Agent::Codex, "exec --json --skip-git-repo-check --disable plugins --sandbox=read-only -"),
        (Agent::Cursor, "-p --output-format=stream-json --trust --mode=ask --workspace=/p"),
        (
            Agent::Gemini,
            "--output-format=stream-json --approval-mode=plan --allowed-mcp-server-names=none \
             --admin-policy=/s/read-only.toml",
        ),
        (Agent::Opencode, "run --format=json --agent=convoke-reader"),
        (
            Agent::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=plan \
             --core-tools=read_file,grep_search,glob,list_directory \
             --exclude-tools=run_shell_command,edit,write_file --allowed-mcp-server-names=none",
        ),
    ] {
        check(agent, &ERRAND, expected);
    }
}

#[test]
fn rights_are_said_again_on_resume() {
    let errand =
        Errand { model: Some("large"), effort: Some("high"), resume: Some("abc"), ..ERRAND };
    for (agent, expected) in [
        (
            Agent::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --tools=Read,Grep,Glob --permission-mode=dontAsk --strict-mcp-config \
             --model=large --effort=high --resume=abc",
        ),
        (
            Agent::Codex,
            "exec --json --skip-git-repo-check --disable plugins --sandbox=read-only \
             --model=large --config=model_reasoning_effort=\"high\" \
             resume -- abc -",
        ),
        (
            Agent::Cursor,
            "-p --output-format=stream-json --trust --mode=ask --workspace=/p --model=large \
             --resume=abc",
        ),
        (
            Agent::Gemini,
            "--output-format=stream-json --approval-mode=plan --allowed-mcp-server-names=none \
             --admin-policy=/s/read-only.toml --model=large --resume=abc",
        ),
        (Agent::Opencode, "run --format=json --agent=convoke-reader --model=large --session=abc"),
        (
            Agent::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=plan \
             --core-tools=read_file,grep_search,glob,list_directory \
             --exclude-tools=run_shell_command,edit,write_file --allowed-mcp-server-names=none \
             --model=large --resume=abc",
        ),
    ] {
        check(agent, &errand, expected);
    }
}

#[test]
fn a_writer_is_given_no_more_than_files() {
    let errand = Errand { rights: Rights::Write, ..ERRAND };
    for (agent, expected) in [
        (
            Agent::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --permission-mode=acceptEdits",
        ),
        (
            Agent::Codex,
            "exec --json --skip-git-repo-check --disable plugins --sandbox=workspace-write -",
        ),
        (Agent::Cursor, "-p --output-format=stream-json --trust --force --workspace=/p"),
        (Agent::Gemini, "--output-format=stream-json --approval-mode=auto_edit"),
        (Agent::Opencode, "run --format=json"),
        (
            Agent::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=auto-edit",
        ),
    ] {
        check(agent, &errand, expected);
        assert_eq!(launch(agent, &errand).files, [], "{agent}");
    }
}

// It stands in a string of a configuration.
#[test]
fn an_effort_is_one_word() {
    let errand = Errand { effort: Some("high\"\nsandbox_mode=\"none"), ..ERRAND };
    check(Agent::Codex, &errand, &launch(Agent::Codex, &ERRAND).arguments.join(" "));
}

#[test]
fn what_denies_is_well_formed() {
    let (path, policy) = launch(Agent::Gemini, &ERRAND).files.remove(0);
    assert_eq!(path, "/s/read-only.toml");
    let policy: toml::Table = policy.parse().unwrap();
    let rules = policy["rule"].as_array().unwrap();
    assert_eq!(rules[0]["decision"].as_str(), Some("deny"));
    assert_eq!(rules[0]["toolName"].as_str(), Some("*"));
    assert!(rules[1]["priority"].as_integer() > rules[0]["priority"].as_integer());

    let variables = launch(Agent::Opencode, &ERRAND).variables;
    let (_, config) = variables.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    let config: serde_json::Value = serde_json::from_str(config).unwrap();
    let permission = config["agent"]["convoke-reader"]["permission"].as_object().unwrap();
    let allowed = permission.iter().filter(|(_, it)| *it == "allow").map(|(name, _)| name);
    assert_eq!(allowed.collect::<Vec<_>>(), ["read", "grep", "glob", "list"]);
    // The last rule that fits wins, so what denies all must come first.
    assert_eq!(permission.keys().next().unwrap(), "*");
}

#[test]
fn a_prompt_is_neither_flag_nor_command() {
    for (prompt, expected) in [
        ("Review it.", "Review it."),
        ("# Review\n/init", "# Review\n/init"),
        ("/init", "Your task:\n/init"),
        ("  \n/init", "Your task:\n  \n/init"),
        ("\u{feff}/init", "Your task:\n\u{feff}/init"),
        ("--help", "Your task:\n--help"),
        ("!rm x", "Your task:\n!rm x"),
        ("& elsewhere", "Your task:\n& elsewhere"),
        ("a\0b", "a\u{fffd}b"),
        ("\0/init", "\u{fffd}/init"),
        ("", ""),
    ] {
        for agent in Agent::ALL {
            let launch = launch(agent, &Errand { prompt, ..ERRAND });
            assert_eq!(launch.stdin.as_deref(), Some(expected), "{agent}");
            check(agent, &ERRAND, &launch.arguments.join(" "));
        }
    }
}

#[test]
fn each_client_sees_its_own_vendors_variables() {
    for (agent, key) in [
        (Agent::Claude, "ANTHROPIC_API_KEY"),
        (Agent::Codex, "OPENAI_API_KEY"),
        (Agent::Cursor, "CURSOR_API_KEY"),
        (Agent::Gemini, "GEMINI_API_KEY"),
        (Agent::Opencode, "OPENCODE_API_KEY"),
        (Agent::Qwen, "DASHSCOPE_API_KEY"),
    ] {
        let seeing = Agent::ALL.into_iter().filter(|other| other.variables().contains(&key));
        let seeing: Vec<_> = seeing.collect();
        let others: &[Agent] = if agent == Agent::Codex { &[Agent::Qwen] } else { &[] };
        assert_eq!(seeing, [&[agent], others].concat(), "{key}");
        let quiet = launch(agent, &ERRAND).variables;
        for (name, value) in agent.quiet() {
            assert!(quiet.contains(&((*name).to_owned(), (*value).to_owned())), "{agent} {name}");
        }
    }
}

proptest! {
    // Values are in one word with their option's name, or behind `--`.
    #[test]
    fn no_value_becomes_a_flag(value in "[-a-z\0\n\"= ]{0,8}") {
        let given = Some(value.as_str());
        let errand = Errand {
            prompt: &value,
            model: given,
            effort: given,
            resume: given,
            ..ERRAND
        };
        for agent in Agent::ALL {
            let arguments = launch(agent, &errand).arguments;
            let plain = launch(agent, &ERRAND).arguments;
            let options = ["--model=", "--effort=", "--resume=", "--session=", "--config="];
            let behind = arguments.iter().position(|it| it == "--").unwrap_or(arguments.len());
            for (at, argument) in arguments.iter().enumerate() {
                let is_ours = plain.contains(argument) || ["resume", "--"].contains(&argument.as_str());
                let is_value = options.iter().any(|name| argument.starts_with(name)) || at > behind;
                prop_assert!(is_ours || is_value, "{} {:?}", agent, arguments);
                prop_assert!(!argument.contains(['\0', '\n']), "{} {:?}", agent, arguments);
            }
        }
    }
}
