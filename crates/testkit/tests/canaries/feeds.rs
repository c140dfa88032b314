//! Home feeds, as pages and live.

use futures::FutureExt;
use roundtable_domain::{Caller, Feeds, LiveSource as _, Promotions};
use roundtable_model::ActorId;
use tokio::task::unconstrained;

use super::reads::Reader;

impl Reader<'_> {
    /// Reads the viewer's feed in a new process, and in one with a warm cache.
    pub(crate) async fn feeds(&mut self, caller: &Caller) {
        let context = self.secrets.town.context().clone();
        let bus = self.secrets.town.new_bus();
        let feeds = Feeds::new(context.clone(), &bus);
        self.list("feed", async |page| feeds.home(caller, &page).await).await;
        self.list("feed by rank", async |page| feeds.top(caller, &page).await).await;
        bus.warm_up().await.unwrap();
        self.list("remembered feed", async |page| feeds.home(caller, &page).await).await;
        let places = self.secrets.activity_keys().await;
        self.note("entries of the feed", feeds.at(caller, &places).await);
        self.read_live_feed(caller, &feeds).await;
        let promotions = Promotions::new(context);
        let subjects = ["ana", "sid", "dan"].map(|name| ActorId::from(&self.secrets.town.id(name)));
        self.note("promotions", promotions.promotions(caller, &subjects).await);
    }

    /// Reads the live feed from the beginning to the end.
    async fn read_live_feed(&mut self, caller: &Caller, feeds: &Feeds) {
        let beginning = "00000000000000000000000000".parse().unwrap();
        let mut live = match feeds.live(caller, Some(&beginning)).await {
            Ok(live) => live,
            refused => return self.note("live feed", refused),
        };
        while let Some(heard) = unconstrained(live.next()).now_or_never() {
            let is_end = heard.is_err();
            self.note("heard in the feed", heard);
            if is_end {
                return;
            }
        }
    }
}
