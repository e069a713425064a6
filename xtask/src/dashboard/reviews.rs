//! Rounds of reviews with a client that a script plays, and their page in a real browser.

use std::fs;

use serde_json::{Value, json};

use super::checks::check_harmless;
use super::scene::Scene;
use super::webdriver::{Driver, Look, Window};
use super::{enter, picture};
use crate::Error;

/// The folder of the feature that is reviewed.
const FEATURE: &str = "docs/features/001-login";

/// A client that passes the gate for resuming, and otherwise prints the file `stream`. `TOP` is the folder
/// of the scene.
const CLIENT: &str = r#"cat > 'TOP/asked'
say() {
    echo '{"type":"system","subtype":"init","session_id":"s-gate","uuid":"1","model":"a-model-of-the-test"}'
    printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"uuid":"2","session_id":"s-gate","result":"'"$1"'"}'
}
case "$(cat 'TOP/asked')" in
    "Read the file "*)
        path=$(sed -n 's/^Read the file \(.*\) with your.*/\1/p' 'TOP/asked')
        head -n 1 "$path" > 'TOP/memory'
        say 'ISSUE: one\nISSUE: two' ;;
    "Do not open "*) say "FIRST LINE: $(cat 'TOP/memory')\nISSUES: 2" ;;
    *) cat 'TOP/stream' ;;
esac
"#;

/// One call of the agent, and what it was shown.
struct ShownCall {
    tool: Value,
    output: String,
}

impl ShownCall {
    fn command(command: &str, output: &str) -> Self {
        Self {
            tool: json!({"name": "Bash", "input": {"command": command}}),
            output: output.to_owned(),
        }
    }

    fn file(path: &str, text: &str) -> Self {
        let lines = text.split('\n').enumerate();
        let lines: Vec<_> = lines.map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
        Self {
            tool: json!({"name": "Read", "input": {"file_path": path}}),
            output: lines.join("\n"),
        }
    }
}

fn documents() -> [(&'static str, String); 2] {
    let rules = (1..=40).map(|rule| format!("R{rule}: Rule {rule} of the login holds.\n"));
    let spec = format!("# Spec\n\n{}", rules.collect::<String>());
    let design = "# Design\n\n## Session\n\nA token in a cookie that ends after ten minutes.\n\n\
                  ## Logout\n\nThe server forgets the token and the browser its cookie.\n";
    [("spec.md", spec), ("design.md", design.to_owned())]
}

fn answer(review: &Value) -> String {
    format!("Files read: design.md, spec.md\n```json\n{review}\n```\n")
}

fn approval() -> String {
    answer(&json!({"approved": true, "issues": []}))
}

fn rejection() -> String {
    let issue = json!({"severity": "blocker", "category": "security",
        "description": "The cookie has no SameSite attribute.", "location": "design.md:5"});
    answer(&json!({"approved": false, "issues": [issue]}))
}

impl Scene {
    /// Has reviewers read and answer: every state of a receipt, a verdict of each kind, and a session
    /// that is resumed.
    pub(super) fn reviews(&self) -> Result<(), Error> {
        let folder = self.project().join(FEATURE);
        fs::create_dir_all(&folder)?;
        let [(_, spec), (_, design)] = documents();
        for (name, text) in documents() {
            fs::write(folder.join(name), text)?;
        }
        self.commit()?;
        let top = self.file("").trim_end_matches('/').to_owned();
        self.client(&CLIENT.replace("TOP", &top))?;
        self.convoke(&["dispatch", "gate", "--agent", "claude"])?;
        let path = |name: &str| folder.join(name).display().to_string();
        let beginning: String = spec.split_inclusive('\n').take(12).collect();
        let head = ShownCall::command(&format!("head -n 12 {FEATURE}/spec.md"), &beginning);
        let whole = ShownCall::file(&path("design.md"), &design);
        self.round("security-reviewer", 1, vec![whole, head], &rejection())?;
        fs::write(folder.join("design.md"), design.replace("a cookie", "a SameSite cookie"))?;
        self.round("security-reviewer", 2, Vec::new(), &approval())?;
        let older = ShownCall::file(&path("design.md"), &design);
        let doubt = ShownCall::command(&format!("./show {FEATURE}/spec.md"), "40 rules");
        self.round("code-quality-reviewer", 1, vec![older, doubt], "It looks good to me.")
    }

    /// Has a reviewer read with commands that hold these texts.
    pub(super) fn hostile_reviews(&self, texts: &[&str]) -> Result<(), Error> {
        self.reviews()?;
        let [(_, spec), _] = documents();
        let lines: Vec<_> = spec.split_inclusive('\n').collect();
        let shown = texts.iter().zip(lines.iter().cycle()).enumerate();
        let calls = shown.map(|(place, (text, line))| {
            let line_number = place % lines.len() + 1;
            let command = format!("sed -n {line_number}p {FEATURE}/spec.md # {text}");
            ShownCall::command(&command, line)
        });
        let issue = json!({"severity": "blocker", "category": texts[0],
            "description": texts[4], "location": texts[8]});
        let review = answer(&json!({"approved": false, "issues": [issue]}));
        self.round("code-quality-reviewer", 2, calls.collect(), &review)
    }

    fn round(
        &self,
        role: &str,
        number: u32,
        calls: Vec<ShownCall>,
        answer: &str,
    ) -> Result<(), Error> {
        fs::write(self.file("stream"), stream(calls, answer))?;
        let (role, number) = (format!("implement/{role}"), number.to_string());
        let words = ["dispatch", "run", &role, "--feature", "001", "--client", "claude"];
        self.convoke_ends(&[&words[..], &["--iteration", &number]].concat(), &[0, 1, 4])
    }
}

/// Returns what the client prints: calls, each with its result, and the answer.
fn stream(calls: Vec<ShownCall>, answer: &str) -> String {
    let mut lines = vec![json!({"type": "system", "subtype": "init", "session_id": "s-1",
        "model": "a-model-of-the-test", "tools": ["Read", "Bash"], "permissionMode": "plan"})];
    for (place, ShownCall { mut tool, output }) in calls.into_iter().enumerate() {
        let id = format!("call-{place}");
        (tool["type"], tool["id"]) = (json!("tool_use"), json!(id));
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        let message = json!({"id": format!("m-{place}"), "content": [tool]});
        lines.push(json!({"type": "assistant", "session_id": "s-1", "message": message}));
        let message = json!({"content": [result]});
        lines.push(json!({"type": "user", "session_id": "s-1", "message": message}));
    }
    let text = json!([{"type": "text", "text": answer}]);
    let message = json!({"id": "m", "content": text, "stop_reason": "end_turn"});
    lines.push(json!({"type": "assistant", "session_id": "s-1", "message": message}));
    let usage = json!({"input_tokens": 5200, "output_tokens": 340});
    lines.push(json!({"type": "result", "subtype": "success", "is_error": false, "result": answer,
        "session_id": "s-1", "usage": usage, "total_cost_usd": 0.0412}));
    let lines = lines.into_iter().enumerate().map(|(place, mut line)| {
        line["uuid"] = json!(format!("line-{place}"));
        format!("{line}\n")
    });
    lines.collect()
}

/// The page of dispatches shows every state, and a click its evidence.
pub(super) fn receipts_and_their_evidence(driver: &Driver) -> Result<(), Error> {
    let scene = Scene::new()?;
    scene.reviews()?;
    let dashboard = scene.dashboard(&[])?;
    let look = Look { has_script: false, ..Look::USUAL };
    let window = driver.window(look)?;
    enter(&window, &dashboard)?;
    window.goto(&format!("{}/dispatch", dashboard.origin))?;
    for words in ["whole", "part", "older", "earlier round", "in doubt", "not read"] {
        expect(&window, words)?;
    }
    for words in [
        "✗ FAIL",
        "✓ PASS",
        "? AMBIGUOUS",
        "resumed with a delta: the change is small enough",
        "saved about ",
        "fresh: this is the first round",
    ] {
        expect(&window, words)?;
    }
    picture(&window, "dispatch-states")?;
    let command = format!("head -n 12 {FEATURE}/spec.md");
    if window.text()?.contains(&command) {
        return Err("the evidence is open before the click".into());
    }
    // By the mouse, and without a script.
    window.click("tbody tr:first-child td:nth-of-type(6) summary")?;
    window.wait_for(&command)?;
    expect(&window, "lines 1-12 of 42")?;
    picture(&window, "dispatch-evidence")?;
    check_harmless(&window, &dashboard.origin, "/dispatch")
}

fn expect(window: &Window<'_>, words: &str) -> Result<(), Error> {
    if window.text()?.contains(words) {
        return Ok(());
    }
    Err(format!("the page does not say `{words}`: {}", window.text()?).into())
}
