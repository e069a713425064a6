//! The repository's shape. One program holds all of these tests: each links the whole of Convoke.

mod clients;
mod dist;
mod json;
mod language;
mod links;
mod rules;
mod tidy;
