//! The text form that Prometheus reads, and what else a process can tell in it.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use roundtable_domain::FeedFigures;
use roundtable_engine::{Distribution, Metrics};
use roundtable_streams::{LaneFigures, QueueFigures, Snapshot};

/// How one figure is got out of several.
type Of<T> = fn(&T) -> u64;

/// A page of figures.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

/// Seconds, exactly.
pub(super) fn decimal(time: Duration) -> String {
    format!("{}.{:09}", time.as_secs(), time.subsec_nanos())
}

impl Page {
    /// The text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(super) fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            self.0.push(if at == 0 { '{' } else { ',' });
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{label}=\"{text}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(name, "gauge", help);
        self.sample(name, &[], value);
    }

    pub(super) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(name, "counter", help);
        self.sample(name, &[], value);
    }

    /// Which parts of the process are at work.
    pub(crate) fn parts(&mut self, parts: &BTreeMap<&'static str, bool>) {
        let name = "roundtable_background_up";
        self.begin(name, "gauge", "Whether a part that works in the background does.");
        for (part, at_work) in parts {
            self.sample(name, &[("part", part)], u64::from(*at_work));
        }
    }

    /// What the embedded store tells.
    pub(crate) fn engine(&mut self, metrics: &Metrics) {
        let name = |rest: &str| format!("roundtable_engine_{rest}");
        for (rest, help, value) in [
            ("memtable_bytes", "Bytes not yet in the tree.", metrics.memtable_bytes),
            ("frozen_runs", "Runs waiting for the tree.", metrics.frozen_runs),
            ("log_bytes", "Bytes of records in the log.", metrics.log_bytes),
            ("tree_bytes", "Bytes of the tree's file.", metrics.tree_bytes),
            ("sequence", "The last change that readers see.", metrics.sequence),
            ("stream_lag", "Changes the slowest held reader is behind.", metrics.stream_lag),
        ] {
            self.gauge(&name(rest), help, value);
        }
        self.counter(&name("expired_total"), "Items removed at their time.", metrics.expired);
        for (rest, help, spread) in [
            ("group_requests", "Requests per group.", &metrics.group_requests),
            ("group_bytes", "Log bytes per group.", &metrics.group_bytes),
            ("sync_microseconds", "Writing and syncing a group.", &metrics.sync_us),
            ("checkpoint_microseconds", "Bringing a run into the tree.", &metrics.checkpoint_us),
            ("stall_microseconds", "Pauses of the writer.", &metrics.stall_us),
        ] {
            self.spread(&name(rest), help, spread);
        }
    }

    fn spread(&mut self, name: &str, help: &str, spread: &Distribution) {
        self.begin(name, "histogram", help);
        let mut below = 0;
        for (power, count) in spread.buckets.iter().enumerate() {
            below += count;
            // Whole numbers below 2^n are at most 2^n - 1.
            let bound = (1_u64 << power.min(63)) - 1;
            if *count > 0 {
                self.sample(&format!("{name}_bucket"), &[("le", &bound.to_string())], below);
            }
        }
        self.sample(&format!("{name}_bucket"), &[("le", "+Inf")], spread.count);
        self.sample(&format!("{name}_sum"), &[], spread.sum);
        self.sample(&format!("{name}_count"), &[], spread.count);
    }

    /// What the streams tell.
    pub(crate) fn streams(&mut self, figures: &Snapshot) {
        let lanes: [(&str, &str, &str, Of<LaneFigures>); 6] = [
            ("behind", "gauge", "Changes read and not yet processed.", |lane| lane.behind),
            ("behind_milliseconds", "gauge", "Age of the oldest of them.", |lane| lane.behind_ms),
            ("processed_total", "counter", "Changes processed.", |lane| lane.processed),
            ("retried_total", "counter", "Tries that failed.", |lane| lane.retried),
            ("parked_total", "counter", "Changes parked.", |lane| lane.parked),
            ("gaps_total", "counter", "Times that changes were lost.", |lane| lane.gaps),
        ];
        for (rest, kind, help, of) in lanes {
            let name = format!("roundtable_stream_{rest}");
            self.begin(&name, kind, help);
            for lane in &figures.lanes {
                let labels = [("processor", lane.processor.as_str()), ("shard", &lane.shard)];
                self.sample(&name, &labels, of(lane));
            }
        }
        let queues: [(&str, &str, Of<QueueFigures>); 4] = [
            ("pages_total", "Pages of jobs done.", |queue| queue.pages),
            ("finished_total", "Jobs finished.", |queue| queue.finished),
            ("retried_total", "Tries that failed.", |queue| queue.retried),
            ("parked_total", "Jobs parked.", |queue| queue.parked),
        ];
        for (rest, help, of) in queues {
            let name = format!("roundtable_jobs_{rest}");
            self.begin(&name, "counter", help);
            for queue in &figures.queues {
                self.sample(&name, &[("queue", &queue.queue)], of(queue));
            }
        }
    }

    /// What feeds keep in memory.
    pub(crate) fn feeds(&mut self, figures: &FeedFigures) {
        self.gauge("roundtable_feed_circles", "Readers whose circles are known.", figures.circles);
        self.gauge("roundtable_feed_ties", "Whom they are tied to.", figures.ties);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted_and_samples_stand_in_lines() {
        let mut page = Page::default();
        page.sample("a_total", &[("of", "x\"\\\n"), ("b", "c")], 3);
        page.gauge("b", "What it is.", 4);
        assert_eq!(
            page.into_text(),
            "a_total{of=\"x\\\"\\\\\\n\",b=\"c\"} 3\n# HELP b What it is.\n# TYPE b gauge\nb 4\n"
        );
        assert_eq!(decimal(Duration::from_millis(1_025)), "1.025000000");
    }
}
