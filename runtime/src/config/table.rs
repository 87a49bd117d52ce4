//! The tables of a TOML file: `[defaults]` and one for each service.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;
use toml::de::DeValue;

use crate::config::Read;
use crate::config::near::nearest;
use crate::config::value;
use crate::config::value::Given;
use crate::config::value::Medium;
use crate::name;
use crate::policy::Key;
use crate::settings::ConfigError;
use crate::settings::Section;
use crate::settings::Source;
use crate::settings::Written;

/// Everything that one file says; what is wrong with it goes to `read`.
pub(super) fn read(
    shown: &Arc<Path>,
    text: &str,
    known: &BTreeSet<String>,
    read: &mut Read,
) -> Section {
    let (root, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader {
        file: shown,
        lines: Lines::new(text),
        known,
        problems: Vec::new(),
        unused: Vec::new(),
    };
    let mut section = Section::default();
    reader.root(root.get_ref(), &mut section);
    let Reader {
        lines,
        problems,
        unused,
        ..
    } = reader;

    // One mistake is often several to the parser, which goes on at a guess.
    let mut guessed = BTreeSet::new();
    for error in &errors {
        let line = lines.of(error.span().map_or(0, |span| span.start));
        if guessed.insert(line) {
            let path = Arc::clone(shown);
            let message = format!("this is not TOML: {}", error.message());
            let error = ConfigError::new(Source::File { path, line }, message);
            read.problems.push(error);
        }
    }
    let is_guessed = |error: &ConfigError| match error.place() {
        Source::File { line, .. } => guessed.contains(line),
        _ => false,
    };
    let problems = problems.into_iter();
    read.problems.extend(problems.filter(|it| !is_guessed(it)));
    read.unused.extend(unused);
    if !guessed.is_empty() {
        section.defaults.break_it();
    }
    section
}

struct Reader<'r> {
    file: &'r Arc<Path>,
    lines: Lines,
    known: &'r BTreeSet<String>,
    problems: Vec<ConfigError>,
    unused: Vec<ConfigError>,
}

/// Which table a key stands in.
#[derive(Clone, Copy)]
enum In<'s> {
    Defaults,
    Service(&'s str),
}

type Entry<'e, 't> = (&'e Spanned<Cow<'t, str>>, &'e Spanned<DeValue<'t>>);

impl Reader<'_> {
    fn source(&self, line: u32) -> Source {
        Source::File {
            path: Arc::clone(self.file),
            line,
        }
    }

    fn at(&self, entry: Entry<'_, '_>) -> Source {
        self.source(self.lines.of(entry.0.span().start))
    }

    fn wrong(&mut self, entry: Entry<'_, '_>, message: impl Into<String>) {
        let place = self.at(entry);
        self.problems.push(ConfigError::new(place, message.into()));
    }

    fn root(&mut self, root: &DeTable<'_>, section: &mut Section) {
        for entry @ (key, value) in root {
            match (&**key.get_ref(), value.get_ref()) {
                ("defaults", DeValue::Table(table)) => {
                    self.keys(In::Defaults, table, &mut section.defaults);
                }
                ("services", DeValue::Table(services)) => self.services(services, section),
                ("defaults", _) => self.wrong(entry, "`defaults` is a table: write `[defaults]`"),
                ("services", _) => {
                    self.wrong(entry, "`services` is a table: write `[services.NAME]`");
                }
                (other, _) => {
                    let message = self.unknown_in_root(other);
                    self.wrong(entry, message);
                }
            }
        }
    }

    fn unknown_in_root(&self, name: &str) -> String {
        if let Some((_, near)) = nearest(name, ["defaults", "services"]) {
            return format!("unknown table `{name}`: did you mean `{near}`?");
        }
        if Key::ALL.iter().any(|key| key.name() == name) {
            return format!(
                "`{name}` stands in no table: write it below `[defaults]` or `[services.NAME]`"
            );
        }
        if self.known.contains(name) {
            return format!("unknown table `{name}`: did you mean `[services.{name}]`?");
        }
        format!("unknown table `{name}`: there are `[defaults]` and `[services.NAME]`")
    }

    fn services(&mut self, services: &DeTable<'_>, section: &mut Section) {
        for entry @ (key, value) in services {
            let service = &**key.get_ref();
            let place = self.at(entry);
            let about = |message| ConfigError::new(place, message).in_service(service);
            if let Err(error) = name::check(service) {
                self.problems.push(about(error.to_string()));
                continue;
            }
            let DeValue::Table(table) = value.get_ref() else {
                let message = format!("a service is a table: write `[services.{service}]`");
                self.problems.push(about(message));
                continue;
            };
            if !self.known.contains(service) {
                let known = self.known.iter().map(String::as_str);
                match nearest(service, known) {
                    None => self
                        .unused
                        .push(about("nobody declares this service".to_owned())),
                    Some((_, near)) => self.problems.push(about(format!(
                        "nobody declares this service: did you mean `{near}`? If its name is made \
                         up at run time, name it with `declare`"
                    ))),
                }
            }
            let mut written = Written::default();
            self.keys(In::Service(service), table, &mut written);
            section.services.insert(service.to_owned(), written);
        }
    }

    fn keys(&mut self, table: In<'_>, entries: &DeTable<'_>, written: &mut Written) {
        for entry @ (key, value) in entries {
            let name = &**key.get_ref();
            let read = match Key::ALL.iter().find(|key| key.name() == name) {
                None => Err(unknown_key(name)),
                Some(key) => value::read(*key, &given(value.get_ref()), Medium::Toml)
                    .map(|policy| (*key, policy)),
            };
            let place = self.at(entry);
            match read {
                Ok((key, policy)) => written.write(key, &policy, place),
                Err(message) => {
                    let error = ConfigError::new(place, message);
                    let error = match table {
                        In::Defaults => error.in_defaults(),
                        In::Service(service) => error.in_service(service),
                    };
                    self.problems.push(error.at_key(name));
                    written.break_it();
                }
            }
        }
    }
}

fn unknown_key(name: &str) -> String {
    let names = || Key::ALL.iter().map(|key| key.name());
    match nearest(name, names()) {
        Some((_, near)) => format!("unknown key: did you mean `{near}`?"),
        None => {
            let names: Vec<_> = names().collect();
            format!("unknown key: there are {}", names.join(", "))
        }
    }
}

fn given<'v>(value: &'v DeValue<'_>) -> Given<'v> {
    match value {
        DeValue::String(text) => Given::Text(text),
        DeValue::Integer(whole) => Given::Whole {
            text: whole.as_str(),
            radix: whole.radix(),
        },
        DeValue::Float(fraction) => Given::Fraction(fraction.as_str()),
        DeValue::Boolean(truth) => Given::Truth(*truth),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Given::Other(value.type_str())
        }
    }
}

/// Where lines end.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at);
        Self(ends.collect())
    }

    /// The line of a place in the text, from 1 on.
    fn of(&self, at: usize) -> u32 {
        let before = self.0.partition_point(|end| *end < at);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}
