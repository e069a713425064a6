//! Places in the folder of what Convoke keeps.

use std::path::PathBuf;

use super::Environment;

impl Environment {
    /// Returns the default place of the store: `convoke/store.db` below
    /// `$XDG_STATE_HOME` or `~/.local/state`.
    pub fn default_store(&self) -> Option<PathBuf> {
        Some(self.state()?.join("store.db"))
    }

    /// Returns where the folders of runs are: `convoke/runs` below the same folder.
    pub fn runs(&self) -> Option<PathBuf> {
        Some(self.state()?.join("runs"))
    }

    /// Returns where the folders of background runs are: `convoke/background` below the same folder.
    pub fn background_runs(&self) -> Option<PathBuf> {
        Some(self.state()?.join("background"))
    }

    /// Returns where the dashboard puts backups of the store: `convoke/backups` below the same folder.
    pub fn store_backups(&self) -> Option<PathBuf> {
        Some(self.state()?.join("backups"))
    }

    /// Returns where running lanes leave what they do at the moment: `convoke/lanes` in that folder.
    pub fn lane_pulses(&self) -> Option<PathBuf> {
        Some(self.state()?.join("lanes"))
    }

    /// Returns where hooks leave the reason for which they delivered nothing: `convoke/hook-failures`
    /// below the same folder.
    pub fn hook_failures(&self) -> Option<PathBuf> {
        Some(self.state()?.join("hook-failures"))
    }

    /// Returns the file by which the processes of Convoke take turns at editing settings.
    pub fn settings_lock(&self) -> Option<PathBuf> {
        Some(self.state()?.join("settings-lock"))
    }

    /// Returns the folder of what Convoke keeps: `convoke` below `$XDG_STATE_HOME` or `~/.local/state`.
    pub fn state(&self) -> Option<PathBuf> {
        let state = self
            .variable("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(self.home()?.join(".local/state")))?;
        Some(state.join("convoke"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/guide/your-data.md");

    /// Returns what the page's table has between back-ticks in the column of places.
    fn places_of_the_page() -> Vec<&'static str> {
        let rows = PAGE.lines().filter(|line| line.starts_with("| ")).skip(1);
        let places = rows.filter_map(|row| row.split(" | ").nth(1));
        places.flat_map(|place| place.split('`').skip(1).step_by(2)).collect()
    }

    // The page tells a user what to back up and what to remove.
    #[test]
    fn the_page_about_data_names_every_place() {
        let home = [("HOME".into(), "/home/june".into())];
        let of = Environment::new(home, None, PathBuf::from("convoke"));
        let state = [
            of.default_store(),
            of.runs(),
            of.background_runs(),
            of.store_backups(),
            of.lane_pulses(),
            of.hook_failures(),
            of.settings_lock(),
        ];
        let code = include_str!("state_folder.rs").split("#[cfg(test)]").next().unwrap();
        assert_eq!(code.matches("self.state()?.join(").count(), state.len(), "a place is not here");
        let others = [
            of.health_cache(),
            of.plan_cache(),
            of.user_config(),
            of.sessions().into_iter().next(),
        ];
        let named = |path: Option<PathBuf>| {
            let path = path.unwrap().display().to_string();
            path.replace("/home/june/", "~/")
        };
        let mut known: Vec<_> = state.into_iter().chain(others).map(named).collect();
        let listed = places_of_the_page();
        for place in &known {
            assert!(listed.contains(&place.as_str()), "the page does not name {place}");
        }
        // The engine makes this one below the folders of runs.
        known.push("~/.local/state/convoke/runs/.single-passes".to_owned());
        let wrong = listed.iter().filter(|place| place.starts_with("~/"));
        let wrong: Vec<_> =
            wrong.filter(|place| !known.iter().any(|known| known == *place)).collect();
        assert!(wrong.is_empty(), "nothing is written to {wrong:?}");
    }
}
