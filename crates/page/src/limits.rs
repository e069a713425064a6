//! How long what a person writes may be. A field stops at its limit, and the server takes a form whose
//! fields are all full, in every script.

/// The longest message, and the longest description of a new task. Browsers count in units of UTF-16.
pub const LONGEST_TEXT: usize = 20_000;

/// The longest description of a task that a person edits: agents write longer ones than people.
pub(crate) const LONGEST_BODY: usize = 100_000;

/// The longest title of a task.
pub(crate) const LONGEST_LINE: usize = 1000;

/// The longest note, and the longest rule.
pub(crate) const LONGEST_NOTE: usize = 2000;

/// The longest reason or answer.
pub(crate) const LONGEST_REASON: usize = 4096;

/// The longest name of an agent.
pub(crate) const LONGEST_NAME: usize = 200;

/// The longest list of ids.
pub(crate) const LONGEST_LIST: usize = 4096;

/// How many bytes a form sends for one unit of a field at most: three bytes of UTF-8, each as `%` and two
/// digits.
const BYTES_OF_UNIT: usize = 9;

/// The most bytes of a form: the longest text of a person, and room for every other field of its form.
pub const LONGEST_FORM: usize = (LONGEST_BODY + LONGEST_LINE + LONGEST_LIST + 2048) * BYTES_OF_UNIT;
