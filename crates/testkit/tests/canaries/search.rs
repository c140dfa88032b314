//! All results of searches for secret words.

use roundtable_testkit::{Canary, SecretTown};

use super::reads::Reader;

impl Reader<'_> {
    /// R58: search shows only what the viewer may see.
    pub(crate) async fn search(&mut self) {
        let Reader { secrets: SecretTown { town, canaries, .. }, viewer, .. } = *self;
        let search = town.search();
        let words = canaries.iter().map(Canary::secret);
        for word in words.chain([String::from("town"), String::from("xq")]) {
            self.list(format!("search for {word}"), async |page| {
                search.search(viewer, &word, None, &page).await
            })
            .await;
        }
    }
}
