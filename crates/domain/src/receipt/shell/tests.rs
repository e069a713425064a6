//! Commands, and what they show.

use proptest::prelude::*;

use super::*;

fn run<'a>(command: &'a str, ended: CommandEnd, output: ShellOutput<'a>) -> Vec<Seen> {
    seen(&ShellRun { command, folder: Some("/p"), ended, output })
}

/// Summarizes the seen files.
fn told(seen: &[Seen]) -> String {
    let words = seen.iter().map(|seen| match seen {
        Seen::Lines { path, lines: Lines::Whole, .. } => format!("all {path}"),
        Seen::Lines { path, lines: Lines::Range { first, last: Lines::END }, .. } => {
            format!("{first}- {path}")
        }
        Seen::Lines { path, lines: Lines::Range { first, last }, .. } => {
            format!("{first}-{last} {path}")
        }
        Seen::Lines { path, lines: Lines::Last(count), .. } => format!("last {count} {path}"),
        Seen::Lines { path, lines: Lines::Some, .. } => format!("some {path}"),
        Seen::Nothing { path } => format!("nothing {path}"),
        Seen::Maybe { .. } | Seen::Perhaps { reach: Reach::Words, .. } => "perhaps".to_owned(),
        Seen::Perhaps { reach: Reach::Anything, .. } => "anything".to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[test]
fn readers_show_the_requested_lines() {
    for (command, expected) in [
        ("cat a.md", "all /p/a.md"),
        ("cat ./docs/../a.md", "all /p/a.md"),
        ("cat /q/a.md", "all /q/a.md"),
        ("cat 'a b.md' \"c d.md\" e\\ f.md", "all /p/a b.md, all /p/c d.md, all /p/e f.md"),
        ("/bin/cat -n a.md", "all /p/a.md"),
        ("cat < a.md", "all /p/a.md"),
        ("cat -- a.md", "all /p/a.md"),
        ("cat a.md 2>&1", "all /p/a.md"),
        ("cat a.md 2>/dev/null", "all /p/a.md"),
        ("LC_ALL=C timeout 5 cat a.md", "all /p/a.md"),
        ("nl -ba a.md", "all /p/a.md"),
        ("less a.md", "all /p/a.md"),
        ("more a.md", "all /p/a.md"),
        ("bat -p -r 3:9 a.md", "3-9 /p/a.md"),
        ("bat --line-range=3: a.md", "3- /p/a.md"),
        ("head a.md", "1-10 /p/a.md"),
        ("head -n 5 a.md", "1-5 /p/a.md"),
        ("head -n5 a.md", "1-5 /p/a.md"),
        ("head -5 a.md", "1-5 /p/a.md"),
        ("head --lines=5 a.md", "1-5 /p/a.md"),
        ("head -n -5 a.md", "some /p/a.md"),
        ("head -c 100 a.md", "some /p/a.md"),
        ("tail a.md", "last 10 /p/a.md"),
        ("tail -20 a.md", "last 20 /p/a.md"),
        ("tail -n +7 a.md", "7- /p/a.md"),
        ("tail -n 3 a.md", "last 3 /p/a.md"),
        ("sed -n '3,9p' a.md", "3-9 /p/a.md"),
        ("sed -n 3,9p a.md", "3-9 /p/a.md"),
        ("sed -n '7p' a.md", "7-7 /p/a.md"),
        ("sed -n '3,$p' a.md", "3- /p/a.md"),
        ("sed -n '3,+2p' a.md", "3-5 /p/a.md"),
        ("sed -n '3,9p;9q' a.md", "3-9 /p/a.md"),
        ("sed -n '1,3p;7,9p' a.md", "some /p/a.md"),
        ("sed -n '/start/,/end/p' a.md", "some /p/a.md"),
        ("sed -n -e 3,9p a.md", "3-9 /p/a.md"),
        ("sed 9q a.md", "1-9 /p/a.md"),
        ("sed '3,9!d' a.md", "3-9 /p/a.md"),
        ("awk 'NR>=3 && NR<=9' a.md", "3-9 /p/a.md"),
        ("awk 'NR==3 {print}' a.md", "3-3 /p/a.md"),
        ("awk 'NR > 3' a.md", "4- /p/a.md"),
    ] {
        assert_eq!(
            told(&run(command, CommandEnd::Well, ShellOutput::Whole("x"))),
            expected,
            "{command}"
        );
    }
}

#[test]
fn readers_are_found_in_larger_commands() {
    for (command, expected) in [
        ("cat a.md | head -3", "1-3 /p/a.md"),
        ("cat a.md | sed -n 5,20p | head -4", "5-8 /p/a.md"),
        ("nl -ba a.md | sed -n '5,9p'", "5-9 /p/a.md"),
        ("cat a.md b.md | head -3", "some /p/a.md, some /p/b.md"),
        ("cat a.md | tee copy.md", "all /p/a.md"),
        ("cat a.md && sed -n 2,3p b.md", "all /p/a.md, 2-3 /p/b.md"),
        ("cat a.md; cat b.md", "all /p/a.md, all /p/b.md"),
        ("cat a.md\ncat b.md", "all /p/a.md, all /p/b.md"),
        ("cd docs && cat a.md", "all /p/docs/a.md"),
        ("cd /q; cd r && cat ../a.md", "all /q/a.md"),
        ("(cd docs && cat a.md)", "all /p/docs/a.md"),
        ("echo --- && cat a.md; echo ---", "all /p/a.md"),
        ("bash -lc \"sed -n '1,20p' a.md\"", "1-20 /p/a.md"),
        ("/bin/bash -lc 'cat a.md && cat b.md'", "all /p/a.md, all /p/b.md"),
        ("sh -c \"bash -c 'cat a.md'\"", "all /p/a.md"),
        ("cat a.md # not b.md", "all /p/a.md"),
        ("grep -n '' a.md", "all /p/a.md"),
        ("cat a.md | grep foo", "some /p/a.md"),
        ("! cat a.md", "all /p/a.md"),
    ] {
        assert_eq!(
            told(&run(command, CommandEnd::Well, ShellOutput::Whole("x"))),
            expected,
            "{command}"
        );
    }
}

#[test]
fn what_shows_nothing_is_no_read() {
    for command in [
        "wc -l a.md",
        "ls -la a.md",
        "stat a.md",
        "test -f a.md",
        "[ -s a.md ] && echo yes",
        "git status a.md",
        "git add a.md && git commit -m 'cat a.md'",
        "git log --oneline | head",
        "cat a.md > /dev/null",
        "cat a.md >copy.md",
        "cat a.md &> log",
        "cat a.md | wc -l",
        "cat a.md | grep -q foo",
        "cat > a.md <<EOF\nsome text about a.md\nEOF",
        "cat <<'EOF' > a.md\nit's\nEOF\nls",
        "echo see a.md",
        "grep -l foo a.md",
        "grep -c foo a.md",
        "rg --files",
        "sed -i s/a/b/ a.md",
        "find . -name a.md",
        "sha256sum a.md",
        "touch a.md",
        "mkdir -p docs; cp a.md docs/",
        "bash -lc 'cat a.md' > /dev/null",
        "",
        "   ",
        "# cat a.md",
    ] {
        let seen = run(command, CommandEnd::Well, ShellOutput::Whole("x"));
        assert_eq!(told(&seen), "", "{command}");
    }
}

#[test]
fn an_unknown_command_is_in_doubt() {
    for (command, expected) in [
        ("python3 -c \"print(open('a.md').read())\"", "perhaps"),
        ("python3 <<EOF\nopen('a.md')\nEOF", "perhaps"),
        ("cat *.md", "perhaps"),
        ("cat docs/*/a.md", "perhaps"),
        ("cat *", "anything"),
        ("cat $f", "anything"),
        ("cat \"$DIR/a.md\"", "perhaps"),
        ("cat ~/a.md", "perhaps"),
        ("cat a.{md,txt}", "anything"),
        ("cat $(ls)", "anything"),
        ("cat `ls`", "anything"),
        ("echo \"$(cat a.md)\"", "perhaps"),
        ("git ls-files | xargs cat", "anything"),
        ("ls *.md | xargs cat", "perhaps"),
        ("find . -name '*.md' -exec cat {} +", "perhaps"),
        ("find docs -type f -exec cat {} +", "anything"),
        ("for f in a.md b.md; do cat \"$f\"; done", "perhaps"),
        ("for f in $(ls); do cat \"$f\"; done", "anything"),
        ("for f in design spec; do cat docs/$f.md; done", "anything"),
        ("for f in a b; do cat ${f}.md; done", "anything"),
        ("while read f; do cat \"$f\"; done < list", "anything"),
        ("if [ -f a.md ]; then cat a.md; fi", "perhaps"),
        ("git show HEAD:a.md", "perhaps"),
        ("git diff a.md", "perhaps"),
        ("cat a.md | python3 x.py", "perhaps"),
        ("diff <(cat a.md) b.md", "perhaps"),
        ("jq . a.md", "perhaps"),
        ("sort a.md", "perhaps"),
        ("sed 's/a/b/' a.md", "perhaps"),
        ("awk '{print $1}' a.md", "perhaps"),
        ("false || cat a.md", "perhaps"),
        ("true || cat a.md", "perhaps"),
        ("true || cat a.md; ls", "perhaps"),
        ("make && cat a.md; echo done", "perhaps, perhaps"),
        ("cat a.md 2>/dev/null || true", "perhaps"),
        ("cat 'a.md", "perhaps"),
    ] {
        let seen = run(command, CommandEnd::Well, ShellOutput::Whole("x"));
        assert_eq!(told(&seen), expected, "{command}");
        let means = seen.iter().any(|doubt| doubt_means(doubt, "/p/a.md"));
        assert!(means, "{command}: {seen:?}");
    }
}

fn doubt_means(seen: &Seen, path: &str) -> bool {
    match seen {
        Seen::Perhaps { command, reach } => could_mean(command, *reach, path),
        Seen::Maybe { command, .. } => could_mean(command, Reach::Words, path),
        Seen::Lines { .. } | Seen::Nothing { .. } => false,
    }
}

#[test]
fn a_failure_is_no_read_and_hides_none() {
    let missing = "cat: a.md: No such file or directory\n";
    for (command, ended, output, expected) in [
        ("cat a.md", CommandEnd::Badly, missing, "nothing /p/a.md"),
        ("sed -n 1,5p a.md", CommandEnd::Badly, "denied", "nothing /p/a.md"),
        ("cat a.md b.md", CommandEnd::Badly, missing, "nothing /p/a.md, all /p/b.md"),
        ("cat a.md; cat b.md", CommandEnd::Well, missing, "nothing /p/a.md, all /p/b.md"),
        ("cat a.md; cat b.md", CommandEnd::Badly, "x", "all /p/a.md, nothing /p/b.md"),
        ("cat a.md && cargo test", CommandEnd::Badly, "x", "all /p/a.md, perhaps"),
        ("cat b.md && cat a.md", CommandEnd::Badly, "x", "all /p/b.md, perhaps"),
        ("cat a.md | head -3", CommandEnd::Well, missing, "nothing /p/a.md"),
        ("cat a.md | head -3", CommandEnd::Unknown, "x", "1-3 /p/a.md"),
        ("cat a.md", CommandEnd::Unknown, "x", "all /p/a.md"),
        ("cat a.md", CommandEnd::Unknown, missing, "nothing /p/a.md"),
        // The text may mention missing files.
        ("cat a.md", CommandEnd::Unknown, "If a.md is missing: No such file", "all /p/a.md"),
        ("cat a.md || echo none", CommandEnd::Well, missing, "nothing /p/a.md"),
    ] {
        let seen = run(command, ended, ShellOutput::Whole(output));
        assert_eq!(told(&seen), expected, "{command} {ended:?} {output:?}");
    }
}

#[test]
fn a_search_shows_where_it_found_something() {
    for (command, ended, output, expected) in [
        ("grep -n foo a.md", CommandEnd::Well, "1:foo bar", "some /p/a.md"),
        ("rg -A 3 -e foo a.md", CommandEnd::Well, "foo", "some /p/a.md"),
        ("grep foo a.md", CommandEnd::Badly, "", ""),
        (
            "rg foo",
            CommandEnd::Well,
            "docs/a.md:1:foo\ndocs/a.md:2:foo\nb.md:1:foo",
            "some /p/b.md, some /p/docs/a.md",
        ),
        ("grep -rn a.md .", CommandEnd::Well, "./b.md:3:see a.md", "some /p, some /p/b.md"),
        ("grep -n a.md b.md c.md", CommandEnd::Well, "c.md:3:see a.md", "some /p/c.md"),
        (
            "rg foo docs | head -5",
            CommandEnd::Well,
            "docs/a.md:foo",
            "some /p/docs, some /p/docs/a.md",
        ),
        ("rg foo $F", CommandEnd::Well, "foo", "anything"),
        ("grep foo *.md", CommandEnd::Well, "a.md:foo", "perhaps"),
    ] {
        let seen = run(command, ended, ShellOutput::Whole(output));
        assert_eq!(told(&seen), expected, "{command}");
    }
}

#[test]
fn an_output_that_was_cut_showed_a_part() {
    assert_eq!(told(&run("cat a.md", CommandEnd::Well, ShellOutput::Cut("1"))), "some /p/a.md");
    assert_eq!(told(&run("cat a.md; ls", CommandEnd::Well, ShellOutput::Cut("1"))), "perhaps");
    assert_eq!(told(&run("cat a.md", CommandEnd::Well, ShellOutput::Unknown)), "all /p/a.md");
}

#[test]
fn an_unknown_folder_leaves_paths_relative() {
    for (command, expected) in [
        ("cat a.md", "all a.md"),
        ("cd /q && cat a.md", "all /q/a.md"),
        ("cd docs && cat a.md", "all a.md"),
    ] {
        let run = ShellRun {
            command,
            folder: None,
            ended: CommandEnd::Well,
            output: ShellOutput::Whole("x"),
        };
        assert_eq!(told(&seen(&run)), expected, "{command}");
    }
    assert_eq!(
        told(&run("cd $X && cat a.md", CommandEnd::Well, ShellOutput::Whole("x"))),
        "all a.md"
    );
    assert_eq!(
        told(&run("(cd b; ls); cat a.md", CommandEnd::Well, ShellOutput::Whole("x"))),
        "all a.md"
    );
}

#[test]
fn a_shell_that_goes_on_stays_where_it_went() {
    for (command, ended, expected) in [
        ("cat a.md", CommandEnd::Badly, Some("/p")),
        ("cd docs && cat a.md", CommandEnd::Well, Some("/p/docs")),
        ("cd docs; cd ..", CommandEnd::Well, Some("/p")),
        ("cd docs && cat a.md", CommandEnd::Badly, None),
        ("cd $X", CommandEnd::Well, None),
    ] {
        let run = ShellRun { command, folder: Some("/p"), ended, output: ShellOutput::Unknown };
        assert_eq!(folder_after(&run).as_deref(), expected, "{command}");
    }
}

#[test]
fn the_text_is_known_as_far_as_one_program_wrote_it() {
    let text = |command: &str, output: &str| match run(
        command,
        CommandEnd::Well,
        ShellOutput::Whole(output),
    )
    .as_slice()
    {
        [Seen::Lines { text, .. }, ..] => text.clone(),
        _ => ShownText::Unknown,
    };
    let exactly = |text: &str| ShownText::Exactly(Arc::from(text));
    assert_eq!(text("cat a.md", "one\n"), exactly("one\n"));
    assert_eq!(text("cd docs && cat a.md", "one\n"), exactly("one\n"));
    assert_eq!(text("cat -n a.md", "     1\tone\n"), exactly("one"));
    assert_eq!(text("cat -A a.md", "one$\n"), ShownText::Unknown);
    assert_eq!(text("cat a.md && ls", "one\nb"), ShownText::Among(Arc::from("one\nb")));
}

#[test]
fn a_command_of_any_length_is_looked_at() {
    let long = format!("python3 -c '{}'", "x".repeat(MOST_BYTES));
    let seen = run(&long, CommandEnd::Well, ShellOutput::Unknown);
    assert_eq!(told(&seen), "anything");
    assert!(matches!(&seen[0], Seen::Perhaps { command, .. } if command.len() < 400));
    let nested = "bash -c ".repeat(30) + "ls";
    run(&nested, CommandEnd::Well, ShellOutput::Unknown);
}

proptest! {
    #[test]
    fn any_command_is_understood_somehow(
        command in any::<String>(),
        shell in "([a-z.]{0,3}|[ ;|&()<>'\"$`\\\\*{},#\n~]|cat|sed -n|for|done|<<E|\\$\\(){0,24}",
    ) {
        for command in [command, shell] {
            for output in [ShellOutput::Whole(&command), ShellOutput::Cut(&command), ShellOutput::Printed(&command), ShellOutput::Unknown] {
                run(&command, CommandEnd::Well, output);
                run(&command, CommandEnd::Badly, output);
            }
        }
    }

    // However a name is quoted, it is the same file.
    #[test]
    fn quotes_do_not_change_a_name(name in "[a-zé .]{0,6}[a-z]") {
        let quoted = [format!("cat -- '{name}'"), format!("cat -- \"{name}\""), format!("cat -- {}", name.replace(' ', "\\ "))];
        for command in quoted {
            let expected = format!("all {}", path::within(Some("/p"), &name));
            prop_assert_eq!(told(&run(&command, CommandEnd::Well, ShellOutput::Unknown)), expected);
        }
    }

    // A file that is read with certainty was named in the command.
    #[test]
    fn nothing_is_read_that_was_not_named(command in "((cat|head|sed -n|x) )?[a-c]{1,2}\\.md( ?(;|&&|\\|\\||\\|) ?(cat|wc|tail|y) ?[a-c]{0,2})*") {
        for seen in run(&command, CommandEnd::Well, ShellOutput::Whole("x")) {
            if let Seen::Lines { path, .. } = seen {
                prop_assert!(command.contains(path::base_name(&path)), "{command}: {path}");
            }
        }
    }
}
