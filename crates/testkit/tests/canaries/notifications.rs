//! All reads that show notifications.

use futures::FutureExt;
use roundtable_domain::{Caller, LiveSource as _, Notifications};
use roundtable_model::Span;
use roundtable_testkit::VIEWERS;
use tokio::task::unconstrained;

use super::reads::Reader;

impl Reader<'_> {
    /// Reads all notifications, as pages and live.
    pub(crate) async fn notifications(&mut self, caller: &Caller) {
        let service = Notifications::new(self.secrets.town.context().clone());
        self.list("notifications", async |page| service.list(caller, &page).await).await;
        // Also those of other users, whose ids may become known.
        for name in VIEWERS {
            let whose = self.secrets.town.id(name);
            let core = self.secrets.town.context().core();
            let notes = core.notifications(&whose, Span::ALL).all().await.unwrap();
            let ids: Vec<_> = notes.into_iter().map(|note| note.id).collect();
            self.note(format!("notifications of {name}"), service.by_ids(caller, &ids).await);
        }
        self.note("unread notifications", service.unread(caller).await);
        let bus = self.secrets.town.new_bus();
        let beginning = "00000000000000000000000000".parse().unwrap();
        let mut live = match service.live(&bus, caller, Some(&beginning)).await {
            Ok(live) => live,
            refused => return self.note("live notifications", refused),
        };
        while let Some(heard) = unconstrained(live.next()).now_or_never() {
            let is_end = heard.is_err();
            self.note("heard notifications", heard);
            if is_end {
                return;
            }
        }
    }
}
