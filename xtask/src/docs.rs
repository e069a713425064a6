//! The pages of docs/reference that follow from the code. A test keeps them current.

use std::fs;

use clap::Command;
use convoke::cli::help::{HelpExtent, grouped};
use convoke::exit::Exit;
use convoke_service::schema::{ReportSchema, reports};
use convoke_service::settings as config;

use crate::{Error, root, say};

const NOTICE: &str = "<!-- Written by `cargo xtask docs`; do not edit. -->\n\n";

/// Where the schemas of JSON documents are.
pub const JSON: &str = "docs/reference/json";

/// Returns every generated page with its path.
pub fn pages() -> Vec<(String, String)> {
    let mut pages = vec![
        ("docs/reference/cli.md".to_owned(), cli()),
        ("docs/reference/configuration.md".to_owned(), configuration()),
        ("docs/reference/exit-codes.md".to_owned(), exit_codes()),
        (format!("{JSON}/README.md"), json_index()),
    ];
    let file = |report: ReportSchema| (format!("{JSON}/{}.json", report.name), report.text());
    pages.extend(reports().into_iter().map(file));
    pages
}

/// Writes every generated page.
pub fn write() -> Result<(), Error> {
    fs::create_dir_all(root().join(JSON))?;
    for (path, text) in pages() {
        fs::write(root().join(&path), text)?;
        say(&path);
    }
    Ok(())
}

fn cli() -> String {
    let mut command = grouped(HelpExtent::All).term_width(96);
    command.build(); // Hands the global options down.
    format!("{NOTICE}# Command line\n{}", help(&command, "convoke"))
}

/// Returns a command's long help and that of everything below it.
fn help(command: &Command, name: &str) -> String {
    let text = command.clone().bin_name(name).render_long_help().to_string();
    let lines: Vec<_> = text.trim_end().lines().map(str::trim_end).collect();
    let own = format!("\n## `{name}`\n\n```text\n{}\n```\n", lines.join("\n"));
    let below = command
        .get_subcommands()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set());
    below
        .fold(own, |page, command| page + &help(command, &format!("{name} {}", command.get_name())))
}

/// Where a setting comes from, and what a committed file may set.
const PLACES: &str = "# Configuration\n\n\
    A setting is taken from the first of these places that has it:\n\n\
    1. a flag of the command\n\
    2. its variable; an empty one counts as not set\n\
    3. `convoke.local.toml` in the project, for one person's copy of it\n\
    4. `convoke.toml` in the project, committed with it\n\
    5. for `[brief]`: `design.design_docs` in `.moai/config/sections/design.yaml`, which other \
    tools own\n\
    6. `$XDG_CONFIG_HOME/convoke/config.toml`, or `~/.config/convoke/config.toml`\n\
    7. the default\n\n\
    A mistake in a file or variable of Convoke's own is an error (exit 2) of each command that \
    reads that section. Every other command, except hooks, tells it on stderr as a warning. \
    Convoke never prints a value.\n\
    A command reads each file once, when it first needs it: an `attend` or a `design` that runs \
    keeps the settings that it began with.\n\
    A mistake in `design.yaml` is only remarked on, with `-v` or in `--json`, and the default \
    is used.\n\n\
    ## Files that come with a repository\n\n\
    The author of `convoke.toml` need not be you. Convoke treats it, and a `convoke.local.toml` \
    that git tracks, as *committed*. In a repository that git cannot read, the local file counts \
    as committed too; in a folder without a repository it counts as yours. Convoke follows links: \
    a local file behind a committed link, and a link to a committed file, count as committed. So \
    does a local file in a folder that the repository around it ignores, such as `node_modules/x`, \
    unless the folder is a repository itself.\n\n\
    - A committed file can lower a limit, never raise it above the value in your own \
    `config.toml`, or else the default: `brief.token_budget`, `brief.max_file_bytes`, \
    `wake.wake_budget`, `dispatch.max_iterations`, `health.remember_minutes`, \
    `health.pause_seconds`, `pack.budget`, `pack.design_budget`, `pack.pointers_budget`, `lane.budget_per_day`. A `design.yaml` cannot raise the \
    `token_budget` that you set.\n\
    - A committed file can make a check stricter, never looser than the value in your own \
    `config.toml`, or else the default: `dispatch.confirmation`, `wake.namespace_strict`, and \
    `require_proof` of a role. It cannot change the `noun` or `form` of a role that is built in or \
    yours, so a reviewer stays a reviewer. What your file says of a role holds key by key, also \
    where the project has a table for the same role. It can give a role another `rubric` and other \
    documents. Then `convoke dispatch` names the file and the keys in a note on stderr, and in \
    `role_changed_by` of its JSON; `convoke dispatch prompt` shows what the agent is told.\n\
    - `brief.dir` of a committed file, and `dir` in `design.yaml`, must lie in the project: no \
    absolute path, no way out by `..` or by a link. A `.moai/design` that is a link out of the \
    project is not read, either.\n\
    - A committed file cannot set `wake.agent` (which binds your sessions to an agent), \
    `wake.orchestrator` (which agent leads) nor `lane.pass_env` (which passes your variables to \
    clients). It cannot set `wake.next_action`, `wake.skill_choice` or `wake.fit` to `seed`, unless \
    your own file does.\n\
    - A committed `mcp.allow` can switch tools off and never on; a committed file cannot set \
    `mcp.in_lanes`.\n\
    - A committed `wake.wake_budget` leaves your pinned rules their room.\n\
    - A hook leaves out a file of the project that has a mistake, and says so in the text that it \
    delivers.\n\
    - No file of a project can set `[acp.NAME]`, `[lane.http.NAME]`, `[store]`, `[telemetry]` or `[fleet]`.\n\n\
    Convoke ignores such a key and says so on stderr, with the file, the key and the reason.\n\n";

fn configuration() -> String {
    let brief = config::reference(config::brief::SECTION, &config::brief::KEYS);
    let wake = config::reference(config::wake::SECTION, &config::wake::KEYS);
    let task = config::reference(config::task::SECTION, &config::task::KEYS);
    let dispatch = config::reference(config::dispatch::SECTION, &config::dispatch::KEYS);
    let lane = config::reference(config::lane::SECTION, &config::lane::KEYS);
    let lane = format!(
        "{lane}\n`pass_env` is for a provider whose key Convoke does not know as the client's own. As a \
        table it names clients: `pass_env = {{ opencode = [\"OPENROUTER_API_KEY\"] }}`. It takes no \
        name that begins with `CONVOKE_`, `LD_` or `DYLD_`. A budget of `convoke.toml` holds \
        beside yours; a variable or your own `convoke.local.toml` overrules both.\n"
    );
    let mcp = config::reference(config::mcp::SECTION, &config::mcp::KEYS);
    let health = config::reference(config::health::SECTION, &config::health::KEYS);
    let pack = config::reference(config::pack::SECTION, &config::pack::KEYS);
    let store = "## `[store]`\n\n\
        Only the user's `config.toml` may have this section: a project must not choose where its \
        user's memory is kept.\n\n\
        | key | variable | value | default | meaning |\n|---|---|---|---|---|\n\
        | `path` | `CONVOKE_STORE` | an absolute path, or the address of a server | \
        `convoke/store.db` below `$XDG_STATE_HOME` or `~/.local/state` | the store's file, or its \
        [Postgres server](postgres.md) |\n\
        | `password_file` | `CONVOKE_STORE_PASSWORD_FILE` | a file that only you can read | | the file \
        whose first line is the password of the server |\n\
        | `password_command` | `CONVOKE_STORE_PASSWORD_COMMAND` | a command line | | the command that \
        prints the password of the server |\n\
        | `hook_milliseconds` | `CONVOKE_STORE_HOOK_MILLISECONDS` | a whole number from 1 up | `150` | how \
        long a hook waits for the server before it answers from the \
        [copy on this machine](postgres.md#the-copy-on-this-machine) |\n\n\
        `CONVOKE_STORE_PASSWORD` holds the password itself. An address in `config.toml` may not have \
        one.\n";
    let telemetry = config::reference(config::telemetry::SECTION, &config::telemetry::KEYS);
    let telemetry = format!(
        "{telemetry}\nOnly the user's `config.toml` may have this section: a project must not choose \
        where its user's data is sent. [Telemetry](telemetry.md) lists what is sent, and the \
        variables of OpenTelemetry that Convoke reads.\n"
    );
    let fleet = config::reference(config::fleet::SECTION, &config::fleet::KEYS);
    let fleet = format!(
        "{fleet}\nOnly the user's `config.toml` may have this section: a project must not choose \
        which machines run its user's agents. [The fleet](fleet.md) says how lanes get there.\n"
    );
    let endpoints = config::endpoint::reference();
    let agents = config::acp::reference();
    let others = "## Other variables\n\n\
        | variable | meaning |\n|---|---|\n\
        | `CONVOKE_AGENT` | the agent that this process works for |\n\
        | `CONVOKE_LOG` | what to log, as `--log`; see [the log](logging.md) |\n\
        | `CONVOKE_LOG_FILE` | the file that the log is appended to, as `--log-file` |\n\
        | `NO_COLOR` | never use colors |\n\
        | `CLICOLOR_FORCE` | use colors in a pipe, too |\n\
        | `TERM` | `dumb`: no colors, and no line is drawn over another |\n\
        | `PAGER` | the program that shows long texts at a terminal; empty for none |\n";
    format!(
        "{NOTICE}{PLACES}{brief}\n{wake}\n{task}\n{dispatch}\n{lane}\n{endpoints}\n{agents}\n{mcp}\n{health}\n{pack}\n{store}\n{telemetry}\n{fleet}\n{others}"
    )
}

fn exit_codes() -> String {
    let row = |exit: Exit| format!("| {} | {} |\n", exit.code(), exit.meaning());
    let rows: String = Exit::ALL.into_iter().map(row).collect();
    format!("{NOTICE}# Exit codes\n\n| code | meaning |\n|---|---|\n{rows}")
}

/// The guarantees for readers of JSON.
const JSON_RULES: &str = "# JSON documents\n\n\
    With `--json` a command prints one document on stdout: the report of its use case. Each schema \
    below (JSON Schema, draft 2020-12) follows from the type that Convoke prints. A key that is not \
    in `required` can be missing; every other key is always there, and is `null` where nothing is \
    known.\n\n\
    A row names the arguments with which a command prints that document; without them, the command \
    prints the document of the row that names it alone. `hook` answers in the format of its client, \
    and `plumbing` takes no `--json`.\n\n\
    Later versions can add keys, so a program should pass over keys that it does not know. \
    A key that goes, or that gets another meaning, is in the changelog.\n\n\
    | document | schema | what it is |\n|---|---|---|\n";

fn json_index() -> String {
    let row = |report: ReportSchema| {
        let ReportSchema { name, printed_by, .. } = &report;
        let printed_by: Vec<_> = printed_by.iter().map(|words| format!("`{words}`")).collect();
        let printed_by = printed_by.join(", ");
        format!("| {printed_by} | [{name}.json]({name}.json) | {} |\n", report.summary())
    };
    let rows: String = reports().into_iter().map(row).collect();
    format!("{NOTICE}{JSON_RULES}{rows}")
}
