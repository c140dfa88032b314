//! A town full of secrets, and who is meant to know each: whatever can be read by somebody is searched
//! for the words they are not meant to find (I9).

#![expect(clippy::indexing_slicing, reason = "a town that is not as it was made should stop")]

mod endings;
mod goals;
mod media;
mod people;
mod posts;
mod quests;
mod rooms;
mod ties;
mod trade;
mod vault;

use roundtable_domain::Caller;
use roundtable_model::{CommentId, GroupId, MediaKey, PostId, Role, RoomId};

pub use self::goals::Plan;
pub use self::quests::Challenge;
pub use self::trade::Wares;
use crate::Town;

/// Who looks: `nobody` is not signed in; mia follows tom and has muted him; bex was blocked by ana, and bob has blocked ana; mel is in the
/// private group, fox was, and gus helps to run it; sue, who followed and was in it, and sid are
/// suspended; dan has deleted his account.
pub const VIEWERS: [&str; 17] = [
    "nobody", "ana", "pia", "fay", "sam", "mia", "bex", "bob", "mel", "fox", "gus", "tom", "sid",
    "sue", "dan", "mo", "ada",
];

/// A secret word, and everybody who is meant to find it somewhere.
#[derive(Debug)]
pub struct Canary {
    /// What it is about.
    pub name: &'static str,
    /// Those who are meant to.
    pub seen_by: Vec<&'static str>,
}

impl Canary {
    /// The word.
    pub fn secret(&self) -> String {
        word(self.name)
    }
}

fn word(name: &str) -> String {
    format!("xq{name}xq")
}

/// The town, and everything in it that can be asked for.
#[derive(Debug)]
pub struct Hidden {
    /// The town.
    pub town: Town,
    /// The secrets.
    pub canaries: Vec<Canary>,
    /// Posts with a secret, in the order they were written.
    pub posts: Vec<PostId>,
    /// Comments, and what they are on.
    pub comments: Vec<(PostId, CommentId)>,
    /// An open group, a private one, and one that is no more.
    pub groups: Vec<GroupId>,
    /// Calls for help, companies and offers.
    pub wares: Wares,
    /// Files.
    pub files: Vec<MediaKey>,
    /// Rooms; the last is the private group's.
    pub rooms: Vec<RoomId>,
    /// Goals.
    pub plans: Vec<Plan>,
    /// Quests.
    pub challenges: Vec<Challenge>,
}

/// Everybody but these.
pub fn all_but(hidden_from: &[&str]) -> Vec<&'static str> {
    VIEWERS.into_iter().filter(|viewer| !hidden_from.contains(viewer)).collect()
}

impl Hidden {
    /// A town in which everything is hidden that can be; nothing has followed from that yet.
    pub async fn set() -> Self {
        let town = Town::of([]).await;
        let (canaries, posts, comments, groups) = Default::default();
        let mut hidden = Self {
            town,
            canaries,
            posts,
            comments,
            groups,
            wares: Wares::default(),
            files: Vec::new(),
            rooms: Vec::new(),
            plans: Vec::new(),
            challenges: Vec::new(),
        };
        hidden.people().await;
        hidden.communities().await;
        hidden.talk().await;
        hidden.posts().await;
        hidden.comments().await;
        hidden.files().await;
        hidden.activities().await;
        hidden.help().await;
        hidden.trade().await;
        hidden.goals().await;
        hidden.quests().await;
        hidden.vault().await;
        hidden.ties();
        hidden.town.settle().await;
        hidden.endings().await;
        hidden.give_up().await;
        hidden
    }

    /// Notes who is meant to see a secret, and makes it up.
    pub(crate) fn secret(&mut self, name: &'static str, seen_by: &[&'static str]) -> String {
        self.canaries.push(Canary { name, seen_by: seen_by.to_vec() });
        word(name)
    }

    /// Who looks, signed in or not.
    pub fn caller(&self, viewer: &str) -> Option<Caller> {
        match viewer {
            "nobody" => None,
            "mo" => Some(self.town.mo()),
            "ada" => Some(self.town.staff("ada", Role::Admin)),
            name => Some(self.town.caller(name)),
        }
    }
}
