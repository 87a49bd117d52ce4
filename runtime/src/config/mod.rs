//! Files and the environment: from text to what is written about which service.

mod duration;
mod environment;
mod file;
mod near;
mod table;
mod value;

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::settings::ConfigError;
use crate::settings::Configuration;
use crate::settings::Section;

/// What is to be read.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    documents: Vec<Document>,
    prefix: Option<String>,
}

#[derive(Debug)]
enum Document {
    File {
        /// As it was named.
        shown: Arc<Path>,
        /// The process may change its directory.
        path: PathBuf,
    },
    Text(String),
}

/// What was there at one moment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Loaded {
    documents: Vec<(Arc<Path>, Result<String, ConfigError>)>,
    variables: Vec<(OsString, OsString)>,
}

/// What it says.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) configuration: Configuration,
    pub(crate) problems: Vec<ConfigError>,
    /// Tables of services that nobody declares.
    pub(crate) unused: Vec<ConfigError>,
}

/// What was read last, and what was told of it.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    sources: Arc<Sources>,
    last: Loaded,
    told: BTreeSet<(Option<String>, Option<String>)>,
}

impl Sources {
    pub(crate) fn file(&mut self, shown: PathBuf) {
        self.documents.push(Document::File {
            // Where there is no current directory, opening the file tells.
            path: path::absolute(&shown).unwrap_or_else(|_| shown.clone()),
            shown: shown.into(),
        });
    }

    pub(crate) fn text(&mut self, text: String) {
        self.documents.push(Document::Text(text));
    }

    pub(crate) fn prefix(&mut self, prefix: String) {
        self.prefix = Some(prefix);
    }

    pub(crate) fn load(&self) -> Loaded {
        let documents = self.documents.iter().map(|document| match document {
            Document::File { shown, path } => (Arc::clone(shown), file::read(shown, path)),
            Document::Text(text) => (Arc::from(Path::new("<config_toml>")), Ok(text.clone())),
        });
        let variables = match &self.prefix {
            None => Vec::new(),
            Some(prefix) => {
                let mut variables: Vec<_> = env::vars_os()
                    .filter(|(variable, _)| environment::is_ours(prefix, variable))
                    .collect();
                variables.sort();
                variables
            }
        };
        Loaded {
            documents: documents.collect(),
            variables,
        }
    }
}

impl Reading {
    pub(crate) fn new(sources: Sources) -> Self {
        Self {
            sources: Arc::new(sources),
            ..Self::default()
        }
    }

    pub(crate) fn load(&self) -> Loaded {
        self.sources.load()
    }

    /// Understands it, and remembers it as what was read last. `known` are the services that
    /// somebody declares.
    pub(crate) fn read(&mut self, loaded: Loaded, known: &BTreeSet<String>) -> Read {
        let mut read = Read::default();
        for (shown, text) in &loaded.documents {
            match text {
                Err(error) => {
                    read.problems.push(error.clone());
                    read.configuration.file.defaults.break_it();
                }
                Ok(text) => {
                    let section = table::read(shown, text, known, &mut read);
                    add(&mut read.configuration.file, section);
                }
            }
        }
        if let Some(prefix) = &self.sources.prefix {
            let mut known = known.clone();
            known.extend(read.configuration.file.services.keys().cloned());
            let section = environment::read(prefix, &loaded.variables, &known, &mut read.problems);
            read.configuration.environment = section;
        }
        self.last = loaded;
        read
    }

    /// Those that were not told before.
    pub(crate) fn not_told_yet(
        &mut self,
        unused: impl IntoIterator<Item = ConfigError>,
    ) -> Vec<ConfigError> {
        let unused = unused.into_iter().filter(|error| {
            let (service, key) = (error.service(), error.key());
            self.told
                .insert((service.map(str::to_owned), key.map(str::to_owned)))
        });
        unused.collect()
    }
}

#[cfg(feature = "watch")]
impl Reading {
    pub(crate) fn sources(&self) -> Arc<Sources> {
        Arc::clone(&self.sources)
    }

    pub(crate) fn has_read(&self, loaded: &Loaded) -> bool {
        self.last == *loaded
    }

    pub(crate) fn has_files(&self) -> bool {
        !self.paths().is_empty()
    }

    /// The files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let documents = self.sources.documents.iter();
        documents
            .filter_map(|document| match document {
                Document::File { path, .. } => Some(path.clone()),
                Document::Text(_) => None,
            })
            .collect()
    }
}

/// A later file has the last word.
fn add(section: &mut Section, later: Section) {
    section.defaults.add(later.defaults);
    for (service, written) in later.services {
        section.services.entry(service).or_default().add(written);
    }
}
