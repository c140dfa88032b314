//! All reads that show quests.

use roundtable_domain::{Caller, QuestFilter};
use roundtable_model::QuestStatus;
use roundtable_testkit::SecretTown;

use super::reads::Reader;

impl Reader<'_> {
    pub(crate) async fn quests(&mut self, caller: &Caller) {
        let Self { secrets: SecretTown { town, secret_quests, .. }, .. } = *self;
        let quests = town.quests();
        let places: Vec<_> =
            secret_quests.iter().map(|(owner, id)| (town.id(owner), id.clone())).collect();
        self.note("quests in their places", quests.quests(caller, &places).await);
        for (owner, quest) in secret_quests {
            let owner = town.id(owner);
            self.note("quest", quests.get(caller, &owner, quest).await);
            for status in [None, Some(QuestStatus::Active), Some(QuestStatus::Completed)] {
                let filter = QuestFilter { status, ..QuestFilter::default() };
                self.list("quests", async |page| quests.list(caller, &owner, &filter, &page).await)
                    .await;
            }
        }
    }
}
