//! The foreign configuration file that briefs are compatible with.
//!
//! Other tools own this file, so nothing in it is an error: an unusable value leads to a remark and
//! counts as its default.

use std::path::Path;

use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::name::DocumentPriority;
use convoke_domain::brief::settings::{DesignDir, Layer};
use convoke_domain::finding::FileFinding;
use convoke_domain::token::Budget;
use serde_json::{Map, Value};

use crate::file;

/// The file's path in a project.
pub const PATH: &str = ".moai/config/sections/design.yaml";

/// No configuration a person writes is larger.
const MAX_BYTES: u64 = 1024 * 1024;

/// The parsed file.
#[derive(Debug, Default)]
pub struct DesignYaml {
    /// Whether it has a section on design documents.
    pub present: bool,
    /// The section's usable values.
    pub layer: Layer,
    /// Remarks about the others.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the project's file.
pub fn read(project: &Path) -> DesignYaml {
    match file::read(&project.join(PATH), MAX_BYTES) {
        FileFinding::Absent => DesignYaml::default(),
        FileFinding::Unreadable(reason) => DesignYaml::broken(&reason.to_string()),
        FileFinding::Text(text) => parse(&text),
    }
}

/// Parses the file. It never fails and never panics, for any text.
pub fn parse(text: &str) -> DesignYaml {
    let document = match serde_saphyr::from_str::<Option<Value>>(text) {
        Ok(document) => document.unwrap_or_default(),
        Err(error) => {
            return DesignYaml::broken(error.to_string().lines().next().unwrap_or_default());
        }
    };
    match section(&document) {
        None | Some(Value::Null) => DesignYaml::default(),
        Some(Value::Object(section)) => DesignYaml::of(section),
        Some(_) => {
            let mut result = DesignYaml::default();
            result.remark("design_docs", "a mapping");
            result
        }
    }
}

/// Returns `design.design_docs`, or a `design_docs` at the top.
fn section(document: &Value) -> Option<&Value> {
    document
        .get("design")
        .and_then(|design| design.get("design_docs"))
        .or_else(|| document.get("design_docs").filter(|section| section.is_object()))
}

impl DesignYaml {
    fn broken(detail: &str) -> Self {
        let detail = format!("`{PATH}`: {detail}");
        Self { diagnostics: vec![Diagnostic::ConfigError { detail }], ..Self::default() }
    }

    /// Leaves out a budget above the one that the user set, and a folder outside the project: this
    /// file comes with the project.
    pub fn hold_to(&mut self, user: &Layer, project: &Path) {
        let leads_out = |dir: &DesignDir| !file::stays_inside(project, Path::new(dir.as_str()));
        if self.layer.dir.as_ref().is_some_and(leads_out) {
            self.layer.dir = None;
            self.diagnostics.push(Diagnostic::ConfigOutside { key: "dir" });
        }
        if self.layer.budget.zip(user.budget).is_some_and(|(asked, most)| asked > most) {
            self.layer.budget = None;
            self.diagnostics.push(Diagnostic::ConfigRaises { key: "token_budget" });
        }
    }

    fn of(section: &Map<String, Value>) -> Self {
        let mut result = Self { present: true, ..Self::default() };
        result.layer = Layer {
            dir: result.take(section, "dir", "a folder on one line", |value| {
                DesignDir::parse(value.as_str()?)
            }),
            auto_load: result.take(
                section,
                "auto_load_on_design_command",
                "true or false",
                Value::as_bool,
            ),
            budget: result.take(section, "token_budget", "a whole number from 1 up", |value| {
                Budget::new(value.as_u64()?)
            }),
            priority: result.priority(section),
            ..Layer::default()
        };
        result
    }

    /// Reads one key: missing or null is silent, unusable is remarked on.
    fn take<T>(
        &mut self,
        section: &Map<String, Value>,
        key: &'static str,
        expected: &'static str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = section.get(key).filter(|value| !value.is_null())?;
        let usable = read(value);
        if usable.is_none() {
            self.remark(key, expected);
        }
        usable
    }

    fn priority(&mut self, section: &Map<String, Value>) -> Option<DocumentPriority> {
        let entries = self
            .take(section, "priority", "a list of bare names", |value| value.as_array().cloned())?;
        let (priority, refused) = DocumentPriority::read(entries.iter().filter_map(Value::as_str));
        let other_kinds = entries.iter().filter(|entry| !entry.is_string()).map(Value::to_string);
        let refused = refused.into_iter().map(str::to_owned).chain(other_kinds);
        self.diagnostics.extend(refused.map(|entry| Diagnostic::PriorityRejected { entry }));
        Some(priority)
    }

    fn remark(&mut self, key: &'static str, expected: &'static str) {
        self.diagnostics.push(Diagnostic::ConfigInvalid { key, expected });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Renders the parsed values, one line each, so that a case can be read.
    fn understood(text: &str) -> String {
        let DesignYaml { present, layer, diagnostics } = parse(text);
        let mut words = vec![if present { "present" } else { "absent" }.to_owned()];
        words.extend(layer.dir.map(|dir| format!("dir={}", dir.as_str())));
        words.extend(layer.auto_load.map(|auto| format!("auto={auto}")));
        words.extend(layer.budget.map(|budget| format!("budget={}", budget.get())));
        words.extend(layer.priority.map(|list| {
            let names: Vec<_> = list.names().iter().map(ToString::to_string).collect();
            format!("priority={}", names.join(","))
        }));
        words.extend(diagnostics.iter().map(Diagnostic::code));
        words.join(" ")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(understood(text), expected, "{text:?}");
    }

    // B-1
    #[test]
    fn the_section_is_found_nested_or_at_the_top() {
        check("design:\n  design_docs:\n    dir: a\n", "present dir=a");
        check("design_docs:\n  dir: b\n", "present dir=b");
        check("design:\n  design_docs:\n    dir: a\ndesign_docs:\n  dir: b\n", "present dir=a");
        check("design:\n  other: 1\ndesign_docs:\n  dir: b\n", "present dir=b");
    }

    // B-2, B-4: four keys; those that are missing stay open.
    #[test]
    fn every_key_is_read_and_missing_ones_stay_open() {
        check(
            "design:\n  design_docs:\n    dir: docs/\n    auto_load_on_design_command: false\n    \
             token_budget: 5\n    priority: [research, spec.md]\n    unknown: 1\n",
            "present dir=docs/ auto=false budget=5 priority=research,spec",
        );
        check("design:\n  design_docs:\n    token_budget: 7\n", "present budget=7");
        check("design:\n  design_docs: {}\n", "present");
        check("design:\n  design_docs:\n    dir:\n    priority: ~\n", "present");
    }

    // B-3
    #[test]
    fn an_absent_section_is_absent_however_it_is_absent() {
        for text in [
            "",
            "\n",
            "# only a comment\n",
            "design:\n",
            "design:\n  design_docs:\n",
            "design:\n  design_docs: null\n",
            "design_docs: ~\n",
            "other: 1\n",
            "[]\n",
            "text\n",
            "---\n",
        ] {
            check(text, "absent");
        }
    }

    // B-1: a section that is there but empty hides the one at the top.
    #[test]
    fn an_empty_section_is_still_the_section() {
        check("design:\n  design_docs:\ndesign_docs:\n  dir: b\n", "absent");
    }

    // B-5
    #[test]
    fn a_file_too_large_for_a_person_is_not_read() {
        let top = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(top.path().join(".moai/config/sections")).unwrap();
        let long = format!("design_docs: {{dir: b}}\n#{}\n", "x".repeat(1024 * 1024));
        std::fs::write(top.path().join(PATH), long).unwrap();
        let codes: Vec<_> = read(top.path()).diagnostics.iter().map(Diagnostic::code).collect();
        assert_eq!(codes, ["config_error"]);
    }

    // B-5
    #[test]
    fn a_malformed_file_is_absent_with_a_remark() {
        for text in ["design: [", "a: b: c", "design:\n\tx: 1\n", "*nobody", "a: 1\na: 2\n", "{"] {
            check(text, "absent config_error");
        }
    }

    // B-6
    #[test]
    fn a_bad_value_is_remarked_on_and_left_open() {
        let cases = [
            ("dir: 5", "config_invalid:dir"),
            ("dir: ''", "config_invalid:dir"),
            ("dir: \"a\\nb\"", "config_invalid:dir"),
            ("auto_load_on_design_command: maybe", "config_invalid:auto_load_on_design_command"),
            ("token_budget: 0", "config_invalid:token_budget"),
            ("token_budget: -3", "config_invalid:token_budget"),
            ("token_budget: 1.5", "config_invalid:token_budget"),
            ("token_budget: '20'", "config_invalid:token_budget"),
            ("token_budget: 99999999999999999999999", "config_invalid:token_budget"),
            ("priority: spec", "config_invalid:priority"),
            ("priority: {a: 1}", "config_invalid:priority"),
        ];
        for (line, code) in cases {
            check(&format!("design:\n  design_docs:\n    {line}\n"), &format!("present {code}"));
        }
        check("design:\n  design_docs: [1]\n", "absent config_invalid:design_docs");
    }

    // B-7
    #[test]
    fn entries_that_are_no_names_are_rejected_one_by_one() {
        check(
            "design_docs:\n  priority: [../../etc/passwd, spec, 5, spec]\n",
            "present priority=spec priority_rejected priority_rejected",
        );
        check(
            "design_docs:\n  priority: []\n",
            "present priority=spec,system,research,pencil-plan",
        );
    }

    proptest! {
        // B-5: loading never aborts on configuration.
        #[test]
        fn any_text_is_understood_somehow(
            text in "(design:|design_docs:|dir|priority|[-:\\[\\]{}*&!|>'\"%@`#,? ]|\n  |[a-z0-9]|\t){0,40}",
        ) {
            parse(&text);
        }
    }
}
