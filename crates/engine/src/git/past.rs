//! The past of a checkout: messages of commits, and the files that they changed.

use std::path::Path;

use convoke_domain::repository_pack::PastChange;

use super::diff::run;
use super::repository::{Repository, View};

/// Signs before and behind a message; git allows them in none that a person types.
const BEFORE: char = '\u{1}';
const BEHIND: char = '\u{2}';

/// Returns up to `most` commits that lead to the checked-out one, the newest first, with the paths below
/// a folder that they changed. It is empty without a repository, or before the first commit.
pub fn past_changes(folder: &Path, most: usize) -> Vec<PastChange> {
    let Ok(repository) = Repository::at(folder) else { return Vec::new() };
    let mut git = repository.git_in(folder, View::Raw);
    git.args(["log", "--no-merges", "--no-renames", "--no-color", "--no-ext-diff", "--name-only"]);
    git.args(["--relative", "-z", "--format=%x01%B%x02"]).arg(format!("--max-count={most}"));
    let answer = run(git.args(["HEAD", "--", "."]));
    let listed = answer.filter(|answer| answer.status.success()).map(|answer| answer.stdout);
    read(&String::from_utf8_lossy(&listed.unwrap_or_default()))
}

fn read(listed: &str) -> Vec<PastChange> {
    let records = listed.split(BEFORE).skip(1);
    records
        .filter_map(|record| {
            let (message, names) = record.split_once(BEHIND)?;
            let names = names.split('\0').map(|name| name.trim_start_matches('\n'));
            let paths = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
            Some(PastChange { message: message.trim().to_owned(), paths })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::diff::tests::{did, repository};
    use super::*;

    #[test]
    fn commits_are_listed_with_their_files_the_newest_first() {
        let folder = repository();
        let top = folder.path();
        let commit = |name: &str, message: &str| {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), message).unwrap();
            did(top, &["add", "-A"]);
            did(top, &["commit", "-q", "-m", message]);
        };
        commit("a b.txt", "first: add a");
        commit("src/ü.rs", "second\n\nwith a body");
        let all = past_changes(top, 10);
        let seen: Vec<_> =
            all.iter().map(|change| (change.message.as_str(), change.paths.clone())).collect();
        assert_eq!(
            seen[..2],
            [
                ("second\n\nwith a body", vec!["src/ü.rs".to_owned()]),
                ("first: add a", vec!["a b.txt".to_owned()])
            ]
        );
        assert_eq!(past_changes(top, 1).len(), 1);
        let below = past_changes(&top.join("src"), 10);
        assert_eq!(below.len(), 1);
        assert_eq!(below[0].paths, ["ü.rs"]);
    }

    #[test]
    fn without_a_repository_there_is_no_past() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(past_changes(folder.path(), 10), []);
    }
}
