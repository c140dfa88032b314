//! What people challenge themselves to, with a secret in every text of it, and everything that shows it.

use roundtable_domain::{Caller, NewQuest, QuestFilter};
use roundtable_model::{QuestId, QuestStatus};

use super::reads::Reader;
use super::secrets::{Hidden, all_but};

/// Whose quest, and which.
pub(crate) type Challenge = (&'static str, QuestId);

impl Hidden {
    /// Quests of somebody, of which others see nothing; what is completed is told to whoever may see
    /// who completed it, and nothing else of it.
    pub(crate) async fn quests(&mut self) {
        for (owner, name, seen_by) in [
            ("ana", "quest", ["ana", "ada"].as_slice()),
            ("pia", "private-accounts-quest", &["pia", "ada"]),
            ("sid", "suspended-quest", &["ada"]),
            ("dan", "deleted-accounts-quest", &[]),
        ] {
            let title: &'static str = format!("{name}-title").leak();
            let title = self.secret(title, seen_by);
            self.challenge(owner, name, title, seen_by).await;
        }
        let title = self.secret("completed-quest-title", &all_but(&["bex", "bob"]));
        let goal = self.town.open_goal("ana", "quest-goal").await;
        let task = self.town.open_task("ana", &goal, "quest-task").await;
        let owners: &[&str] = &["ana", "ada"];
        self.challenge("ana", "completed-quest", title, owners).await;
        self.town.set_done(&goal, &task, true).await;
    }

    async fn challenge(
        &mut self,
        owner: &'static str,
        name: &'static str,
        title: String,
        seen_by: &[&'static str],
    ) {
        let mut text = |of: &str| {
            let name: &'static str = format!("{name}-{of}").leak();
            self.secret(name, seen_by)
        };
        // Only the completed one asks for as little as is done.
        let target = if name == "completed-quest" { 1 } else { 50 };
        let quest = NewQuest {
            description: Some(text("description")),
            tags: vec!["town".parse().unwrap(), text("tag").parse().unwrap()],
            ..NewQuest::tasks(title, target)
        };
        let quest = self.town.set_quest(owner, quest).await;
        self.challenges.push((owner, quest.id));
    }
}

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
