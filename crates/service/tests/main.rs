//! Use cases as another front end calls them. One program holds all of these tests: each links the
//! whole crate.

mod dispatch;
mod example;
mod init;
