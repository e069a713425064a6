//! A text in parts that clients hand on whole, each recognisable by its first and last line.

use std::num::NonZeroUsize;

/// The room that both marks of a part need, whatever its numbers.
const MARKS: usize = 120;

/// What a part may lose because no character is cut in two.
const CHARACTER: usize = 3;

/// Returns how many bytes of a text fit into a number of parts, whatever is in it.
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
    let marked = pieces.iter().zip(1..).map(|(piece, number)| {
        let end = if piece.ends_with('\n') { "" } else { "\n" };
        format!(
            "[convoke wake-up {number}/{total} {nonce}]\n{piece}{end}[end of convoke wake-up {number}/{total} {nonce}]\n"
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
        // A line border would leave too much to what is left of the parts.
        Some(_) | None => most,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    /// Takes the marks off again.
    fn unmarked(part: &str) -> &str {
        let (_, body) = part.split_once('\n').unwrap();
        &body[..body.rfind("[end of convoke").unwrap()]
    }

    #[test]
    fn a_part_says_which_it_is_at_both_ends() {
        let (made, left) = split("one\ntwo\n", parts(4), MARKS + 4, "ab12");
        assert_eq!(
            made,
            [
                "[convoke wake-up 1/2 ab12]\none\n[end of convoke wake-up 1/2 ab12]\n",
                "[convoke wake-up 2/2 ab12]\ntwo\n[end of convoke wake-up 2/2 ab12]\n",
            ]
        );
        assert_eq!(left, 0);
        assert_eq!(split("", parts(2), 500, "x"), (vec![], 0));
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
                prop_assert_eq!(left, 0, "whatever has room is in the parts");
            }
        }
    }
}
