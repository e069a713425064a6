//! Blocks of votes that their writer does not mean: examples, and votes that the writer takes back.
//!
//! Both differ from ordinary talk around a block, such as "Here are my votes, in the requested
//! format:", which must never cost a vote.

use crate::dispatch::ambiguity::{calls_example, imagines, is_bare_fence};

/// Words for the form of an answer.
const FORMATS: [&str; 5] = ["format", "формат", "格式", "形式", "형식"];

/// Words that make what follows the writer's own.
const OWN: [&str; 17] = [
    "my vote",
    "my final",
    "my answer",
    "my ballot",
    "my verdict",
    "my decision",
    "my judg",
    "i vote",
    "meine stimm",
    "meine vot",
    "mein urteil",
    "ich stimme",
    "mes vote",
    "je vote",
    "mis voto",
    "мои голос",
    "我的",
];

/// Words that say of a form that an answer keeps to it.
const KEPT_TO: [&str; 8] =
    ["in the ", "in your ", "as requested", "as asked", "im ", "au format", "en el ", "nel "];

/// Words that say of votes, on either side of them, that they are not the writer's.
const NOT_MINE: [&str; 12] = [
    "not my vote",
    "not my real",
    "not my actual",
    "not my final",
    "not real votes",
    "nicht meine stimm",
    "nicht meine vot",
    "pas mes vote",
    "no son mis voto",
    "non sono i miei vot",
    "не мои голос",
    "不是我的",
];

/// Words with which a sentence that ends with a full stop refers to the text below it.
const FOLLOWING: [&str; 8] = [
    "the following is",
    "what follows is",
    "the block below",
    "the votes below",
    "below is",
    "das folgende ist",
    "ce qui suit est",
    "lo siguiente es",
];

/// Words that take votes back, in languages whose order of words is not English. Each names the votes
/// or the block: "Je retire la remarque" takes back something else.
const TAKEN_BACK: [(&str, &[&str]); 18] = [
    ("ziehe", &["stimmen", "votes", "block"]),
    ("nehme", &["stimmen zurück", "votes zurück", "block zurück"]),
    ("ignorier", &["stimmen", "votes", "block"]),
    ("nicht zähl", &["stimmen", "votes", "block"]),
    ("zählt nicht", &["stimmen", "votes", "block"]),
    ("zählen nicht", &["stimmen", "votes", "block"]),
    ("je retire", &["votes", "bloc"]),
    ("ignorez", &["votes", "bloc"]),
    ("ne comptez pas", &["votes", "bloc"]),
    ("retiro", &["voto", "bloque"]),
    ("ignor", &["votos", "bloque", "voti", "blocco"]),
    ("ritiro", &["voti", "blocco"]),
    ("отзыва", &["голос", "блок"]),
    ("игнорир", &["голос", "блок"]),
    ("撤回", &["票", "上"]),
    ("忽略", &["票", "上面", "以上", "块"]),
    ("無視", &["票", "上", "ブロック"]),
    ("철회", &["투표", "블록", "표"]),
];

/// How much of an answer a sentence takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// The preceding block.
    Block,
    /// All votes before it.
    Votes,
}

/// Returns the line directly above a block if that line calls it an example, imagines it or rejects
/// it. `before` holds the lines above, the last one nearest.
pub(super) fn introduction<'a>(before: &[&'a str]) -> Option<&'a str> {
    let line = before.iter().rev().map(|line| line.trim());
    let line = line.into_iter().find(|line| !line.is_empty() && !is_bare_fence(line))?;
    is_example(line).then_some(line)
}

/// Tells whether a line calls the text below it an example.
pub(super) fn is_example(line: &str) -> bool {
    let words = line.to_lowercase();
    let holds = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    // "For example, my votes:" is an example; "following the example, my votes:" is not.
    let start: String = words.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    let is_own = holds(&OWN) && !calls_example(&start) && !words.contains("would ");
    let is_form = holds(&FORMATS) && !holds(&KEPT_TO);
    let is_below = ["below", "following", "next block", "folgend"];
    let is_introduced = (calls_example(&words) || is_form) && introduces(&words);
    imagines(&words)
        || is_introduced && !is_own
        || calls_example(&words) && holds(&FOLLOWING)
        || holds(&NOT_MINE)
        || holds(&is_below) && withdrawal_in(&words).is_some()
}

/// Tells whether a line introduces the text below it: it ends with a colon, or it is a short
/// fragment. "I checked each citation, for example `a.py:36`." does neither.
fn introduces(line: &str) -> bool {
    const FEW: usize = 5;
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || "*_`".contains(c));
    if line.ends_with([':', '\u{ff1a}']) {
        return true;
    }
    let is_sentence = line.ends_with(['.', '!', '?', '\u{3002}', '\u{ff01}']);
    let is_short = line.split_whitespace().count() <= FEW;
    is_short && (!is_sentence || is_said_to_be_example(line))
}

/// Finds a sentence below a block that takes it back. Returns the sentence and how much it takes
/// back.
pub(super) fn withdrawal(after: &[&str]) -> Option<(String, Extent)> {
    let text = after.join("\n");
    let sentences = text.split(['.', '!', '?', '\n', '\u{3002}', '\u{ff01}', ';']);
    let taken = sentences.filter_map(|sentence| {
        let extent = withdrawal_in(&sentence.to_lowercase())?;
        Some((sentence.trim().to_owned(), extent))
    });
    // The first of those that take back most.
    taken.reduce(|widest, other| if other.1 > widest.1 { other } else { widest })
}

/// Tells how much a sentence in small letters takes back. Its words about votes further down do not
/// count.
fn withdrawal_in(sentence: &str) -> Option<Extent> {
    let is_plural = |object: &str| !object.starts_with("blo");
    let foreign = TAKEN_BACK.iter().filter(|(verb, _)| sentence.contains(verb));
    let object = foreign
        .flat_map(|(_, objects)| objects.iter())
        .find(|object| sentence.contains(**object))
        .copied()
        .or_else(|| NOT_MINE.iter().find(|phrase| sentence.contains(**phrase)).copied());
    object
        .map(|object| if is_plural(object) { Extent::Votes } else { Extent::Block })
        .or_else(|| english_withdrawal(sentence))
        .or_else(|| is_said_to_be_void(sentence).then_some(Extent::Votes))
        .or_else(|| is_said_to_be_example(sentence).then_some(Extent::Block))
}

/// Reads "I withdraw these votes", "please ignore the block above", "do not count my votes". The verb
/// begins the sentence or follows a word that lets it be an order or the writer's own act; its object
/// follows within a few words. "The votes above ignore style" takes nothing back.
fn english_withdrawal(sentence: &str) -> Option<Extent> {
    const VERBS: [&str; 13] = [
        "invert",
        "reverse",
        "flip",
        "withdraw",
        "retract",
        "ignore",
        "disregard",
        "discard",
        "revoke",
        "rescind",
        "cancel",
        "void",
        "drop",
    ];
    const BEFORE: [&str; 12] =
        ["i", "we", "please", "hereby", "should", "must", "and", "so", "to", "now", "then", "also"];
    const REACH: usize = 5;
    let apart = |c: char| !c.is_alphanumeric() && c != '\'';
    let words: Vec<_> = sentence.split(apart).filter(|word| !word.is_empty()).collect();
    let is_verb = |place: usize| {
        let before = place.checked_sub(1).and_then(|place| words.get(place)).copied();
        let is_act = before.is_none_or(|word| BEFORE.contains(&word));
        let is_uncounted = words[place] == "count" && before.is_some_and(is_negation);
        is_uncounted || is_act && VERBS.contains(&words[place])
    };
    let object = |place: usize| {
        let objects = words[place + 1..].iter().take(REACH);
        let extents = objects.filter_map(|word| match *word {
            "votes" | "vote" | "ballot" | "blocks" | "everything" | "answer" => Some(Extent::Votes),
            "block" | "above" => Some(Extent::Block),
            "them" if words[place] == "count" && words.len() == place + 2 => Some(Extent::Votes),
            _ => None,
        });
        extents.max()
    };
    let taken = (0..words.len()).filter(|place| is_verb(*place)).find_map(object);
    taken.or_else(|| is_taken_back(&words).then_some(Extent::Votes))
}

/// Reads "these votes are wrong", "my votes above are void" and "every YES above should read NO".
fn is_said_to_be_void(sentence: &str) -> bool {
    const LINKS: [&str; 6] = ["are", "is", "were", "was", "be", "as"];
    const VOID: [&str; 14] = [
        "void",
        "wrong",
        "invalid",
        "incorrect",
        "mistaken",
        "withdrawn",
        "retracted",
        "revoked",
        "null",
        "cancelled",
        "canceled",
        "inverted",
        "swapped",
        "obsolete",
    ];
    const SMALL: [&str; 9] =
        ["all", "now", "therefore", "hereby", "simply", "both", "considered", "treated", "to"];
    const EACH: [&str; 5] = ["every", "each", "all", "any", "my"];
    const TOKENS: [&str; 5] = ["yes", "no", "exonerate", "thesis", "anti_thesis"];
    let apart = |c: char| !c.is_alphanumeric() && c != '\'' && c != '_';
    let words: Vec<_> = sentence.split(apart).filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| is_negation(word) || matches!(*word, "none" | "neither" | "if")) {
        return false;
    }
    let is_token = |word: &&str| TOKENS.contains(word);
    let token = words.windows(2).position(|pair| EACH.contains(&pair[0]) && is_token(&pair[1]));
    let is_swapped = token.is_some_and(|place| {
        let rest = &words[place + 2..];
        let is_changed = rest.iter().any(|word| matches!(*word, "should" | "must" | "means"));
        is_changed && rest.iter().any(is_token)
    });
    let own = ["these", "my", "those", "all", "the"];
    let subject = words.windows(2).position(|pair| {
        own.contains(&pair[0]) && matches!(pair[1], "votes" | "vote" | "ballot" | "block")
    });
    let is_void = subject.is_some_and(|place| {
        let mut rest = words[place + 2..].iter().skip_while(|word| {
            matches!(**word, "above" | "in" | "the" | "block" | "should" | "must" | "on" | "here")
        });
        let is_linked = rest.next().is_some_and(|word| LINKS.contains(word));
        let said = rest.find(|word| !SMALL.contains(word) && !LINKS.contains(word));
        is_linked && said.is_some_and(|word| VOID.contains(word))
    });
    is_swapped || is_void
}

fn is_negation(word: &str) -> bool {
    word == "not" || word.ends_with("n't")
}

/// Reads "I take these votes back" and "I take back my votes".
fn is_taken_back(words: &[&str]) -> bool {
    let at = |wanted: &str| words.iter().position(|word| *word == wanted);
    let names_votes = words.iter().any(|word| matches!(*word, "votes" | "vote" | "block"));
    let order = at("take").zip(at("back"));
    names_votes && order.is_some_and(|(take, back)| take < back && back - take <= 5)
}

/// Reads "the block above is only an example": nothing else of the sentence follows.
fn is_said_to_be_example(sentence: &str) -> bool {
    const SUBJECTS: [&str; 10] =
        ["block", "above", "that", "this", "these", "those", "votes", "das", "dies", "block oben"];
    const LINKS: [&str; 7] = ["is", "was", "are", "were", "war", "ist", "waren"];
    const SMALL: [&str; 10] =
        ["an", "a", "only", "just", "merely", "but", "nur", "ein", "bloß", "simply"];
    const SHOWN: [&str; 8] = [
        "example",
        "examples",
        "sample",
        "draft",
        "placeholder",
        "placeholders",
        "beispiel",
        "muster",
    ];
    let apart = |c: char| !c.is_alphanumeric();
    let mut words = sentence.split(apart).filter(|word| !word.is_empty()).rev();
    let is_shown = words.next().is_some_and(|word| SHOWN.contains(&word));
    let link = words.find(|word| !SMALL.contains(word));
    let is_denied = sentence.split(apart).any(|word| matches!(word, "none" | "neither"));
    is_shown
        && !is_denied
        && link.is_some_and(|word| LINKS.contains(&word))
        && words.next().is_some_and(|word| SUBJECTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_calls_a_block_an_example_is_no_preface() {
        for line in [
            "For example:",
            "The format is:",
            "The expected format:",
            "### Example",
            "```example",
            "Zum Beispiel:",
            "Par exemple :",
            "格式如下：",
            "Формат:",
            "For example, I would vote:",
            "For example, my votes:",
            "Example, in the requested form:",
            "The required format is:",
            "If it had a lock, I would vote:",
            "Ignore the block below:",
            "These are not my votes:",
            "The following is only an example.",
        ] {
            assert_eq!(introduction(&["Fine.", line, ""]), Some(line), "{line}");
        }
        for line in [
            "My votes:",
            "Here are my votes, in the requested format:",
            "Following the example, I vote:",
            "My votes in your format:",
            "In the requested format:",
            "I would vote as follows:",
            "I checked each citation, for example `jot/store.py:36`.",
            "I checked each citation, for example `jot/store.py:36`",
            "I kept to the format.",
            "I read all of it; if anything is unclear, ask.",
            "Meine Stimmen im gewünschten Format:",
            "Voici mes votes au format demandé :",
        ] {
            assert_eq!(introduction(&["For example:", line, "```"]), None, "{line}");
        }
    }

    #[test]
    fn a_sentence_that_takes_votes_back_differs_from_a_friendly_one() {
        for (after, extent) in [
            ("I withdraw these votes.", Extent::Votes),
            ("Please ignore the block above.", Extent::Block),
            ("Fine.\nSorry, do not count my votes!", Extent::Votes),
            ("I take all of these votes back.", Extent::Votes),
            ("Those are not my votes.", Extent::Votes),
            ("These votes are wrong; please do not count them", Extent::Votes),
            ("Please do not count them.", Extent::Votes),
            ("my votes above are void", Extent::Votes),
            ("Every YES above should read NO.", Extent::Votes),
            ("The block above is only an example.", Extent::Block),
            ("Ich ziehe diese Stimmen zurück.", Extent::Votes),
            ("Bitte ignoriere den Block oben.", Extent::Block),
            ("Je retire ces votes.", Extent::Votes),
            ("Ignora el bloque de arriba.", Extent::Block),
            ("Das war nur ein Beispiel.", Extent::Block),
            ("请忽略上面的投票。", Extent::Votes),
        ] {
            let found = withdrawal(&[after]).map(|(_, extent)| extent);
            assert_eq!(found, Some(extent), "{after}");
        }
        for after in [
            "",
            "I hope this helps!",
            "Let me know if you need more.",
            "The withdraw endpoint keeps its lock.",
            "FINDING_1 is an example of scope creep.",
            "The votes above ignore style questions.",
            "I did not count style as blocking.",
            "You can ignore my spelling.",
            "None of these votes are an example; I stand by them.",
            "None of these votes are wrong.",
            "The findings overlap; do not count them twice.",
            "My votes are final.",
            "All YES votes rest on the code.",
            "Je retire la remarque sur le nom.",
            "Das ist ein Beispiel für gute Arbeit.",
        ] {
            assert_eq!(withdrawal(&[after]), None, "{after}");
        }
    }
}
