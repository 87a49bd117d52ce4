//! The texts of the scripts, as far as a text can be judged.

use crate::store::redis::wire;

/// Each command with its first argument.
fn commands(source: &'static str) -> Vec<(&'static str, &'static str)> {
    let code = source
        .lines()
        .map(|line| line.split_once("--").map_or(line, |(code, _)| code));
    let mut found = Vec::new();
    for line in code {
        for after in line.split("redis.").skip(1) {
            let (how, rest) = after.split_once('(').expect("a call");
            if how == "error_reply" {
                continue;
            }
            assert!(matches!(how, "call" | "pcall"), "redis.{how}");
            let (arguments, _) = rest.split_once(')').unwrap_or((rest, ""));
            let mut words = arguments.split(',').map(str::trim);
            let command = words.next().expect("a command").trim_matches('\'');
            found.push((command, words.next().unwrap_or_default()));
        }
    }
    found
}

/// B165
#[test]
fn a_script_touches_no_key_that_is_not_declared() {
    for (source, declared) in [
        (wire::SCRIPT, &["KEYS[1]", "KEYS[2]"][..]),
        (wire::NUMBERS, &["KEYS[1]"][..]),
    ] {
        let commands = commands(source);
        let mut touched = Vec::new();
        for (command, argument) in commands {
            match command {
                "TIME" => assert_eq!(argument, ""),
                "PUBLISH" => assert_eq!(argument, "channel"),
                _ => {
                    assert!(declared.contains(&argument), "{command} {argument}");
                    touched.push(argument);
                }
            }
        }
        for key in declared {
            assert!(touched.contains(key), "{key} is declared in vain");
        }
    }
}
