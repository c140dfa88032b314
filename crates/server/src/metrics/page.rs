//! The Prometheus text format, and the metrics of the store, the streams and the feeds in it.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use roundtable_domain::{CacheStats, FeedStats};
use roundtable_engine::{Distribution, EngineHealth, Metrics};
use roundtable_streams::{LaneMetrics, QueueMetrics, StreamMetrics};

type SampleOf<T> = fn(&T) -> String;
type CountOf = fn(&CacheStats) -> u64;

#[derive(Debug, Default)]
pub(crate) struct MetricsPage(String);

/// Formats seconds exactly, with at least one decimal.
pub(super) fn seconds(time: Duration) -> String {
    let text = format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    let zeros = text.len() - text.trim_end_matches('0').len();
    let length = text.len() - zeros.min(8);
    text.get(..length).unwrap_or(&text).to_owned()
}

impl MetricsPage {
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(super) fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
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

    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.begin(name, "counter", help);
        self.sample(name, &[], value);
    }

    pub(crate) fn background_tasks(&mut self, tasks: &BTreeMap<&'static str, bool>) {
        let name = "roundtable_background_task_up";
        self.begin(name, "gauge", "Whether a background task is running; 0 needs a restart.");
        for (task, is_running) in tasks {
            self.sample(name, &[("task", task)], u64::from(*is_running));
        }
    }

    pub(crate) fn engine(&mut self, metrics: &Metrics) {
        let name = |rest: &str| format!("roundtable_engine_{rest}");
        for (rest, help, value) in [
            ("memtable_bytes", "Bytes not yet in the tree.", metrics.memtable_bytes),
            ("frozen_runs", "Memtables waiting to be merged into the tree.", metrics.frozen_runs),
            ("log_bytes", "Bytes of records in the log.", metrics.log_bytes),
            ("tree_bytes", "Bytes of the tree's file.", metrics.tree_bytes),
            ("free_bytes", "Free bytes of the store's disk.", metrics.free_bytes),
            ("sequence", "Sequence of the last change that readers see.", metrics.sequence),
            ("stream_lag_changes", "Changes since the oldest stream hold.", metrics.stream_lag),
        ] {
            self.gauge(&name(rest), help, value);
        }
        if let Some(age_ms) = metrics.archive_age_ms {
            let help = "Time since everything written was in the archive.";
            self.gauge(&name("archive_age_seconds"), help, seconds(Duration::from_millis(age_ms)));
        }
        let lags = name("stream_hold_lag_changes");
        self.begin(&lags, "gauge", "Changes for which a consumer still needs the log.");
        for hold in &metrics.holds {
            let lag = metrics.sequence.saturating_sub(hold.sequence);
            self.sample(&lags, &[("consumer", &hold.consumer)], lag);
        }
        let help = "Items removed because they expired.";
        self.counter(&name("expired_items_total"), help, metrics.expired);
        for (rest, help, sizes) in [
            ("commit_group_requests", "Writes that share one sync.", &metrics.group_requests),
            ("commit_group_bytes", "Log bytes that share one sync.", &metrics.group_bytes),
        ] {
            self.histogram(&name(rest), help, sizes, |value| value.to_string());
        }
        for (rest, help, times) in [
            ("sync_duration_seconds", "Time to write and sync a commit group.", &metrics.sync_us),
            (
                "checkpoint_duration_seconds",
                "Time to merge a memtable into the tree.",
                &metrics.checkpoint_us,
            ),
            (
                "write_stall_duration_seconds",
                "Time that writes waited for the tree to catch up.",
                &metrics.stall_us,
            ),
        ] {
            self.histogram(&name(rest), help, times, |us| seconds(Duration::from_micros(us)));
        }
    }

    pub(crate) fn engine_health(&mut self, health: &EngineHealth) {
        self.gauge(
            "roundtable_engine_takes_writes",
            "Whether the store takes ordinary writes; /readyz says why not.",
            u64::from(health.takes_writes),
        );
        let name = "roundtable_engine_thread_up";
        self.begin(name, "gauge", "Whether a thread of the engine is running; 0 needs a restart.");
        for (thread, is_running) in &health.threads {
            self.sample(name, &[("thread", thread)], u64::from(*is_running));
        }
    }

    /// Writes a histogram; `unit` converts its values to the base unit.
    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        distribution: &Distribution,
        unit: fn(u64) -> String,
    ) {
        self.begin(name, "histogram", help);
        let mut below = 0;
        for (power, count) in distribution.buckets.iter().enumerate() {
            below += count;
            // Integers below 2^n are at most 2^n - 1.
            let bound = (1_u64 << power.min(63)) - 1;
            if *count > 0 {
                self.sample(&format!("{name}_bucket"), &[("le", &unit(bound))], below);
            }
        }
        self.sample(&format!("{name}_bucket"), &[("le", "+Inf")], distribution.count);
        self.sample(&format!("{name}_sum"), &[], unit(distribution.sum));
        self.sample(&format!("{name}_count"), &[], distribution.count);
    }

    pub(crate) fn streams(&mut self, metrics: &StreamMetrics) {
        let lanes: [(&str, &str, &str, SampleOf<LaneMetrics>); 6] = [
            ("lag_changes", "gauge", "Changes read but not yet processed.", |lane| {
                lane.behind.to_string()
            }),
            ("lag_seconds", "gauge", "Age of the oldest unprocessed change.", |lane| {
                seconds(Duration::from_millis(lane.behind_ms))
            }),
            ("processed_changes_total", "counter", "Changes processed.", |lane| {
                lane.processed.to_string()
            }),
            ("retries_total", "counter", "Failed attempts that are retried.", |lane| {
                lane.retried.to_string()
            }),
            ("dead_letters_total", "counter", "Changes that became dead letters.", |lane| {
                lane.parked.to_string()
            }),
            ("gaps_total", "counter", "Times that unread changes had been trimmed.", |lane| {
                lane.gaps.to_string()
            }),
        ];
        for (rest, kind, help, sample_of) in lanes {
            let name = format!("roundtable_stream_{rest}");
            self.begin(&name, kind, help);
            for lane in &metrics.lanes {
                let labels = [("processor", lane.processor.as_str()), ("shard", &lane.shard)];
                self.sample(&name, &labels, sample_of(lane));
            }
        }
        let queues: [(&str, &str, SampleOf<QueueMetrics>); 4] = [
            ("pages_total", "Pages of jobs finished.", |queue| queue.pages.to_string()),
            ("finished_total", "Jobs finished.", |queue| queue.finished.to_string()),
            ("retries_total", "Failed attempts that are retried.", |queue| {
                queue.retried.to_string()
            }),
            ("dead_letters_total", "Jobs that became dead letters.", |queue| {
                queue.parked.to_string()
            }),
        ];
        for (rest, help, sample_of) in queues {
            let name = format!("roundtable_jobs_{rest}");
            self.begin(&name, "counter", help);
            for queue in &metrics.queues {
                self.sample(&name, &[("queue", &queue.queue)], sample_of(queue));
            }
        }
    }

    pub(crate) fn feeds(&mut self, stats: &FeedStats) {
        self.gauge(
            "roundtable_feed_cached_circles",
            "Readers whose circle is cached.",
            stats.circles,
        );
        self.gauge(
            "roundtable_feed_cached_circle_members",
            "Users and groups in the cached circles.",
            stats.ties,
        );
        let memory = &stats.memory;
        let activities = [
            ("recent_activities", memory.recent, memory.recent_bytes),
            ("activities_of_actors", memory.actor_entries, memory.actor_bytes),
        ];
        let entities = stats.entities.map(|(cache, it)| (cache, it.entries, it.bytes));
        let caches = [&activities[..], &entities[..]].concat();
        let name = "roundtable_memory_entries";
        self.begin(name, "gauge", "Entries of the caches behind pages.");
        caches
            .iter()
            .for_each(|(cache, entries, _)| self.sample(name, &[("cache", cache)], entries));
        let name = "roundtable_memory_bytes";
        self.begin(name, "gauge", "Estimated bytes of the caches behind pages.");
        caches.iter().for_each(|(cache, _, bytes)| self.sample(name, &[("cache", cache)], bytes));
        let uses: [(&str, &str, CountOf); 2] = [
            (
                "roundtable_memory_lookups_total",
                "Entities that pages looked up in memory.",
                |cache| cache.lookups,
            ),
            (
                "roundtable_memory_misses_total",
                "Entities that pages had to read from the table.",
                |cache| cache.misses,
            ),
        ];
        for (name, help, count_of) in uses {
            self.begin(name, "counter", help);
            for (cache, stats) in &stats.entities {
                self.sample(name, &[("cache", cache)], count_of(stats));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted_and_each_sample_has_a_line() {
        let mut page = MetricsPage::default();
        page.sample("a_total", &[("of", "x\"\\\n"), ("b", "c")], 3);
        page.gauge("b", "What it is.", 4);
        assert_eq!(
            page.into_text(),
            "a_total{of=\"x\\\"\\\\\\n\",b=\"c\"} 3\n# HELP b What it is.\n# TYPE b gauge\nb 4\n"
        );
    }

    #[test]
    fn seconds_are_exact_and_short() {
        for (time, text) in [
            (Duration::ZERO, "0.0"),
            (Duration::from_secs(5), "5.0"),
            (Duration::from_millis(1_025), "1.025"),
            (Duration::from_micros(1), "0.000001"),
        ] {
            assert_eq!(seconds(time), text);
        }
    }

    #[test]
    fn a_histogram_of_microseconds_is_shown_in_seconds() {
        let mut page = MetricsPage::default();
        let times = Distribution { count: 3, sum: 1_500, max: 1_000, buckets: vec![1, 0, 2] };
        page.histogram("t_seconds", "T.", &times, |us| seconds(Duration::from_micros(us)));
        let expected = [
            "# HELP t_seconds T.",
            "# TYPE t_seconds histogram",
            "t_seconds_bucket{le=\"0.0\"} 1",
            "t_seconds_bucket{le=\"0.000003\"} 3",
            "t_seconds_bucket{le=\"+Inf\"} 3",
            "t_seconds_sum 0.0015",
            "t_seconds_count 3",
        ];
        assert_eq!(page.into_text().lines().collect::<Vec<_>>(), expected);
    }
}
