//! Everything that shows what people challenge themselves to.

use roundtable_domain::{Caller, QuestFilter};
use roundtable_model::QuestStatus;
use roundtable_testkit::Hidden;

use super::reads::Reader;

impl Reader<'_> {
    /// What somebody signed in may ask about quests.
    pub(crate) async fn quests(&mut self, caller: &Caller) {
        let Self { hidden: Hidden { town, challenges, .. }, .. } = *self;
        let quests = town.quests();
        let places: Vec<_> =
            challenges.iter().map(|(owner, id)| (town.id(owner), id.clone())).collect();
        self.note("quests in their places", quests.quests(caller, &places).await);
        for (owner, quest) in challenges {
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
