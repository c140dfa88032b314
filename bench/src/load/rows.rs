//! The rows of the report: each kind of request at its peak, beside handlers that do nothing.

use anyhow::{Context, Result, ensure};

use super::peak::{self, PeakFigures, PeakSubject};
use super::requests::{RequestKind, Requests};
use super::server::ServerProcess;
use crate::report::{Better, Report};

/// The required feed pages per request to the health check.
const OF_HEALTHZ_MIN: f64 = 0.1;
/// The limit of a page in the server's process.
const IN_PROCESS_US_MAX: f64 = 350.0;

/// Measures and reports every kind; returns the figures of feed pages.
pub(super) fn run(
    server: &ServerProcess,
    requests: &Requests,
    quick: bool,
    report: &mut Report,
) -> Result<PeakFigures> {
    report_in_process(server, report);
    let subjects = RequestKind::ALL.map(|kind| PeakSubject {
        name: kind.name(),
        address: server.address,
        processes: vec![server.process()],
        request: Box::new(move |number| requests.get(kind, number)),
        kind,
    });
    let figures = peak::measure(&subjects, quick)?;
    ensure!(
        requests.likes_are_distinct(),
        "all posts are liked by all readers: make a larger town"
    );
    report_peaks(&figures, report);
    let mut figures = figures.into_iter();
    let (feed, healthz) = (figures.next(), figures.next());
    let (feed, healthz) = feed.zip(healthz).context("feed pages were not measured")?;
    report.at_least("feed-of-healthz", feed.per_second() / healthz.per_second(), OF_HEALTHZ_MIN);
    for (kind, bytes) in &requests.sizes {
        if !matches!(kind, RequestKind::Healthz | RequestKind::Typename) {
            report.note(format!("{}: a body of {bytes} bytes (median)", kind.name()));
        }
    }
    Ok(feed)
}

/// Reports figures of several subjects, in their order.
pub(super) fn report_peaks(figures: &[PeakFigures], report: &mut Report) {
    let mut figure = |label: &str, better, value: &dyn Fn(&PeakFigures) -> f64| {
        report.figure(label, better, figures.iter().map(value));
    };
    figure("requests/s", Better::Higher, &PeakFigures::per_second);
    figure("  slowest round", Better::Higher, &PeakFigures::slowest);
    figure("  connections", Better::Lower, &PeakFigures::connections);
    figure("  p50 ms", Better::Lower, &|figures| figures.wait_ms(0.5));
    figure("  p99 ms", Better::Lower, &|figures| figures.wait_ms(0.99));
    figure("  server's processor time, µs", Better::Lower, &PeakFigures::server_us);
    figure("  client's processor time, µs", Better::Lower, &PeakFigures::own_us);
    figure("one connection, p50 ms", Better::Lower, &|figures| figures.wait_alone_ms(0.5));
    figure("  p99 ms", Better::Lower, &|figures| figures.wait_alone_ms(0.99));
}

/// Reports the times in the server's process, without HTTP.
fn report_in_process(server: &ServerProcess, report: &mut Report) {
    let in_process = &server.in_process;
    let label = "in the server's process, one caller, p50 µs";
    report.figure(label, Better::Lower, [in_process.graphql, None, in_process.typename]);
    let label = "  of that the service alone, p50 µs";
    report.figure(label, Better::Lower, [in_process.service]);
    if let Some(us) = in_process.graphql {
        report.under("in-process", us, IN_PROCESS_US_MAX, "µs");
    }
}
