//! The text of `/metrics`, in the format of `OpenMetrics`.

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper ends of the classes of durations, in seconds.
const CLASSES: [f64; 10] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0, 30.0];

type Labels = Vec<(&'static str, String)>;

/// The number of answered requests, and the time that they took; no tenant is named.
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::default();
        let seconds: Family<Labels, Histogram> =
            Family::new_with_constructor(|| Histogram::new(CLASSES));
        let mut registry = Registry::with_prefix("playbook");
        registry.register("requests", "Requests answered", requests.clone());
        registry.register("request_seconds", "How long that took", seconds.clone());
        Self {
            registry,
            requests,
            seconds,
        }
    }
}

impl Metrics {
    pub(super) fn count(&self, path: String, status: u16, took: Duration) {
        let path = vec![("path", path)];
        let seconds = self.seconds.get_or_create(&path);
        seconds.observe(took.as_secs_f64());
        let answered = [path, vec![("status", status.to_string())]].concat();
        self.requests.get_or_create(&answered).inc();
    }

    pub(super) fn text(&self) -> anyhow::Result<String> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
