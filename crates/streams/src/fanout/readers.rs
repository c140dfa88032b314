//! Reads the readers of a source: a user's followers, or a group's members.
//!
//! Only the follower's id of a follow is read, as the text that goes into the copy. Decoding all of
//! it would cost as much as writing a copy, so this module builds the queries `followers` and
//! `members` by hand.

use roundtable_model::entities::{Follow, GroupMember};
use roundtable_model::shape::Index;
use roundtable_model::table::{Item, Key, Position, Query};
use roundtable_model::{GroupId, MemberStatus, Shard, Shards, UserId};
use serde::{Deserialize, Serialize};

use super::{FanOut, FanOutSource};
use crate::ProcessingError;

/// The prefixes of the sort keys of followers and members.
const FOLLOWER: &str = "FOLLOWER#";
const MEMBER: &str = "MEMBER#";

/// A position in the readers of a source: shard by shard, by ascending id in each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReaderPosition {
    shard: u16,
    /// The last reader in the shard; `None` at its beginning.
    last: Option<UserId>,
}

#[derive(Clone, Debug)]
pub(super) struct ReaderPage {
    pub(super) ids: Vec<String>,
    /// The position of the remaining readers; `None` if there are none.
    pub(super) next: Option<ReaderPosition>,
}

impl FanOut {
    /// Returns over how many partitions the readers of a source are spread. Partitions added later
    /// hold no reader that must receive this copy.
    pub(super) async fn reader_shards(
        &self,
        source: &FanOutSource,
    ) -> Result<Shards, ProcessingError> {
        let FanOutSource::User(id) = source else { return Ok(Shards::ONE) };
        let user = self.context.core().profile(id).strong().get().await?;
        Ok(user.map_or(Shards::ONE, |user| user.follower_shards))
    }

    /// Reads a page of readers. It may be empty although more follow.
    pub(super) async fn read_page(
        &self,
        source: &FanOutSource,
        shards: Shards,
        limit: usize,
        position: &ReaderPosition,
    ) -> Result<ReaderPage, ProcessingError> {
        let (query, pattern) = match source {
            FanOutSource::User(id) => (followers_query(id, position)?, "followers"),
            FanOutSource::Group(id) => (members_query(id, position), "members"),
        };
        let table = self.context.core().table().for_pattern(pattern);
        let mut query = query.limit(limit);
        let mut page = table.query(query.clone()).await?;
        while page.items.is_empty() && page.next.is_some() {
            query.start = page.next;
            page = table.query(query.clone()).await?;
        }
        let read = |item: &Item| match source {
            FanOutSource::User(_) => Ok((read_follower(item)?, true)),
            FanOutSource::Group(_) => read_member(item),
        };
        let found = page.items.iter().map(read).collect::<Result<Vec<_>, ProcessingError>>()?;
        let next = match (found.last(), page.next) {
            (Some((last, _)), Some(_)) => {
                Some(ReaderPosition { last: Some(last.parse()?), ..position.clone() })
            }
            _ => Some(position.shard + 1)
                .filter(|shard| *shard < shards.count())
                .map(|shard| ReaderPosition { shard, last: None }),
        };
        let ids = found.into_iter().filter(|(_, is_reader)| *is_reader).map(|(id, _)| id);
        Ok(ReaderPage { ids: ids.collect(), next })
    }
}

fn followers_query(user: &UserId, position: &ReaderPosition) -> Result<Query, ProcessingError> {
    let mut partition = format!("USER#{user}");
    Shard::new(position.shard)?.write_suffix(&mut partition);
    let start = position.last.as_ref().map(|last| Position {
        base: Follow::at(last, user).into_key(),
        index: Some(Key::new(partition.as_str(), format!("{FOLLOWER}{last}"))),
    });
    let mut query = Query::new(partition).begins_with(FOLLOWER).after(start);
    query.index = Index::Gsi1.name().map(str::to_owned);
    Ok(query)
}

fn read_follower(item: &Item) -> Result<String, ProcessingError> {
    read_user_id(item, Follow::FOLLOWER_ID.name())
}

/// Reads a user id as stored. An invalid id is an error: the reader would never receive its copy.
fn read_user_id(item: &Item, name: &str) -> Result<String, ProcessingError> {
    let text = item.text(name).unwrap_or_default();
    text.parse::<UserId>()?;
    Ok(text.to_owned())
}

/// Selects the members of a group, and users who were invited or asked to join.
fn members_query(group: &GroupId, position: &ReaderPosition) -> Query {
    let key = |id: &UserId| GroupMember::at(group, id).into_key();
    let start = position.last.as_ref().map(|last| Position { base: key(last), index: None });
    Query::new(key(&group.recast()).partition).begins_with(MEMBER).after(start).strong()
}

/// Returns the user id, and whether the membership is active.
fn read_member(item: &Item) -> Result<(String, bool), ProcessingError> {
    let status = item.text(GroupMember::STATUS.name()).unwrap_or_default();
    let is_active = status.parse::<MemberStatus>()? == MemberStatus::Active;
    Ok((read_user_id(item, GroupMember::USER_ID.name())?, is_active))
}

#[cfg(test)]
mod tests {
    use roundtable_model::table::item;
    use roundtable_model::{Entity, samples};

    use super::*;

    /// The queries built here match the access patterns of the schema.
    #[test]
    fn queries_match_the_keys_of_follows_and_members() {
        for shard in [0, 7] {
            let edge = Follow { shard: Shard::new(shard).unwrap(), ..samples::follow() };
            let last = Some(edge.follower_id.clone());
            let query =
                followers_query(&edge.followee_id, &ReaderPosition { shard, last }).unwrap();
            let [key, ..] = edge.index_keys();
            let (partition, sort) = key.unwrap();
            assert!(sort.starts_with(FOLLOWER));
            let index = Some(Key::new(partition.as_str(), sort));
            assert_eq!(query.partition, partition.as_str().into());
            assert_eq!(query.start, Some(Position { base: edge.key().into_key(), index }));
            assert_eq!(read_follower(&edge.item()).unwrap(), edge.follower_id.to_string());
        }
        let one = samples::group_member();
        let query = members_query(&one.group_id, &ReaderPosition::default());
        let key = one.key().into_key();
        assert_eq!(query.partition, key.partition);
        assert!(key.sort.unwrap().as_text().unwrap().starts_with(MEMBER));
        assert_eq!(read_member(&one.item()).unwrap(), (one.user_id.to_string(), true));
        let pending = GroupMember { status: MemberStatus::Pending, ..one };
        assert!(!read_member(&pending.item()).unwrap().1);
    }

    /// A copy that no reader could find must not count as written.
    #[test]
    fn an_unreadable_reader_is_an_error() {
        let invalid = item! { "followerId" => "#", "userId" => "ana", "status" => "elsewhere" };
        assert!(read_follower(&invalid).is_err() && read_member(&invalid).is_err());
        assert!(read_follower(&item! {}).is_err());
    }
}
