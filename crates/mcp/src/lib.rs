//! The MCP server: Convoke's use cases as tools for agents that have no shell, over stdin and stdout,
//! or over HTTP.
//!
//! [`serve`] and [`serve_http`] are the whole server. A tool reads its arguments, calls a use case of the service on a
//! blocking thread and returns the report twice: as text, and as structured content with the same
//! facts. All state is in the store and in files, because clients end and start servers as they like.

pub mod arguments;
mod calls;
pub mod catalog;
mod greeting;
mod http;
mod lines;
mod observer;
pub mod page;
mod prompts;
mod question;
mod reply;
mod resources;
mod server;
mod tools;
mod twins;

pub use self::http::{HttpListen, serve_http};
pub use self::server::{ClientStreams, Server, serve};
