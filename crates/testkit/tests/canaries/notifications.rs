//! What people are told of what others did.

use futures::FutureExt;
use roundtable_domain::{Caller, Notifications};
use roundtable_model::Span;
use roundtable_testkit::VIEWERS;
use tokio::task::unconstrained;

use super::reads::Reader;

impl Reader<'_> {
    /// Everything that somebody was told, and is told who listens from the beginning on.
    pub(crate) async fn notifications(&mut self, caller: &Caller) {
        let service = Notifications::new(self.hidden.town.ground().clone());
        self.list("notifications", async |page| service.list(caller, &page).await).await;
        // Those of others, too: an id may get around.
        for name in VIEWERS {
            let whose = self.hidden.town.id(name);
            let core = self.hidden.town.ground().core();
            let notes = core.notifications(&whose, Span::ALL).all().await.unwrap();
            let ids: Vec<_> = notes.into_iter().map(|note| note.id).collect();
            self.note(format!("notifications of {name}"), service.notices(caller, &ids).await);
        }
        self.note("unread notifications", service.unread(caller).await);
        let beginning = "00000000000000000000000000".parse().unwrap();
        let mut live = match service.live(caller, Some(&beginning)).await {
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
