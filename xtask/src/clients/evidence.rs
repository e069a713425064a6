//! Whether real clients' records prove their agent's reading: the agent reads one document, and
//! only claims to have read the other.

use std::path::Path;

use serde_json::json;

use super::record::{claude_session, codex_session};
use super::user::User;
use crate::Error;
use crate::model_server::{Answer, ModelServer};

const FEATURE: &str = "project/docs/features/001-login";

const REVIEW: &str = "Files read: design.md (2 lines), spec.md (2 lines)\n\
    {\"approved\": true, \"issues\": []}";

/// Has a reviewer read one of two documents, and checks the result of `convoke dispatch check`.
/// Returns whether this client supports it.
pub(super) fn check(
    client: &str,
    user: &User,
    bin: &Path,
    server: &ModelServer,
) -> Result<bool, Error> {
    user.write(&format!("{FEATURE}/design.md"), "# Design\nA token in a cookie.\n")?;
    user.write(&format!("{FEATURE}/spec.md"), "# Spec\nLogging in is fast.\n")?;
    let design = user.project().join("docs/features/001-login/design.md").display().to_string();
    let (read, session): (_, fn(&User, &Path, &ModelServer) -> _) = match client {
        "claude" => {
            (Answer::Tool { name: "Read", input: json!({ "file_path": design }) }, claude_session)
        }
        "codex" => {
            let input = json!({ "cmd": format!("cat {design}") });
            (Answer::Tool { name: "exec_command", input }, codex_session)
        }
        // The records of other clients are not files that Convoke reads, or vary in form.
        _ => return Ok(false),
    };
    server.will_answer([read, Answer::Text(REVIEW.to_owned())]);
    let recorded = session(user, bin, server)?;
    let transcript = recorded.transcript.display().to_string();
    let role = "implement/security-reviewer";
    let judged = user.convoke(&[
        "dispatch",
        "check",
        role,
        "--feature",
        "001",
        "--client",
        client,
        "--transcript",
        &transcript,
    ])?;
    for line in [
        "design.md: all of it",
        "spec.md: not read",
        "unproven      confirmed, but not read: spec.md",
    ] {
        if !judged.contains(line) {
            return Err(format!("`{line}` is not in:\n{judged}").into());
        }
    }
    Ok(true)
}
