//! The variables of the environment: `BREAKERBOX_STRIPE_THRESHOLD=3`.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use crate::config::near::nearest;
use crate::config::value;
use crate::config::value::Given;
use crate::config::value::Medium;
use crate::policy::Key;
use crate::policy::Policy;
use crate::settings::ConfigError;
use crate::settings::Section;
use crate::settings::Source;

/// How variables write `[defaults]`.
const DEFAULTS: &str = "DEFAULTS";

/// What a variable can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'s> {
    Defaults,
    Service(&'s str),
}

/// By the name that variables write: more than one where they cannot be told apart.
type Subjects<'s> = BTreeMap<String, Vec<Subject<'s>>>;

/// Whether the name of a variable begins with the prefix, in any case.
pub(super) fn is_ours(prefix: &str, variable: &OsStr) -> bool {
    rest(prefix, &variable.to_string_lossy()).is_some()
}

/// What follows the prefix, as it is compared.
fn rest(prefix: &str, variable: &str) -> Option<String> {
    let prefix = prefix.trim_end_matches('_');
    let (beginning, rest) = variable.split_at_checked(prefix.len())?;
    let rest = rest.strip_prefix('_')?;
    let is_ours = beginning.eq_ignore_ascii_case(prefix);
    is_ours.then(|| rest.to_ascii_uppercase())
}

/// Everything that the variables say about the services of `known`.
pub(super) fn read(
    prefix: &str,
    variables: &[(OsString, OsString)],
    known: &BTreeSet<String>,
    problems: &mut Vec<ConfigError>,
) -> Section {
    let mut section = Section::default();
    let bare = prefix.trim_end_matches('_');
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if bare.is_empty() || !bare.bytes().all(is_name) {
        let message = format!(
            "`env_prefix({prefix:?})`: a prefix has letters, digits and `_`, such as `BREAKERBOX`"
        );
        problems.push(ConfigError::new(Source::Code, message));
        return section;
    }
    let subjects = subjects(known);
    let mut seen: BTreeMap<String, Arc<str>> = BTreeMap::new();
    for (variable, value) in variables {
        let variable: Arc<str> = variable.to_string_lossy().into();
        let Some(rest) = rest(prefix, &variable) else {
            continue;
        };
        let mut wrong = |message| {
            let variable = Arc::clone(&variable);
            problems.push(ConfigError::new(Source::Environment { variable }, message));
        };
        if let Some(other) = seen.insert(rest.clone(), Arc::clone(&variable)) {
            wrong(format!("it is the same as `{other}`"));
            continue;
        }
        let (subject, key) = match meaning(&subjects, bare, &rest) {
            Ok(meaning) => meaning,
            Err(message) => {
                wrong(message);
                // Nobody knows what was to go with it.
                section.defaults.break_it();
                continue;
            }
        };
        let table = match subject {
            Subject::Defaults => &mut section.defaults,
            Subject::Service(name) => section.services.entry(name.to_owned()).or_default(),
        };
        match policy(key, value) {
            Ok(policy) => table.write(key, &policy, Source::Environment { variable }),
            Err(message) => {
                wrong(message);
                table.break_it();
            }
        }
    }
    section
}

fn subjects(known: &BTreeSet<String>) -> Subjects<'_> {
    let mut subjects: Subjects<'_> = BTreeMap::new();
    let services = known
        .iter()
        .map(|name| (written(name), Subject::Service(name)));
    let defaults = (DEFAULTS.to_owned(), Subject::Defaults);
    for (written, subject) in services.chain([defaults]) {
        subjects.entry(written).or_default().push(subject);
    }
    subjects
}

/// The name of a service as variables write it.
fn written(service: &str) -> String {
    let bytes = service.bytes();
    bytes
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte.to_ascii_uppercase())
            } else {
                '_'
            }
        })
        .collect()
}

fn meaning<'s>(
    subjects: &Subjects<'s>,
    prefix: &str,
    rest: &str,
) -> Result<(Subject<'s>, Key), String> {
    // From the longest name of a service to the shortest.
    let mut splits = rest.rmatch_indices('_');
    let found = splits.find_map(|(at, _)| {
        let subjects = subjects.get(&rest[..at])?;
        Some((subjects, key(&rest[at + 1..])?))
    });
    let Some((meant, key)) = found else {
        return Err(unknown(subjects, prefix, rest));
    };
    match meant[..] {
        [subject] => Ok((subject, key)),
        _ => {
            let all: Vec<_> = meant.iter().map(Subject::to_string).collect();
            let all = all.join(" and ");
            Err(format!("it could mean each of {all}: use a file"))
        }
    }
}

fn policy(key: Key, value: &OsStr) -> Result<Policy, String> {
    let Some(text) = value.to_str() else {
        return Err("its value is not UTF-8".to_owned());
    };
    match text.trim() {
        "" => Err(format!(
            "it is empty: write a value for `{key}`, or unset it"
        )),
        text => value::read(key, &Given::bare(text), Medium::Variable),
    }
}

fn key(written: &str) -> Option<Key> {
    let mut keys = Key::ALL.iter().copied();
    keys.find(|key| key.name().eq_ignore_ascii_case(written))
}

fn unknown(subjects: &Subjects<'_>, prefix: &str, rest: &str) -> String {
    let keys: Vec<_> = Key::ALL
        .iter()
        .map(|key| key.name().to_ascii_uppercase())
        .collect();
    let near = rest.match_indices('_').filter_map(|(at, _)| {
        let names = subjects.keys().map(String::as_str);
        let (far, subject) = nearest(&rest[..at], names)?;
        let (farther, key) = nearest(&rest[at + 1..], keys.iter().map(String::as_str))?;
        Some((far + farther, subject, key))
    });
    match near.min_by_key(|(distance, ..)| *distance) {
        Some((_, subject, key)) => {
            format!("it means nothing: did you mean `{prefix}_{subject}_{key}`?")
        }
        None => format!(
            "it means nothing: a variable is `{prefix}_SERVICE_KEY`, or `{prefix}_{DEFAULTS}_KEY`"
        ),
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defaults => f.write_str("`[defaults]`"),
            Self::Service(name) => write!(f, "`{name}`"),
        }
    }
}
