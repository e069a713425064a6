//! Bundles: the files of a design with a manifest that describes them, written and read again.
//!
//! The reader of a bundle trusts it, and it is in a folder that others may write to. So this module
//! follows no link, checks only open files, and a manifest exists only while the files beside it
//! are its own: the writer removes it before the first of them changes, and puts it back last.

mod folder;
mod publish;
pub mod read;
pub mod record;
pub mod verify;
pub mod write;

#[cfg(test)]
mod tests;
