//! The peers: repomix and aider's repository map, installed from their registries.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use convoke_domain::text::Text;
use convoke_domain::token::{Tokenizer, Tokens};
use serde_json::{Value, json};

use super::Shown;
use super::commits::{MeasuredCommit, git};
use crate::Error;
use crate::process::command;

/// The measured versions.
pub(super) const REPOMIX: &str = "1.18.1";
pub(super) const AIDER: &str = "0.86.2";

/// Where the peers are installed.
pub(super) struct Peers {
    repomix: PathBuf,
    aider: AiderMap,
    /// A checkout of their own: aider writes a cache into it.
    clone: PathBuf,
}

struct AiderMap {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for AiderMap {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Peers {
    /// Installs what is missing below a folder, and starts what answers many questions.
    pub(super) fn start(folder: &Path, clone: PathBuf) -> Result<Self, Error> {
        fs::create_dir_all(folder.join("npm"))?;
        let repomix = folder.join("npm/node_modules/.bin/repomix");
        if !repomix.exists() {
            let package = format!("repomix@{REPOMIX}");
            succeed(
                command("npm").args(["install", "--prefix"]).arg(folder.join("npm")).arg(package),
            )?;
        }
        let python = folder.join("venv/bin/python");
        if !python.exists() {
            succeed(command("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
            let package = format!("aider-chat=={AIDER}");
            succeed(command(&python).args(["-m", "pip", "install", "-q", &package]))?;
        }
        let script = folder.join("aider_map.py");
        fs::write(&script, include_str!("aider_map.py"))?;
        let mut child = command(&python)
            .arg(&script)
            .env("TIKTOKEN_CACHE_DIR", tokenizers(folder)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let questions = child.stdin.take().ok_or("no stdin")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Self { repomix, aider: AiderMap { child, questions, answers }, clone })
    }

    /// Returns what aider's map shows for a commit's feature, budget by budget.
    pub(super) fn aider(
        &mut self,
        commit: &MeasuredCommit,
        budgets: &[u64],
    ) -> Result<Vec<Shown>, Error> {
        git(&self.clone, &["checkout", "-q", "--force", "--detach", &commit.parent])?;
        let files = git(&self.clone, &["ls-files", "-z"])?;
        let files: Vec<_> = files.split('\0').filter(|name| !name.is_empty()).collect();
        let question = json!({
            "root": self.clone, "files": files, "feature": commit.feature, "budgets": budgets,
        });
        writeln!(self.aider.questions, "{question}")?;
        self.aider.questions.flush()?;
        let mut answer = String::new();
        self.aider.answers.read_line(&mut answer)?;
        let Value::Array(maps) = serde_json::from_str(&answer)? else {
            return Err("aider's map ended".into());
        };
        Ok(maps.iter().map(|map| read_map(map.as_str().unwrap_or_default(), &files)).collect())
    }

    /// Returns what repomix shows for a commit's feature, budget by budget: files that the feature
    /// names first, then the most changed ones, which it prints last, as much as fits.
    pub(super) fn repomix(
        &self,
        commit: &MeasuredCommit,
        budgets: &[u64],
        tokenizer: &dyn Tokenizer,
    ) -> Result<Vec<Shown>, Error> {
        git(&self.clone, &["checkout", "-q", "--force", "--detach", &commit.parent])?;
        let output = self.clone.with_extension("repomix.xml");
        let words = ["--quiet", "--compress", "--no-file-summary", "--no-directory-structure"];
        let mut repomix = command(&self.repomix);
        repomix.current_dir(&self.clone).args(words).arg("--no-security-check");
        succeed(repomix.args(["--style", "xml", "-o"]).arg(&output))?;
        let text = fs::read_to_string(&output)?;
        let mut files: Vec<_> = text
            .split("\n<file path=\"")
            .skip(1)
            .filter_map(|block| block.split_once("\">\n"))
            .collect();
        let is_named = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            commit.feature.contains(path) || name.contains('.') && commit.feature.contains(name)
        };
        files.reverse();
        files.sort_by_key(|(path, _)| !is_named(path));
        Ok(budgets.iter().map(|budget| taken(&files, *budget, tokenizer)).collect())
    }
}

fn taken(files: &[(&str, &str)], budget: u64, tokenizer: &dyn Tokenizer) -> Shown {
    let mut left = Tokens::whole(budget);
    let mut shown = BTreeMap::new();
    for (path, text) in files {
        let heading = tokenizer.count(Text::new(&format!("<file path=\"{path}\">\n")));
        if heading >= left {
            break;
        }
        left = left.less(heading);
        let text = Text::new(text);
        let cost = tokenizer.count(text);
        let kept = if cost <= left {
            text.as_str()
        } else {
            text.split_at(tokenizer.reach(text, left)).0.as_str()
        };
        shown.insert((*path).to_owned(), kept.to_owned());
        left = left.less(cost);
        if left == Tokens::default() {
            break;
        }
    }
    shown
}

/// A map names each file at the margin, with its lines below it.
fn read_map(map: &str, files: &[&str]) -> Shown {
    let mut shown = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in map.lines() {
        let name = line.strip_suffix(':').unwrap_or(line);
        if files.contains(&name) {
            current = Some(name.to_owned());
            shown.entry(name.to_owned()).or_insert_with(String::new);
        } else if let Some(text) = current.as_ref().and_then(|name| shown.get_mut(name)) {
            text.push_str(line.trim_start_matches(['│', '⋮', ' ']));
            text.push('\n');
        }
    }
    shown
}

/// The vocabulary that aider's dependencies bring along, so that none is downloaded.
fn tokenizers(folder: &Path) -> Result<PathBuf, Error> {
    for entry in fs::read_dir(folder.join("venv/lib"))? {
        let path = entry?.path().join("site-packages/litellm/litellm_core_utils/tokenizers");
        if path.is_dir() {
            return Ok(path);
        }
    }
    Err("aider's vocabulary is missing".into())
}

fn succeed(program: &mut std::process::Command) -> Result<(), Error> {
    let done = program.output()?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(format!("`{}` failed: {}", program.get_program().display(), said.trim_end()).into())
}
