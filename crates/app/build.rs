//! How the program is linked.

use std::env;

/// Every lane has a guardian, which is this program once more. One that may lie anywhere in memory is
/// adapted to its place at each start: 600 KB that no two guardians share, and a third of the time
/// that a hook takes to start. At a fixed place nothing is adapted; stack, heap and libraries still
/// lie anywhere.
#[expect(clippy::disallowed_methods, reason = "this is how Cargo says what is built for")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
