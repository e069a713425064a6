//! Files of a project that hold only what Convoke itself wrote.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::setup::{SetupChange, SetupStep};
use convoke_engine::design::setup::own_files::OwnFile;
use convoke_engine::hooks::HooksLevel;
use convoke_store::Store;

use super::apply::folder;
use crate::hooks::HooksTarget;
use crate::session::Session;
use crate::settings_file;
use crate::workspace::open_store;

/// Returns the files that `init` and `hooks install` wrote into a project and that are unchanged
/// since. Without a store that can be read, the list is empty.
pub(crate) fn own_files(session: &Session) -> Vec<OwnFile> {
    let Ok(store) = open_store(session) else { return Vec::new() };
    let steps = store.setup(&folder(session).display().to_string()).unwrap_or_default();
    let written = steps.into_iter().filter_map(setup_file);
    let hooks = Client::WITH_HOOKS.into_iter().filter_map(|client| {
        let target = HooksTarget { client, level: HooksLevel::Project };
        hooks_file(&*store, &target.path(session).ok()?)
    });
    let unchanged = |file: WrittenFile| {
        let path = file.path.canonicalize().ok()?;
        let current = settings_file::read(&path).ok()??;
        (current == file.written).then_some(OwnFile { path, original: file.original })
    };
    written.chain(hooks).filter_map(unchanged).collect()
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
