//! The commands of documents that the tests do not run as they are written, and why.

/// Why a command of a document cannot end well here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It asks an agent, which costs money. None is installed here, and it says so.
    NeedsAgent,
    /// It asks agents for a design. After it said that none is installed, recorded agents take the
    /// seats, and it must succeed on what the document has left in the folder.
    NeedsSeats,
    /// It judges the record of an agent's session, which only an agent can write.
    NeedsTranscript,
    /// It decides what a design's panel left open; the recorded panel left nothing open.
    NeedsOpenDecision,
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
}

const fn not_run(document: &'static str, command: &'static str, obstacle: Obstacle) -> NotRun {
    NotRun { document, command, obstacle }
}

/// Every command of a `sh` block that the tests do not run as it is written, in the order of the documents.
pub(crate) const NOT_RUN: [NotRun; 22] = [
    not_run("README.md", "convoke init", Obstacle::Prompts),
    not_run(
        "README.md",
        "convoke design \"Keep drafts when the connection is lost\" --budget '$5'",
        Obstacle::NeedsSeats,
    ),
    not_run("plan-a-feature.md", "convoke doctor", Obstacle::NeedsAgent),
    not_run("plan-a-feature.md", "convoke agents --probe", Obstacle::NeedsAgent),
    not_run(
        "plan-a-feature.md",
        "convoke design \"Keep drafts when the connection is lost\" --budget '$5'",
        Obstacle::NeedsSeats,
    ),
    not_run(
        "plan-a-feature.md",
        "convoke decide FINDING_2 accept --because \"the listing leaks\"",
        Obstacle::NeedsOpenDecision,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch run review/project-reviewer --changed-since HEAD~1 --client claude \
         --require-proof",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch run review/project-reviewer --changed-since HEAD~1 --client claude \
         --task t-1bef1",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch loop implement --feature 001 --client claude --write --fix-client codex \
         --max 4 --budget '$6'",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "send-reviewers.md",
        "convoke dispatch check review/project-reviewer --changed-since HEAD~1 --client claude \
         --transcript session.jsonl",
        Obstacle::NeedsTranscript,
    ),
    not_run(
        "supervise-agents.md",
        "convoke lane run --agent claude --limit 600 --stall 120 --budget '$1' --read README.md \
         --json \"Which command of the README has no test?\" > report.json",
        Obstacle::NeedsAgent,
    ),
    not_run("supervise-agents.md", "jq -r .outcome report.json", Obstacle::OtherProgram),
    not_run(
        "supervise-agents.md",
        "convoke dispatch run review/project-reviewer --changed-since origin/main \
         --client claude --require-proof --json > ../review.json",
        Obstacle::NeedsAgent,
    ),
    not_run("see-your-agents.md", "convoke serve", Obstacle::Serves),
    not_run(
        "connect-agents.md",
        "convoke lane run --agent acp:gemini \"Which tests are slow?\"",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "connect-agents.md",
        "convoke design \"Keep drafts\" --seats claude,acp:gemini,codex",
        Obstacle::NeedsAgent,
    ),
    not_run("connect-agents.md", "convoke design \"Keep drafts\" --otel", Obstacle::NeedsAgent),
    not_run(
        "ask-many.md",
        "convoke fan \"Which command in {{item}} is not explained?\" --files '**/*.md' --agent claude \
         --dry-run",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "ask-many.md",
        "convoke fan \"Which command in {{item}} is not explained?\" --files '**/*.md' --agent claude \
         --budget '$5' > answers.jsonl",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "ask-many.md",
        "convoke fan \"How risky is it to follow {{item}}?\" --files '**/*.md' --schema risk.json \
         --agent claude > risks.jsonl",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "outlive-limits.md",
        "convoke lane run --agent claude --park \"Which function parses dates?\"",
        Obstacle::NeedsAgent,
    ),
    not_run(
        "outlive-limits.md",
        "convoke fan \"What does {{item}} promise?\" --files '**/*.md' --agent claude --park \
         > answers.jsonl",
        Obstacle::NeedsAgent,
    ),
];
