//! The metrics of the search index.

use roundtable_search::{IndexState, SearchStatus};

use super::page::MetricsPage;

impl MetricsPage {
    pub(crate) fn search(&mut self, status: &SearchStatus) {
        let name = |rest: &str| format!("roundtable_search_{rest}");
        for (rest, help, value) in [
            ("answers", "Whether searches are answered.", u64::from(status.answers)),
            (
                "building",
                "Whether the index is being built.",
                u64::from(status.state == IndexState::Building),
            ),
            ("scanned_items", "Items read by the current or last build.", status.scanned),
            ("documents", "Documents in the index.", status.documents),
            ("index_bytes", "Bytes of the index's files.", status.bytes),
        ] {
            self.gauge(&name(rest), help, value);
        }
        self.counter(&name("builds_total"), "Builds of the index since the start.", status.builds);
    }
}
