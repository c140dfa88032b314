//! The standard `process_*` metrics of Prometheus clients, read from `/proc`. Each is absent where its
//! source is, so there are none on systems other than Linux.

use std::fs;
use std::time::Duration;

use super::page::{MetricsPage, seconds};

/// Clock ticks per second in `/proc`: the kernel's `USER_HZ`, which is 100 on every supported platform.
const TICKS_PER_SECOND: u64 = 100;

/// Clock ticks from `/proc/self/stat`.
#[derive(Debug, PartialEq, Eq)]
struct ProcessTicks {
    cpu: u64,
    /// From the start of the system to the start of the process.
    start: u64,
}

pub(super) fn write_to(page: &mut MetricsPage) {
    let read = |name: &str| fs::read_to_string(format!("/proc/{name}")).ok();
    if let Some(ticks) = read("self/stat").as_deref().and_then(parse_ticks) {
        let help = "User and system CPU time spent, in seconds.";
        page.counter("process_cpu_seconds_total", help, seconds(duration(ticks.cpu)));
        let boot = read("stat").as_deref().and_then(|stat| field(stat, "btime"));
        if let Some(boot) = boot {
            let start = Duration::from_secs(boot) + duration(ticks.start);
            let help = "Start of the process, in seconds since the Unix epoch.";
            page.gauge("process_start_time_seconds", help, seconds(start));
        }
    }
    if let Some(status) = read("self/status") {
        for (name, help, key) in [
            ("process_resident_memory_bytes", "Resident memory in bytes.", "VmRSS:"),
            ("process_virtual_memory_bytes", "Virtual memory in bytes.", "VmSize:"),
        ] {
            if let Some(kib) = field(&status, key) {
                page.gauge(name, help, kib * 1024);
            }
        }
    }
    if let Ok(entries) = fs::read_dir("/proc/self/fd") {
        // One of them is that of the directory being read.
        let open = entries.count().saturating_sub(1);
        page.gauge("process_open_fds", "Open file descriptors.", open);
    }
    let max = read("self/limits").as_deref().and_then(|limits| field(limits, "Max open files"));
    if let Some(max) = max {
        page.gauge("process_max_fds", "Limit on open file descriptors.", max);
    }
}

fn duration(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Parses `/proc/self/stat`. The second field, the command in parentheses, may hold spaces and
/// parentheses itself.
fn parse_ticks(stat: &str) -> Option<ProcessTicks> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The manual counts from 1 and includes the two fields before.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(ProcessTicks { cpu: number(14)? + number(15)?, start: number(22)? })
}

/// The first number after `key` at the start of a line; `None` for `unlimited`.
fn field(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 2000 0 3 0 150 25 0 0 20 0 8 0 12345 1000 99";
        assert_eq!(parse_ticks(stat), Some(ProcessTicks { cpu: 175, start: 12_345 }));
        assert_eq!(duration(175), Duration::from_millis(1_750));
        assert_eq!(parse_ticks("7 (a) S 1"), None);
    }

    #[test]
    fn a_field_is_the_first_number_of_its_line() {
        let status = "VmPeak:\t  2000 kB\nVmSize:\t  1000 kB\nVmRSS:\t   300 kB\n";
        assert_eq!(field(status, "VmRSS:"), Some(300));
        assert_eq!(field("btime 1700000000\n", "btime"), Some(1_700_000_000));
        let limits = "Max processes  100  100  processes\nMax open files  1024  4096  files\n";
        assert_eq!(field(limits, "Max open files"), Some(1_024));
        assert_eq!(field("Max open files  unlimited  unlimited  files", "Max open files"), None);
        assert_eq!(field("", "VmRSS:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_has_all_of_them() {
        let mut page = MetricsPage::default();
        write_to(&mut page);
        let text = page.into_text();
        for name in [
            "process_cpu_seconds_total",
            "process_resident_memory_bytes",
            "process_virtual_memory_bytes",
            "process_open_fds",
            "process_max_fds",
            "process_start_time_seconds",
        ] {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            let value: f64 = value.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap();
            assert!(value > 0.0 || name == "process_cpu_seconds_total", "{name} {value}");
        }
    }
}
