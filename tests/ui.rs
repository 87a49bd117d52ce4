//! What the compiler says about mistakes, and programs that must compile.

use std::process::Command;

/// The compiler whose words are on file. Another one may say the same thing in other
/// words, so there only the programs that must compile are tried.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn mistakes_are_explained_where_they_are_made() {
    let tests = trybuild::TestCases::new();
    tests.pass("ui/pass/*.rs");
    let compiler = version();
    if compiler.starts_with(COMPILER) {
        tests.compile_fail("ui/fail/*.rs");
    } else {
        println!("skipped: what the compiler says is on file for {COMPILER}x, not for {compiler}");
    }
}

fn version() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("cargo has just run the compiler");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
