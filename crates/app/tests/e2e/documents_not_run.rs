//! The commands of documents that the tests do not run as they are written, and why.

/// Why a command of a document cannot end well here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It asks an agent, which costs money. None is installed here, and it says so.
    NeedsAgent,
    /// It judges the record of an agent's session, which only an agent can write.
    NeedsTranscript,
    /// It decides about a design by real agents; here it finds a rehearsal, and refuses.
    NeedsDesign,
    /// It runs until its user stops it; the tests of the dashboard run it.
    Serves,
    /// It prompts a person who has a client; the test answers at a terminal.
    Prompts,
    /// It is another program, which reads what an agent answered.
    OtherProgram,
}

/// A command that the tests do not run as it is written.
pub(crate) struct NotRun {
    pub(crate) document: &'static str,
    pub(crate) command: &'static str,
    pub(crate) obstacle: Obstacle,
    /// What is run in its place, so that the commands after it have something to work on.
    pub(crate) instead: Option<&'static str>,
}

/// The rehearsal of a design, where a document asks agents for one.
const REHEARSAL: Option<&str> = Some("convoke design --rehearse --auto");

const fn not_run(
    document: &'static str,
    command: &'static str,
    obstacle: Obstacle,
    instead: Option<&'static str>,
) -> NotRun {
    NotRun { document, command, obstacle, instead }
}

/// Every command of a `sh` block that the tests do not run as it is written, in the order of the documents.
pub(crate) const NOT_RUN: [NotRun; 22] = [
    not_run("README.md", "convoke init", Obstacle::Prompts, None),
    not_run(
        "README.md",
        "convoke design \"Keep drafts when the connection is lost\" --budget '$5'",
        Obstacle::NeedsAgent,
        REHEARSAL,
    ),
    not_run("plan-a-feature.md", "convoke doctor", Obstacle::NeedsAgent, None),
    not_run("plan-a-feature.md", "convoke agents --probe", Obstacle::NeedsAgent, None),
    not_run(
        "plan-a-feature.md",
        "convoke design \"Keep drafts when the connection is lost\" --budget '$5'",
        Obstacle::NeedsAgent,
        REHEARSAL,
    ),
    not_run(
        "plan-a-feature.md",
        "convoke decide FINDING_2 accept --because \"the listing leaks\"",
        Obstacle::NeedsDesign,
        None,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch run review/project-reviewer --changed-since HEAD~1 --client claude \
         --require-proof",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch run review/project-reviewer --changed-since HEAD~1 --client claude \
         --task t-1bef1",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch loop implement --feature 001 --client claude --write --fix-client codex \
         --max 4 --budget '$6'",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch check review/project-reviewer --changed-since HEAD~1 --client claude \
         --transcript session.jsonl",
        Obstacle::NeedsTranscript,
        None,
    ),
    not_run(
        "supervise-agents.md",
        "convoke lane run --agent claude --limit 600 --stall 120 --budget '$1' --read README.md \
         --json \"Which command of the README has no test?\" > report.json",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run("supervise-agents.md", "jq -r .outcome report.json", Obstacle::OtherProgram, None),
    not_run(
        "supervise-agents.md",
        "convoke dispatch run review/project-reviewer --changed-since origin/main \
         --client claude --require-proof --json > review.json",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run("see-your-agents.md", "convoke serve", Obstacle::Serves, None),
    not_run(
        "connect-agents.md",
        "convoke lane run --agent acp:gemini \"Which tests are slow?\"",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "connect-agents.md",
        "convoke design \"Keep drafts\" --seats claude,acp:gemini,codex",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "connect-agents.md",
        "convoke design \"Keep drafts\" --otel",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "ask-many.md",
        "convoke fan \"Which command in {{item}} is not explained?\" --files '**/*.md' --agent claude \
         --dry-run",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "ask-many.md",
        "convoke fan \"Which command in {{item}} is not explained?\" --files '**/*.md' --agent claude \
         --budget '$5' > answers.jsonl",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "ask-many.md",
        "convoke fan \"How risky is it to follow {{item}}?\" --files '**/*.md' --schema risk.json \
         --agent claude > risks.jsonl",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "outlive-limits.md",
        "convoke lane run --agent claude --park \"Which function parses dates?\"",
        Obstacle::NeedsAgent,
        None,
    ),
    not_run(
        "outlive-limits.md",
        "convoke fan \"What does {{item}} promise?\" --files '**/*.md' --agent claude --park \
         > answers.jsonl",
        Obstacle::NeedsAgent,
        None,
    ),
];
