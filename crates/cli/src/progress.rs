//! Progress of long commands: a bar on a terminal, elsewhere a line every few seconds, so that quick
//! commands print nothing.

use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use roundtable_verify::ProgressReporter;

const LINE_EVERY: Duration = Duration::from_secs(5);
/// For a known amount of work.
const BAR: &str = "{msg:40} {wide_bar} {human_pos}/{human_len} {eta}";
/// For an unknown amount of work.
const SPINNER: &str = "{msg:40} {spinner} {human_pos} {per_sec}";

#[derive(Debug)]
pub(crate) struct ProgressDisplay {
    bar: Option<ProgressBar>,
    plain: Mutex<PlainProgress>,
}

#[derive(Debug)]
struct PlainProgress {
    what: String,
    done: u64,
    last_line: Instant,
}

impl ProgressDisplay {
    pub(crate) fn new() -> Self {
        let bar = io::stderr().is_terminal().then(ProgressBar::new_spinner);
        let plain = PlainProgress { what: String::new(), done: 0, last_line: Instant::now() };
        Self { bar, plain: Mutex::new(plain) }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl ProgressReporter for ProgressDisplay {
    fn stage(&self, what: &str, total: Option<u64>) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_message(what.to_owned());
            let template = if total.is_some() { BAR } else { SPINNER };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            if let Some(total) = total {
                bar.set_length(total);
            }
            return;
        }
        let mut plain = self.plain.lock();
        (plain.what, plain.done) = (what.to_owned(), 0);
    }

    fn advance(&self, count: u64) {
        if let Some(bar) = &self.bar {
            return bar.inc(count);
        }
        let mut plain = self.plain.lock();
        plain.done += count;
        if plain.last_line.elapsed() >= LINE_EVERY {
            plain.last_line = Instant::now();
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "{}: {} so far", plain.what, plain.done);
        }
    }
}
