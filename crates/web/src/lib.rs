//! The dashboard's server: it checks who asks, calls one use case of the service on a blocking thread
//! and returns the page that `convoke-page` makes of the report.
//!
//! [`serve_dashboard`] is the whole server. It keeps nothing but who may ask and what the last change
//! said: everything else is in the store, so that several dashboards show the same.

mod answer;
mod dashboard;
mod door;
mod form;
mod guess;
mod large_form;
mod listen;
mod live;
mod login;
mod pages;
mod routes;
mod secret;

pub use self::listen::{DashboardListen, serve_dashboard};
