//! Finding skill files: in the project, in the user's folder, and among installed plugins.

mod cache;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::skill::SkillId;
use convoke_domain::skill::choice::Described;
use convoke_domain::skill::prune::Forms;
use convoke_domain::skill::version::highest;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::cache::{Cache, Kept};
use crate::file;

/// No skill a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

const COLLECTION: &str = ".claude/plugins/cache/superpowers-marketplace/superpowers";
const INSTALLED: &str = ".claude/plugins/installed_plugins.json";
const PLUGIN: &str = "superpowers@superpowers-marketplace";

/// The places of skills. A file's text is cached until the file changes.
#[derive(Debug)]
pub struct SkillLibrary {
    /// The project's root.
    pub project: PathBuf,
    /// The user's folder.
    pub home: Option<PathBuf>,
    /// The places of an id of the collection.
    pub namespace: SkillNamespace,
    cache: Cache,
}

/// The places of an id of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillNamespace {
    /// Among the project's skills and the user's, too.
    Everywhere,
    /// Only in the collection.
    CollectionOnly,
}

/// A skill and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The path of the skill's file.
    pub path: PathBuf,
    /// The collection's version, if it is in the collection.
    pub version: Option<String>,
    /// Its text, without front matter.
    pub forms: Arc<Forms>,
    /// What its front matter says that it is for.
    pub description: String,
    /// The SHA-256 of its file.
    pub sha256: String,
}

/// The result of a search for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSearch {
    /// The skill, if one was found.
    pub skill: Option<Skill>,
    /// Nearer files of its name that give no text, and why.
    pub passed_over: Vec<(PathBuf, Unreadable)>,
}

impl SkillLibrary {
    /// Looks in a project and in a user's folder.
    pub fn new(project: PathBuf, home: Option<PathBuf>, namespace: SkillNamespace) -> Self {
        Self { project, home, namespace, cache: Cache::default() }
    }

    /// Finds a skill: the project's own, then the user's, then the collection's in the pinned,
    /// installed or highest version.
    pub fn find(&self, id: &SkillId, pin: Option<&str>) -> Option<Skill> {
        self.look_for(id, pin).skill
    }

    /// Finds a skill, and tells which files were passed over on the way.
    pub fn look_for(&self, id: &SkillId, pin: Option<&str>) -> SkillSearch {
        let mut search = Search { library: self, passed_over: Vec::new() };
        let skill = search.run(id, pin);
        SkillSearch { skill, passed_over: search.passed_over }
    }

    /// Returns the bare names of all skills that can be found, in order.
    pub fn names(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        let project = self.project.join(".claude/skills");
        let stems = entries(&project).into_iter();
        names.extend(stems.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)));
        let users = self.home.iter().map(|home| home.join(".claude/skills"));
        names.extend(skills_in(std::iter::once(project.clone()).chain(users)));
        names.extend(self.names_of_collection());
        names.into_iter().filter(|name| SkillId::parse(name).is_ok()).collect()
    }

    /// Returns the bare names of the skills in the superpowers collection, in order, each once for all
    /// versions. A nearer skill of that name is found first.
    pub fn names_of_collection(&self) -> Vec<String> {
        let folders = self.home.iter().flat_map(|home| {
            let collection = home.join(COLLECTION);
            let versions = entries(&collection);
            versions.into_iter().map(move |version| collection.join(version).join("skills"))
        });
        let names: BTreeSet<_> = skills_in(folders).collect();
        names.into_iter().filter(|name| SkillId::parse(name).is_ok()).collect()
    }

    /// Returns every skill that can be found with what it says it is for, in order; of very many,
    /// the first.
    pub fn described(&self) -> Vec<Described> {
        const MOST: usize = 300;
        let read = |name: String| {
            let skill = self.find(&SkillId::parse(&name).ok()?, None)?;
            Some(Described { name, description: skill.description })
        };
        self.names().into_iter().take(MOST).filter_map(read).collect()
    }

    /// Returns the roles that have a template beside a skill, in order.
    pub fn roles(&self, skill: &Skill) -> Vec<String> {
        let files = skill.path.parent().map(entries).unwrap_or_default();
        let roles = files.iter().filter_map(|file| file.strip_suffix(TEMPLATE));
        roles.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Reads a role's template beside a skill.
    pub fn template(&self, skill: &Skill, file: &str) -> Option<String> {
        match read_file(&self.project, &skill.path.parent()?.join(file)) {
            FileFinding::Text(text) => Some(text),
            FileFinding::Absent | FileFinding::Unreadable(_) => None,
        }
    }
}

/// The end of the name of a role's template.
const TEMPLATE: &str = "-prompt.md";

/// One search for a skill.
struct Search<'a> {
    library: &'a SkillLibrary,
    passed_over: Vec<(PathBuf, Unreadable)>,
}

impl Search<'_> {
    fn run(&mut self, id: &SkillId, pin: Option<&str>) -> Option<Skill> {
        let (name, library) = (id.bare(), self.library);
        if library.namespace == SkillNamespace::Everywhere || !id.is_superpower() {
            let project = library.project.join(".claude/skills");
            let own = [project.join(format!("{name}.md")), project.join(name).join("SKILL.md")];
            let home = library.home.iter();
            let users = home.map(|home| home.join(".claude/skills").join(name).join("SKILL.md"));
            for path in own.into_iter().chain(users) {
                if let Some(skill) = self.read(path, None) {
                    return Some(skill);
                }
            }
        }
        self.in_collection(name, pin)
    }

    fn in_collection(&mut self, name: &str, pin: Option<&str>) -> Option<Skill> {
        let home = self.library.home.as_ref()?;
        let pinned = pin.map(str::to_owned);
        for version in pinned.into_iter().chain(installed_version(home)) {
            if let Some(skill) = self.in_version(name, &version) {
                return Some(skill);
            }
        }
        let mut versions = entries(&home.join(COLLECTION));
        while let Some(version) = highest(versions.iter().map(String::as_str)).map(str::to_owned) {
            if let Some(skill) = self.in_version(name, &version) {
                return Some(skill);
            }
            versions.retain(|other| *other != version);
        }
        None
    }

    fn in_version(&mut self, name: &str, version: &str) -> Option<Skill> {
        // A version is one folder's name; anything else would lead out of the collection.
        let plain = !version.contains(['/', '\\']) && !matches!(version, "" | "." | "..");
        let collection = self.library.home.as_ref().filter(|_| plain)?.join(COLLECTION);
        let path = collection.join(version).join("skills").join(name).join("SKILL.md");
        self.read(path, Some(version))
    }

    fn read(&mut self, path: PathBuf, version: Option<&str>) -> Option<Skill> {
        let project = &self.library.project;
        match self.library.cache.get(&path, || read_file(project, &path)) {
            Kept::Missing => None,
            Kept::Unreadable(reason) => {
                self.passed_over.push((path, reason));
                None
            }
            Kept::Skill { forms, description, sha256 } => {
                let version = version.map(str::to_owned);
                Some(Skill { path, version, forms, description, sha256 })
            }
        }
    }
}

/// A project may have any author, so its skills may not lead out of it; the user's may.
fn read_file(project: &Path, path: &Path) -> FileFinding {
    if path.starts_with(project) {
        file::read_below(project, path, MAX_BYTES)
    } else {
        file::read(path, MAX_BYTES)
    }
}

/// Returns the SHA-256 of a text, in hexadecimal digits.
pub fn hash(text: impl AsRef<[u8]>) -> String {
    Sha256::digest(text.as_ref())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
}

/// Reads which version of the collection the client has installed.
fn installed_version(home: &Path) -> Option<String> {
    let text = file::text(&home.join(INSTALLED), MAX_BYTES)?;
    let list: Value = serde_json::from_str(&text).ok()?;
    let entry = list.get("plugins")?.get(PLUGIN)?.get(0)?;
    let version = entry.get("version").and_then(Value::as_str).map(str::to_owned);
    let path = entry.get("installPath").and_then(Value::as_str).map(Path::new);
    version.or_else(|| path?.file_name()?.to_str().map(str::to_owned))
}

/// Returns the names of the folders that hold a skill, in folders of skills.
fn skills_in(folders: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = String> {
    folders.flat_map(|folder| {
        let is_skill = |name: &String| folder.join(name).join("SKILL.md").is_file();
        entries(&folder).into_iter().filter(is_skill).collect::<Vec<_>>()
    })
}

/// Returns the names in a folder; a folder that cannot be listed has none.
fn entries(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(files: &[(&str, &str)]) -> (tempfile::TempDir, SkillLibrary) {
        let top = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = top.path().join(path.replace("CACHE", &format!("home/{COLLECTION}")));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (project, home) = (top.path().join("project"), Some(top.path().join("home")));
        (top, SkillLibrary::new(project, home, SkillNamespace::Everywhere))
    }

    fn found(library: &SkillLibrary, id: &str, pin: Option<&str>) -> String {
        let skill = library.find(&SkillId::parse(id).unwrap(), pin);
        skill.map_or("-".to_owned(), |skill| {
            format!("{} {}", skill.forms.text(), skill.version.unwrap_or_default())
        })
    }

    // W-51
    #[test]
    fn the_nearest_skill_wins() {
        let all = [
            ("project/.claude/skills/x.md", "seed form"),
            ("project/.claude/skills/x/SKILL.md", "project"),
            ("home/.claude/skills/x/SKILL.md", "user"),
            ("CACHE/4.0.0/skills/x/SKILL.md", "collection"),
        ];
        for (index, expected) in
            ["seed form ", "project ", "user ", "collection 4.0.0"].iter().enumerate()
        {
            let (_top, library) = library(&all[index..]);
            assert_eq!(&found(&library, "superpowers:x", None), expected);
        }
        let (_top, mut library) = library(&all);
        library.namespace = SkillNamespace::CollectionOnly;
        assert_eq!(found(&library, "superpowers:x", None), "collection 4.0.0");
        assert_eq!(found(&library, "x", None), "seed form ");
        assert_eq!(found(&library, "y", None), "-");
    }

    // W-52
    #[test]
    fn the_pinned_then_the_installed_then_the_highest_version_is_taken() {
        let installed =
            |entry: &str| format!("{{\"version\":2,\"plugins\":{{\"{PLUGIN}\":[{entry}]}}}}");
        let versions = [
            ("CACHE/4.9.0/skills/x/SKILL.md", "a"),
            ("CACHE/4.10.0/skills/x/SKILL.md", "b"),
            ("CACHE/5.0.0/skills/other/SKILL.md", "c"),
        ];
        let list = installed("{\"version\":\"4.9.0\"}");
        let path = installed("{\"installPath\":\"/x/superpowers/4.9.0\"}");
        let gone = installed("{\"version\":\"../4.9.0\"}");
        let mut with_list = versions[..2].to_vec();
        with_list.push(("home/.claude/plugins/installed_plugins.json", ""));
        let with = |list| {
            let mut files = with_list.clone();
            files[2].1 = list;
            files
        };
        for (files, pin, expected) in [
            (versions.to_vec(), None, "b 4.10.0"),
            (versions[..2].to_vec(), Some("4.9.0"), "a 4.9.0"),
            (versions[..2].to_vec(), Some("9.9.9"), "b 4.10.0"),
            (versions[..2].to_vec(), Some("../superpowers/4.9.0"), "b 4.10.0"),
            (with(&list), None, "a 4.9.0"),
            (with(&list), Some("4.10.0"), "b 4.10.0"),
            (with(&path), None, "a 4.9.0"),
            (with(&gone), None, "b 4.10.0"),
            (with("{ not json"), None, "b 4.10.0"),
        ] {
            let (_top, library) = library(&files);
            assert_eq!(found(&library, "superpowers:x", pin), expected, "{pin:?}");
        }
    }

    // W-53
    #[test]
    fn front_matter_is_taken_off_and_the_whole_file_hashed() {
        let (_top, library) =
            library(&[("project/.claude/skills/x.md", "---\nname: x\n---\ntext\n\n")]);
        let skill = library.find(&SkillId::parse("x").unwrap(), None).unwrap();
        assert_eq!(skill.forms.text(), "text");
        assert_eq!(skill.sha256, hash("---\nname: x\n---\ntext\n\n"));
        assert_eq!(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    // A nearer file without text is skipped, with a remark.
    #[test]
    fn a_skill_that_cannot_be_read_is_passed_over_aloud() {
        let (top, library) = library(&[
            ("project/.claude/skills/x/SKILL.md", "next"),
            ("secret.md", "not for agents"),
        ]);
        let nearest = library.project.join(".claude/skills/x.md");
        let look = || library.look_for(&SkillId::parse("x").unwrap(), None);
        std::os::unix::fs::symlink(top.path().join("secret.md"), &nearest).unwrap();
        let found = look();
        assert_eq!(found.skill.unwrap().forms.text(), "next");
        assert_eq!(found.passed_over, [(nearest.clone(), Unreadable::OutsideDir)]);
        fs::remove_file(&nearest).unwrap();
        fs::write(&nearest, b"\xff").unwrap();
        assert_eq!(look().passed_over, [(nearest.clone(), Unreadable::InvalidUtf8)]);
        fs::write(&nearest, "now it is one").unwrap();
        assert_eq!(look().skill.unwrap().forms.text(), "now it is one");
    }
}
