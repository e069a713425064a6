//! The result of trying to read a file.

use std::fmt;

/// The result of trying to read one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFinding {
    /// There is no such file.
    Absent,
    /// There is one, but it gives no text.
    Unreadable(Unreadable),
    /// The file's complete text.
    Text(String),
}

/// Why a file gives no text. Prints as the reason in warnings and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The operating system refuses.
    PermissionDenied,
    /// A directory has the name.
    IsADirectory,
    /// A pipe, socket or device has the name; it is never opened.
    NotARegularFile,
    /// The bytes are not UTF-8.
    InvalidUtf8,
    /// A link leads out of the folder that must contain the file.
    OutsideDir,
    /// The file is larger than the limit.
    TooLarge,
    /// The file holds NUL bytes, where documents are expected.
    Binary,
    /// The file changed each time that Convoke read it.
    Changing,
    /// The documents before it fill the memory that Convoke takes for all of them.
    BeyondTotal,
    /// The file holds a likely secret, and the user chose to leave such files out.
    Withheld,
    /// Anything else.
    Io,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PermissionDenied => "permission denied",
            Self::IsADirectory => "is a directory",
            Self::NotARegularFile => "not a regular file",
            Self::InvalidUtf8 => "invalid utf-8",
            Self::OutsideDir => "outside dir",
            Self::TooLarge => "too large",
            Self::Binary => "a binary file",
            Self::Changing => "changed while Convoke read it",
            Self::BeyondTotal => "not read: the documents before it fill the memory limit",
            Self::Withheld => "holds a likely secret",
            Self::Io => "i/o error",
        })
    }
}
