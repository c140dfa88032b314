//! Hides content that was visible: deletions, moderation, blocks and suspensions.

use roundtable_domain::PostChange;
use roundtable_model::{ModerationStatus, Visibility};

use super::{SecretTown, word};

impl SecretTown {
    /// Hides content, without running the processors afterwards.
    pub(super) async fn removals(&self) {
        let (town, ana, mo) = (&self.town, self.town.caller("ana"), self.town.mo());
        for post in &self.posts {
            town.set_score(post, 100).await;
        }
        town.moderate(&self.id_of("flagged"), ModerationStatus::Flagged).await;
        town.moderate(&self.id_of("rejected"), ModerationStatus::Rejected).await;
        let comment = |at: usize| &self.comments[at].1;
        let flagged = ModerationStatus::Flagged;
        let moderation = town.moderation();
        moderation.moderate_comment(&mo, comment(5), flagged, None, None).await.unwrap();
        town.posts().delete(&ana, &self.id_of("deleted"), None).await.unwrap();
        let change = PostChange { content: Some("other words".into()), visibility: None };
        town.posts().update(&ana, &self.id_of("edited"), &change, None).await.unwrap();
        let change = PostChange { content: None, visibility: Some(Visibility::Private) };
        town.posts().update(&ana, &self.id_of("no-longer-public"), &change, None).await.unwrap();
        town.comments().delete(&ana, comment(6), None).await.unwrap();
        town.comments().update(&ana, comment(7), "other words", None).await.unwrap();
        town.groups().delete(&ana, &self.groups[2], None).await.unwrap();
        town.block("ana", "bex").await;
        town.block("bob", "ana").await;
        for name in ["sue", "sid"] {
            town.accounts().suspend(&mo, &town.id(name), "rude", None).await.unwrap();
        }
        let (dan, nickname) = (town.caller("dan"), word("dans-nick").parse().unwrap());
        town.accounts().delete_account(&dan, &nickname).await.unwrap();
    }
}
