//! Convoke's plugin in Claude Code: it provides the hooks, so the user writes no settings.

use crate::hooks::document::{Item, Shape, parse};

/// The plugin's name, before the marketplace that it comes from.
const NAME: &str = "convoke@";

/// The state of Convoke's plugin in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSwitch {
    /// It is switched on, by this name.
    On(String),
    /// It is disabled, even if weaker settings enable it.
    Off,
}

/// Returns the state of Convoke's plugin in a settings file, if it mentions the plugin.
pub fn plugin_switch(settings: &str) -> Option<PluginSwitch> {
    let root = parse(settings).ok()??;
    let plugins = root.member("enabledPlugins")?.items();
    let ours = |item: &&Item| item.key.as_ref().is_some_and(|key| key.starts_with(NAME));
    let mut switches = plugins.iter().filter(ours);
    let is_on = |item: &&Item| item.value.shape == Shape::True;
    match switches.clone().find(is_on) {
        Some(item) => item.key.clone().map(PluginSwitch::On),
        None => switches.next().map(|_| PluginSwitch::Off),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_an_enabled_plugin_counts() {
        let on = r#"{"hooks":{},"enabledPlugins":{"a@b":true,"convoke@mine":true}}"#;
        assert_eq!(plugin_switch(on), Some(PluginSwitch::On("convoke@mine".to_owned())));
        let off = r#"{"enabledPlugins":{"convoke@mine":false,"my-convoke@mine":true}} // off"#;
        assert_eq!(plugin_switch(off), Some(PluginSwitch::Off));
        for other in [
            "",
            "{}",
            r#"{"enabledPlugins":["convoke@mine"]}"#,
            r#"{"enabledPlugins":{"my-convoke@mine":true}}"#,
        ] {
            assert_eq!(plugin_switch(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_at(text in "(\\PC|[{}\":,]|true|enabledPlugins|convoke@){0,30}") {
            if let Some(PluginSwitch::On(name)) = plugin_switch(&text) {
                prop_assert!(text.contains("enabledPlugins") && name.starts_with(NAME));
            }
        }
    }
}
