//! Commands that a tool does, for agents without a shell.

/// How commands begin, each with its tool; the first that fits counts.
const TWINS: [(&str, &str); 6] = [
    ("convoke task tree", "tasks"),
    ("convoke task show", "tasks"),
    ("convoke inbox", "wake"),
    ("convoke show", "run_status"),
    ("convoke task start", "task_update"),
    ("convoke task done", "task_update"),
];

/// Names a tool in the place of each quoted command that it does.
pub(crate) fn with_tools(text: &str) -> String {
    // Every second part has back-ticks around it.
    let parts = text.split('`').enumerate();
    let parts: Vec<_> =
        parts.map(|(at, part)| if at % 2 == 1 { tool(part) } else { part }).collect();
    parts.join("`")
}

fn tool(command: &str) -> &str {
    let is_it = |words: &str| {
        let rest = command.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if is_it("convoke show") && command.contains(" --artifact") {
        return "run_result";
    }
    TWINS.iter().find(|(words, _)| is_it(words)).map_or(command, |(_, tool)| *tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_a_tool_are_named_by_it() {
        for (said, shown) in [
            (
                "name another task: `convoke task tree` shows them",
                "name another task: `tasks` shows them",
            ),
            ("3 more: `convoke inbox june --mark`", "3 more: `wake`"),
            ("`convoke show 2026-1` names them", "`run_status` names them"),
            ("`convoke show 2026-1 --artifact plan`", "`run_result`"),
            ("see `convoke shown`, or \u{60}x", "see `convoke shown`, or \u{60}x"),
            ("the user runs `convoke decide 2026-1`", "the user runs `convoke decide 2026-1`"),
            ("convoke inbox is a command", "convoke inbox is a command"),
        ] {
            assert_eq!(with_tools(said), shown);
        }
    }
}
