//! Secrets in quests.

use roundtable_domain::NewQuest;
use roundtable_model::QuestId;

use super::{SecretTown, viewers_except};

/// The owner and the id of a quest.
pub type SecretQuest = (&'static str, QuestId);

impl SecretTown {
    /// Creates quests, which others cannot see; only the title of a completed one is visible to
    /// viewers who may see its owner.
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
        let title = self.secret("completed-quest-title", &viewers_except(&["bex", "bob"]));
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
        // Only the completed quest has a target that is reached.
        let target = if name == "completed-quest" { 1 } else { 50 };
        let quest = NewQuest {
            description: Some(text("description")),
            tags: vec!["town".parse().unwrap(), text("tag").parse().unwrap()],
            ..NewQuest::tasks(title, target)
        };
        let quest = self.town.set_quest(owner, quest).await;
        self.secret_quests.push((owner, quest.id));
    }
}
