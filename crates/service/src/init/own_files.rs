//! Files of a project that hold only what Convoke itself wrote.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::setup::{SetupChange, SetupStep};
use convoke_engine::design::setup::own_files::OwnFile;
use convoke_engine::hooks::HooksLevel;
use convoke_store::Store;

use super::apply::folder;
use crate::hooks::HooksTarget;
use crate::mcp_entry::{BareSettings, own_entry_files, without_own_entry};
use crate::session::Session;
use crate::settings_file;
use crate::workspace::open_store;

/// Returns the files that `init`, `hooks install` and `mcp install` wrote into a project and that are
/// unchanged since. Without a store that can be read, the list has entries of `mcp install` alone.
pub(crate) fn own_files(session: &Session) -> Vec<OwnFile> {
    let servers = own_entry_files(session)
        .into_iter()
        .filter_map(|(path, original)| Some(OwnFile { path: path.canonicalize().ok()?, original }));
    let Ok(store) = open_store(session) else { return servers.collect() };
    let steps = store.setup(&folder(session).display().to_string()).unwrap_or_default();
    let written = steps.into_iter().filter_map(setup_file);
    let written = written.filter_map(|file| unchanged(file, |_| None));
    let hooks = Client::WITH_HOOKS.into_iter().filter_map(|client| {
        let target = HooksTarget { client, level: HooksLevel::Project };
        let file = hooks_file(&*store, &target.path(session).ok()?)?;
        unchanged(file, |text| without_own_entry(session, client, text))
    });
    written.chain(hooks).chain(servers).collect()
}

/// Returns a file that has what Convoke wrote, and beside it at most the entry of Convoke's server, which
/// `without_entry` takes out.
fn unchanged(
    file: WrittenFile,
    without_entry: impl Fn(&str) -> Option<BareSettings>,
) -> Option<OwnFile> {
    let path = file.path.canonicalize().ok()?;
    let current = settings_file::read(&path).ok()??;
    let bare = |text: String| without_entry(&text).map_or(Some(text), |bare| bare.text);
    if current == file.written {
        return Some(OwnFile { path, original: file.original.and_then(bare) });
    }
    let is_ours = bare(current)? == file.written;
    is_ours.then_some(OwnFile { path, original: file.original })
}

/// A file as Convoke wrote it.
struct WrittenFile {
    path: PathBuf,
    original: Option<String>,
    written: String,
}

fn setup_file(step: SetupStep) -> Option<WrittenFile> {
    let path = PathBuf::from(step.path);
    match step.change {
        SetupChange::Guidance { original, written } => {
            Some(WrittenFile { path, original, written })
        }
        SetupChange::Configuration { written } => {
            Some(WrittenFile { path, original: None, written })
        }
        // The installs have the text of hooks; git does not list the file of a binding.
        SetupChange::Folder | SetupChange::Hooks(_) | SetupChange::Binding(_) => None,
    }
}

fn hooks_file(store: &dyn Store, path: &Path) -> Option<WrittenFile> {
    let install = store.install(path.to_str()?).ok()??;
    let (original, written) = (install.original, install.installed);
    Some(WrittenFile { path: path.to_owned(), original, written })
}
