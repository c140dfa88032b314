//! Purges a deleted account: one kind of data after another, and its profile last.
//!
//! After a pass that found anything there is another one later: requests that were running when the
//! account was deleted, or lagging indexes, may have left something. The profile goes after a pass
//! that found nothing.

use roundtable_model::entities::{
    AssistHelper, AssistMsg, AssistThread, Block, Comment, Company, Follow, Goal, GroupMember,
    Post, RoomMember, Share, User, UserCounter,
};
use roundtable_model::shape::EntityShape;
use roundtable_model::table::{Error, Key};
use roundtable_model::{ActorId, Entity, UserId, UserStatus};
use serde::{Deserialize, Serialize};

use super::Purge;
use super::graph::EDGES_AT_ONCE;
use super::post::share_activities;
use super::sweep::{PAGE_ITEMS, remove, remove_belongings};
use crate::Result;
use crate::jobs::PageOutcome;

const CONTENT_AT_ONCE: usize = 10;

/// The kinds of data of an account, in the order they are removed. Most need more than the removal
/// of an item: they count for others, or lead to further items. Everything else that belongs to a
/// user by the schema comes last, and counters after the items they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum AccountDataKind {
    Groups,
    Following,
    Followers,
    Requests,
    Blocks,
    Blockers,
    Posts,
    Comments,
    Shares,
    Rooms,
    Threads,
    Advice,
    Companies,
    Goals,
    Activities,
    Other,
    Counters,
}

impl AccountDataKind {
    const ALL: [Self; 17] = [
        Self::Groups,
        Self::Following,
        Self::Followers,
        Self::Requests,
        Self::Blocks,
        Self::Blockers,
        Self::Posts,
        Self::Comments,
        Self::Shares,
        Self::Rooms,
        Self::Threads,
        Self::Advice,
        Self::Companies,
        Self::Goals,
        Self::Activities,
        Self::Other,
        Self::Counters,
    ];

    /// Returns the entities that only this kind removes.
    const fn entities(self) -> &'static [&'static EntityShape] {
        match self {
            Self::Groups => &[GroupMember::SHAPE],
            Self::Following | Self::Followers | Self::Requests => &[Follow::SHAPE],
            Self::Blocks | Self::Blockers => &[Block::SHAPE],
            Self::Posts => &[Post::SHAPE],
            Self::Comments => &[Comment::SHAPE],
            Self::Shares => &[Share::SHAPE],
            Self::Rooms => &[RoomMember::SHAPE],
            Self::Threads => &[AssistThread::SHAPE],
            Self::Advice => &[AssistHelper::SHAPE, AssistMsg::SHAPE],
            Self::Companies => &[Company::SHAPE],
            Self::Goals => &[Goal::SHAPE],
            Self::Counters => &[UserCounter::SHAPE],
            Self::Activities | Self::Other => &[],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PurgePass {
    /// Requests may be running, and indexes may lag.
    First,
    /// All earlier requests have ended, and indexes have caught up.
    Again,
}

/// The progress of the purge of an account.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PurgeProgress {
    kind: AccountDataKind,
    pass: PurgePass,
    #[serde(rename = "found")]
    found_any: bool,
}

impl Purge {
    pub(super) async fn account_page(
        &self,
        id: &UserId,
        cursor: Option<&str>,
    ) -> Result<PageOutcome> {
        let user = self.context.core().profile(id).strong().get().await?;
        // Without a profile the purge has already finished. An active account is not purged.
        let Some(user) = user.filter(|user| user.status == UserStatus::Deleted) else {
            return Ok(PageOutcome::Done);
        };
        // The first pass counts as one that found something: there is always a second.
        let first = PurgeProgress {
            kind: AccountDataKind::Groups,
            pass: PurgePass::First,
            found_any: true,
        };
        let PurgeProgress { kind, pass, found_any } =
            cursor.and_then(decode_progress).unwrap_or(first);
        for kind in AccountDataKind::ALL.iter().skip_while(|each| **each != kind) {
            if self.remove_page_of(*kind, &user, pass).await? {
                return Ok(PageOutcome::Continue(encode_progress(PurgeProgress {
                    kind: *kind,
                    pass,
                    found_any: true,
                })?));
            }
        }
        if found_any {
            let next = PurgeProgress {
                kind: AccountDataKind::Groups,
                pass: PurgePass::Again,
                found_any: false,
            };
            let next = encode_progress(next)?;
            let wait = self.settle;
            return Ok(if wait.is_zero() {
                PageOutcome::Continue(next)
            } else {
                PageOutcome::ContinueLater(next, wait)
            });
        }
        let delete = user.key().delete().when(User::STATUS.is(&UserStatus::Deleted));
        match self.context.core().table().delete(delete).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(PageOutcome::Done),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a page of one kind of data. Returns whether there was any.
    async fn remove_page_of(
        &self,
        kind: AccountDataKind,
        user: &User,
        pass: PurgePass,
    ) -> Result<bool> {
        let (core, id) = (self.context.core(), &user.id);
        match kind {
            AccountDataKind::Groups => self.leave_groups(id).await,
            AccountDataKind::Following => {
                let edges = core.following(id).strong().limit(EDGES_AT_ONCE).page().await?;
                self.remove_follows(&edges.items).await
            }
            AccountDataKind::Followers => {
                let edges = core.followers(id, user.follower_shards).limit(EDGES_AT_ONCE);
                self.remove_follows(&edges.page().await?.items).await
            }
            AccountDataKind::Requests => {
                let edges = core.follow_requests(id).limit(EDGES_AT_ONCE).page().await?;
                self.remove_follows(&edges.items).await
            }
            AccountDataKind::Blocks => {
                let blocks = core.blocks(id).strong().limit(EDGES_AT_ONCE).page().await?;
                self.remove_blocks(&blocks.items).await
            }
            AccountDataKind::Blockers => {
                let blocks = core.blockers(id).limit(EDGES_AT_ONCE).page().await?;
                self.remove_blocks(&blocks.items).await
            }
            AccountDataKind::Posts => self.remove_posts(id).await,
            AccountDataKind::Comments => self.remove_comments_by(id).await,
            AccountDataKind::Shares => {
                let shares = core.shares_by(id).limit(PAGE_ITEMS).page().await?.items;
                let mut keys: Vec<Key> = shares.iter().flat_map(share_activities).collect();
                keys.extend(shares.iter().map(|share| Key::from(share.key())));
                remove(&self.context, keys).await?;
                Ok(!shares.is_empty())
            }
            AccountDataKind::Rooms => self.leave_rooms(id).await,
            AccountDataKind::Threads => self.remove_threads(id).await,
            AccountDataKind::Advice => self.remove_advice(id).await,
            AccountDataKind::Companies => self.remove_companies(id, pass).await,
            AccountDataKind::Goals => self.remove_goals(id).await,
            AccountDataKind::Activities => {
                remove_belongings(&self.context, &ActorId::from(id), &[]).await
            }
            AccountDataKind::Other | AccountDataKind::Counters => {
                let others = AccountDataKind::ALL.iter().filter(|other| **other != kind);
                let others = others.flat_map(|other| other.entities());
                let others: Vec<&str> = others.map(|entity| entity.name).collect();
                remove_belongings(&self.context, id, &others).await
            }
        }
    }

    async fn leave_groups(&self, id: &UserId) -> Result<bool> {
        let any = self.context.core().groups_of(id).limit(1).page().await?;
        if any.items.is_empty() {
            return Ok(false);
        }
        self.groups.leave_all(id).await?;
        Ok(true)
    }

    async fn remove_posts(&self, id: &UserId) -> Result<bool> {
        let posts = self.context.core().posts_by(id).limit(CONTENT_AT_ONCE).page().await?.items;
        for post in &posts {
            if let Some(tombstone) = self.make_tombstone(&post.id).await? {
                self.purge_post_page(&post.id, Some(&tombstone)).await?;
            }
        }
        Ok(!posts.is_empty())
    }

    async fn remove_comments_by(&self, id: &UserId) -> Result<bool> {
        let listing = self.context.core().comments_by(id).limit(CONTENT_AT_ONCE);
        let comments = listing.page().await?.items;
        for comment in &comments {
            if !self.remove_comment_reactions(comment).await? {
                self.remove_comments(std::slice::from_ref(comment)).await?;
            }
        }
        Ok(!comments.is_empty())
    }
}

/// Decodes a cursor. An unreadable one starts over: it is of an earlier version, and every page can
/// be repeated.
fn decode_progress(cursor: &str) -> Option<PurgeProgress> {
    let json: roundtable_model::Json = cursor.parse().ok()?;
    json.decode().ok()
}

fn encode_progress(progress: PurgeProgress) -> Result<String> {
    Ok(roundtable_model::Json::encode(&progress)?.to_string())
}
