//! Numbers that are changed while the service runs: a TOML file, the file again with other
//! numbers, and a live change. State and counts stay, and each value says where it comes from.
//!
//! `cargo run --release --example tuned`

use std::error::Error;
use std::fs;
use std::io;

use breakerbox::Breaker;
use breakerbox::Key;
use breakerbox::Registry;
use breakerbox::circuit_breaker;

const FIRST: &str = r#"
[defaults]
cooldown = "30s"

[services.stripe]
threshold = 4
"#;

const SECOND: &str = r#"
[defaults]
cooldown = "5s"

[services.stripe]
threshold = 6
backoff = 2
"#;

const WRONG: &str = r#"
[services.stripe]
threshold = 0
coldown = "5s"
"#;

#[circuit_breaker(service = "stripe", threshold = 5, cooldown = "60s")]
fn charge() -> io::Result<()> {
    Err(io::Error::other("no answer"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("breakerbox-tuned-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let file = folder.join("breakerbox.toml");
    fs::write(&file, FIRST)?;

    let registry = Registry::builder().config_file(&file).install()?;
    let stripe = breakerbox::breaker("stripe").ok_or("it is annotated")?;
    println!("the attribute asks for 5 failures and 60 s, the file for 4 and 30 s:");
    show(stripe);

    for _ in 0..3 {
        let _ = charge();
    }
    println!("\nthree calls have failed:");
    count(stripe);

    fs::write(&file, WRONG)?;
    println!("\na file with mistakes changes nothing:");
    match registry.reload() {
        Ok(_) => return Err("the file is wrong".into()),
        Err(error) => println!("{error}"),
    }
    count(stripe);

    fs::write(&file, SECOND)?;
    println!("\nthe file again, with other numbers:");
    for change in registry.reload()?.changes() {
        println!("  {change}");
    }
    count(stripe);
    let _ = charge();
    println!("\na fourth failure, which would have opened it before:");
    count(stripe);

    stripe.update(|policy| policy.threshold(5))?;
    println!("\na live change, which comes before file and attribute:");
    show(stripe);
    let _ = charge();
    println!("\nthe fifth failure is judged by it:");
    count(stripe);
    println!("  {}", charge().expect_err("it is open"));

    registry.close();
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn show(breaker: &Breaker) {
    let told = [Key::Threshold, Key::Cooldown, Key::Backoff];
    let snapshot = breaker.snapshot();
    for setting in &*snapshot.configuration {
        if told.contains(&setting.key) {
            println!("  {setting}");
        }
    }
}

fn count(breaker: &Breaker) {
    let snapshot = breaker.snapshot();
    println!(
        "  {}, {} failures in a row, {} in all",
        snapshot.state, snapshot.consecutive_failures, snapshot.calls.failure
    );
}
