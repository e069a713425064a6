//! Finds ledgers by the names in the environment. The first permitted place counts.

use std::path::{Component, Path, PathBuf};

/// The paths that the environment names.
#[derive(Debug, Clone, Default)]
pub struct NamedPlaces {
    /// The timing ledger itself.
    pub timing: Option<PathBuf>,
    /// The token ledger itself.
    pub tokens: Option<PathBuf>,
    /// The folder of the outermost workflow.
    pub implement: Option<PathBuf>,
    /// A file in the folder of the calling workflow.
    pub session_env: Option<PathBuf>,
    /// The folder of a design.
    pub design: Option<PathBuf>,
    /// The folder of a review.
    pub review: Option<PathBuf>,
    /// Where temporary files are.
    pub temp: PathBuf,
}

/// The ledger's place, if it has one, and the warnings about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundLedger {
    /// The ledger's file; `None` if no place is allowed.
    pub path: Option<PathBuf>,
    /// Warnings about invalid places.
    pub warnings: Vec<String>,
}

impl FoundLedger {
    fn at(path: PathBuf) -> Self {
        Self { path: Some(path), warnings: Vec::new() }
    }

    fn nowhere(warning: impl Into<String>) -> Self {
        Self { path: None, warnings: vec![warning.into()] }
    }

    fn after(mut self, warning: Option<String>) -> Self {
        self.warnings.splice(0..0, warning);
        self
    }
}

/// The name of a timing ledger in a workflow's folder.
pub const TIMING_FILE: &str = "timing-ledger.tsv";

/// Finds the timing ledger. `real` follows links: it returns where a folder really is, if it exists.
pub fn timing(given: Option<&Path>, named: &NamedPlaces, real: &Real<'_>) -> FoundLedger {
    if let Some(given) = given {
        return under(given, &[&named.temp], real).map_or_else(|| refused(given), FoundLedger::at);
    }
    let (chosen, warning) = chosen(named.timing.as_deref(), &named.roots(), real);
    if let Some(path) = chosen {
        return FoundLedger::at(path);
    }
    let parent = named.parent();
    let folders = [named.implement.as_deref(), parent, named.design.as_deref()];
    let folder = folders.into_iter().flatten().chain(named.review.as_deref()).next();
    let found = folder.map(|folder| FoundLedger::at(folder.join(TIMING_FILE)));
    found.unwrap_or_else(|| FoundLedger::nowhere("there is no timing ledger")).after(warning)
}

/// Finds the token ledger, which is called `name` in a workflow's folder.
pub fn tokens(
    given: Option<&Path>,
    named: &NamedPlaces,
    name: &str,
    real: &Real<'_>,
) -> FoundLedger {
    let temp = [named.temp.as_path()];
    if let Some(given) = given {
        let allowed = under(given, &temp, real).filter(|_| !climbs(given));
        return allowed.map_or_else(|| refused(given), FoundLedger::at);
    }
    let (chosen, warning) = match named.tokens.as_deref() {
        Some(path) if climbs(path) => (None, Some(passed_over(path))),
        path => chosen(path, &temp, real),
    };
    if let Some(path) = chosen {
        return FoundLedger::at(path);
    }
    let found = named.token_folder().map(|folder| FoundLedger::at(folder.join(name)));
    found.unwrap_or_else(|| FoundLedger::nowhere("there is no token ledger")).after(warning)
}

/// Returns where a folder really is, if it exists.
pub type Real<'r> = dyn Fn(&Path) -> Option<PathBuf> + 'r;

impl NamedPlaces {
    /// Returns the folder that a token ledger and its session's id are in.
    pub fn token_folder(&self) -> Option<&Path> {
        self.implement.as_deref().or_else(|| self.parent())
    }

    /// Returns the folder of the calling workflow.
    fn parent(&self) -> Option<&Path> {
        let parent = self.session_env.as_deref()?.parent()?;
        Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    }

    /// Returns the folders that a variable may point into.
    fn roots(&self) -> Vec<&Path> {
        let more = [&self.implement, &self.design, &self.review].map(Option::as_deref);
        let more = more.into_iter().chain([self.parent()]).flatten();
        [self.temp.as_path()].into_iter().chain(more).collect()
    }
}

fn chosen(
    path: Option<&Path>,
    roots: &[&Path],
    real: &Real<'_>,
) -> (Option<PathBuf>, Option<String>) {
    let Some(path) = path else { return (None, None) };
    let allowed = under(path, roots, real).filter(|_| path.is_absolute());
    let warning = allowed.is_none().then(|| passed_over(path));
    (allowed, warning)
}

/// Returns where a file really would be, if that is below one of the roots.
fn under(path: &Path, roots: &[&Path], real: &Real<'_>) -> Option<PathBuf> {
    let folder = path.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let path = real(folder)?.join(path.file_name()?);
    let is_below =
        |root: &&Path| real(root).is_some_and(|root| path.starts_with(&root) && path != root);
    roots.iter().any(is_below).then_some(path)
}

fn climbs(path: &Path) -> bool {
    path.components().any(|part| part == Component::ParentDir)
}

fn refused(path: &Path) -> FoundLedger {
    let path = path.display();
    FoundLedger::nowhere(format!(
        "cannot use the ledger `{path}`: it is outside of the folder for temporary files"
    ))
}

fn passed_over(path: &Path) -> String {
    format!(
        "the ledger `{}` is outside of the folder for temporary files; looking for another",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A world in which `/link` leads out of the temporary folder and `/t/gone` does not exist.
    fn real(path: &Path) -> Option<PathBuf> {
        let text = path.to_str()?;
        let text =
            text.replace("/t/link", "/secret").replace("/t/a/..", "/t").replace("/t/x/../..", "/");
        (!text.contains("gone")).then(|| PathBuf::from(text))
    }

    fn named(change: impl FnOnce(&mut NamedPlaces)) -> NamedPlaces {
        let mut named = NamedPlaces { temp: "/t".into(), ..NamedPlaces::default() };
        change(&mut named);
        named
    }

    fn path(found: &FoundLedger) -> Option<&str> {
        found.path.as_deref().and_then(Path::to_str)
    }

    // P-362
    #[test]
    fn a_timing_ledger_is_looked_for_in_order() {
        let mut all = named(|places| {
            places.timing = Some("/t/a/own.tsv".into());
            places.implement = Some("/i".into());
            places.session_env = Some("/p/session.env".into());
            places.design = Some("/d".into());
            places.review = Some("/r".into());
        });
        let at = |named: &NamedPlaces| timing(None, named, &real);
        assert_eq!(path(&timing(Some(Path::new("/t/b.tsv")), &all, &real)), Some("/t/b.tsv"));
        assert_eq!(at(&all), FoundLedger::at("/t/a/own.tsv".into()));
        for allowed in ["/i/x", "/p/x", "/d/x", "/r/deep/x"] {
            all.timing = Some(allowed.into());
            assert_eq!(path(&at(&all)), Some(allowed));
        }
        for elsewhere in ["/etc/x", "relative", "/t/link/x", "/t/x/../../etc/x", "/t/gone/x"] {
            all.timing = Some(elsewhere.into());
            let found = at(&all);
            assert_eq!(
                (path(&found), found.warnings.len()),
                (Some("/i/timing-ledger.tsv"), 1),
                "{elsewhere}"
            );
        }
        all.timing = None;
        all.implement = None;
        assert_eq!(path(&at(&all)), Some("/p/timing-ledger.tsv"));
        all.session_env = None;
        assert_eq!(path(&at(&all)), Some("/d/timing-ledger.tsv"));
        all.design = None;
        assert_eq!(path(&at(&all)), Some("/r/timing-ledger.tsv"));
        all.review = None;
        let nowhere = at(&all);
        assert_eq!((path(&nowhere), nowhere.warnings.len()), (None, 1), "it fails closed");
    }

    // P-362: a ledger named on the command line is used or refused; no other place is tried.
    #[test]
    fn a_named_ledger_is_below_the_temporary_folder() {
        let all = named(|places| places.implement = Some("/i".into()));
        for wrong in ["/i/x", "/t/link/x", "/t/gone/x", "/etc/passwd", "x"] {
            let found = timing(Some(Path::new(wrong)), &all, &real);
            assert_eq!((path(&found), found.warnings.len()), (None, 1), "{wrong}");
            assert_eq!(path(&tokens(Some(Path::new(wrong)), &all, "n", &real)), None, "{wrong}");
        }
        let inside = Path::new("/t/a/../x");
        assert_eq!(path(&timing(Some(inside), &all, &real)), Some("/t/x"));
        assert_eq!(path(&tokens(Some(inside), &all, "n", &real)), None, "P-372: no `..`");
    }

    // P-372
    #[test]
    fn a_token_ledger_is_looked_for_in_order() {
        let mut all = named(|places| {
            places.tokens = Some("/t/own.jsonl".into());
            places.implement = Some("/i".into());
            places.session_env = Some("/p/session.env".into());
            places.design = Some("/d".into());
        });
        let at = |named: &NamedPlaces| tokens(None, named, "n", &real);
        assert_eq!(path(&at(&all)), Some("/t/own.jsonl"));
        for wrong in ["/i/x", "/t/a/../x"] {
            all.tokens = Some(wrong.into());
            assert_eq!((path(&at(&all)), at(&all).warnings.len()), (Some("/i/n"), 1));
        }
        all.tokens = None;
        all.implement = None;
        assert_eq!(path(&at(&all)), Some("/p/n"));
        all.session_env = None;
        assert_eq!((path(&at(&all)), at(&all).warnings.len()), (None, 1), "a design has none");
        all.session_env = Some("session.env".into());
        assert_eq!(path(&at(&all)), Some("./n"));
    }
}
