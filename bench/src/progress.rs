//! Progress of long work: a bar on a terminal, or a line every few seconds.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

#[derive(Debug)]
pub(crate) struct Progress {
    label: String,
    total: u64,
    done: AtomicU64,
    started: Instant,
    /// Seconds from the start to the last line.
    last_line: AtomicU64,
    bar: Option<ProgressBar>,
}

const LINE_EVERY: u64 = 5;

impl Progress {
    pub(crate) fn new(label: impl Into<String>, total: u64) -> Self {
        let label = label.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total).with_message(label.clone());
            let template = "{msg:28} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}";
            match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        let (done, last_line) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { label, total, done, started: Instant::now(), last_line, bar }
    }

    pub(crate) fn add(&self, count: u64) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if let Some(bar) = &self.bar {
            return bar.inc(count);
        }
        let seconds = self.started.elapsed().as_secs();
        let last = self.last_line.load(Ordering::Relaxed);
        let due = seconds >= last + LINE_EVERY;
        // Only the thread that updates the time prints the line.
        let swap = || {
            let order = Ordering::Relaxed;
            self.last_line.compare_exchange(last, seconds, order, order).is_ok()
        };
        if due && swap() {
            eprintln!("{}: {done} of {} after {seconds} s", self.label, self.total);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

pub(crate) fn log_step(what: &str) {
    eprintln!("… {what}");
}
