//! `convoke config`: the settings that hold here, and changing one.

use clap::Subcommand;
use convoke_domain::text::one_line;
use convoke_service::config::{
    ConfigEntry, ConfigOrigin, ConfigTarget, SetConfigRequest, config_files, get_config,
    list_config, set_config,
};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

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
    /// A value that looks like a secret is hidden. Models' APIs are listed by `convoke agents`.
    List(ListArgs),
    /// Print the value of one setting
    Get(GetArgs),
    /// Write a setting into `convoke.local.toml`
    ///
    /// Leaves every other byte of the file unchanged.
    Set(SetArgs),
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

    /// Write into `convoke.toml`, which is committed and holds for everybody
    #[arg(long, conflicts_with = "user")]
    shared: bool,

    /// Write into your own `config.toml`, which holds for all your projects
    #[arg(long)]
    user: bool,
}

impl ConfigArgs {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::List(args) => args.run(app, output)?,
            Command::Get(args) => args.run(app, output)?,
            Command::Set(args) => args.run(app, output)?,
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
        entries.iter().try_for_each(|entry| output.data(&line(entry)))
    }
}

fn line(entry: &ConfigEntry) -> String {
    let origin = match (&entry.place, entry.origin) {
        (Some(place), ConfigOrigin::User) => format!("user: {place}"),
        (Some(place), ConfigOrigin::Environment) => format!("environment: {place}"),
        (_, ConfigOrigin::Local) => "local: convoke.local.toml".to_owned(),
        (_, ConfigOrigin::Project) => "project: convoke.toml".to_owned(),
        (_, ConfigOrigin::DesignYaml) => "project: .moai/config/sections/design.yaml".to_owned(),
        (None, _) | (_, ConfigOrigin::Default) => "default".to_owned(),
    };
    one_line(&format!("{} = {}  ({origin})", entry.key, entry.value)) + "\n"
}

impl GetArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let entry = get_config(&app.session, &self.key)?;
        match app.format {
            Format::Json => output.json(&entry),
            Format::Text => output.data(&format!("{}\n", one_line(&entry.value))),
        }
    }
}

impl SetArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<(), Failure> {
        let file = match (self.shared, self.user) {
            (true, _) => ConfigTarget::Project,
            (false, true) => ConfigTarget::User,
            (false, false) => ConfigTarget::Local,
        };
        let (key, value) = (self.key.clone(), self.value.clone());
        let report = set_config(&app.session, &SetConfigRequest { key, value, file })?;
        if app.format == Format::Json {
            return output.json(&report);
        }
        let done = if report.is_changed { "set in" } else { "is so already in" };
        let words = format!("{} = {}  ({done} {})", report.key, report.value, report.path);
        output.data(&(one_line(&words) + "\n"))?;
        if let Some(place) = &report.overridden_by {
            output.say(&format!("warning: it does not hold: {place} sets another value"));
        }
        Ok(())
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
