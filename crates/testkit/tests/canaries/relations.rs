//! All reads that show relations of users. A relation has no text to search for, so the reader
//! records a word that stands for it.

use roundtable_domain::Caller;
use roundtable_testkit::{SecretTown, VIEWERS};

use super::reads::Reader;

fn word_if(shown: bool, word: &str) -> Option<String> {
    shown.then(|| format!("xq{word}xq"))
}

impl Reader<'_> {
    /// Reads all relations.
    pub(crate) async fn relations(&mut self) {
        let Self { secrets, viewer, .. } = *self;
        let town = &secrets.town;
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
            let place = (secrets.id_of(post), town.id(name));
            let found = town.likes().among(viewer, &[place]).await;
            let found = found.map(|found| (word_if(found[0].is_some(), word), found));
            self.note("likes by their ends", found);
        }
        for (name, word) in [("mel", "membership"), ("sue", "membership-of-suspended")] {
            let place = (secrets.groups[1].clone(), town.id(name));
            let found = town.groups().memberships(viewer, &[place]).await;
            let found = found.map(|found| (word_if(found[0].is_some(), word), found));
            self.note("memberships", found);
        }
        if let Some(caller) = viewer {
            self.room_memberships(caller).await;
        }
    }

    async fn room_memberships(&mut self, caller: &Caller) {
        let SecretTown { town, rooms, .. } = self.secrets;
        let people = VIEWERS.map(|name| town.id(name));
        self.note("whom they follow", town.follows().followed(caller, &people).await);
        // The first room is of ana and fay, the last of the private group.
        let last = rooms.len() - 1;
        let found = town.rooms().member_ids(caller, rooms).await.map(|found| {
            let (two, group) = (!found[0].is_empty(), !found[last].is_empty());
            (word_if(two, "seat-of-two"), word_if(group, "seat-in-group"), found)
        });
        self.note("who is in rooms", found);
    }
}
