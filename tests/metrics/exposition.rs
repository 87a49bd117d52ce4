//! A small strict parser of the text that Prometheus scrapes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// One scrape.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    families: BTreeMap<String, Family>,
}

/// All series of one name.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) help: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) series: BTreeMap<Labels, f64>,
    /// Of a histogram or a summary, by how the name goes on.
    parts: BTreeMap<&'static str, BTreeMap<Labels, f64>>,
}

pub(crate) type Labels = BTreeMap<String, String>;

impl Exposition {
    /// Reads a scrape.
    ///
    /// Refused is everything that the format does not allow, and also what it allows and
    /// nobody writes on purpose: a family in two pieces, a series twice, a name without
    /// its type.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut scrape = Self::default();
        let mut current = String::new();
        if !text.is_empty() && !text.ends_with('\n') {
            return Err("the last line does not end".to_owned());
        }
        for line in text.lines() {
            scrape
                .line(line, &mut current)
                .map_err(|wrong| format!("{wrong}: {line}"))?;
        }
        Ok(scrape)
    }

    fn line(&mut self, line: &str, current: &mut String) -> Result<(), String> {
        if line.is_empty() {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or("a help without text")?;
            let help = unescaped(help, false)?;
            let family = self.begin(name, current)?;
            return match family.help.replace(help) {
                None if family.kind.is_none() => Ok(()),
                _ => Err("a second help, or one after the type".to_owned()),
            };
        }
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').ok_or("a type without a kind")?;
            if !["counter", "gauge", "histogram", "summary", "untyped"].contains(&kind) {
                return Err("no such type".to_owned());
            }
            let family = self.begin(name, current)?;
            return match family.kind.replace(kind.to_owned()) {
                None if family.series.is_empty() => Ok(()),
                _ => Err("a second type, or one after a series".to_owned()),
            };
        }
        if line.starts_with('#') {
            return Err("a comment".to_owned());
        }
        let (name, labels, value) = sample(line)?;
        let part = self.part(name, current);
        let name = name.strip_suffix(part).unwrap_or(name);
        let family = self.begin(name, current)?;
        if family.kind.is_none() {
            return Err("a series without a type".to_owned());
        }
        let series = match part {
            "" => &mut family.series,
            part => family.parts.entry(part).or_default(),
        };
        match series.entry(labels) {
            Entry::Vacant(place) => {
                place.insert(value);
                Ok(())
            }
            Entry::Occupied(_) => Err("a series twice".to_owned()),
        }
    }

    /// The family of `name`, which must be the one that the last line was about, or new.
    fn begin(&mut self, name: &str, current: &mut String) -> Result<&mut Family, String> {
        if !is_name(name, true) {
            return Err("a bad name".to_owned());
        }
        if name != current {
            if self.families.contains_key(name) {
                return Err("a family in two pieces".to_owned());
            }
            name.clone_into(current);
        }
        Ok(self.families.entry(name.to_owned()).or_default())
    }

    /// How `name` goes on, if it is a part of the histogram or summary that the last line was
    /// about.
    fn part(&self, name: &str, current: &str) -> &'static str {
        let kind = self.families.get(current).and_then(|it| it.kind.as_deref());
        if !matches!(kind, Some("histogram" | "summary")) {
            return "";
        }
        let parts = ["_sum", "_count", "_bucket"].into_iter();
        let mut parts = parts.filter(|part| name.strip_suffix(part) == Some(current));
        parts.next().unwrap_or_default()
    }

    pub(crate) fn families(&self) -> impl Iterator<Item = (&str, &Family)> {
        self.families.iter().map(|(name, family)| (&**name, family))
    }

    /// The value of the series with exactly these labels.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        self.families.get(name)?.series.get(&labels).copied()
    }

    /// The series of `name` that are about `service`.
    pub(crate) fn of<'s>(
        &'s self,
        name: &str,
        service: &'s str,
    ) -> impl Iterator<Item = (&'s Labels, f64)> {
        let series = self.families.get(name).map(|family| &family.series);
        series
            .into_iter()
            .flatten()
            .filter(move |(labels, _)| labels.get("service").is_some_and(|s| s == service))
            .map(|(labels, value)| (labels, *value))
    }

    /// The states of a service whose gauge is at 1. Any other value than 0 and 1 is shown
    /// with the state.
    pub(crate) fn states(&self, service: &str) -> Vec<String> {
        self.of("breakerbox_state", service)
            .filter(|(_, value)| *value != 0.0)
            .map(|(labels, value)| {
                let state = labels.get("state").map_or("?", |state| state);
                if value == 1.0 {
                    state.to_owned()
                } else {
                    format!("{state} at {value}")
                }
            })
            .collect()
    }

    /// The calls of a service that ended so.
    pub(crate) fn calls(&self, service: &str, outcome: &str) -> Option<f64> {
        self.value(
            "breakerbox_calls_total",
            &[("service", service), ("outcome", outcome)],
        )
    }

    /// How many calls of a service ended so, and how many seconds they took together.
    pub(crate) fn durations(&self, service: &str, outcome: &str) -> Option<(f64, f64)> {
        let family = self.families.get("breakerbox_call_duration_seconds")?;
        let labels = [("service", service), ("outcome", outcome)];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let labels = Labels::from(labels);
        let part = |part| family.parts.get(part)?.get(&labels).copied();
        Some((part("_count")?, part("_sum")?))
    }

    /// The moves of a circuit that happened at least once, as `from>to:reason`.
    pub(crate) fn moves(&self, service: &str) -> Vec<(String, f64)> {
        self.of("breakerbox_transitions_total", service)
            .filter(|(_, count)| *count != 0.0)
            .map(|(labels, count)| {
                let label = |name: &str| labels.get(name).map_or("?", |value| value);
                let (from, to) = (label("from"), label("to"));
                (format!("{from}>{to}:{}", label("reason")), count)
            })
            .collect()
    }

    /// When the opening of a circuit ends.
    pub(crate) fn open_until(&self, service: &str) -> Option<f64> {
        self.value(
            "breakerbox_open_until_timestamp_seconds",
            &[("service", service)],
        )
    }
}

fn is_name(name: &str, colons: bool) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_' || (colons && char == ':'))
}

/// `name{label="value",..} number`
fn sample(line: &str) -> Result<(&str, Labels, f64), String> {
    let end = line.find(['{', ' ']).ok_or("a name alone")?;
    let (name, rest) = line.split_at(end);
    let (labels, number) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Labels::new(), rest),
    };
    let number = number.strip_prefix(' ').ok_or("no space before a number")?;
    let value = number.parse().map_err(|_| "not one number".to_owned())?;
    Ok((name, labels, value))
}

fn labels(mut rest: &str) -> Result<(Labels, &str), String> {
    let mut labels = Labels::new();
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        if !is_name(name, false) {
            return Err("a bad label".to_owned());
        }
        let end = closing_quote(after).ok_or("a value without an end")?;
        let value = unescaped(&after[..end], true)?;
        if labels.insert(name.to_owned(), value).is_some() {
            return Err("a label twice".to_owned());
        }
        let after = &after[end + 1..];
        if let Some(after) = after.strip_prefix('}') {
            return Ok((labels, after));
        }
        rest = after.strip_prefix(',').ok_or("no comma between labels")?;
    }
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, char)| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends.then_some(at)
    })
}

fn unescaped(text: &str, quoted: bool) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('\\') => '\\',
                Some('n') => '\n',
                Some('"') if quoted => '"',
                _ => return Err("a bad escape".to_owned()),
            },
            char => char,
        });
    }
    Ok(plain)
}

#[test]
fn the_parser_reads_what_the_format_allows() {
    let text = "# HELP a_total All \"of\" C:\\\\ it.\n# TYPE a_total counter\n\
                a_total{s=\"x,}\\\"\\\\\\n=\",t=\"\"} 7\na_total 1.5e3\n\n# TYPE b gauge\nb NaN\n";
    let scrape = Exposition::parse(text).unwrap();
    let labels = [("s", "x,}\"\\\n="), ("t", "")];
    assert_eq!(scrape.value("a_total", &labels), Some(7.0));
    assert_eq!(scrape.value("a_total", &[]), Some(1500.0));
    assert!(scrape.value("b", &[]).unwrap().is_nan());
    let (_, family) = scrape.families().next().unwrap();
    assert_eq!(family.help.as_deref(), Some("All \"of\" C:\\ it."));
    assert_eq!(family.kind.as_deref(), Some("counter"));
}

#[test]
fn the_parser_puts_the_parts_of_a_summary_together() {
    let name = "breakerbox_call_duration_seconds";
    let labels = "service=\"s\",outcome=\"o\"";
    let text = format!(
        "# TYPE {name} summary\n{name}{{{labels},quantile=\"1\"}} 4\n{name}_sum{{{labels}}} 5\n\
         {name}_count{{{labels}}} 2\n"
    );
    let scrape = Exposition::parse(&text).unwrap();
    assert_eq!(scrape.families().count(), 1);
    assert_eq!(scrape.durations("s", "o"), Some((2.0, 5.0)));
    assert_eq!(scrape.durations("s", "other"), None);
}

#[test]
fn the_parser_refuses_what_the_format_does_not_allow() {
    for bad in [
        "# TYPE a gauge\na 1",
        "a 1\n",
        "# TYPE a gauge\na one\n",
        "# TYPE a gauge\na 1 2 3\n",
        "# TYPE a gauge\na  1\n",
        "# TYPE a gauge\na{} 1\n",
        "# TYPE a gauge\na{b=c} 1\n",
        "# TYPE a gauge\na{b=\"c} 1\n",
        "# TYPE a gauge\na{b=\"\\x\"} 1\n",
        "# TYPE a gauge\na{b=\"c\"d=\"e\"} 1\n",
        "# TYPE a gauge\na{b=\"c\",b=\"e\"} 1\n",
        "# TYPE a gauge\na{b-c=\"c\"} 1\n",
        "# TYPE a gauge\na 1\na 2\n",
        "# TYPE a gauge\n# TYPE a gauge\n",
        "# TYPE a gauge\n# HELP a Late.\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{c=\"d\"} 1\n",
        "# TYPE a number\n",
        "# TYPE a counter\na_sum 1\n",
        "# TYPE a summary\na_total 1\n",
        "# TYPE a summary\na_sum 1\na_sum 1\n",
        "# TYPE a-b gauge\n",
        "# a comment\n",
    ] {
        assert!(Exposition::parse(bad).is_err(), "{bad}");
    }
}
