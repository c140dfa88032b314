//! Reads the readers of a source: a user's followers, or a group's members.
//!
//! Only the attributes that a copy depends on are read from a follow or a membership: decoding all
//! of it would cost as much as writing a copy.

use roundtable_model::entities::{Follow, GroupMember};
use roundtable_model::table::Item;
use roundtable_model::{GroupId, MemberStatus, Shard, Shards, StoredPage, UserId};
use serde::{Deserialize, Serialize};

use super::{FanOut, FanOutSource};
use crate::Result;

/// A position in the readers of a source: shard by shard, by ascending id in each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReaderPosition {
    shard: u16,
    /// The last reader in the shard; `None` at its beginning.
    last: Option<UserId>,
}

#[derive(Clone, Debug)]
pub(super) struct ReaderPage {
    pub(super) ids: Vec<UserId>,
    /// The position of the remaining readers; `None` if there are none.
    pub(super) next: Option<ReaderPosition>,
}

impl FanOut {
    /// Returns over how many partitions the readers of a source are spread. Partitions added later
    /// hold no reader that must receive this copy.
    pub(super) async fn reader_shards(&self, source: &FanOutSource) -> Result<Shards> {
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
    ) -> Result<ReaderPage> {
        let page = match source {
            FanOutSource::User(id) => self.read_followers(id, limit, position).await?,
            FanOutSource::Group(id) => self.read_members(id, limit, position).await?,
        };
        let read = |item: &Item| match source {
            FanOutSource::User(_) => Ok((Follow::FOLLOWER_ID.read(item)?, true)),
            FanOutSource::Group(_) => read_member(item),
        };
        // An invalid item is an error: its reader would never receive the copy.
        let found = page.items.iter().map(read).collect::<Result<Vec<_>>>()?;
        let next = match found.last() {
            Some((last, _)) if page.has_more => {
                Some(ReaderPosition { last: Some(last.clone()), ..position.clone() })
            }
            _ => Some(position.shard + 1)
                .filter(|shard| *shard < shards.count())
                .map(|shard| ReaderPosition { shard, last: None }),
        };
        let ids = found.into_iter().filter(|(_, is_reader)| *is_reader).map(|(id, _)| id);
        Ok(ReaderPage { ids: ids.collect(), next })
    }

    async fn read_followers(
        &self,
        user: &UserId,
        limit: usize,
        position: &ReaderPosition,
    ) -> Result<StoredPage> {
        let shard = Shard::new(position.shard)?;
        let mut followers = self.context.core().followers_in_shard(user, &shard).limit(limit);
        if let Some(last) = &position.last {
            followers = followers.after_item(Follow::at(last, user), last)?;
        }
        Ok(followers.stored().await?)
    }

    /// Reads members, and users who were invited or asked to join.
    async fn read_members(
        &self,
        group: &GroupId,
        limit: usize,
        position: &ReaderPosition,
    ) -> Result<StoredPage> {
        let mut members = self.context.core().members(group).strong().limit(limit);
        if let Some(last) = &position.last {
            members = members.after_item(GroupMember::at(group, last), last)?;
        }
        Ok(members.stored().await?)
    }
}

/// Returns the user id, and whether the membership is active.
fn read_member(item: &Item) -> Result<(UserId, bool)> {
    let is_active = GroupMember::STATUS.read(item)? == MemberStatus::Active;
    Ok((GroupMember::USER_ID.read(item)?, is_active))
}

#[cfg(test)]
mod tests {
    use roundtable_model::table::item;
    use roundtable_model::{Entity, samples};

    use super::*;

    #[test]
    fn only_active_members_are_readers() {
        let one = samples::group_member();
        assert_eq!(read_member(&one.item()).unwrap(), (one.user_id.clone(), true));
        let pending = GroupMember { status: MemberStatus::Pending, ..one };
        assert!(!read_member(&pending.item()).unwrap().1);
    }

    /// A copy that no reader could find must not count as written.
    #[test]
    fn an_unreadable_reader_is_an_error() {
        let invalid = item! { "followerId" => "#", "userId" => "ana", "status" => "elsewhere" };
        assert!(Follow::FOLLOWER_ID.read(&invalid).is_err() && read_member(&invalid).is_err());
        assert!(Follow::FOLLOWER_ID.read(&item! {}).is_err());
    }
}
