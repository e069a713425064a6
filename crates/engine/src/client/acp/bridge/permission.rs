//! Requests of an agent for permission, and Convoke's answers.

use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::named_paths::{NamedPaths, is_inside};
use crate::client::command::Rights;
use crate::json::{owned, parse, string};

/// The most characters of a request's title that a person is shown.
const MOST_TITLE: usize = 200;

/// The kinds of tools that a writer's lane permits: those that read or change files. Commands and
/// connections stay with the agent's own settings, as in every other lane.
const WRITERS_KINDS: [&str; 6] = ["read", "edit", "delete", "move", "search", "think"];

/// Convoke's answer to a request for permission.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ruling {
    /// The word that is logged.
    pub(super) word: &'static str,
    /// What the agent wanted to do, in its words.
    pub(super) title: String,
    /// The result to send.
    pub(super) result: Value,
}

#[derive(Deserialize)]
struct RawRequest<'a> {
    #[serde(borrow, rename = "toolCall")]
    call: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawCall<'a> {
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawOption<'a> {
    #[serde(borrow, rename = "optionId")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
}

/// Rules on a request. A reader is denied everything. A writer is denied what names no path, because its
/// kind is the agent's own word, and what names a path out of the folder. Without an option to reject
/// once, Convoke answers as for a cancelled turn: an option that rejects for ever would change the user's
/// settings.
pub(super) fn rule(params: Option<&RawValue>, rights: Rights, folder: &Path) -> Ruling {
    let request = parse::<RawRequest<'_>>(params);
    let call = request.as_ref().and_then(|request| parse::<RawCall<'_>>(request.call));
    let kind = call.as_ref().and_then(|call| string(call.kind)).unwrap_or_default();
    let title = call.as_ref().and_then(|call| string(call.title)).unwrap_or_default();
    let title = if title.trim().is_empty() { "an unnamed tool" } else { title.trim() };
    let is_permitted = rights == Rights::Write
        && WRITERS_KINDS.contains(&kind.as_ref())
        && request.as_ref().is_some_and(|request| stays_below(request.call, folder));
    let (word, wanted) =
        if is_permitted { ("allowed", "allow_once") } else { ("denied", "reject_once") };
    let options = request.and_then(|request| parse::<Vec<&RawValue>>(request.options));
    let option = options.unwrap_or_default().into_iter().find_map(|raw| {
        let option: RawOption<'_> = parse(Some(raw))?;
        let is_wanted = string(option.kind)? == wanted;
        is_wanted.then(|| owned(option.id))?
    });
    let outcome = match &option {
        Some(id) => json!({ "outcome": "selected", "optionId": id }),
        None => json!({ "outcome": "cancelled" }),
    };
    Ruling {
        word: if option.is_some() { word } else { "denied" },
        title: title.chars().take(MOST_TITLE).collect(),
        result: json!({ "outcome": outcome }),
    }
}

/// Tells whether a call names paths, and all of them below a folder.
fn stays_below(call: Option<&RawValue>, folder: &Path) -> bool {
    let NamedPaths { paths, is_complete } = NamedPaths::of(call);
    is_complete && !paths.is_empty() && paths.iter().all(|path| is_inside(folder, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruled(params: &str, rights: Rights) -> (&'static str, String) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let ruling = rule(Some(serde_json::from_str(params).unwrap()), rights, folder);
        (ruling.word, ruling.result["outcome"].to_string())
    }

    const BOTH: &str = r#"{"toolCall":{"title":"Write x","kind":"KIND","locations":[{"path":"src/x"}]},"options":[
        {"optionId":"yes","kind":"allow_once"},{"optionId":"always","kind":"allow_always"},
        {"optionId":"no","kind":"reject_once"},{"optionId":"never","kind":"reject_always"}]}"#;

    #[test]
    fn a_reader_is_denied_everything() {
        for kind in ["read", "edit", "execute", "", "other"] {
            let (word, outcome) = ruled(&BOTH.replace("KIND", kind), Rights::ReadOnly);
            assert_eq!((word, outcome.contains("\"no\"")), ("denied", true), "{kind} {outcome}");
        }
    }

    #[test]
    fn without_an_option_to_reject_once_the_request_counts_as_cancelled() {
        for params in [
            r#"{"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"a","kind":"allow_always"}]}"#,
            r#"{"options":[{"optionId":"never","kind":"reject_always"}]}"#,
            r#"{"options":[{"optionId":7,"kind":"reject_once"},{"kind":"reject_once"},5]}"#,
            r#"{"options":{}}"#,
            "null",
            "[1]",
        ] {
            let (word, outcome) = ruled(params, Rights::ReadOnly);
            assert_eq!(
                (word, outcome.as_str()),
                ("denied", r#"{"outcome":"cancelled"}"#),
                "{params}"
            );
        }
    }

    #[test]
    fn a_writer_is_denied_what_names_no_path_or_one_outside() {
        let ruled = |locations: &str| {
            let params = BOTH.replace("KIND", "edit");
            ruled(&params.replace(r#"[{"path":"src/x"}]"#, locations), Rights::Write)
        };
        assert_eq!(ruled(r#"[{"path":"src/x"},{"path":"y"}]"#).0, "allowed");
        for locations in
            ["[]", "null", "7", r#"[{"path":"../x"}]"#, r#"[{"path":"src/x"},{"path":"/etc/x"}]"#]
        {
            let (word, outcome) = ruled(locations);
            assert_eq!((word, outcome.contains("\"no\"")), ("denied", true), "{locations}");
        }
    }

    #[test]
    fn a_writer_may_change_files_and_run_nothing() {
        let ruled = |kind: &str| ruled(&BOTH.replace("KIND", kind), Rights::Write);
        for kind in ["edit", "delete", "read"] {
            assert_eq!(
                ruled(kind),
                ("allowed", r#"{"outcome":"selected","optionId":"yes"}"#.to_owned())
            );
        }
        for kind in ["execute", "fetch", "other", "switch_mode", ""] {
            assert_eq!(ruled(kind).0, "denied", "{kind}");
        }
    }
}
