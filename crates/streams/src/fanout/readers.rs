//! To whom a home's activities are copied: a person's followers, or a group's members.
//!
//! Of a follow only the follower's id is read, as the text that goes into the copy. All of it would cost as
//! much as writing a copy does, so the page's questions `followers` and `members` are asked by hand here.

use roundtable_model::entities::{Follow, GroupMember};
use roundtable_model::shape::Index;
use roundtable_model::table::{Item, Key, Position, Query};
use roundtable_model::{GroupId, MemberStatus, Shard, Shards, UserId};
use serde::{Deserialize, Serialize};

use super::{FanOut, Home};
use crate::Failure;

/// How the sort keys of followers begin, and those of members.
const FOLLOWER: &str = "FOLLOWER#";
const MEMBER: &str = "MEMBER#";

/// How far the readers of a home have been gone through: shard by shard, by rising id in each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reached {
    shard: u16,
    /// The last one in the shard; none at its beginning.
    last: Option<UserId>,
}

/// Some readers.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    pub(super) ids: Vec<String>,
    /// Where the others are; `None` when there are none.
    pub(super) next: Option<Reached>,
}

impl FanOut {
    /// Over how many partitions the readers of a home are spread. Those that are added later hold nobody
    /// who has to be copied to.
    pub(super) async fn spread(&self, home: &Home) -> Result<Shards, Failure> {
        let Home::Person(id) = home else { return Ok(Shards::ONE) };
        let user = self.ground.core().profile(id).strong().get().await?;
        Ok(user.map_or(Shards::ONE, |user| user.follower_shards))
    }

    /// A page of readers: it may hold none, and others be behind it.
    pub(super) async fn readers(
        &self,
        home: &Home,
        spread: Shards,
        limit: usize,
        reached: &Reached,
    ) -> Result<Readers, Failure> {
        let (query, pattern) = match home {
            Home::Person(id) => (followers(id, reached)?, "followers"),
            Home::Group(id) => (members(id, reached), "members"),
        };
        let table = self.ground.core().table().for_pattern(pattern);
        let mut query = query.limit(limit);
        let mut page = table.query(query.clone()).await?;
        while page.items.is_empty() && page.next.is_some() {
            query.start = page.next;
            page = table.query(query.clone()).await?;
        }
        let read = |item: &Item| match home {
            Home::Person(_) => Ok((follower(item)?, true)),
            Home::Group(_) => member(item),
        };
        let found = page.items.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let next = match (found.last(), page.next) {
            (Some((last, _)), Some(_)) => {
                Some(Reached { last: Some(last.parse()?), ..reached.clone() })
            }
            _ => Some(reached.shard + 1)
                .filter(|shard| *shard < spread.count())
                .map(|shard| Reached { shard, last: None }),
        };
        let ids = found.into_iter().filter(|(_, is_reader)| *is_reader).map(|(id, _)| id);
        Ok(Readers { ids: ids.collect(), next })
    }
}

/// A shard of a person's followers.
fn followers(person: &UserId, reached: &Reached) -> Result<Query, Failure> {
    let mut partition = format!("USER#{person}");
    Shard::new(reached.shard)?.write_suffix(&mut partition);
    let start = reached.last.as_ref().map(|last| Position {
        base: Follow::at(last, person).into_key(),
        index: Some(Key::new(partition.as_str(), format!("{FOLLOWER}{last}"))),
    });
    let mut query = Query::new(partition).begins_with(FOLLOWER).after(start);
    query.index = Index::Gsi1.name().map(str::to_owned);
    Ok(query)
}

fn follower(item: &Item) -> Result<String, Failure> {
    id(item, Follow::FOLLOWER_ID.name())
}

/// Somebody's id as it is written. One that is none would be copied to nobody: that is a failure.
fn id(item: &Item, name: &str) -> Result<String, Failure> {
    let text = item.text(name).unwrap_or_default();
    text.parse::<UserId>()?;
    Ok(text.to_owned())
}

/// Who is in a group, was invited to it, or has asked to join.
fn members(group: &GroupId, reached: &Reached) -> Query {
    let key = |id: &UserId| GroupMember::at(group, id).into_key();
    let start = reached.last.as_ref().map(|last| Position { base: key(last), index: None });
    Query::new(key(&group.recast()).partition).begins_with(MEMBER).after(start).strong()
}

/// Who it is, and whether they are in it.
fn member(item: &Item) -> Result<(String, bool), Failure> {
    let status = item.text(GroupMember::STATUS.name()).unwrap_or_default();
    let is_active = status.parse::<MemberStatus>()? == MemberStatus::Active;
    Ok((id(item, GroupMember::USER_ID.name())?, is_active))
}

#[cfg(test)]
mod tests {
    use roundtable_model::table::item;
    use roundtable_model::{Entity, samples};

    use super::*;

    /// What is asked by hand is what the page has.
    #[test]
    fn readers_are_where_follows_and_members_are() {
        for shard in [0, 7] {
            let edge = Follow { shard: Shard::new(shard).unwrap(), ..samples::follow() };
            let last = Some(edge.follower_id.clone());
            let query = followers(&edge.followee_id, &Reached { shard, last }).unwrap();
            let [key, ..] = edge.index_keys();
            let (partition, sort) = key.unwrap();
            assert!(sort.starts_with(FOLLOWER));
            let index = Some(Key::new(partition.as_str(), sort));
            assert_eq!(query.partition, partition.as_str().into());
            assert_eq!(query.start, Some(Position { base: edge.key().into_key(), index }));
            assert_eq!(follower(&edge.item()).unwrap(), edge.follower_id.to_string());
        }
        let one = samples::group_member();
        let query = members(&one.group_id, &Reached::default());
        let key = one.key().into_key();
        assert_eq!(query.partition, key.partition);
        assert!(key.sort.unwrap().as_text().unwrap().starts_with(MEMBER));
        assert_eq!(member(&one.item()).unwrap(), (one.user_id.to_string(), true));
        let asked = GroupMember { status: MemberStatus::Pending, ..one };
        assert!(!member(&asked.item()).unwrap().1);
    }

    /// A copy that nobody could find must not count as made.
    #[test]
    fn who_cannot_be_read_is_not_passed_over() {
        let strange = item! { "followerId" => "#", "userId" => "ana", "status" => "elsewhere" };
        assert!(follower(&strange).is_err() && member(&strange).is_err());
        assert!(follower(&item! {}).is_err());
    }
}
