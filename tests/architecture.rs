//! Imports run one way: the tables of layers, and the test that reads every file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

/// From what is written down to plain data. A module may name only modules of lower
/// layers; those of one layer do not know each other.
const RUNTIME: &[&[&str]] = &[
    &["lib"],
    &["private"],
    &["registry"],
    &["publish", "site"],
    &["timeout"],
    &["fleet"],
    &["breaker", "policies"],
    &["member"],
    &["bulkhead", "rate_limit", "retry"],
    &["cells", "gate"],
    &["durations", "hot", "recent", "ring", "word"],
    &["blocking", "deadline"],
    &["journal"],
    &["store"],
    &["config", "error", "event", "host", "outcome", "rules"],
    &["settings", "sharing"],
    &["first_error", "limit_conflict", "numbers"],
    &["declaration", "rejected"],
    &["reason"],
    &[
        "clock",
        "name",
        "policy",
        "state",
        "sync",
        "timed_out",
        "verdict",
    ],
];

/// From the entry point to the smallest tools; above it what is only tested.
const MACROS: &[&[&str]] = &[
    &["snapshots"],
    &["lib"],
    &["expand"],
    &["model"],
    &["args", "block"],
    &["item"],
    &["rate", "share"],
    &["value"],
    &["errors", "kind", "leave", "respan"],
];

/// What the rules may know: the law of the breaker has no clock, lock or thread.
const BELOW_RULES: &[&str] = &["clock", "policy", "reason", "rules", "state", "verdict"];

/// What they may take of the clock: instants that are told them, and how to count them.
const CLOCK_FOR_RULES: &[&str] = &["Tick", "nanos"];

/// What no rule may name.
const IMPURE: &[&str] = &[
    "Instant",
    "SystemTime",
    "sync",
    "thread",
    "tokio",
    "fs",
    "net",
];

/// The code of one file: no comments, no strings, no unit tests. Those of the macros quote
/// code of others, which they only read.
struct Source {
    name: String,
    module: String,
    code: String,
}

impl Source {
    fn new(name: &str, text: &str) -> Self {
        let first = name.split('/').next().unwrap_or(name);
        let mut code = bare(text);
        let tests = code.find("\nmod tests {");
        code.truncate(tests.unwrap_or(code.len()));
        if name.ends_with("/tests.rs") || name.contains("/tests/") {
            // They have files of their own.
            code.clear();
        }
        Self {
            name: name.to_owned(),
            module: first.trim_end_matches(".rs").to_owned(),
            code,
        }
    }

    /// The modules that the code names with `crate::`, in an import or elsewhere.
    fn named(&self) -> Vec<&str> {
        let paths = self.code.match_indices("crate::").filter(|(at, _)| {
            let before = self.code[..*at].chars().next_back();
            !before.is_some_and(|before| before == '$' || is_of_a_word(before))
        });
        paths
            .map(|(at, start)| word(&self.code[at + start.len()..]))
            .collect()
    }

    /// Whether `word` stands alone somewhere in the code.
    fn says(&self, wanted: &str) -> bool {
        self.code
            .split(|char| !is_of_a_word(char))
            .any(|word| word == wanted)
    }
}

fn is_of_a_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The word that `text` begins with; a `{` or `*` stands for itself, so that an import of
/// several modules at once is in no layer.
fn word(text: &str) -> &str {
    let end = text.find(|char| !is_of_a_word(char)).unwrap_or(text.len());
    text.get(..end.max(1)).unwrap_or_default()
}

/// `text` without its comments and with its strings and characters emptied.
fn bare(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let skipped = match char {
            '/' => end_of_comment(rest),
            '"' => end_of_string(rest),
            '\'' => end_of_char(rest),
            'r' => end_of_raw_string(rest, code.chars().next_back()).unwrap_or(0),
            _ => 0,
        };
        if skipped == 0 {
            code.push(char);
            rest = &rest[char.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// Nothing where the slash divides.
fn end_of_comment(text: &str) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        text.find("*/").map_or(text.len(), |at| at + 2)
    } else {
        0
    }
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Nothing where the quote begins a lifetime.
fn end_of_char(text: &str) -> usize {
    let inside: Vec<_> = text.char_indices().skip(1).take(12).collect();
    match inside.as_slice() {
        [(_, '\\'), _, rest @ ..] => rest
            .iter()
            .find(|(_, char)| *char == '\'')
            .map_or(0, |(at, _)| at + 1),
        [_, (at, '\''), ..] => at + 1,
        _ => 0,
    }
}

fn end_of_raw_string(text: &str, before: Option<char>) -> Option<usize> {
    if before.is_some_and(|before| is_of_a_word(before) && before != 'b') {
        return None;
    }
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let start = 2 + hashes;
    let end = text[start..].find(&close)?;
    Some(start + end + close.len())
}

/// Every `.rs` file below `dir`, by its path in it.
fn sources(dir: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(dir);
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("the sources are beside the tests") {
            let path = entry.expect("a readable directory").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(read(&root, &path));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {dir}");
    found
}

fn read(root: &Path, path: &PathBuf) -> Source {
    let text = fs::read_to_string(path).expect("a readable source");
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    Source::new(&name.replace('\\', "/"), &text)
}

/// Every way in which the files break the table, in words.
fn broken(layers: &[&[&str]], sources: &[Source]) -> Vec<String> {
    let mut depths = BTreeMap::new();
    for (depth, layer) in layers.iter().enumerate() {
        for module in *layer {
            depths.insert(*module, depth);
        }
    }
    let mut faults = Vec::new();
    for source in sources {
        let Some(depth) = depths.get(&*source.module) else {
            faults.push(format!("{} is in no layer", source.name));
            continue;
        };
        for named in source.named() {
            let is_several = named == "{" || named == "*";
            // What is no module is an item of the crate's root.
            let lower = depths.get(named).or_else(|| depths.get("lib"));
            if is_several {
                faults.push(format!("{} imports several modules at once", source.name));
            } else if named != source.module && lower.is_none_or(|lower| lower <= depth) {
                faults.push(format!("{} names `{named}`, upwards", source.name));
            }
        }
    }
    for module in depths.keys() {
        if !sources.iter().any(|source| source.module == *module) {
            faults.push(format!("no file belongs to the layer of `{module}`"));
        }
    }
    faults
}

fn holds(layers: &[&[&str]], dir: &str) {
    let faults = broken(layers, &sources(dir));
    assert!(faults.is_empty(), "{dir}:\n{}", faults.join("\n"));
}

#[test]
fn imports_of_the_runtime_run_downwards() {
    holds(RUNTIME, "runtime/src");
}

#[test]
fn imports_of_the_macros_run_downwards() {
    holds(MACROS, "macros/src");
}

#[test]
fn the_rules_are_pure() {
    let mut faults = Vec::new();
    let sources = sources("runtime/src");
    let rules: Vec<_> = sources.iter().filter(|s| s.module == "rules").collect();
    assert!(rules.len() > 1, "the rules have moved");
    for source in rules {
        for named in source.named() {
            if !BELOW_RULES.contains(&named) {
                faults.push(format!("{} names `{named}`", source.name));
            }
        }
        for name in IMPURE {
            if source.says(name) {
                faults.push(format!("{} says `{name}`", source.name));
            }
        }
        for (at, start) in source.code.match_indices("crate::clock::") {
            let item = word(&source.code[at + start.len()..]);
            if !CLOCK_FOR_RULES.contains(&item) {
                faults.push(format!("{} takes `{item}` of the clock", source.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_file_has_unsafe_code() {
    for dir in ["runtime/src", "macros/src"] {
        for source in sources(dir) {
            assert!(!source.says("unsafe"), "{dir}/{}", source.name);
        }
    }
}

#[test]
fn an_import_that_runs_upwards_is_named() {
    let layers: &[&[&str]] = &[&["registry"], &["breaker", "site"], &["rules"]];
    let file = |name, text| Source::new(name, text);
    let good = [
        file(
            "registry/mod.rs",
            "use crate::breaker::Breaker;\nuse crate::site::Site;",
        ),
        file(
            "breaker.rs",
            "use crate::rules;\n// use crate::registry::Registry;",
        ),
        file(
            "site.rs",
            "const HELP: &str = \"crate::registry\"; fn f<'a>() {}",
        ),
        file("rules/mod.rs", "use crate::rules::closed;"),
        file("rules/closed.rs", "use std::time::Duration;"),
    ];
    assert_eq!(broken(layers, &good), [""; 0]);

    let bad = [
        file("registry/mod.rs", "use crate::{breaker, rules};"),
        file("breaker.rs", "use crate::registry::Registry;"),
        file(
            "site.rs",
            "const Q: char = '\"'; use crate::breaker::Breaker;",
        ),
        file("rules/mod.rs", "fn f() { crate::site::call() }"),
        file("rules/closed.rs", "pub(in crate::rules) fn f() {}"),
        file("clock.rs", ""),
    ];
    let expected = [
        "registry/mod.rs imports several modules at once",
        "breaker.rs names `registry`, upwards",
        "site.rs names `breaker`, upwards",
        "rules/mod.rs names `site`, upwards",
        "clock.rs is in no layer",
    ];
    assert_eq!(broken(layers, &bad), expected);
    assert_eq!(broken(layers, &good[..4]), [""; 0]);
    assert_eq!(
        broken(layers, &good[..3]),
        ["no file belongs to the layer of `rules`"]
    );
}

#[test]
fn comments_and_strings_are_not_code() {
    let text = r##"let a = "unsafe \" unsafe"; /* unsafe */ let b = r#"unsafe "unsafe" "#; // unsafe
        let c = ('"', '\'', b'"'); fn d<'unsafe_not>() { sync }"##;
    let source = Source::new("a.rs", text);
    assert!(!source.says("unsafe"), "{}", source.code);
    assert!(source.says("sync"), "{}", source.code);
}
