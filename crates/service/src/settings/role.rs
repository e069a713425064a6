//! One role of the `[dispatch.roles]` tables.

use std::path::PathBuf;

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::pattern::PathPattern;
use convoke_domain::dispatch::role::{DispatchRole, Noun, PromptForm, Proof, RoleName};
use toml::Value;

/// One place's changes to a role.
#[derive(Debug, Clone, Default)]
pub(super) struct RoleChange {
    artifacts: Option<Vec<FeatureArtifact>>,
    required: Option<Vec<PathPattern>>,
    diff: Option<bool>,
    target: Option<FeatureArtifact>,
    noun: Option<Noun>,
    form: Option<PromptForm>,
    files: Option<bool>,
    resumes: Option<bool>,
    require_proof: Option<bool>,
    pub(super) rubric: Option<PathBuf>,
    pub(super) returns: Option<PathBuf>,
}

/// A mistake in a role: the key, if one has it, and the expected value.
pub(super) struct RoleMistake {
    key: Option<String>,
    expected: String,
}

/// Returns the first mistake in a table of roles: its place below `dispatch.roles`, and the
/// expected value.
pub(super) fn explain_roles(value: &Value) -> Option<(String, String)> {
    let Some(roles) = value.as_table() else { return Some((String::new(), "a table".to_owned())) };
    roles.iter().find_map(|(name, value)| {
        let place = format!(".\"{}\"", name.escape_debug());
        if RoleName::parse(name).is_err() {
            let expected = "named `command/role`, in small letters".to_owned();
            return Some((place, expected));
        }
        let mistake = RoleChange::read(value).err()?;
        let key = mistake.key.map_or(String::new(), |key| format!(".{}", key.escape_debug()));
        Some((place + &key, mistake.expected))
    })
}

impl RoleChange {
    pub(super) const KEYS: [&str; 11] = [
        "artifacts",
        "required",
        "diff",
        "target",
        "noun",
        "form",
        "files",
        "resumes",
        "require_proof",
        "rubric",
        "returns",
    ];

    pub(super) fn read(value: &Value) -> Result<Self, RoleMistake> {
        let Some(values) = value.as_table() else {
            return Err(RoleMistake { key: None, expected: "a table".to_owned() });
        };
        let mut change = Self::default();
        for (name, value) in values {
            change
                .set(name, value)
                .map_err(|expected| RoleMistake { key: Some(name.clone()), expected })?;
        }
        Ok(change)
    }

    /// Sets one key, or returns the expected form of its value.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let expects = |expected: &str| expected.to_owned();
        let truth = || value.as_bool().ok_or_else(|| expects("true or false"));
        let path = || {
            let path = value.as_str().map(PathBuf::from);
            path.ok_or_else(|| expects("a file in the project"))
        };
        match name {
            "artifacts" => {
                let parse =
                    |name: &str| FeatureArtifact::parse(name).map_err(|error| error.to_string());
                self.artifacts = Some(each(value, parse)?);
            }
            "required" => {
                let parse = |given: &str| {
                    PathPattern::parse(given).map_err(|why| format!("`{given}`: {why}"))
                };
                self.required = Some(each(value, parse)?);
            }
            "diff" => self.diff = Some(truth()?),
            "target" => {
                let target = value.as_str().and_then(|name| FeatureArtifact::parse(name).ok());
                self.target =
                    Some(target.ok_or_else(|| expects("one artifact, such as `design`"))?);
            }
            "noun" => {
                one(value, Noun::parse, &mut self.noun).ok_or_else(|| expects("review or work"))?;
            }
            "form" => {
                one(value, PromptForm::parse, &mut self.form)
                    .ok_or_else(|| expects("review, phase or fix"))?;
            }
            "files" => self.files = Some(truth()?),
            "resumes" => self.resumes = Some(truth()?),
            "require_proof" => self.require_proof = Some(truth()?),
            "rubric" => self.rubric = Some(path()?),
            "returns" => self.returns = Some(path()?),
            _ => return Err(format!("one of {}", Self::KEYS.join(", "))),
        }
        Ok(())
    }

    /// Lays what a stronger place says of the role over what a weaker one says, key by key.
    pub(super) fn over(self, weaker: Self) -> Self {
        Self {
            artifacts: self.artifacts.or(weaker.artifacts),
            required: self.required.or(weaker.required),
            diff: self.diff.or(weaker.diff),
            target: self.target.or(weaker.target),
            noun: self.noun.or(weaker.noun),
            form: self.form.or(weaker.form),
            files: self.files.or(weaker.files),
            resumes: self.resumes.or(weaker.resumes),
            require_proof: self.require_proof.or(weaker.require_proof),
            rubric: self.rubric.or(weaker.rubric),
            returns: self.returns.or(weaker.returns),
        }
    }

    /// Returns the keys by which a role after this change does other work than after another one.
    pub(super) fn differing(
        &self,
        other: &Self,
        name: &RoleName,
        known: Option<&DispatchRole>,
    ) -> Vec<&'static str> {
        let (one, two) = (self.clone().applied(name, known), other.clone().applied(name, known));
        let keys = [
            ("artifacts", one.reads != two.reads),
            ("required", one.required != two.required),
            ("diff", one.reads_diff != two.reads_diff),
            ("target", one.target != two.target),
            ("files", one.takes_files != two.takes_files),
            ("resumes", one.resumes != two.resumes),
            ("rubric", self.rubric != other.rubric),
            ("returns", self.returns != other.returns),
        ];
        keys.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }

    /// Changes a role that is known, or makes one of a reviewer of files.
    pub(super) fn applied(self, name: &RoleName, known: Option<&DispatchRole>) -> DispatchRole {
        let made = || DispatchRole {
            name: name.clone(),
            reads: Vec::new(),
            required: Vec::new(),
            reads_diff: false,
            target: None,
            form: PromptForm::Review,
            noun: Noun::Review,
            takes_files: name.command == "implement",
            resumes: true,
            proof: Proof::Reported,
            pasted_before: Vec::new(),
        };
        let role = known.cloned().unwrap_or_else(made);
        let reads = self.artifacts.unwrap_or(role.reads);
        let target = self.target.or(role.target);
        let pasted_before = match known {
            Some(_) => role.pasted_before,
            None => reads.iter().chain(&target).cloned().collect(),
        };
        DispatchRole {
            name: role.name,
            reads,
            required: self.required.unwrap_or(role.required),
            reads_diff: self.diff.unwrap_or(role.reads_diff),
            target,
            form: self.form.unwrap_or(role.form),
            noun: self.noun.unwrap_or(role.noun),
            takes_files: self.files.unwrap_or(role.takes_files),
            resumes: self.resumes.unwrap_or(role.resumes),
            proof: self.require_proof.map_or(role.proof, Proof::of),
            pasted_before,
        }
    }
}

/// Reads a list of words; the first that is wrong is named with the reason.
fn each<T>(value: &Value, parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    let list = value.as_array().ok_or("a list")?;
    let read = |entry: &Value| {
        let word = entry.as_str().ok_or_else(|| "a list of texts".to_owned())?;
        parse(word).map_err(|why| format!("a list in which each entry can be used; {why}"))
    };
    list.iter().map(read).collect()
}

/// Reads one word.
pub(super) fn one<T>(
    value: &Value,
    parse: fn(&str) -> Option<T>,
    place: &mut Option<T>,
) -> Option<()> {
    *place = Some(parse(value.as_str()?)?);
    Some(())
}
