//! Splits a text into parts that clients pass on completely, each recognisable by its first and
//! last line.

use std::num::NonZeroUsize;

use crate::pin;

/// The room that both marks of a part and the line about its order need, for any part numbers.
const MARKS: usize = 280;

/// How many characters both marks of a part have at most, while there are fewer than a hundred parts.
const MARKS_USED: usize = 80;

/// How many characters the line about the order of several parts has at most.
const ORDER_USED: usize = 95;

/// The bytes that a part may lose because no character is split.
const CHARACTER: usize = 3;

/// Returns how many characters the marks of one of so many parts have at most.
pub const fn marks_used(parts: u64) -> usize {
    if parts > 1 { MARKS_USED + ORDER_USED } else { MARKS_USED }
}

/// Returns how many bytes of any text fit into a number of parts.
pub fn room(parts: NonZeroUsize, most_bytes: usize) -> usize {
    parts.get().saturating_mul(most_bytes.saturating_sub(MARKS + CHARACTER))
}

/// Cuts a text into at most `parts` parts of at most `most_bytes` each, at line borders where that
/// leaves enough room for the rest. `nonce` marks parts of the same text. Only as many parts are
/// made as are needed; what does not fit into all of them is returned as the number of bytes left
/// over: none if the text has no more than [`room`].
pub fn split(
    text: &str,
    parts: NonZeroUsize,
    most_bytes: usize,
    nonce: &str,
) -> (Vec<String>, usize) {
    let room = most_bytes.saturating_sub(MARKS);
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && pieces.len() < parts.get() {
        let later = (parts.get() - pieces.len() - 1).saturating_mul(room.saturating_sub(CHARACTER));
        let piece = first_piece(rest, room, later);
        if piece.is_empty() {
            break;
        }
        pieces.push(piece);
        rest = &rest[piece.len()..];
    }
    let total = pieces.len();
    let first = if text.starts_with(pin::BEGIN) {
        "the user's rules, which come first"
    } else {
        "the beginning"
    };
    let mut is_line_open = false;
    let marked = pieces.iter().zip(1..).map(|(piece, number)| {
        // The rest of a line is marked: it may be quoted text, which must not begin a line.
        let rest = if is_line_open { "…" } else { "" };
        is_line_open = !piece.ends_with('\n');
        let end = if piece.ends_with('\n') { "" } else { "\n" };
        let order = if total == 1 {
            String::new()
        } else {
            format!("(Clients hand the {total} parts over in any order; part 1 has {first}.)\n")
        };
        format!(
            "[convoke wake-up {number}/{total} {nonce}]\n{order}{rest}{piece}{end}[end of convoke wake-up {number}/{total} {nonce}]\n"
        )
    });
    (marked.collect(), rest.len())
}

/// Returns the first piece of a text of which `later` bytes have room elsewhere.
fn first_piece(text: &str, room: usize, later: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    let most = &text[..text.floor_char_boundary(room)];
    match most.rfind('\n') {
        Some(newline) if text.len() - newline - 1 <= later => &most[..=newline],
        // A cut at a line border would leave too much for the remaining parts.
        Some(_) | None => most,
    }
}

/// Takes the marks off a part again.
#[cfg(test)]
pub(crate) fn unmarked(part: &str) -> &str {
    let (_, body) = part.split_once('\n').unwrap();
    let body =
        if body.starts_with("(Clients hand") { body.split_once('\n').unwrap().1 } else { body };
    let body = body.strip_prefix('…').unwrap_or(body);
    &body[..body.rfind("[end of convoke").unwrap()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    #[test]
    fn a_part_says_which_it_is_at_both_ends() {
        let (made, left) = split("one\ntwo\n", parts(4), MARKS + 4, "ab12");
        assert_eq!(
            made,
            [
                "[convoke wake-up 1/2 ab12]\n(Clients hand the 2 parts over in any order; part 1 has the beginning.)\none\n[end of convoke wake-up 1/2 ab12]\n",
                "[convoke wake-up 2/2 ab12]\n(Clients hand the 2 parts over in any order; part 1 has the beginning.)\ntwo\n[end of convoke wake-up 2/2 ab12]\n",
            ]
        );
        assert_eq!(left, 0);
        assert_eq!(split("", parts(2), 500, "x"), (vec![], 0));
    }

    // Clients run hook entries in parallel, so a model may read the last part first.
    #[test]
    fn every_part_says_where_the_rules_are() {
        let text = format!("{}\n- [rule 1] Never\n{}", pin::BEGIN, "line\n".repeat(200));
        let (made, _) = split(&text, parts(9), MARKS + 300, "ab12");
        assert!(made.len() > 2, "{}", made.len());
        let says = "in any order; part 1 has the user's rules, which come first.)\n";
        assert!(made.iter().all(|part| part.contains(says)), "{made:?}");
        let (made, _) = split("short\n", parts(9), 1000, "ab12");
        assert!(!made[0].contains("order"), "{made:?}");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let (made, left) = split("aaaa\nbbbb\ncccc\n", parts(2), MARKS + 5, "x");
        assert_eq!((made.len(), left), (2, 5));
    }

    proptest! {
        #[test]
        fn parts_are_within_the_limit_and_lose_nothing(
            text in "([a-zé가 ]{0,30}\n?){0,30}", number in 1_usize..6, room in 4_usize..80,
        ) {
            let (made, left) = split(&text, parts(number), MARKS + room, "0123abcd");
            prop_assert!(made.iter().all(|part| part.len() <= MARKS + room));
            let joined: String = made.iter().map(|part| unmarked(part)).collect();
            let kept = &text[..text.len() - left];
            prop_assert_eq!(joined.replace('\n', ""), kept.replace('\n', ""));
            if left > 0 {
                prop_assert_eq!(made.len(), number);
            }
            if text.len() <= super::room(parts(number), MARKS + room) {
                prop_assert_eq!(left, 0, "all text that fits is in the parts");
            }
        }
    }
}
