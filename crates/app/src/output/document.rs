//! JSON documents as lines.

/// Some readers treat more characters as line ends than JSON does; in a document they can only be
/// inside of a string.
pub(super) fn unbroken(document: &str) -> String {
    document
        .replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
