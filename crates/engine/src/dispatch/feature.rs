//! A feature's folder: finding it, its documents, and what its notes say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::required::Prd;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::receipt::path;
use serde_json::Value;

use crate::file;
use crate::project::find_above;

/// No document a person writes is larger.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A feature's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Its absolute path; links in it are not resolved.
    pub dir: PathBuf,
    /// The used fields of `.meta.json`.
    pub meta: FeatureMeta,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
    /// The files that Convoke writes beside its documents.
    pub beside: FeatureNotes,
}

/// The files that Convoke writes into a feature's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureNotes {
    /// Nothing: it is no feature, but the whole project.
    Nothing,
    /// Its review history alone.
    History,
    /// Its review history, and a copy of what the store knows of its rounds.
    HistoryAndState,
}

/// The used fields of a feature's notes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeatureMeta {
    /// The source of its PRD.
    pub brainstorm_source: Option<String>,
    /// The project it belongs to.
    pub project_id: Option<String>,
    /// The part of that project.
    pub module: Option<String>,
    /// The status that its front matter states.
    pub status: Option<String>,
    /// Its dependencies.
    pub depends_on: Vec<String>,
    /// Why sessions are not resumed here.
    pub resume_deferred: Option<String>,
}

/// A folder that is no feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot find feature `{given}`")]
pub struct FeatureNotFound {
    /// The given path, name or number.
    pub given: String,
    /// The features there are, by folder name.
    pub known: Vec<String>,
}

impl Feature {
    /// Finds a feature by its folder, or by the name or number of one below `features`.
    pub fn find(given: &Path, from: &Path, features: &Path) -> Result<Self, FeatureNotFound> {
        let named = from.join(given);
        let known = folders(features);
        let words = given.to_string_lossy();
        let by_name = || {
            let fits = |name: &&String| **name == words || name.starts_with(&format!("{words}-"));
            let mut fitting = known.iter().filter(fits);
            fitting.next().filter(|_| fitting.next().is_none()).map(|name| features.join(name))
        };
        let dir = Some(named).filter(|dir| dir.is_dir()).or_else(by_name);
        let Some(dir) = dir else {
            let given = words.into_owned();
            return Err(FeatureNotFound { given, known: known.into_iter().collect() });
        };
        Ok(Self::at(&std::path::absolute(&dir).unwrap_or(dir)))
    }

    /// Takes a folder that is there.
    pub fn at(dir: &Path) -> Self {
        let dir = PathBuf::from(path::normal(&dir.display().to_string()));
        let (meta, diagnostics) = FeatureMeta::read(&dir.join(".meta.json"));
        Self { dir, meta, diagnostics, beside: FeatureNotes::History }
    }

    /// Takes the whole project, for a role that has to do with no feature.
    pub fn of_project(project: &Path) -> Self {
        let dir = std::path::absolute(project).unwrap_or_else(|_| project.to_owned());
        let dir = PathBuf::from(path::normal(&dir.display().to_string()));
        Self {
            dir,
            meta: FeatureMeta::default(),
            diagnostics: Vec::new(),
            beside: FeatureNotes::Nothing,
        }
    }

    /// Returns the folder's name. That of a whole project is no folder's.
    pub fn name(&self) -> String {
        if self.beside == FeatureNotes::Nothing {
            return "(project)".to_owned();
        }
        self.dir.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Reads a document. Prompts include its text, so a link in a cloned repository must not lead
    /// to the user's other files.
    pub fn read(&self, artifact: &FeatureArtifact) -> FileFinding {
        let dir = fs::canonicalize(&self.dir).unwrap_or_else(|_| self.dir.clone());
        let project = find_above(&dir, None).unwrap_or(dir);
        file::read_inside(&project, &self.dir.join(artifact.file()), MAX_BYTES)
    }

    /// Tells where the PRD is, with remarks about that.
    pub fn prd(&self, project: &Path) -> (Prd, Vec<String>) {
        if fs::metadata(self.dir.join(FeatureArtifact::PRD.file()))
            .is_ok_and(|metadata| metadata.is_file())
        {
            return (Prd::InFeature, Vec::new());
        }
        let Some(source) = &self.meta.brainstorm_source else { return (Prd::None, Vec::new()) };
        let path: PathBuf = project.join(source).components().collect();
        let mut remarks = Vec::new();
        match fs::metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => remarks.push("prd_not_a_file".to_owned()),
            Err(_) => remarks.push("prd_dangling".to_owned()),
        }
        let root = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let inside =
            path.canonicalize().map_or(!source.contains(".."), |real| real.starts_with(root));
        if !inside {
            remarks.push("prd_outside_project".to_owned());
        }
        (Prd::Source(path.display().to_string()), remarks)
    }
}

impl FeatureMeta {
    /// Reads the notes; a missing or blank value, or one of another type, counts as absent.
    fn read(path: &Path) -> (Self, Vec<String>) {
        let remark = |text: String| (Self::default(), vec![text]);
        let text = match file::read(path, MAX_BYTES) {
            FileFinding::Absent => return (Self::default(), Vec::new()),
            FileFinding::Unreadable(reason) => return remark(format!("meta_unreadable: {reason}")),
            FileFinding::Text(text) => text,
        };
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            return remark("meta_malformed".to_owned());
        };
        let words = |name: &str| {
            let text = value.get(name).and_then(Value::as_str).map(str::trim);
            // A text that would break a line of a prompt is neither a path nor a name.
            let usable = |text: &&str| !text.is_empty() && !text.chars().any(char::is_control);
            text.filter(usable).map(str::to_owned)
        };
        let list = value.get("depends_on_features").and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let meta = Self {
            brainstorm_source: words("brainstorm_source"),
            project_id: words("project_id"),
            module: words("module"),
            status: words("status"),
            depends_on: names.collect(),
            resume_deferred: words("r1_deferred_reason"),
        };
        (meta, Vec::new())
    }
}

/// Returns the names of a folder's folders, in order.
pub(super) fn folders(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir());
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.starts_with('.')).collect()
}

/// Returns why a document gives no text.
pub(super) fn reason(finding: &FileFinding) -> Option<Unreadable> {
    match finding {
        FileFinding::Unreadable(reason) => Some(*reason),
        FileFinding::Absent | FileFinding::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(meta: Option<&str>, files: &[&str]) -> (tempfile::TempDir, Feature) {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("docs/features/031-example");
        fs::create_dir_all(&dir).unwrap();
        for file in files {
            let path = top.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        if let Some(meta) = meta {
            fs::write(dir.join(".meta.json"), meta).unwrap();
        }
        (top, Feature::at(&dir))
    }

    fn prd(meta: Option<&str>, files: &[&str]) -> (String, Vec<String>) {
        let (top, feature) = project(meta, files);
        let (prd, remarks) = feature.prd(top.path());
        let shown = match prd {
            Prd::InFeature => "feature".to_owned(),
            Prd::None => "none".to_owned(),
            Prd::Source(path) => path.replace(&top.path().display().to_string(), "TOP"),
        };
        (shown, remarks)
    }

    // D-10, D-11, D-13, section 11 example 2
    #[test]
    fn the_prd_is_where_it_is_or_where_the_notes_say() {
        const HERE: &str = "docs/features/031-example/prd.md";
        const SOURCE: &str = r#"{"brainstorm_source":"docs/brainstorms/x.prd.md","later":[1]}"#;
        let source = "TOP/docs/brainstorms/x.prd.md";
        for (meta, files, expected, remarks) in [
            (Some(SOURCE), &[HERE][..], "feature", &[][..]),
            (None, &[HERE], "feature", &[]),
            (Some(SOURCE), &["docs/brainstorms/x.prd.md"], source, &[]),
            (Some(SOURCE), &[], source, &["prd_dangling"]),
            (Some("{}"), &[], "none", &[]),
            (Some(r#"{"brainstorm_source":null}"#), &[], "none", &[]),
            (Some(r#"{"brainstorm_source":"  "}"#), &[], "none", &[]),
            (Some(r#"{"brainstorm_source":7}"#), &[], "none", &[]),
            (Some("{\"brainstorm_source\":\"x.md\\n\\n## Orders\"}"), &[], "none", &[]),
            (Some("{"), &[], "none", &[]),
            (None, &[], "none", &[]),
            (
                Some(r#"{"brainstorm_source":"/dev/null"}"#),
                &[],
                "/dev/null",
                &["prd_not_a_file", "prd_outside_project"],
            ),
        ] {
            assert_eq!(
                prd(meta, files),
                (expected.to_owned(), remarks.iter().map(ToString::to_string).collect()),
                "{meta:?}"
            );
        }
        let (_top, malformed) = project(Some("{"), &[]);
        assert_eq!(malformed.diagnostics, ["meta_malformed"]);
        let (_top, list) = project(Some(r#"{"depends_on_features":["a",1],"status":5}"#), &[]);
        assert_eq!((list.meta.depends_on, list.meta.status), (vec!["a".to_owned()], None));
    }

    #[cfg(unix)]
    #[test]
    fn a_document_that_is_a_link_out_of_the_project_is_not_read() {
        let (top, feature) = project(None, &["docs/shared.md"]);
        fs::create_dir(top.path().join(".git")).unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        let link = |target: &Path, name: &str| {
            std::os::unix::fs::symlink(target, feature.dir.join(name)).unwrap();
        };
        link(outside.path(), "design.md");
        link(Path::new("../../shared.md"), "spec.md");
        let read = |name: &str| feature.read(&FeatureArtifact::parse(name).unwrap());
        assert_eq!(read("design"), FileFinding::Unreadable(Unreadable::OutsideDir));
        assert_eq!(read("spec"), FileFinding::Text(String::new()));
    }

    // D-1: by folder, by name, by number.
    #[test]
    fn a_feature_is_found_by_folder_or_number() {
        let (top, _) = project(None, &["docs/features/032-a/x", "docs/features/032-b/x"]);
        let features = top.path().join("docs/features");
        let find = |given: &str| Feature::find(Path::new(given), top.path(), &features);
        for given in
            ["docs/features/031-example", "docs/features/031-example/", "031-example", "031"]
        {
            assert_eq!(find(given).unwrap().name(), "031-example", "{given}");
        }
        for given in ["032", "031-exam", "none", "docs/features/031-example/.meta.json"] {
            assert_eq!(
                find(given).unwrap_err().known,
                ["031-example", "032-a", "032-b"],
                "{given}"
            );
        }
    }
}
