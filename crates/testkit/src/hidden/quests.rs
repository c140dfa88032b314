//! What people challenge themselves to, with a secret in every text of it.

use roundtable_domain::NewQuest;
use roundtable_model::QuestId;

use super::{Hidden, all_but};

/// Whose quest, and which.
pub type Challenge = (&'static str, QuestId);

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
