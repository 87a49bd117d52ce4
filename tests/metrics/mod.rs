//! What is published, read as Prometheus reads it.

pub(crate) mod exposition;

mod durations;
mod hammer;
mod life;
mod names;
mod recorders;
mod rules;
mod series;
mod store;

use breakerbox::Registry;
use metrics_exporter_prometheus::PrometheusBuilder;
use metrics_exporter_prometheus::PrometheusHandle;
use metrics_exporter_prometheus::PrometheusRecorder;

use exposition::Exposition;

/// The exporter of a test, which no other test publishes to.
pub(crate) struct Exporter {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
}

impl Exporter {
    pub(crate) fn new() -> Self {
        Self::of(PrometheusBuilder::new())
    }

    fn of(builder: PrometheusBuilder) -> Self {
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        Self { recorder, handle }
    }

    /// Publishes a registry from this thread, where this exporter is the recorder.
    fn publish(&self, registry: &Registry) {
        metrics::with_local_recorder(&self.recorder, || registry.publish_metrics());
    }

    #[track_caller]
    fn scrape(&self) -> Exposition {
        let text = self.handle.render();
        Exposition::parse(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
    }

    #[track_caller]
    pub(crate) fn published(&self, registry: &Registry) -> Exposition {
        self.publish(registry);
        self.scrape()
    }
}
