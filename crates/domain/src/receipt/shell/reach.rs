//! Which files an unknown command could have read.

use super::Reach;
use super::program::{is_bare, is_reader, program};
use super::syntax::{Pipeline, Tail, Word};

/// Tells which files a pipeline could have read that Convoke does not understand.
pub(super) fn reach(pipeline: &Pipeline) -> Reach {
    let words = || pipeline.commands.iter().flat_map(|command| &command.words);
    let runs_on_names = words().any(|word| word.text == "xargs" || word.text.starts_with("-exec"));
    let names_some = words().any(|word| {
        let is_name = word.text.contains(['*', '.']) && !matches!(word.text.as_str(), "." | "..");
        is_name && !word.text.starts_with('-')
    });
    let reads_unknown = pipeline.commands.iter().any(|command| {
        let (name, arguments) = program(command);
        is_reader(name) && arguments.iter().any(is_bare)
    });
    if reads_unknown || (runs_on_names && !names_some) { Reach::Anything } else { Reach::Words }
}

/// Returns the reach of a loop: the files that its list names, if it has one; else any file. A loop
/// that makes names out of its list may read any file, too.
pub(super) fn compound_reach(pipeline: &Pipeline) -> Reach {
    let words: Vec<&Word> = pipeline.commands.iter().flat_map(|command| &command.words).collect();
    let list = pipeline.commands.first().map_or(&[][..], |command| command.words.as_slice());
    let has_list = list.first().is_some_and(|word| word.text == "for")
        && list.iter().skip(3).all(|word| !is_bare(word) && !word.has_command);
    let makes_names = words.iter().any(|word| {
        let literal = word.text.trim_matches(['$', '{', '}', '"']);
        let is_plain = literal.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        word.text.contains('$') && !is_plain
    });
    let has_list = has_list && !makes_names;
    let reads = words.iter().any(|word| is_reader(&word.text));
    let has_unknown = makes_names || words.iter().any(|word| word.tail == Tail::Unknown);
    if reads && has_unknown && !has_list { Reach::Anything } else { Reach::Words }
}

/// Tells which files a word could name after the shell's expansion.
pub(super) fn word_reach(word: &Word) -> Reach {
    if is_bare(word) { Reach::Anything } else { Reach::Words }
}
