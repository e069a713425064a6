//! How definitions begin, language by language, as data.
//!
//! A line is enough: its first words tell whether it defines something. No grammar is needed,
//! so any text has definitions or none, and the ranges that they give are lines of the file in any case.

/// Which lines define something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionStyle {
    /// One of the keywords, behind any modifiers.
    Keywords,
    /// Keywords, and lines that look like the head of a function: `int main(…) {`.
    KeywordsAndHeads,
    /// Headings with `#`.
    Headings,
    /// Headings with a line of signs below them.
    Underlined,
    /// `[section]` lines, and keys at the margin.
    Sections,
    /// Nothing but paragraphs.
    Plain,
}

/// The rules of some languages.
#[derive(Debug, Clone, Copy)]
pub(super) struct LanguageRules {
    /// Endings of file names, without the dot.
    endings: &'static [&'static str],
    /// The word behind a code fence.
    pub(super) fence: &'static str,
    pub(super) style: DefinitionStyle,
    /// Words that may stand before a keyword.
    pub(super) modifiers: &'static [&'static str],
    pub(super) keywords: &'static [&'static str],
    /// Keywords that define something only at the margin: `const` in JavaScript.
    pub(super) at_margin: &'static [&'static str],
    /// How a line begins that belongs to the definition below it: comments, attributes, decorators.
    pub(super) leads: &'static [&'static str],
}

const C_LEADS: &[&str] = &["//", "/*", "*", "@", "[", "template"];

const NOTHING: LanguageRules = LanguageRules {
    endings: &[],
    fence: "",
    style: DefinitionStyle::Plain,
    modifiers: &[],
    keywords: &[],
    at_margin: &[],
    leads: &[],
};

const LANGUAGES: &[LanguageRules] = &[
    LanguageRules {
        endings: &["rs"],
        fence: "rust",
        style: DefinitionStyle::Keywords,
        modifiers: &["pub", "async", "unsafe", "extern", "default", "const"],
        keywords: &[
            "fn",
            "struct",
            "enum",
            "trait",
            "impl",
            "mod",
            "type",
            "static",
            "union",
            "macro_rules!",
            "const",
        ],
        at_margin: &[],
        leads: &["//", "#[", "#!["],
    },
    LanguageRules {
        endings: &["py", "pyi", "pyx"],
        fence: "python",
        style: DefinitionStyle::Keywords,
        modifiers: &["async"],
        keywords: &["def", "class", "cdef", "cpdef"],
        at_margin: &[],
        leads: &["#", "@"],
    },
    LanguageRules {
        endings: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        fence: "ts",
        style: DefinitionStyle::KeywordsAndHeads,
        modifiers: &[
            "export",
            "default",
            "async",
            "declare",
            "abstract",
            "public",
            "private",
            "protected",
            "static",
            "readonly",
        ],
        keywords: &["function", "function*", "class", "interface", "enum", "namespace", "module"],
        at_margin: &["const", "let", "var", "type"],
        leads: C_LEADS,
    },
    LanguageRules {
        endings: &["go"],
        fence: "go",
        style: DefinitionStyle::Keywords,
        modifiers: &[],
        keywords: &["func", "type"],
        at_margin: &["var", "const"],
        leads: &["//"],
    },
    LanguageRules {
        endings: &["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m", "mm", "ino", "cu"],
        fence: "cpp",
        style: DefinitionStyle::KeywordsAndHeads,
        modifiers: &["static", "inline", "constexpr", "extern", "virtual", "export", "typedef"],
        keywords: &["struct", "class", "enum", "union", "namespace", "#define", "@interface"],
        at_margin: &[],
        leads: C_LEADS,
    },
    LanguageRules {
        endings: &["java", "kt", "kts", "cs", "scala", "swift", "dart", "groovy", "php", "zig"],
        fence: "",
        style: DefinitionStyle::KeywordsAndHeads,
        modifiers: &[
            "public",
            "private",
            "protected",
            "internal",
            "static",
            "final",
            "abstract",
            "sealed",
            "open",
            "override",
            "async",
            "data",
            "inline",
            "suspend",
            "fileprivate",
            "partial",
            "readonly",
            "pub",
            "export",
            "case",
            "implicit",
            "lazy",
            "mutating",
            "virtual",
            "const",
        ],
        keywords: &[
            "class",
            "interface",
            "enum",
            "record",
            "struct",
            "fun",
            "func",
            "fn",
            "def",
            "function",
            "object",
            "trait",
            "protocol",
            "extension",
            "namespace",
            "typealias",
            "init",
            "mixin",
        ],
        at_margin: &["const", "val", "var", "let", "type"],
        leads: C_LEADS,
    },
    LanguageRules {
        endings: &["rb", "ex", "exs", "cr", "jl", "lua", "nim"],
        fence: "",
        style: DefinitionStyle::Keywords,
        modifiers: &["local", "private", "protected"],
        keywords: &[
            "def",
            "defp",
            "class",
            "module",
            "defmodule",
            "defmacro",
            "function",
            "struct",
            "macro",
            "proc",
            "func",
            "type",
            "template",
        ],
        at_margin: &[],
        leads: &["#", "--", "@"],
    },
    LanguageRules {
        endings: &["sh", "bash", "zsh", "fish", "bats"],
        fence: "sh",
        style: DefinitionStyle::KeywordsAndHeads,
        modifiers: &[],
        keywords: &["function"],
        at_margin: &[],
        leads: &["#"],
    },
    LanguageRules {
        endings: &["hs", "ml", "mli", "fs", "fsx", "clj", "cljs", "el", "erl", "lisp", "scm"],
        fence: "",
        style: DefinitionStyle::Keywords,
        modifiers: &["let"],
        keywords: &[
            "let",
            "type",
            "module",
            "data",
            "newtype",
            "class",
            "instance",
            "val",
            "(defn",
            "(def",
            "(defn-",
            "(defun",
            "(defmacro",
            "(defvar",
            "(define",
        ],
        at_margin: &[],
        leads: &["--", "//", ";", "(*"],
    },
    LanguageRules {
        endings: &["sql"],
        fence: "sql",
        style: DefinitionStyle::Keywords,
        modifiers: &[],
        keywords: &["create", "alter", "CREATE", "ALTER"],
        at_margin: &[],
        leads: &["--"],
    },
    LanguageRules {
        endings: &["proto", "thrift", "graphql", "gql", "prisma", "tf", "hcl"],
        fence: "",
        style: DefinitionStyle::Keywords,
        modifiers: &["extend"],
        keywords: &[
            "message",
            "service",
            "enum",
            "rpc",
            "struct",
            "type",
            "input",
            "interface",
            "model",
            "resource",
            "variable",
            "module",
            "data",
            "output",
        ],
        at_margin: &[],
        leads: &["//", "#"],
    },
    LanguageRules {
        endings: &["md", "mdx", "markdown", "qmd"],
        fence: "md",
        style: DefinitionStyle::Headings,
        ..NOTHING
    },
    LanguageRules {
        endings: &["rst", "adoc", "txt"],
        fence: "",
        style: DefinitionStyle::Underlined,
        ..NOTHING
    },
    LanguageRules {
        endings: &["toml", "ini", "cfg", "conf", "yml", "yaml", "properties", "mk", "cmake", "nix"],
        fence: "",
        style: DefinitionStyle::Sections,
        leads: &["#", ";"],
        ..NOTHING
    },
];

impl LanguageRules {
    /// Returns the rules for a file, by the end of its name.
    pub(super) fn of(path: &str) -> &'static Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending).to_lowercase();
        let is_it = |rules: &&Self| rules.endings.contains(&ending.as_str());
        LANGUAGES.iter().find(is_it).unwrap_or(match ending.as_str() {
            "makefile" | "dockerfile" | "justfile" => &SECTIONS,
            _ => &NOTHING,
        })
    }
}

const SECTIONS: LanguageRules =
    LanguageRules { style: DefinitionStyle::Sections, leads: &["#"], ..NOTHING };
