//! `convoke plumbing`: single steps of a design for scripts, with the lines and the exit codes that
//! scripts of the original workflow read.
//!
//! Each command takes its words as they are, because wrong ones have answers of their own. The answers
//! come from the service; a command here prints them.

mod background_run;

use std::ffi::OsString;

use clap::Subcommand;
use convoke_service::compat::{self, ScriptEnd, ScriptReply};
use convoke_service::failure::{ErrorClass, Failure};

use self::background_run::BackgroundArgs;
use super::design::WorkerArgs;
use super::mermaid::standard_input;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Run single design steps from scripts, with stable output
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// The words behind a command, unparsed.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
struct Words {
    /// The command's own flags
    #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "WORD")]
    words: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show facts about the branch, or create one
    ///
    /// `--check` prints four lines. `--branch NAME` creates a user branch at the remote's default
    /// branch, checks it out and prints two lines.
    ///
    /// Exits 0; 1 if the branch exists; 2 if git cannot create it.
    #[command(verbatim_doc_comment)]
    BranchCheck(Words),
    /// Decide whether a workflow may start from the current branch
    ///
    /// `--mode implement|design --current-branch NAME --is-main BOOL --is-user-branch BOOL
    /// --user-prefix PREFIX [--branch-info-supplied BOOL]`. Prints two lines, and decides by these
    /// flags alone.
    ///
    /// Exits 0; 4 for wrong usage.
    #[command(verbatim_doc_comment)]
    EntryGate(Words),
    /// Find what breaks published Mermaid diagrams
    ///
    /// `[--input FILE] [--from-md] [--warnings-log FILE] [--warnings-step STEP]`. Without a file,
    /// checks stdin. Prints STATUS=ok (exit 0), STATUS=rejected with a reason for each fault (exit
    /// 1), or STATUS=internal-error (exit 2).
    #[command(verbatim_doc_comment)]
    Mermaid(Words),
    /// Check that a workflow may start here
    ///
    /// `[--skip-branch-check] [--skip-clean-check]`. Fetches the default branch, and updates it if
    /// no check is skipped.
    ///
    /// Exits 0; 1 on the wrong branch; 2 if the working tree is not clean; 3 for any other error.
    #[command(verbatim_doc_comment)]
    Preflight(Words),
    /// Check whether the working tree is clean
    ///
    /// If git fails, the tree counts as clean unless `--fail-closed` is given.
    ///
    /// Exits 0; 1 if git fails and `--fail-closed` is given; 2 for wrong usage.
    #[command(verbatim_doc_comment)]
    CleanTree(Words),
    /// Set up a session: run checks, create a folder, probe reviewers
    ///
    /// `--prefix NAME [--skip-preflight] [--skip-branch-check] [--skip-repo-check]
    /// [--check-reviewers] [--skip-codex-probe] [--skip-cursor-probe] [--caller-env FILE]
    /// [--write-health FILE] [--write-session-env FILE]`.
    ///
    /// Exits 0; 1 to 3 as `preflight` does; 4 for wrong usage.
    #[command(verbatim_doc_comment)]
    SessionSetup(Words),
    /// Write a session file for another workflow; exits 0 or 1
    ///
    /// `--output FILE --repo-unavailable BOOL [--repo OWNER/NAME] [--codex-healthy BOOL]
    /// [--cursor-healthy BOOL] [--gemini-healthy BOOL] [--timing-ledger FILE]
    /// [--token-session-id ID] [--claude-source-file FILE]`.
    #[command(verbatim_doc_comment)]
    WriteSessionEnv(Words),
    /// Print the value of one key in a session file; exits 0 or 1
    ///
    /// `--file FILE --key KEY [--default VALUE]`. Prints the value as it is, without shell
    /// expansion.
    #[command(verbatim_doc_comment)]
    ReadSessionKey(Words),
    /// Check the tree as `convoke tree check` does; always exits 0
    ///
    /// `--mode baseline|checkpoint [--baseline FILE] [--sidecar FILE]`.
    #[command(verbatim_doc_comment)]
    DirtyTree(Words),
    /// Append an entry to a workflow's log of problems
    ///
    /// `--log FILE --category NAME (--entry TEXT | --entry-file FILE)`.
    ///
    /// Exits 0; 1 for wrong usage; 2 if Convoke cannot write the entry.
    #[command(verbatim_doc_comment)]
    LogIssue(Words),
    /// Remove a session's folder
    ///
    /// `--dir DIR`. Exits 0; 1 if the folder is not recognizably a session's.
    #[command(verbatim_doc_comment)]
    Cleanup(Words),
    #[command(hide = true)]
    HeavyWorker(Box<WorkerArgs>),
    #[command(hide = true)]
    BackgroundRun(BackgroundArgs),
    /// Export a design's files with their manifest
    ///
    /// `--design-tmpdir DIR --implement-tmpdir DIR`, or `DESIGN_TMPDIR` and `IMPLEMENT_TMPDIR`.
    /// Prints the manifest's path.
    ///
    /// Exits 0; 1 if the export fails; 2 for wrong usage.
    #[command(verbatim_doc_comment)]
    ManifestWrite(Words),
    /// Check every file that an exported manifest names; always exits 0
    ///
    /// `--implement-tmpdir DIR [--manifest FILE] [--emit-load-breadcrumb]`. Prints
    /// `MANIFEST_OK=true` and the manifest's values, or `MANIFEST_FAILED=true` and the error.
    #[command(verbatim_doc_comment)]
    ManifestRead(Words),
    /// Write to the ledger of step times, or report on it; always exits 0
    ///
    /// `mark STEP`, `record-vendor-task --vendor NAME --task-kind KIND --start-s N --end-s N
    /// --output FILE [--exit-code N] [--status complete|signal|unknown]`, `workflow-path
    /// HARD|SIMPLE`, `dump`, `report [--terse|--full] [--append FILE]`. `--ledger FILE` may come
    /// anywhere. Errors are warnings on stderr.
    #[command(verbatim_doc_comment)]
    Timing(Words),
    /// Write to the ledger of tokens, or report on it; always exits 0
    ///
    /// `mark STEP`, `record-vendor NAME [input=N] [output=N] [cache_read=N] [cache_create=N]
    /// [total=N] [raw=WORD]`, `dump`, `report [--terse|--full] [--append FILE]`. `--ledger FILE`
    /// may come anywhere. Errors are warnings on stderr.
    #[command(verbatim_doc_comment)]
    Tokens(Words),
}

#[derive(Debug, thiserror::Error)]
#[error("cannot print plumbing as JSON: its lines are the contract")]
struct NoJson;

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if app.format == Format::Json {
            return Err(Failure::new(ErrorClass::Usage, NoJson));
        }
        let reply = match &self.command {
            Command::BranchCheck(given) => compat::branch_check(&app.session, &given.words),
            Command::EntryGate(given) => compat::entry_gate(&app.session, &given.words),
            Command::Mermaid(given) => {
                compat::check_diagram(&app.session, &given.words, standard_input)
            }
            Command::Preflight(given) => compat::preflight(&app.session, &given.words),
            Command::CleanTree(given) => compat::clean_tree(&app.session, &given.words),
            Command::SessionSetup(given) => compat::session_setup(&app.session, &given.words),
            Command::WriteSessionEnv(given) => {
                compat::write_session_env(&app.session, &given.words)
            }
            Command::ReadSessionKey(given) => compat::read_session_key(&app.session, &given.words),
            Command::DirtyTree(given) => compat::dirty_tree(&app.session, &given.words),
            Command::LogIssue(given) => compat::log_issue(&given.words),
            Command::Cleanup(given) => compat::cleanup(&app.session, &given.words),
            Command::HeavyWorker(args) => return args.run(app, output),
            Command::BackgroundRun(args) => return args.run(app, output),
            Command::ManifestWrite(given) => compat::write_manifest(&app.session, &given.words),
            Command::ManifestRead(given) => compat::read_manifest(&app.session, &given.words),
            Command::Timing(given) => compat::timing(&app.session, &given.words),
            Command::Tokens(given) => compat::tokens(&app.session, &given.words),
        };
        print(reply, output)
    }
}

/// Returns a command line on which clap cannot take the words behind a plumbing command for its own
/// options: the contract defines the replies to invalid words. Invalid UTF-8 is replaced, so that
/// such a word gets a reply, too.
pub fn with_plain_words(arguments: &[OsString]) -> Vec<OsString> {
    let mut at = 1;
    while arguments.get(at).is_some_and(|word| word == "-C" || word == "--project") {
        at += 2;
    }
    let is_plumbing = arguments.get(at).is_some_and(|word| word == "plumbing");
    // Convoke's own words have flags as everywhere else.
    let is_ours = |name: &OsString| {
        let ours = ["help", "heavy-worker", "background-run"];
        ours.iter().any(|ours| name == ours) || name.as_encoded_bytes().starts_with(b"-")
    };
    if !is_plumbing || arguments.get(at + 1).is_none_or(is_ours) {
        return arguments.to_vec();
    }
    let (ours, words) = arguments.split_at(at + 2);
    let words = words.iter().map(|word| word.to_string_lossy().into_owned().into());
    ours.iter().cloned().chain(["--".into()]).chain(words).collect()
}

/// Prints a script's answer.
fn print(reply: ScriptReply, output: &mut Output) -> Result<Exit, Failure> {
    output.data(&reply.out)?;
    match reply.end {
        ScriptEnd::Code(code) => Ok(Exit::Script(code)),
        ScriptEnd::Told(failure, code) => {
            output.failure(&failure);
            Ok(Exit::Script(code))
        }
        ScriptEnd::Failed(failure) => Err(failure),
    }
}
