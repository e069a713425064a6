//! Sketches: usable, or why not.

use convoke_domain::design::sketch::flaw;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    flaw(&case.text()).map_or_else(|| "usable".to_owned(), |flaw| flaw.to_string())
}
