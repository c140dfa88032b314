//! Secrets about relations of users: follows, likes, memberships. A relation has no text to search
//! for, so a word stands for it.

use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, ActorId, Span, Time};

use super::{SecretTown, VIEWERS};

impl SecretTown {
    pub(crate) fn relations(&mut self) {
        // Sam has requested to follow pia.
        self.secret("follow-asked-for", &["sam", "pia"]);
        // Sue, who is suspended, followed pia.
        self.secret("follow-of-suspended", &["sue", "mo", "ada"]);
        self.secret("follow-of-deleted", &[]);
        self.secret("like-of-private-post", &["ana", "mo", "ada"]);
        self.secret("like-of-suspended", &["sid", "mo", "ada"]);
        self.secret("membership", &["ana", "mel", "gus", "mo", "ada"]);
        self.secret("membership-of-suspended", &["mo", "ada"]);
        self.secret("seat-of-two", &["ana", "fay"]);
        self.secret("seat-in-group", &["ana", "mel", "gus"]);
    }

    /// Returns the keys of all activities.
    pub async fn activity_keys(&self) -> Vec<(ActorId, Time, ActivityId)> {
        let people = VIEWERS.into_iter().map(|name| ActorId::from(&self.town.id(name)));
        let homes: Vec<ActorId> = people.chain(self.groups.iter().map(ActorId::from)).collect();
        let mut places = Vec::new();
        for home in homes {
            let core = self.town.context().core();
            let told: Vec<Activity> = core.activities_of(&home, Span::ALL).all().await.unwrap();
            let place = |one: Activity| (home.clone(), one.created_at, one.activity_id);
            places.extend(told.into_iter().map(place));
        }
        places
    }
}
