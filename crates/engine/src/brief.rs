//! Loading a brief: from a project folder to the findings that `domain` decides about.
//!
//! ```no_run
//! use std::path::Path;
//! use convoke_engine::brief::{self, BriefLayers, BriefMode};
//! use convoke_engine::vocabulary;
//!
//! let project = Path::new(".");
//! let resolved = brief::resolve(project, BriefLayers::default());
//! let loaded = brief::load(project, BriefMode::Standalone, resolved);
//! let tokenizer = vocabulary::open(loaded.settings.tokenizer)?;
//! let block = loaded.brief(&*tokenizer).block().to_string();
//! # Ok::<(), vocabulary::VocabularyError>(())
//! ```

pub mod collect;
pub mod design_yaml;
pub mod init;
pub mod secrets;
pub mod selection;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use convoke_domain::brief::candidate::Candidate;
use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::name::{BriefName, DocumentPriority};
use convoke_domain::brief::settings::{BriefSettings, Configured, DesignDir, Layer};
use convoke_domain::brief::{Brief, Folder};
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::token::Tokenizer;

use self::secrets::SecretRules;
use crate::{batch, file};

/// The most documents that a remark counts.
const MOST_NAMED: usize = 1000;

/// The occasion of a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BriefMode {
    /// A workflow, without a request; the project may disable that.
    Auto,
    /// A person or an agent, on purpose.
    Standalone,
}

/// Opinions on the settings from outside the foreign configuration file.
#[derive(Debug, Clone, Default)]
pub struct BriefLayers {
    /// This call's own: flags and environment. Not a configuration.
    pub call: Layer,
    /// The project's `convoke.toml` and the layers above it.
    pub project: Layer,
    /// The user's configuration.
    pub user: Layer,
    /// Remarks about the places these come from.
    pub diagnostics: Vec<Diagnostic>,
}

/// Settings and what there is to remark about them.
#[derive(Debug, Clone)]
pub struct ResolvedBriefSettings {
    /// The effective settings.
    pub settings: BriefSettings,
    /// Remarks about the configuration.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the foreign `design.yaml` and puts all opinions in order: the call's over the project's,
/// over `design.yaml`, over the user's.
pub fn resolve(project: &Path, layers: BriefLayers) -> ResolvedBriefSettings {
    let mut foreign = design_yaml::read(project);
    foreign.hold_to(&layers.user, project);
    let configured = if foreign.present
        || layers.project.configures_design_docs()
        || layers.user.configures_design_docs()
    {
        Configured::Somewhere
    } else {
        Configured::Nowhere
    };
    let all = layers.call.over(layers.project).over(foreign.layer).over(layers.user);
    let settings = all.settle(configured);
    let mut diagnostics = [layers.diagnostics, foreign.diagnostics].concat();
    if settings.priority != DocumentPriority::default() {
        diagnostics.push(Diagnostic::PriorityCustom);
    }
    ResolvedBriefSettings { settings, diagnostics }
}

/// A file that Convoke tried to read. All reads of one batch started before any was awaited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTrace {
    /// The file's path.
    pub path: PathBuf,
    /// The number of its batch.
    pub batch_id: u32,
}

/// Everything read for one brief. It owns the texts that the brief borrows.
#[derive(Debug, Clone)]
pub struct LoadedBrief {
    /// The settings in force.
    pub settings: BriefSettings,
    /// The design folder.
    pub dir: PathBuf,
    /// The folder's documents, or why it has no documents.
    pub folder: Folder,
    /// The files that Convoke tried to read.
    pub reads: Vec<ReadTrace>,
    /// Remarks about configuration and documents.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadedBrief {
    /// Decides about the documents.
    pub fn brief(&self, tokenizer: &dyn Tokenizer) -> Brief<'_> {
        Brief::assemble(&self.settings, &self.folder, tokenizer)
    }
}

/// Looks into the design folder and reads every candidate, in one batch. Never fails: what cannot
/// be read is a finding.
pub fn load(project: &Path, mode: BriefMode, resolved: ResolvedBriefSettings) -> LoadedBrief {
    let ResolvedBriefSettings { settings, diagnostics } = resolved;
    let dir = project.join(settings.dir.as_str());
    let mut loaded =
        LoadedBrief { settings, dir, folder: Folder::GateClosed, reads: Vec::new(), diagnostics };
    if mode == BriefMode::Auto && !loaded.settings.auto_load {
        return loaded;
    }
    if leads_out(project, &loaded.settings) {
        loaded.diagnostics.push(Diagnostic::ConfigOutside { key: "dir" });
        loaded.folder = Folder::Missing;
        return loaded;
    }
    loaded.folder = if loaded.has_folder() { loaded.search() } else { Folder::Missing };
    loaded
}

/// Tells whether the default folder is a link out of the project: one in a cloned repository must not
/// bring other documents of its user into a prompt. A folder of another name was chosen by the user,
/// or was checked before.
pub fn leads_out(project: &Path, settings: &BriefSettings) -> bool {
    settings.dir == DesignDir::default()
        && !file::stays_inside(project, Path::new(DesignDir::DEFAULT))
}

impl LoadedBrief {
    fn has_folder(&mut self) -> bool {
        match fs::metadata(&self.dir) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) => {
                if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                    self.diagnostics.push(Diagnostic::DirUnreadable { detail: error.to_string() });
                }
                false
            }
        }
    }

    fn search(&mut self) -> Folder {
        let names = self.settings.priority.names();
        let read = |name: &BriefName| {
            let path = self.dir.join(name.file_name());
            let finding = file::read_inside(&self.dir, &path, self.settings.max_file_bytes);
            let candidate = Candidate { name: name.clone(), finding };
            (candidate, ReadTrace { path, batch_id: 1 })
        };
        let (candidates, reads): (Vec<_>, _) = batch::in_parallel(names, read).into_iter().unzip();
        self.reads = reads;
        self.diagnostics.extend(candidates.iter().filter_map(nul_remark));
        if candidates.iter().all(|candidate| candidate.finding == FileFinding::Absent) {
            self.diagnostics.extend(self.none_listed());
        }
        Folder::Searched(candidates)
    }

    /// Names the folder's documents if none of them is in the list.
    fn none_listed(&self) -> Option<Diagnostic> {
        let names =
            fs::read_dir(&self.dir).ok()?.filter_map(Result::ok).map(|entry| entry.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let is_document = |name: &String| {
            Path::new(name).extension().is_some_and(|end| end == "md") && !name.starts_with('.')
        };
        let mut found: Vec<_> = names.filter(is_document).take(MOST_NAMED).collect();
        found.sort();
        let dir = self.settings.dir.display().to_owned();
        let listed = self.settings.priority.names().iter().map(ToString::to_string).collect();
        (!found.is_empty()).then_some(Diagnostic::NoneListed { dir, found, listed })
    }

    /// Leaves out documents with a likely secret, and returns their paths.
    pub fn withhold_secrets(&mut self, rules: &SecretRules) -> Vec<String> {
        let Folder::Searched(candidates) = &mut self.folder else { return Vec::new() };
        let dir = self.settings.dir.display();
        let mut withheld = Vec::new();
        for candidate in candidates {
            let path = format!("{dir}/{}", candidate.name.file_name());
            let FileFinding::Text(text) = &candidate.finding else { continue };
            if !rules.scan(&path, text).is_empty() {
                candidate.finding = FileFinding::Unreadable(Unreadable::Withheld);
                withheld.push(path);
            }
        }
        withheld
    }

    /// Tells whether any document gave text, scaffold or not.
    pub fn has_text(&self) -> bool {
        let Folder::Searched(candidates) = &self.folder else { return false };
        candidates.iter().any(|candidate| matches!(candidate.finding, FileFinding::Text(_)))
    }
}

/// Reads one document of the design folder.
pub fn read(dir: &Path, name: &BriefName, settings: &BriefSettings) -> FileFinding {
    file::read_inside(dir, &dir.join(name.file_name()), settings.max_file_bytes)
}

fn nul_remark(candidate: &Candidate) -> Option<Diagnostic> {
    match &candidate.finding {
        FileFinding::Text(text) if text.as_bytes().contains(&0) => {
            Some(Diagnostic::ContainsNul { name: candidate.name.clone() })
        }
        FileFinding::Text(_) | FileFinding::Absent | FileFinding::Unreadable(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::token::{Budget, Estimate};

    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        top
    }

    fn layer(dir: Option<&str>, budget: Option<u64>) -> Layer {
        Layer {
            dir: dir.and_then(DesignDir::parse),
            budget: budget.and_then(Budget::new),
            ..Layer::default()
        }
    }

    // B-8: call over project over design.yaml over user over default, key by key.
    #[test]
    fn the_nearest_opinion_wins() {
        let top = project(&[(design_yaml::PATH, "design_docs: {dir: yaml, token_budget: 3}")]);
        let resolved = |call, project, user| {
            let layers = BriefLayers { call, project, user, diagnostics: Vec::new() };
            let settings = resolve(top.path(), layers).settings;
            (settings.dir.as_str().to_owned(), settings.budget.get())
        };
        let none = || layer(None, None);
        assert_eq!(resolved(none(), none(), layer(Some("user"), None)), ("yaml".to_owned(), 3));
        let project = || layer(Some("project"), Some(2));
        assert_eq!(resolved(none(), project(), none()), ("project".to_owned(), 2));
        assert_eq!(resolved(layer(Some("call"), None), project(), none()), ("call".to_owned(), 2));
        assert_eq!(resolved(layer(None, Some(1)), none(), none()), ("yaml".to_owned(), 1));
        fs::remove_file(top.path().join(design_yaml::PATH)).unwrap();
        assert_eq!(resolved(none(), none(), layer(None, Some(9))), (".moai/design".to_owned(), 9));
    }

    // B-3, B-4: only a file counts as configuration; the options of a call do not.
    #[test]
    fn a_call_configures_nothing() {
        let empty = project(&[]);
        let partial = project(&[(design_yaml::PATH, "design_docs: {token_budget: 3}")]);
        let configured =
            |top: &tempfile::TempDir, layers| resolve(top.path(), layers).settings.configured;
        let call = || BriefLayers { call: layer(Some("x"), Some(1)), ..BriefLayers::default() };
        let file = BriefLayers { project: layer(Some("x"), None), ..BriefLayers::default() };
        let user = BriefLayers { user: layer(None, Some(1)), ..BriefLayers::default() };
        assert_eq!(configured(&empty, call()), Configured::Nowhere);
        assert_eq!(configured(&empty, file), Configured::Somewhere);
        assert_eq!(configured(&empty, user), Configured::Somewhere);
        assert_eq!(configured(&partial, BriefLayers::default()), Configured::Somewhere);
    }

    // B-9, B-10, B-11: the gate stops workflows only, before the folder is read.
    #[test]
    fn a_closed_gate_stops_only_workflows() {
        let closed = "design_docs: {auto_load_on_design_command: false}";
        let top = project(&[(design_yaml::PATH, closed), (".moai/design/spec.md", "x\0")]);
        let run = |mode| load(top.path(), mode, resolve(top.path(), BriefLayers::default()));
        let auto = run(BriefMode::Auto);
        assert_eq!((auto.folder, auto.reads.len()), (Folder::GateClosed, 0));
        assert!(auto.diagnostics.is_empty(), "something was read: {:?}", auto.diagnostics);
        assert_eq!(run(BriefMode::Standalone).reads.len(), 4);
    }

    // B-16, B-17, B-14: one batch, only below the given folder.
    #[test]
    fn all_reads_are_one_batch_below_the_folder() {
        let top = project(&[
            (".moai/design/spec.md", "default"),
            ("other/spec.md", "other"),
            ("other/README.md", "no candidate"),
        ]);
        let layers = BriefLayers { call: layer(Some("other"), None), ..BriefLayers::default() };
        let loaded = load(top.path(), BriefMode::Standalone, resolve(top.path(), layers));
        let dir = top.path().join("other");
        let expected: Vec<_> = ["spec.md", "system.md", "research.md", "pencil-plan.md"]
            .iter()
            .map(|file| ReadTrace { path: dir.join(file), batch_id: 1 })
            .collect();
        assert_eq!(loaded.reads, expected);
        let block = loaded.brief(&Estimate).block().to_string();
        assert!(block.contains("other") && !block.contains("default"), "{block}");
    }

    // B-13
    #[test]
    fn a_file_in_place_of_the_folder_is_no_folder() {
        let top = project(&[(".moai/design", "a file")]);
        let loaded =
            load(top.path(), BriefMode::Standalone, resolve(top.path(), BriefLayers::default()));
        assert_eq!((loaded.folder, loaded.diagnostics), (Folder::Missing, vec![]));
    }

    // B-19: every call sees the files as they are.
    #[test]
    fn nothing_is_remembered_between_calls() {
        let top = project(&[(".moai/design/spec.md", "one")]);
        let block = || {
            let loaded =
                load(top.path(), BriefMode::Auto, resolve(top.path(), BriefLayers::default()));
            loaded.brief(&Estimate).block().to_string()
        };
        assert!(block().ends_with("one\n"));
        fs::write(top.path().join(".moai/design/spec.md"), "two").unwrap();
        assert!(block().ends_with("two\n"));
    }

    // B-7: a project's own list is followed, with a remark.
    #[test]
    fn a_custom_priority_is_honored_with_a_remark() {
        let yaml = "design_docs: {priority: [research, b, c, d, e, f]}";
        let top = project(&[(design_yaml::PATH, yaml), (".moai/design/f.md", "six")]);
        let loaded = load(top.path(), BriefMode::Auto, resolve(top.path(), BriefLayers::default()));
        assert_eq!(loaded.diagnostics, [Diagnostic::PriorityCustom]);
        assert!(loaded.brief(&Estimate).block().to_string().ends_with("six\n"));
        let three = "design_docs: {priority: [spec, system, research, pencil-plan]}";
        let default = project(&[(design_yaml::PATH, three)]);
        assert!(resolve(default.path(), BriefLayers::default()).diagnostics.is_empty());
    }

    // B-18
    #[test]
    fn nul_characters_are_kept_and_remarked_on() {
        let top = project(&[(".moai/design/system.md", "a\0b")]);
        let loaded = load(top.path(), BriefMode::Auto, resolve(top.path(), BriefLayers::default()));
        assert_eq!(loaded.diagnostics[0].code(), "contains_nul:system");
        assert!(loaded.brief(&Estimate).block().to_string().ends_with("a\0b\n"));
    }
}
