//! `convoke config`: the settings that hold here, and changing one.

use clap::Subcommand;
use convoke_domain::text::{one_line, shell_word};
use convoke_service::config::{
    ConfigEntry, ConfigOrigin, ConfigTarget, SetConfigRequest, config_files, get_config,
    list_config, set_config, unset_config,
};
use convoke_service::failure::{ErrorClass, Failure};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::{Output, Paging};
use crate::terminal::styled::{Ink, StyledLine};

/// The indentation of a setting's purpose.
const INDENT: &str = "    ";

/// A setting without a value has no line to print.
#[derive(Debug, thiserror::Error)]
#[error("`{key}` is not set (default: {default})")]
struct NotSet {
    key: String,
    default: &'static str,
}

/// Show and change settings, each with the place it comes from
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all settings with their values and origins
    ///
    /// At a terminal with the purpose of each. A value that looks like a secret is hidden. Models'
    /// APIs are listed by `convoke agents`.
    List(ListArgs),
    /// Print the value of one setting
    Get(GetArgs),
    /// Write a setting into `convoke.local.toml`
    ///
    /// Leaves every other byte of the file unchanged.
    Set(SetArgs),
    /// Remove a setting from `convoke.local.toml`
    ///
    /// A weaker file or the default holds from then on. Leaves every other byte of the file unchanged.
    Unset(UnsetArgs),
    /// List the configuration files, the strongest first
    Path,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Only settings that a file or variable sets
    #[arg(long)]
    changed: bool,
}

#[derive(Debug, clap::Args)]
struct GetArgs {
    /// The setting, such as `wake.wake_budget`
    key: String,
}

#[derive(Debug, clap::Args)]
struct SetArgs {
    /// The setting, such as `wake.wake_budget`
    key: String,

    /// The value, as in a variable (`a,b`) or as in a file (`["a", "b"]`)
    #[arg(allow_hyphen_values = true)]
    value: String,

    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, clap::Args)]
struct UnsetArgs {
    /// The setting, such as `wake.wake_budget`
    key: String,

    #[command(flatten)]
    file: FileArgs,
}

/// The file to change.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Change `convoke.toml`, which is committed and holds for the whole team
    #[arg(long, conflicts_with = "user")]
    shared: bool,

    /// Change your own `config.toml`, which holds for all your projects
    #[arg(long)]
    user: bool,
}

impl FileArgs {
    const fn target(&self) -> ConfigTarget {
        match (self.shared, self.user) {
            (true, _) => ConfigTarget::Project,
            (false, true) => ConfigTarget::User,
            (false, false) => ConfigTarget::Local,
        }
    }
}

impl ConfigArgs {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::List(args) => args.run(app, output)?,
            Command::Get(args) => args.run(app, output)?,
            Command::Set(args) => args.run(app, output)?,
            Command::Unset(args) => args.run(app, output)?,
            Command::Path => print_paths(app, output)?,
        }
        Ok(Exit::Done)
    }
}

impl ListArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let mut entries = list_config(&app.session)?;
        entries.retain(|entry| !self.changed || entry.origin != ConfigOrigin::Default);
        if app.format == Format::Json {
            return output.json(&entries);
        }
        if entries.is_empty() {
            output.say("note: no file or variable sets anything; all settings are defaults");
        }
        if !output.is_shown() {
            return entries.iter().try_for_each(|entry| output.data(&line(entry)));
        }
        let lines: Vec<_> = entries.iter().flat_map(|entry| explained(entry, output)).collect();
        output.long(&lines, Paging::Allowed)
    }
}

/// Renders a setting for a person: its line, and its purpose below.
fn explained(entry: &ConfigEntry, output: &Output) -> Vec<StyledLine> {
    let columns = output.room();
    let value = format!(" = {}", one_line(shown(entry)));
    let setting = StyledLine::new(Ink::Strong, &entry.key).with(Ink::Plain, &value);
    let setting = setting.with(Ink::Quiet, &format!("  ({})", one_line(&origin(entry))));
    let purpose = StyledLine::new(Ink::Quiet, entry.meaning);
    let indent = StyledLine::plain(INDENT);
    let purpose = purpose.wrapped(columns, &indent, &indent);
    setting.folded(columns, INDENT.len()).into_iter().chain(purpose).collect()
}

fn line(entry: &ConfigEntry) -> String {
    let origin = origin(entry);
    one_line(&format!("{} = {}  ({origin})", entry.key, shown(entry))) + "\n"
}

/// Returns the value as people read it; some settings have none by default.
fn shown(entry: &ConfigEntry) -> &str {
    if entry.literal.is_empty() { "(not set)" } else { &entry.literal }
}

fn origin(entry: &ConfigEntry) -> String {
    match (&entry.place, entry.origin) {
        (Some(place), ConfigOrigin::User) => format!("user: {place}"),
        (Some(place), ConfigOrigin::Environment) => format!("environment: {place}"),
        (_, ConfigOrigin::Local) => "local: convoke.local.toml".to_owned(),
        (_, ConfigOrigin::Project) => "project: convoke.toml".to_owned(),
        (_, ConfigOrigin::DesignYaml) => "project: .moai/config/sections/design.yaml".to_owned(),
        (None, _) | (_, ConfigOrigin::Default) => "default".to_owned(),
    }
}

impl GetArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let entry = get_config(&app.session, &self.key)?;
        match app.format {
            Format::Json => output.json(&entry),
            Format::Text if entry.value.is_null() => {
                let key = shell_word(&entry.key);
                let error = NotSet { key: entry.key, default: entry.default };
                Err(Failure::new(ErrorClass::Refused, error)
                    .hint(format!("`convoke config set {key} VALUE` sets it")))
            }
            Format::Text => output.data(&format!("{}\n", one_line(entry.plain()))),
        }
    }
}

impl SetArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let (key, value, file) = (self.key.clone(), self.value.clone(), self.file.target());
        let report = set_config(&app.session, &SetConfigRequest { key, value, file })?;
        if app.format == Format::Json {
            return output.json(&report);
        }
        let done = if report.is_changed { "set in" } else { "is so already in" };
        let words = format!("{} = {}  ({done} {})", report.key, report.literal, report.path);
        output.data(&(one_line(&words) + "\n"))?;
        if let Some(place) = &report.overridden_by {
            output.say(&format!("warning: it does not hold: {place} sets another value"));
        }
        Ok(())
    }
}

impl UnsetArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let report = unset_config(&app.session, &self.key, self.file.target())?;
        if app.format == Format::Json {
            return output.json(&report);
        }
        let (key, path) = (&report.now.key, &report.path);
        let done = if report.is_changed {
            format!("removed {key} from {path}")
        } else {
            format!("{path} does not set {key}")
        };
        output.data(&(one_line(&done) + "\n"))?;
        output.data(&format!("now {}", line(&report.now)))
    }
}

fn print_paths(app: &App, output: &mut Output) -> Result<(), Failure> {
    let files = config_files(&app.session);
    if app.format == Format::Json {
        return output.json(&files);
    }
    files.iter().try_for_each(|file| {
        let state = match (file.origin, file.exists) {
            (ConfigOrigin::DesignYaml, _) => "  (sets only `[brief]`; other tools own it)",
            (_, true) => "",
            (_, false) => "  (not there)",
        };
        output.data(&format!("{}{state}\n", file.path))
    })
}
