//! Agents' claims about the files they read. An agent had to read `design.md` and `spec.md` in
//! `/repo/docs`, or, with `files:`, these files of `/repo`.

use convoke_domain::dispatch::confirmation::{ConfirmationLevel, ExpectedFile, confirmation};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let files: Vec<(String, String)> = match case.keys.get("files") {
        Some(files) => {
            files.split(' ').map(|file| (file.to_owned(), format!("/repo/{file}"))).collect()
        }
        None => ["design.md", "spec.md"]
            .map(|file| (file.to_owned(), format!("/repo/docs/{file}")))
            .to_vec(),
    };
    let expected: Vec<_> = files.iter().map(|(name, path)| ExpectedFile { name, path }).collect();
    let found = confirmation(&case.text(), &expected, ConfirmationLevel::Strict);
    let disputed = match found.disputed.as_slice() {
        [] => String::new(),
        disputed => format!("; disputed: {}", disputed.join(", ")),
    };
    if !found.confirmed {
        return format!("not confirmed{disputed}");
    }
    let named = match found.named.as_slice() {
        [] => "nothing expected".to_owned(),
        named => named.join(", "),
    };
    let list = |word: &str, files: &[String]| match files {
        [] => String::new(),
        files => format!("; {word}: {}", files.join(", ")),
    };
    let (missing, unexpected) =
        (list("missing", &found.missing), list("unexpected", &found.unexpected));
    format!("confirmed: {named}{missing}{unexpected}{disputed}")
}
