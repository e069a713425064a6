//! Our plugin in Claude Code: it brings the hooks along, so nobody has to write them anywhere.

use serde_json::Value;

/// What our plugin is called, before the marketplace that it comes from.
const NAME: &str = "convoke@";

/// Returns our plugin as a settings file names it, if it is switched on there.
pub fn enabled_plugin(settings: &str) -> Option<String> {
    let root: Value = serde_json::from_str(settings).ok()?;
    let plugins = root.get("enabledPlugins")?.as_object()?;
    let ours = |(name, is_on): &(&String, &Value)| name.starts_with(NAME) && **is_on == true;
    plugins.iter().find(ours).map(|(name, _)| name.clone())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_switched_on_is_there() {
        let on = r#"{"hooks":{},"enabledPlugins":{"a@b":true,"convoke@mine":true}}"#;
        assert_eq!(enabled_plugin(on).as_deref(), Some("convoke@mine"));
        for other in [
            "",
            "{}",
            r#"{"enabledPlugins":["convoke@mine"]}"#,
            r#"{"enabledPlugins":{"convoke@mine":false,"my-convoke@mine":true}}"#,
        ] {
            assert_eq!(enabled_plugin(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_at(text in "(\\PC|[{}\":,]|true|enabledPlugins|convoke@){0,30}") {
            if let Some(name) = enabled_plugin(&text) {
                prop_assert!(text.contains("enabledPlugins") && name.starts_with(NAME));
            }
        }
    }
}
