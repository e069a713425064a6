//! How far a command reaches that nobody understands.

use super::Reach;
use super::program::{is_bare, is_reader, program};
use super::syntax::{Pipeline, Tail, Word};

/// Tells which files a pipeline could mean that nobody understands.
pub(super) fn reach(pipeline: &Pipeline) -> Reach {
    let words = || pipeline.commands.iter().flat_map(|it| &it.words);
    let runs_on_names = words().any(|it| it.text == "xargs" || it.text.starts_with("-exec"));
    let names_some = words().any(|it| {
        let is_name = it.text.contains(['*', '.']) && !matches!(it.text.as_str(), "." | "..");
        is_name && !it.text.starts_with('-')
    });
    let reads_unknown = pipeline.commands.iter().any(|it| {
        let (name, arguments) = program(it);
        is_reader(name) && arguments.iter().any(is_bare)
    });
    if reads_unknown || (runs_on_names && !names_some) { Reach::Anything } else { Reach::Words }
}

/// A loop reads what its list names, if it has one; else it may read anything. So does one that
/// makes names out of its list.
pub(super) fn compound_reach(pipeline: &Pipeline) -> Reach {
    let words: Vec<&Word> = pipeline.commands.iter().flat_map(|it| &it.words).collect();
    let list = pipeline.commands.first().map_or(&[][..], |it| it.words.as_slice());
    let has_list = list.first().is_some_and(|it| it.text == "for")
        && list.iter().skip(3).all(|it| !is_bare(it) && !it.has_command);
    let makes_names = words.iter().any(|it| {
        let literal = it.text.trim_matches(['$', '{', '}', '"']);
        let is_plain = literal.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        it.text.contains('$') && !is_plain
    });
    let has_list = has_list && !makes_names;
    let reads = words.iter().any(|it| is_reader(&it.text));
    let has_unknown = makes_names || words.iter().any(|it| it.tail == Tail::Unknown);
    if reads && has_unknown && !has_list { Reach::Anything } else { Reach::Words }
}

/// Tells which files a word could mean that the shell changes.
pub(super) fn word_reach(word: &Word) -> Reach {
    if is_bare(word) { Reach::Anything } else { Reach::Words }
}
