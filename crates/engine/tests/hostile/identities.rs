//! Debaters' texts, and whether they reveal their author.

use convoke_domain::design::anonymity::Hidden;
use convoke_domain::design::seat::Panel;

use super::cases::Case;

/// Returns whether a name was hidden, the text was kept, or the debate had to end.
pub(crate) fn verdict(case: &Case) -> String {
    let text = case.text();
    let word = match Hidden::of(&Panel::default()).mask(&text) {
        Err(_) => "refused",
        Ok(masked) if masked.text == text => "kept",
        Ok(masked) => match case.keys.get("keeps") {
            Some(kept) if !masked.text.contains(kept.as_str()) => "lost",
            _ => "hidden",
        },
    };
    word.to_owned()
}
