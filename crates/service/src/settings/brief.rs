//! The `[brief]` section.

use std::path::Path;

use convoke_domain::brief::diagnostic::Diagnostic;
use convoke_domain::brief::name::DocumentPriority;
use convoke_domain::brief::settings::{DesignDir, Layer};
use convoke_domain::pack::PackPolicy;
use convoke_domain::token::{Budget, Vocabulary};
use convoke_engine::brief::BriefLayers;
use toml::Value;

use super::{Key, list, number, read_layers, text, truth, whole};
use crate::failure::Failure;
use crate::session::Session;

/// The section's name.
pub const SECTION: &str = "brief";

/// Every setting of a brief.
pub const KEYS: [Key<Layer>; 8] = [
    Key {
        name: "dir",
        expected: "a folder, on one line",
        default: ".moai/design",
        meaning: "the design folder, relative to the project or absolute (in a committed file: inside \
                  the project); `~` is not expanded",
        from_text: text,
        set: |layer, value| put(&mut layer.dir, DesignDir::parse(value.as_str()?)),
    },
    Key {
        name: "auto_load_on_design_command",
        expected: "true or false",
        default: "true",
        meaning: "whether `brief --auto` prints the block",
        from_text: truth,
        set: |layer, value| put(&mut layer.auto_load, value.as_bool()),
    },
    Key {
        name: "token_budget",
        expected: "a whole number from 1 up",
        default: "20000",
        meaning: "the token budget of the documents",
        from_text: number,
        set: |layer, value| put(&mut layer.budget, Budget::new(whole(value)?)),
    },
    Key {
        name: "priority",
        expected: "a list of bare names (in a variable: separated by commas)",
        default: r#"["spec", "system", "research", "pencil-plan"]"#,
        meaning: "which documents, most important first",
        from_text: list,
        set: |layer, value| put(&mut layer.priority, priority(value)),
    },
    Key {
        name: "policy",
        expected: "contract, strict or fill",
        default: "contract",
        meaning: "which documents to drop or cut when not all fit",
        from_text: text,
        set: |layer, value| put(&mut layer.policy, PackPolicy::parse(value.as_str()?)),
    },
    Key {
        name: "tokenizer",
        expected: "estimate, o200k or cl100k",
        default: "estimate",
        meaning: "how to count tokens",
        from_text: text,
        set: |layer, value| put(&mut layer.tokenizer, Vocabulary::parse(value.as_str()?)),
    },
    Key {
        name: "literal_source",
        expected: "true or false",
        default: "false",
        meaning: "cite `.moai/design/` even if the documents come from another folder, and use the original's line for a missing folder",
        from_text: truth,
        set: |layer, value| put(&mut layer.literal_source, value.as_bool()),
    },
    Key {
        name: "max_file_bytes",
        expected: "a whole number from 1 up",
        default: "67108864",
        meaning: "skip documents with more bytes",
        from_text: number,
        set: |layer, value| put(&mut layer.max_file_bytes, whole(value).filter(|bytes| *bytes > 0)),
    },
];

/// Collects what flags, environment and files say about briefs.
pub fn layers(flags: Layer, session: &Session) -> Result<BriefLayers, Failure> {
    let [environment, local, project, user] = read_layers(session, SECTION, &KEYS)?;
    let files = session.settings.files();
    let diagnostics = files.hidden(session).into_iter().map(out_of_reach).collect();
    Ok(BriefLayers {
        call: flags.over(environment),
        project: local.over(project),
        user,
        diagnostics,
    })
}

/// Agents run in sandboxes that hide the user's folder, which is not a mistake.
fn out_of_reach(path: &Path) -> Diagnostic {
    Diagnostic::ConfigError { detail: format!("`{}`: permission denied", path.display()) }
}

fn put<T>(place: &mut Option<T>, value: Option<T>) -> Option<()> {
    *place = Some(value?);
    Some(())
}

fn priority(value: &Value) -> Option<DocumentPriority> {
    let entries: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    let (priority, refused) = DocumentPriority::read(entries?);
    refused.is_empty().then_some(priority)
}

#[cfg(test)]
mod tests {
    use convoke_domain::brief::settings::Configured;

    use super::*;

    // The reference page shows these defaults; they must be those in force.
    #[test]
    fn the_defaults_shown_are_the_defaults() {
        let mut shown = Layer::default();
        for key in &KEYS {
            let toml = format!("x = {}", key.default);
            let value = toml.parse::<toml::Table>().ok().and_then(|mut table| table.remove("x"));
            let value = value.or_else(|| (key.from_text)(key.default)).unwrap();
            assert!((key.set)(&mut shown, &value).is_some(), "{}", key.name);
        }
        let configured = Configured::Somewhere;
        assert_eq!(shown.settle(configured), Layer::default().settle(configured));
    }
}
