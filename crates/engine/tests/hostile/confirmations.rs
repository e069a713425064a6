//! What agents say about the files they read. Every agent had to read `design.md` and `spec.md`.

use convoke_domain::dispatch::confirmation::{Level, confirmation};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let found = confirmation(&case.text(), &["design.md", "spec.md"], Level::Strict);
    if !found.confirmed {
        return "not confirmed".to_owned();
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
    format!("confirmed: {named}{missing}{unexpected}")
}
