//! A script's words, operators and redirections.

use super::{Tail, Word};

/// An operator between commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Pipe,
    And,
    Or,
    Then,
    Open,
    Close,
}

/// A piece of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Operator(Operator),
    /// `< file`
    Input(Word),
    /// Standard output is redirected.
    OutputAway,
    /// Standard error is redirected.
    ErrorsAway,
    /// The here-document of a command, by its number.
    Given(usize),
}

/// A script in pieces, each with the place where it begins.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    pub(super) tokens: Vec<(usize, Token)>,
    /// The here-documents of the script.
    pub(super) given: Vec<String>,
}

/// Takes a script apart; `None` if a quote or a bracket is not closed.
pub(super) fn lex(script: &str) -> Option<Lexed> {
    let mut lexer =
        Lexer { script, at: 0, lexed: Lexed::default(), awaited: Vec::new(), has_open: false };
    while lexer.step() {}
    (!lexer.has_open).then_some(lexer.lexed)
}

struct Lexer<'a> {
    script: &'a str,
    at: usize,
    lexed: Lexed,
    /// Texts that begin on the next line: their number and the line that ends them.
    awaited: Vec<(usize, String)>,
    has_open: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.script.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_there = self.rest().starts_with(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }

    /// Takes one piece; false at the end.
    fn step(&mut self) -> bool {
        let start = self.at;
        let Some(next) = self.peek() else { return false };
        let token = match next {
            '\n' => {
                self.at += 1;
                self.take_given();
                Some(Token::Operator(Operator::Then))
            }
            _ if next.is_whitespace() || self.eat("\\\n") => {
                if self.at == start {
                    self.next();
                }
                None
            }
            '#' => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                None
            }
            _ => self.operator().or_else(|| self.redirection()).or_else(|| self.word()),
        };
        self.lexed.tokens.extend(token.map(|token| (start, token)));
        // Nothing that is not understood may stop the rest from being read.
        if self.at == start {
            self.next();
        }
        true
    }

    fn operator(&mut self) -> Option<Token> {
        const OPERATORS: [(&str, Operator); 9] = [
            ("&&", Operator::And),
            ("||", Operator::Or),
            ("|&", Operator::Pipe),
            ("|", Operator::Pipe),
            (";;", Operator::Then),
            (";", Operator::Then),
            ("(", Operator::Open),
            (")", Operator::Close),
            ("&", Operator::Then),
        ];
        if self.rest().starts_with("&>") {
            return None;
        }
        let (_, operator) = OPERATORS.iter().find(|(text, _)| self.eat(text))?;
        Some(Token::Operator(*operator))
    }

    fn redirection(&mut self) -> Option<Token> {
        let digits =
            self.rest().len() - self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after = self.rest().get(digits..)?;
        let is_both = after.starts_with("&>");
        if !after.starts_with(['<', '>']) && !is_both || after.starts_with("<(") {
            return None;
        }
        let is_error = self.rest().starts_with('2') && digits == 1;
        self.at += digits;
        if self.eat("<<<") {
            self.target();
            return None;
        }
        if self.eat("<<-") || self.eat("<<") {
            let end = self.target()?.text;
            let index = self.lexed.given.len();
            self.lexed.given.push(String::new());
            self.awaited.push((index, end));
            return Some(Token::Given(index));
        }
        if self.eat("<&") || self.eat("<>") {
            self.target();
            return None;
        }
        if self.eat("<") {
            return self.target().map(Token::Input);
        }
        self.output(if is_error && !is_both { Token::ErrorsAway } else { Token::OutputAway })
    }

    /// Parses the target of a stream; returns `away` if the agent does not see it.
    fn output(&mut self, away: Token) -> Option<Token> {
        let joins = self.rest().starts_with(">&");
        let _found = ["&>>", "&>", ">>", ">|", ">&", ">"].iter().any(|operator| self.eat(operator));
        let target = self.target()?;
        // `2>&1` and `>&2` bring both together, before the same eyes.
        if joins && target.text.chars().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let is_seen = matches!(target.text.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/tty");
        (!is_seen).then_some(away)
    }

    fn target(&mut self) -> Option<Word> {
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.at += 1;
        }
        match self.word() {
            Some(Token::Word(word)) => Some(word),
            Some(_) | None => None,
        }
    }

    /// Reads the texts that were announced on the line before.
    fn take_given(&mut self) {
        for (index, end) in std::mem::take(&mut self.awaited) {
            let mut text = String::new();
            while self.at < self.script.len() {
                let line = self.rest().split_inclusive('\n').next().unwrap_or_default().to_owned();
                self.at += line.len();
                if line.trim() == end {
                    break;
                }
                text.push_str(&line);
            }
            if let Some(given) = self.lexed.given.get_mut(index) {
                *given = text;
            }
        }
    }

    fn word(&mut self) -> Option<Token> {
        let start = self.at;
        let mut word = Growing::default();
        while let Some(next) = self.peek() {
            match next {
                '<' if self.rest().starts_with("<(") => {
                    self.at += 1;
                    self.nested(&mut word);
                }
                _ if next.is_whitespace() || ";|&<>()".contains(next) => break,
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => {
                    self.next();
                    if let Some(escaped) = self.next().filter(|c| *c != '\n') {
                        word.push(escaped);
                    }
                }
                '$' | '`' => self.expansion(&mut word),
                '*' | '?' | '[' => {
                    self.next();
                    word.push_glob(next);
                }
                '~' if self.at == start => {
                    self.next();
                    word.push_unknown("~");
                }
                '{' if self.is_list() => {
                    let length = self.rest().find('}').map_or(1, |end| end + 1);
                    let list = self.rest().get(..length).unwrap_or_default().to_owned();
                    self.at += length;
                    word.push_unknown(&list);
                }
                _ => {
                    self.next();
                    word.push(next);
                }
            }
        }
        (self.at > start).then(|| Token::Word(word.finished()))
    }

    /// `{a,b}` expands to several words.
    fn is_list(&self) -> bool {
        let inside = self.rest().split(['}', ' ', '\n']).next().unwrap_or_default();
        inside.contains(',')
            && self.rest().get(inside.len()..).is_some_and(|rest| rest.starts_with('}'))
    }

    fn single_quoted(&mut self, word: &mut Growing) {
        self.next();
        let Some(length) = self.rest().find('\'') else {
            self.has_open = true;
            self.at = self.script.len();
            return;
        };
        self.rest().get(..length).unwrap_or_default().chars().for_each(|c| word.push(c));
        self.at += length + 1;
    }

    fn double_quoted(&mut self, word: &mut Growing) {
        self.next();
        loop {
            match self.peek() {
                None => {
                    self.has_open = true;
                    return;
                }
                Some('"') => {
                    self.next();
                    return;
                }
                Some('\\') => {
                    self.next();
                    match self.next() {
                        Some(escaped @ ('"' | '$' | '`' | '\\')) => word.push(escaped),
                        Some('\n') | None => {}
                        Some(other) => {
                            word.push('\\');
                            word.push(other);
                        }
                    }
                }
                Some('$' | '`') => self.expansion(word),
                Some(other) => {
                    self.next();
                    word.push(other);
                }
            }
        }
    }

    /// Skips a part of a word that the shell expands.
    fn expansion(&mut self, word: &mut Growing) {
        let start = self.at;
        if self.eat("`") {
            let length = self.rest().find('`');
            self.has_open |= length.is_none();
            self.at += length.map_or(self.rest().len(), |length| length + 1);
            word.has_command = true;
        } else if self.rest().starts_with("$(") {
            self.at += 1;
            return self.nested(word);
        } else if self.eat("${") {
            self.at += self.rest().find('}').map_or(self.rest().len(), |length| length + 1);
        } else {
            self.at += 1;
            let is_name = |c: char| c.is_alphanumeric() || "_@*#?!".contains(c);
            self.at += self.rest().len() - self.rest().trim_start_matches(is_name).len();
            if self.at == start + 1 {
                return word.push('$');
            }
        }
        word.push_unknown(self.script.get(start..self.at).unwrap_or_default());
    }

    /// Takes a command in brackets, to the bracket that closes it.
    fn nested(&mut self, word: &mut Growing) {
        let (start, mut depth) = (self.at, 0_usize);
        while let Some(next) = self.next() {
            match next {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        self.has_open |= depth > 0;
        word.has_command = true;
        word.push_unknown(self.script.get(start..self.at).unwrap_or_default());
    }
}

/// A word that is still being read.
#[derive(Default)]
struct Growing {
    text: String,
    is_folder_unknown: bool,
    tail: Option<Tail>,
    has_command: bool,
}

impl Growing {
    fn push(&mut self, c: char) {
        if c == '/' {
            self.is_folder_unknown |= self.tail.is_some();
            self.tail = None;
        }
        self.text.push(c);
    }

    fn push_glob(&mut self, c: char) {
        self.tail = self.tail.or(Some(Tail::Glob));
        self.text.push(c);
    }

    fn push_unknown(&mut self, raw: &str) {
        self.tail = Some(Tail::Unknown);
        self.text.push_str(raw);
    }

    fn finished(self) -> Word {
        Word {
            text: self.text,
            is_folder_known: !self.is_folder_unknown,
            tail: self.tail.unwrap_or(Tail::Literal),
            has_command: self.has_command,
        }
    }
}
