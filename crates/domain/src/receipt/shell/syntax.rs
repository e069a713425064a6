//! As much of a shell's syntax as is needed to tell which programs run on which files.
//!
//! Syntax that Convoke does not know makes the result less certain, never wrong: a word records
//! which part of it only the shell can expand.

mod lexer;

use self::lexer::{Lexed, Operator, Token, lex};

/// How the last part of a word is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// It is literal text.
    Literal,
    /// It is a pattern.
    Glob,
    /// Only the shell knows.
    Unknown,
}

/// A word of a command, its quotes removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// The text before the last slash is literal.
    pub(super) is_folder_known: bool,
    pub(super) tail: Tail,
    /// It holds a command of its own.
    pub(super) has_command: bool,
}

impl Word {
    /// Returns the word if the shell changes nothing about it.
    pub(super) fn literal(&self) -> Option<&str> {
        (self.is_folder_known && self.tail == Tail::Literal && !self.has_command)
            .then_some(self.text.as_str())
    }
}

/// One program with its words, and the target of its output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// The file on its standard input.
    pub(super) input: Option<Word>,
    /// Its standard output does not reach the agent.
    pub(super) is_output_away: bool,
    /// Its complaints do not reach the agent.
    pub(super) are_errors_away: bool,
}

/// How a pipeline depends on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// Unconditionally.
    Then,
    /// It runs if that one succeeded.
    And,
    /// It runs if that one failed.
    Or,
}

/// Programs that pass their output on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub(super) joint: Joint,
    pub(super) commands: Vec<Command>,
    /// A loop or a condition: its words are here, but what runs is not known.
    pub(super) is_compound: bool,
    /// It follows a subshell, whose folder it does not share.
    pub(super) follows_subshell: bool,
    /// The pipeline's text, with its here-documents.
    pub(super) text: String,
}

/// Splits a script into pipelines; `None` if its quotes are not closed.
pub(super) fn pipelines(script: &str) -> Option<Vec<Pipeline>> {
    let lexed = lex(script)?;
    let mut parser = Parser::new(script, &lexed);
    lexed.tokens.iter().for_each(|token| parser.take(token));
    parser.finish_pipeline(Joint::Then, script.len());
    Some(parser.pipelines)
}

const OPENING: [&str; 7] = ["if", "while", "until", "for", "case", "select", "function"];
const CLOSING: [&str; 3] = ["fi", "done", "esac"];

struct Parser<'a> {
    script: &'a str,
    lexed: &'a Lexed,
    pipelines: Vec<Pipeline>,
    commands: Vec<Command>,
    command: Command,
    joint: Joint,
    /// How many loops and conditions are open.
    depth: usize,
    follows_subshell: bool,
    /// Where the pipeline begins in the script.
    start: usize,
    given: String,
}

impl<'a> Parser<'a> {
    fn new(script: &'a str, lexed: &'a Lexed) -> Self {
        Self {
            script,
            lexed,
            pipelines: Vec::new(),
            commands: Vec::new(),
            command: Command::default(),
            joint: Joint::Then,
            depth: 0,
            follows_subshell: false,
            start: 0,
            given: String::new(),
        }
    }

    fn take(&mut self, token: &(usize, Token)) {
        let (at, token) = token;
        match token {
            Token::Word(word) => self.word(word),
            Token::Operator(operator) => self.operator(*operator, *at),
            Token::Input(word) => self.command.input = Some(word.clone()),
            Token::OutputAway => self.command.is_output_away = true,
            Token::ErrorsAway => self.command.are_errors_away = true,
            Token::Given(index) => {
                self.given.push('\n');
                self.given.push_str(self.lexed.given.get(*index).map_or("", String::as_str));
            }
        }
    }

    fn word(&mut self, word: &Word) {
        let is_first = self.command.words.is_empty();
        let text = word.text.as_str();
        // Inside a loop, a closing word may follow any separator; it is always the first one.
        if is_first && OPENING.contains(&text) {
            self.depth += 1;
        } else if is_first && self.depth > 0 && CLOSING.contains(&text) {
            self.depth -= 1;
        } else if is_first && self.depth == 0 && matches!(text, "!" | "time" | "{" | "}") {
            return;
        }
        self.command.words.push(word.clone());
    }

    fn operator(&mut self, operator: Operator, at: usize) {
        if self.depth > 0 {
            // Each command of a loop is kept, so that its programs can be examined.
            self.finish_command();
            return;
        }
        match operator {
            Operator::Pipe => self.finish_command(),
            Operator::And => self.finish_pipeline(Joint::And, at),
            Operator::Or => self.finish_pipeline(Joint::Or, at),
            Operator::Open if self.command.words.is_empty() => {}
            Operator::Then | Operator::Open => self.finish_pipeline(Joint::Then, at),
            Operator::Close => {
                self.finish_pipeline(Joint::Then, at);
                self.follows_subshell = true;
            }
        }
    }

    fn finish_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        if command != Command::default() {
            self.commands.push(command);
        }
    }

    fn finish_pipeline(&mut self, next: Joint, end: usize) {
        self.finish_command();
        let written = self.script.get(self.start..end).unwrap_or_default();
        let written = written.trim_matches(|c: char| c.is_whitespace() || ";|&()".contains(c));
        self.start = end;
        let given = std::mem::take(&mut self.given);
        if self.commands.is_empty() {
            // `a ) && b`: the command behind the bracket depends on the one inside.
            if next != Joint::Then {
                self.joint = next;
            }
            return;
        }
        let commands = std::mem::take(&mut self.commands);
        let opens = |word: &Word| OPENING.contains(&word.text.as_str());
        let is_compound = commands.iter().any(|command| command.words.first().is_some_and(opens));
        self.pipelines.push(Pipeline {
            joint: self.joint,
            commands,
            is_compound,
            follows_subshell: std::mem::take(&mut self.follows_subshell),
            text: format!("{written}{given}"),
        });
        self.joint = next;
    }
}
