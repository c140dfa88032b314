//! A town with a secret word in every text, and the viewers who may see each: tests search
//! everything a viewer can read for the words that must stay hidden (I9).

#![expect(clippy::indexing_slicing, reason = "a fixture that is incomplete should panic")]

mod goals;
mod media;
mod people;
mod posts;
mod quests;
mod relations;
mod removals;
mod rooms;
mod trade;
mod vault;

use roundtable_domain::Caller;
use roundtable_model::{CommentId, GroupId, MediaKey, PostId, Role, RoomId};

pub use self::goals::SecretGoal;
pub use self::quests::SecretQuest;
pub use self::trade::SecretTrade;
use crate::Town;

/// The viewers: the first is not signed in; mia follows tom and has muted him; bex was blocked by
/// ana, and bob has blocked ana; mel is in the private group, fox was, and gus is one of its
/// admins; sue, who followed and was in it, and sid are suspended; dan has deleted his account.
pub const VIEWERS: [&str; 17] = [
    "nobody", "ana", "pia", "fay", "sam", "mia", "bex", "bob", "mel", "fox", "gus", "tom", "sid",
    "sue", "dan", "mo", "ada",
];

/// A secret word, and the viewers who may see it.
#[derive(Debug)]
pub struct Canary {
    pub name: &'static str,
    pub seen_by: Vec<&'static str>,
}

impl Canary {
    pub fn secret(&self) -> String {
        word(self.name)
    }
}

fn word(name: &str) -> String {
    format!("xq{name}xq")
}

/// The town, and the ids of everything in it.
#[derive(Debug)]
pub struct SecretTown {
    pub town: Town,
    pub canaries: Vec<Canary>,
    /// Posts with a secret, in order of creation.
    pub posts: Vec<PostId>,
    /// Comments with their posts.
    pub comments: Vec<(PostId, CommentId)>,
    /// A public group, a private one, and a deleted one.
    pub groups: Vec<GroupId>,
    pub trade: SecretTrade,
    pub files: Vec<MediaKey>,
    /// The last is the private group's.
    pub rooms: Vec<RoomId>,
    pub secret_goals: Vec<SecretGoal>,
    pub secret_quests: Vec<SecretQuest>,
}

pub fn viewers_except(hidden_from: &[&str]) -> Vec<&'static str> {
    VIEWERS.into_iter().filter(|viewer| !hidden_from.contains(viewer)).collect()
}

impl SecretTown {
    /// Creates the town and hides everything that can be hidden. The processors have not run since
    /// then.
    pub async fn create() -> Self {
        let town = Town::of([]).await;
        let (canaries, posts, comments, groups) = Default::default();
        let mut secrets = Self {
            town,
            canaries,
            posts,
            comments,
            groups,
            trade: SecretTrade::default(),
            files: Vec::new(),
            rooms: Vec::new(),
            secret_goals: Vec::new(),
            secret_quests: Vec::new(),
        };
        secrets.people().await;
        secrets.communities().await;
        secrets.talk().await;
        secrets.posts().await;
        secrets.comments().await;
        secrets.files().await;
        secrets.activities().await;
        secrets.help().await;
        secrets.trade().await;
        secrets.goals().await;
        secrets.quests().await;
        secrets.vault().await;
        secrets.relations();
        secrets.town.settle().await;
        secrets.removals().await;
        secrets.delete_last_goal().await;
        secrets
    }

    /// Creates a secret word that these viewers may see.
    pub(crate) fn secret(&mut self, name: &'static str, seen_by: &[&'static str]) -> String {
        self.canaries.push(Canary { name, seen_by: seen_by.to_vec() });
        word(name)
    }

    /// The caller of a viewer; `None` if not signed in.
    pub fn caller(&self, viewer: &str) -> Option<Caller> {
        match viewer {
            "nobody" => None,
            "mo" => Some(self.town.mo()),
            "ada" => Some(self.town.staff("ada", Role::Admin)),
            name => Some(self.town.caller(name)),
        }
    }
}
