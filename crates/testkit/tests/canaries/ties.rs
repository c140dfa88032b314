//! Who follows, belongs and talks to whom. Such a tie has no words of its own to look for: whoever is
//! shown one is told a word that stands for it.

use roundtable_domain::Caller;
use roundtable_model::entities::Activity;
use roundtable_model::{ActivityId, ActorId, Span, Time};

use super::reads::Reader;
use super::secrets::{Hidden, VIEWERS};

/// What stands for a tie, where it was shown.
fn word_if(shown: bool, word: &str) -> Option<String> {
    shown.then(|| format!("xq{word}xq"))
}

impl Hidden {
    /// Who is meant to know of which tie.
    pub(crate) fn ties(&mut self) {
        // Sam asked whether he may follow pia.
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

    /// Where and when everything happened that anybody ever did.
    pub(crate) async fn places(&self) -> Vec<(ActorId, Time, ActivityId)> {
        let people = VIEWERS.into_iter().map(|name| ActorId::from(&self.town.id(name)));
        let homes: Vec<ActorId> = people.chain(self.groups.iter().map(ActorId::from)).collect();
        let mut places = Vec::new();
        for home in homes {
            let core = self.town.ground().core();
            let told: Vec<Activity> = core.activities_of(&home, Span::ALL).all().await.unwrap();
            let place = |one: Activity| (home.clone(), one.created_at, one.activity_id);
            places.extend(told.into_iter().map(place));
        }
        places
    }
}

impl Reader<'_> {
    /// Every tie, by what it ties.
    pub(crate) async fn ties(&mut self) {
        let Self { hidden, viewer, .. } = *self;
        let town = &hidden.town;
        let ends = [
            ("sam", "pia", "follow-asked-for"),
            ("sue", "pia", "follow-of-suspended"),
            ("dan", "tom", "follow-of-deleted"),
        ];
        for (follower, followee, word) in ends {
            let ends = (town.id(follower), town.id(followee));
            let found = town.follows().among(viewer, &[ends]).await;
            let found = found.map(|found| (word_if(found[0].is_some(), word), found));
            self.note("follows by their ends", found);
        }
        let likes = [
            ("no-longer-public", "tom", "like-of-private-post"),
            ("toms", "sid", "like-of-suspended"),
        ];
        for (post, name, word) in likes {
            let place = (hidden.id_of(post), town.id(name));
            let found = town.likes().among(viewer, &[place]).await;
            let found = found.map(|found| (word_if(found[0].is_some(), word), found));
            self.note("likes by their ends", found);
        }
        for (name, word) in [("mel", "membership"), ("sue", "membership-of-suspended")] {
            let place = (hidden.groups[1].clone(), town.id(name));
            let found = town.groups().memberships(viewer, &[place]).await;
            let found = found.map(|found| (word_if(found[0].is_some(), word), found));
            self.note("memberships", found);
        }
        if let Some(caller) = viewer {
            self.seats(caller).await;
        }
    }

    async fn seats(&mut self, caller: &Caller) {
        let Hidden { town, rooms, .. } = self.hidden;
        let people = VIEWERS.map(|name| town.id(name));
        self.note("whom they follow", town.follows().followed(caller, &people).await);
        // The first is of ana and fay, the last of the private group.
        let last = rooms.len() - 1;
        let found = town.rooms().member_ids(caller, rooms).await.map(|found| {
            let (two, group) = (!found[0].is_empty(), !found[last].is_empty());
            (word_if(two, "seat-of-two"), word_if(group, "seat-in-group"), found)
        });
        self.note("who is in rooms", found);
    }
}
