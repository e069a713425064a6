//! Records of clients, and what they prove about the reading of one file.
//!
//! The payload is the record's lines: a transcript, or the events that a client printed. Lines
//! behind `--- the client's own record` are what the client keeps of the same session `s1`; they
//! are put where it keeps it.
//!
//! `client` is whose record it is. `text` is what `design.md` says: `6 rules` (so many lines),
//! `6 rules in latin-1`, `6 rules in utf-16`, `picture`, `empty`, or the text itself with `\n` for
//! the ends of lines. `want` is the standing as `--json` names it; of a part, also its lines where
//! they are known. `response` is the answer that is judged, where it does not come from the record.
//!
//! In a record these stand for the file's text, or a part of it, within a JSON string:
//! `<<text>>`, `<<first>>` and `<<last>>` (halves), `<<all-but-one>>`, `<<lossy>>` (with replacement
//! characters), `<<old>>` (another second line), `<<numbered>>` (`1⇥…`), `<<coloned>>` (`1: …`);
//! `-cut` is the lines up to the half of the fourth, and `-rest` those behind it. `<<text-json>>` is
//! the text within a JSON string in a JSON string, `<<count>>` the number of lines, `<<path>>` the
//! file and `<<project>>` its folder.

use std::fs;
use std::path::Path;

use convoke_domain::client::Client;
use convoke_domain::receipt::{ReadState, Span};
use convoke_engine::dispatch::evidence::{DemandedFile, EvidenceSource, evidence};
use convoke_engine::transcript::own::ClientHomes;

use super::cases::Case;

const OWN: &str = "--- the client's own record\n";

pub(crate) fn verdict(case: &Case) -> String {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let document = Document::of(case.key("text"));
    let path = project.join("design.md");
    fs::write(&path, &document.bytes).unwrap();
    let payload = document.filled(&case.text(), &project);
    let (lines, own) = payload.split_once(OWN).unwrap_or((&payload, ""));
    let record = project.join("record");
    fs::write(&record, lines).unwrap();
    let client = Client::parse(case.key("client")).unwrap();
    if !own.is_empty() {
        keep(client, &project, own);
    }
    let answer = case.keys.get("response").map(String::as_str);
    let homes: ClientHomes =
        Client::ALL.map(|client| (client, project.clone())).into_iter().collect();
    let record = EvidenceSource { client, path: &record, project: &project, homes: &homes, answer };
    let demand = DemandedFile { name: "design".to_owned(), path: path.display().to_string() };
    match evidence(&record, &[demand]) {
        Ok(found) => word(&found.receipts[0].0.standing),
        Err(error) => error.to_string(),
    }
}

/// Puts a record where its client keeps it.
fn keep(client: Client, home: &Path, lines: &str) {
    let name = match client {
        Client::Codex => "sessions/2026/11/16/rollout-2026-11-16T03-17-01-s1.jsonl",
        Client::Claude
        | Client::Cursor
        | Client::Gemini
        | Client::Opencode
        | Client::Qwen
        | Client::Acp
        | Client::Fleet => "projects/-p/s1.jsonl",
    };
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, lines).unwrap();
}

fn word(standing: &ReadState) -> String {
    let spans = |lines: &[Span]| {
        lines
            .iter()
            .map(|span| format!(" {}-{}", span.first, span.last))
            .collect::<Vec<_>>()
            .concat()
    };
    match standing {
        ReadState::Whole => "whole".to_owned(),
        ReadState::Part { lines, of: Some(of) } if !lines.is_empty() => {
            format!("part{} of {of}", spans(lines))
        }
        ReadState::Part { .. } => "part".to_owned(),
        ReadState::Older { .. } => "older".to_owned(),
        ReadState::Unsure => "unsure".to_owned(),
        ReadState::Forgotten => "forgotten".to_owned(),
        ReadState::OnlySubagent => "only_subagent".to_owned(),
        ReadState::OnlyAfterAnswer => "only_after_answer".to_owned(),
        ReadState::OnlyNamesake { .. } => "only_namesake".to_owned(),
        ReadState::NotRead { .. } => "not_read".to_owned(),
    }
}

/// The file that the agent must read.
struct Document {
    bytes: Vec<u8>,
    text: String,
}

impl Document {
    fn of(description: &str) -> Self {
        let (what, encoding) = description.split_once(" in ").unwrap_or((description, ""));
        let count = what.strip_suffix(" rules").and_then(|count| count.parse::<usize>().ok());
        let rule = |n| {
            format!("Rule {n}: a token of kind {n} is signed before it is na\u{ef}vely used.\n")
        };
        let text = match (count, what) {
            (Some(count), _) => (1..=count).map(rule).collect::<Vec<_>>().concat(),
            (None, "empty" | "picture") => String::new(),
            (None, literal) => literal.replace("\\n", "\n"),
        };
        let bytes = match (encoding, what) {
            ("latin-1", _) => text.chars().map(|c| u8::try_from(c).unwrap()).collect(),
            ("utf-16", _) => {
                format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
            }
            (_, "picture") => b"\x89PNG\r\n\x1a\n\xff\xfe".to_vec(),
            _ => text.clone().into_bytes(),
        };
        Self { bytes, text }
    }

    /// Replaces the placeholders of a record by its text.
    fn filled(&self, record: &str, project: &Path) -> String {
        let lines: Vec<&str> = self.text.lines().collect();
        let half = lines.len() / 2;
        let plain = |lines: &[&str]| lines.join("\n");
        let numbered = |mark: &str| {
            let line = |(at, line): (usize, &&str)| format!("{}{mark}{line}", at + 1);
            lines.iter().enumerate().map(line).collect::<Vec<_>>()
        };
        let (tabbed, coloned) = (numbered("\t"), numbered(": "));
        let cut = |lines: &[String]| {
            let short = lines.get(3).map_or("", |line| &line[..20]);
            [&lines[..lines.len().min(3)], &[short.to_owned()]].concat().join("\n")
        };
        let rest = |lines: &[String]| lines.get(4..).unwrap_or_default().join("\n");
        let own: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let old = self.text.replacen("Rule 2", "Rule two", 1);
        let numbered_old: Vec<_> =
            old.lines().enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
        let quoted = within_json(&self.text);
        [
            ("<<text>>", self.text.clone()),
            ("<<first>>", plain(&lines[..half])),
            ("<<last>>", plain(&lines[half..])),
            ("<<all-but-one>>", plain(lines.get(1..).unwrap_or_default())),
            ("<<lossy>>", String::from_utf8_lossy(&self.bytes).into_owned()),
            ("<<old>>", old),
            ("<<numbered>>", tabbed.join("\n")),
            ("<<numbered-first>>", tabbed[..half].join("\n")),
            ("<<numbered-cut>>", cut(&tabbed)),
            ("<<numbered-old>>", numbered_old.join("\n")),
            ("<<coloned>>", coloned.join("\n")),
            ("<<coloned-cut>>", cut(&coloned)),
            ("<<coloned-rest>>", rest(&coloned)),
            ("<<lines-cut>>", cut(&own)),
            ("<<lines-rest>>", rest(&own)),
            ("<<text-json>>", quoted),
            ("<<count>>", lines.len().to_string()),
            ("<<path>>", project.join("design.md").display().to_string()),
            ("<<project>>", project.display().to_string()),
        ]
        .iter()
        .fold(record.to_owned(), |record, (mark, text)| record.replace(mark, &within_json(text)))
    }
}

/// Escapes a text for the inside of a JSON string.
fn within_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
