//! The agent that a project's sessions belong to, in one of Convoke's configuration files.

use convoke_domain::scope::AgentName;
use toml::Value;

use crate::toml_text::{TomlKey, TomlTextError, set_value, unset_value, value};

const AGENT: TomlKey<'static> = TomlKey { section: "wake", key: "agent" };

/// Returns the agent that a file names.
pub fn bound(text: &str) -> Result<Option<AgentName>, TomlTextError> {
    let named = value(text, AGENT)?;
    let name = named.as_ref().and_then(Value::as_str);
    let name = name.and_then(|name| AgentName::parse(name).ok());
    Ok(name.filter(|name| !name.is_human()))
}

/// Returns a file that names an agent.
pub fn bind(text: &str, agent: &AgentName) -> Result<String, TomlTextError> {
    set_value(text, AGENT, &format!("\"{agent}\""), &Value::String(agent.to_string()))
}

/// Returns a file that names no agent. It also removes the section, if that is empty then and was
/// not there `before`.
pub fn unbind(text: &str, before: Option<&str>) -> Result<String, TomlTextError> {
    unset_value(text, AGENT, before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(name: &str) -> AgentName {
        AgentName::parse(name).unwrap()
    }

    #[test]
    fn one_value_is_written_and_all_else_stays() {
        for (before, after) in [
            ("", "[wake]\nagent = \"me\"\n"),
            ("# mine\n", "# mine\n\n[wake]\nagent = \"me\"\n"),
            ("[lane]\r\nx=1", "[lane]\r\nx=1\r\n\r\n[wake]\r\nagent = \"me\"\r\n"),
            ("[ wake ] # w\nmode='v0'\n", "[ wake ] # w\nagent = \"me\"\nmode='v0'\n"),
            ("[wake]", "[wake]\nagent = \"me\""),
            ("[wake]\nagent = 'june' # her\n", "[wake]\nagent = \"me\" # her\n"),
            ("wake.mode = 'v0'\n", "wake.agent = \"me\"\nwake.mode = 'v0'\n"),
            ("wake = { mode = 'v0' }\n", "wake = { agent = \"me\", mode = 'v0' }\n"),
            ("wake = {}\n", "wake = { agent = \"me\" }\n"),
            ("a = '''\n[wake]\n'''\n", "a = '''\n[wake]\n'''\n\n[wake]\nagent = \"me\"\n"),
            ("\u{feff}[wake]\n", "\u{feff}[wake]\nagent = \"me\"\n"),
        ] {
            assert_eq!(bind(before, &name("me")).unwrap(), after, "{before:?}");
            assert_eq!(bound(after).unwrap(), Some(name("me")), "{after:?}");
        }
    }

    #[test]
    fn a_written_binding_is_removed_again() {
        for before in [
            "",
            "# mine\n",
            "[lane]\r\nx = 1\r\n",
            "[wake] # w\nmode = 'v0'\n",
            "[wake]\n",
            "wake.mode = 'v0'\n",
            "wake = {}\n",
            "wake = { mode = 'v0' }\n",
            "wake = {mode = 'v0'} # w\n",
        ] {
            let after = bind(before, &name("me")).unwrap();
            assert_eq!(unbind(&after, Some(before)).unwrap(), before, "{after:?}");
            let edited = format!("# top\n{after}");
            let expected = format!("# top\n{before}");
            assert_eq!(unbind(&edited, Some(before)).unwrap(), expected, "{edited:?}");
        }
        assert_eq!(unbind("[wake]\nmode = 'v0'\n", None).unwrap(), "[wake]\nmode = 'v0'\n");
        let last = "wake = { mode = 'v0' , agent = 'me' }\n";
        assert_eq!(unbind(last, None).unwrap(), "wake = { mode = 'v0'  }\n");
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        for text in ["[wake", "wake = 5\n", "wake = []\n"] {
            assert!(bind(text, &name("me")).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_changed_right_or_refused(
            text in "(\\[wake\\]|wake|agent|mode| = |\"a\"|'b'|[#{}.,\\n\\r]|\\[x\\]|\u{feff}){0,14}",
        ) {
            if let Ok(after) = bind(&text, &name("me")) {
                prop_assert_eq!(bound(&after).unwrap(), Some(name("me")));
            }
            if let Ok(without) = unbind(&text, None) {
                prop_assert_eq!(bound(&without).unwrap(), None);
            }
        }
    }
}
