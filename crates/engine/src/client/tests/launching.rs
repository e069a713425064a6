//! How clients are started.

use super::*;

const REQUEST: ClientRequest<'static> = ClientRequest {
    prompt: "Review it.",
    model: None,
    effort: None,
    resume: None,
    rights: Rights::ReadOnly,
    folder: "/p",
    scratch: "/s",
    acp: None,
    fleet: None,
};

#[track_caller]
fn check(agent: Client, request: &ClientRequest<'_>, expected: &str) {
    assert_eq!(command(agent, request).arguments.join(" "), expected, "{agent}");
}

#[test]
fn a_reader_has_nothing_to_write_with() {
    for (agent, expected) in [
        (
            Client::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --tools=Read,Grep,Glob --permission-mode=dontAsk --strict-mcp-config",
        ),
        (
            Client::Codex,
            "exec --json --skip-git-repo-check --disable plugins --sandbox=read-only -",
        ),
        (Client::Cursor, "-p --output-format=stream-json --trust --mode=ask --workspace=/p"),
        (
            Client::Gemini,
            "--output-format=stream-json --approval-mode=plan --allowed-mcp-server-names=none \
             --admin-policy=/s/read-only.toml",
        ),
        (Client::Opencode, "run --format=json --agent=convoke-reader"),
        (
            Client::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=plan \
             --core-tools=read_file,grep_search,glob,list_directory \
             --exclude-tools=run_shell_command,edit,write_file --allowed-mcp-server-names=none",
        ),
    ] {
        check(agent, &REQUEST, expected);
    }
}

#[test]
fn rights_are_sent_again_on_resume() {
    let request = ClientRequest {
        model: Some("large"),
        effort: Some("high"),
        resume: Some("abc"),
        ..REQUEST
    };
    for (agent, expected) in [
        (
            Client::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --tools=Read,Grep,Glob --permission-mode=dontAsk --strict-mcp-config \
             --model=large --effort=high --resume=abc",
        ),
        (
            Client::Codex,
            "exec --json --skip-git-repo-check --disable plugins --sandbox=read-only \
             --model=large --config=model_reasoning_effort=\"high\" \
             resume -- abc -",
        ),
        (
            Client::Cursor,
            "-p --output-format=stream-json --trust --mode=ask --workspace=/p --model=large \
             --resume=abc",
        ),
        (
            Client::Gemini,
            "--output-format=stream-json --approval-mode=plan --allowed-mcp-server-names=none \
             --admin-policy=/s/read-only.toml --model=large --resume=abc",
        ),
        (Client::Opencode, "run --format=json --agent=convoke-reader --model=large --session=abc"),
        (
            Client::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=plan \
             --core-tools=read_file,grep_search,glob,list_directory \
             --exclude-tools=run_shell_command,edit,write_file --allowed-mcp-server-names=none \
             --model=large --resume=abc",
        ),
    ] {
        check(agent, &request, expected);
    }
}

#[test]
fn a_writer_is_given_no_more_than_files() {
    let request = ClientRequest { rights: Rights::Write, ..REQUEST };
    for (agent, expected) in [
        (
            Client::Claude,
            "-p --output-format=stream-json --verbose --include-partial-messages \
             --permission-mode=acceptEdits",
        ),
        (
            Client::Codex,
            "exec --json --skip-git-repo-check --disable plugins --sandbox=workspace-write -",
        ),
        (Client::Cursor, "-p --output-format=stream-json --trust --force --workspace=/p"),
        (Client::Gemini, "--output-format=stream-json --approval-mode=auto_edit"),
        (Client::Opencode, "run --format=json"),
        (
            Client::Qwen,
            "--output-format=stream-json --include-partial-messages --approval-mode=auto-edit",
        ),
    ] {
        check(agent, &request, expected);
        assert_eq!(command(agent, &request).files, [], "{agent}");
    }
}

// The effort is inside a string of a configuration.
#[test]
fn an_effort_is_one_word() {
    let request = ClientRequest { effort: Some("high\"\nsandbox_mode=\"none"), ..REQUEST };
    check(Client::Codex, &request, &command(Client::Codex, &REQUEST).arguments.join(" "));
}

#[test]
fn what_denies_is_well_formed() {
    let (path, policy) = command(Client::Gemini, &REQUEST).files.remove(0);
    assert_eq!(path, "/s/read-only.toml");
    let policy: toml::Table = policy.parse().unwrap();
    let rules = policy["rule"].as_array().unwrap();
    assert_eq!(rules[0]["decision"].as_str(), Some("deny"));
    assert_eq!(rules[0]["toolName"].as_str(), Some("*"));
    assert!(rules[1]["priority"].as_integer() > rules[0]["priority"].as_integer());

    let variables = command(Client::Opencode, &REQUEST).variables;
    let (_, config) = variables.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    let config: serde_json::Value = serde_json::from_str(config).unwrap();
    let permission = config["agent"]["convoke-reader"]["permission"].as_object().unwrap();
    let allowed = permission.iter().filter(|(_, rule)| *rule == "allow").map(|(name, _)| name);
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
        for agent in Client::ALL {
            let started = command(agent, &ClientRequest { prompt, ..REQUEST });
            assert_eq!(started.stdin.as_deref(), Some(expected), "{agent}");
            check(agent, &REQUEST, &started.arguments.join(" "));
        }
    }
}

#[test]
fn each_client_sees_its_own_vendors_variables() {
    for (agent, key) in [
        (Client::Claude, "ANTHROPIC_API_KEY"),
        (Client::Codex, "OPENAI_API_KEY"),
        (Client::Cursor, "CURSOR_API_KEY"),
        (Client::Gemini, "GEMINI_API_KEY"),
        (Client::Opencode, "OPENCODE_API_KEY"),
        (Client::Qwen, "DASHSCOPE_API_KEY"),
    ] {
        let seeing =
            Client::ALL.into_iter().filter(|other| adapter(*other).variables.contains(&key));
        let seeing: Vec<_> = seeing.collect();
        let others: &[Client] = if agent == Client::Codex { &[Client::Qwen] } else { &[] };
        assert_eq!(seeing, [&[agent], others].concat(), "{key}");
        let quiet = command(agent, &REQUEST).variables;
        for (name, value) in adapter(agent).quiet {
            assert!(quiet.contains(&((*name).to_owned(), (*value).to_owned())), "{agent} {name}");
        }
    }
}

proptest! {
    // Values are in one word with their option's name, or behind `--`.
    #[test]
    fn no_value_becomes_a_flag(value in "[-a-z\0\n\"= ]{0,8}") {
        let given = Some(value.as_str());
        let request = ClientRequest {
            prompt: &value,
            model: given,
            effort: given,
            resume: given,
            ..REQUEST
        };
        for agent in Client::ALL {
            let arguments = command(agent, &request).arguments;
            let plain = command(agent, &REQUEST).arguments;
            let options = ["--model=", "--effort=", "--resume=", "--session=", "--config="];
            let behind = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
            for (at, argument) in arguments.iter().enumerate() {
                let is_ours = plain.contains(argument) || ["resume", "--"].contains(&argument.as_str());
                let is_value = options.iter().any(|name| argument.starts_with(name)) || at > behind;
                prop_assert!(is_ours || is_value, "{} {:?}", agent, arguments);
                prop_assert!(!argument.contains(['\0', '\n']), "{} {:?}", agent, arguments);
            }
        }
    }
}

// A person resumes a session with the words that a lane resumes it with.
#[test]
fn every_client_can_be_resumed_by_hand() {
    for (client, expected) in [
        (Client::Claude, "claude --resume s-1 -p"),
        (Client::Codex, "codex exec --json resume s-1 -"),
        (Client::Cursor, "cursor-agent -p --resume=s-1"),
        (Client::Gemini, "gemini --resume=s-1"),
        (Client::Opencode, "opencode run --session=s-1"),
        (Client::Qwen, "qwen --resume=s-1"),
        (Client::Acp, ""),
    ] {
        let by_hand = resume_by_hand(client, "s-1").join(" ");
        assert_eq!(by_hand, expected, "{client}");
        let lane = command(client, &ClientRequest { resume: Some("s-1"), ..REQUEST });
        let flags = lane.arguments.iter().filter_map(|word| word.strip_suffix("=s-1"));
        assert!(flags.clone().all(|flag| by_hand.contains(flag)), "{client}: {:?}", lane.arguments);
    }
    for client in Client::ALL {
        assert!(!resume_by_hand(client, "s-1").is_empty(), "{client}");
    }
}
