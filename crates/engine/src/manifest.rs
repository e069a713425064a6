//! Bundles: the files of a design with a manifest that says what they are, written and read again.
//!
//! Whoever reads a bundle trusts it, and it lies where others may write. So nothing here follows a
//! link, what is judged is what is open already, and a manifest is only ever there while the files
//! beside it are its own: it is taken away before the first of them changes, and put back last.

mod folder;
mod publish;
pub mod read;
pub mod record;
pub mod verify;
pub mod write;

#[cfg(test)]
mod tests;
