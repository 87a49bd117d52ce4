//! Reading the configuration again while the process runs.

use std::sync::Arc;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use crate::config::Loaded;
use crate::config::Reading;
use crate::event::Event;
use crate::registry::Inner;
use crate::registry::Registry;
use crate::registry::read;
use crate::registry::setup;
use crate::registry::setup::Setup;
use crate::settings::Layers;
use crate::settings::Problem;
use crate::settings::ReloadError;
use crate::settings::Reloaded;
use crate::settings::changes;

impl Registry {
    /// Reads the files and the environment again that
    /// [`config_file`](crate::RegistryBuilder::config_file) and
    /// [`env_prefix`](crate::RegistryBuilder::env_prefix) have named, puts all of it in force
    /// or nothing, and says what has changed. It reads files, and so may block.
    ///
    /// State and counts stay, and so do what code has declared and live changes. Listeners are
    /// told, too: [`Event::Reloaded`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("breakerbox-{}.toml", std::process::id()));
    /// std::fs::write(&path, "[services.stripe]\nthreshold = 3\n")?;
    /// let registry = breakerbox::Registry::builder()
    ///     .declare("stripe")
    ///     .config_file(&path)
    ///     .build()?;
    /// std::fs::write(&path, "[services.stripe]\nthreshold = 4\n")?;
    /// for change in registry.reload()?.changes() {
    ///     println!("{change}");
    /// }
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReloadError`] with all that is wrong. Everything stays as it was then.
    pub fn reload(&self) -> Result<Reloaded, ReloadError> {
        let mut reading = self.inner.reading();
        let loaded = reading.load();
        self.inner.take_over(&mut reading, loaded)
    }
}

impl Inner {
    /// Whoever has this is the only one to read the configuration.
    pub(super) fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take_over(
        &self,
        reading: &mut Reading,
        loaded: Loaded,
    ) -> Result<Reloaded, ReloadError> {
        let now = read(&self.setup).clone();
        let found = reading.read(loaded, &self.known(&now));
        let next = Setup {
            configuration: Arc::new(found.configuration),
            ..now
        };
        let problems = found.problems.into_iter().map(Problem::Configuration);
        let mut services = Vec::new();
        // Calls may wait while this is told, so the words are made afterwards.
        let tell = |service: &str, before: &Layers, after: &Layers| {
            services.push((service.to_owned(), before.clone(), after.clone()));
        };
        match self.set_up(next, problems.collect(), tell) {
            Err(mut problems) => {
                setup::sort(&mut problems, &[]);
                Err(ReloadError::new(problems))
            }
            Ok(left_out) => {
                let unused = found.unused.into_iter().chain(left_out);
                self.warn_unused(reading.not_told_yet(unused));
                #[cfg(feature = "redis")]
                for breaker in self.breakers.breakers() {
                    breaker.judge_live_again();
                }
                let changed = services.iter();
                let changed =
                    changed.flat_map(|(name, before, after)| changes(name, before, after));
                let reloaded = Reloaded::new(changed.collect());
                self.listeners.tell(&Event::Reloaded(reloaded.clone()));
                Ok(reloaded)
            }
        }
    }
}
