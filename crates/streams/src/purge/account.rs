//! What a deleted account leaves behind, kind after kind, and at last what was left of its profile.
//!
//! After a pass that found anything there is another, some time later: requests that were under way
//! when the account was deleted, and indexes that were behind, may have left something. The profile
//! goes after a pass that found nothing.

use roundtable_model::entities::{
    ActorHead, Block, FeedHorizon, Follow, Goal, Notification, Promotion, Session, User,
};
use roundtable_model::table::{Error, Key};
use roundtable_model::{ActorId, Entity, NotificationId, Time, UserId, UserStatus};
use serde::{Deserialize, Serialize};

use super::Purge;
use super::graph::EDGES_AT_ONCE;
use super::post::told_of;
use super::sweep::{PAGE_ITEMS, remove, sweep};
use crate::Failure;
use crate::jobs::Next;

/// Posts or comments of one page.
const CONTENT_AT_ONCE: usize = 10;

/// A kind of thing that an account leaves behind, in the order they are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Groups,
    Following,
    Followers,
    Requests,
    Blocks,
    Blockers,
    Posts,
    Comments,
    Likes,
    Shares,
    Messages,
    Rooms,
    Threads,
    Advice,
    Companies,
    Goals,
    Activities,
    Notifications,
    Feed,
    Own,
}

const KINDS: &[Kind] = &[
    Kind::Groups,
    Kind::Following,
    Kind::Followers,
    Kind::Requests,
    Kind::Blocks,
    Kind::Blockers,
    Kind::Posts,
    Kind::Comments,
    Kind::Likes,
    Kind::Shares,
    Kind::Messages,
    Kind::Rooms,
    Kind::Threads,
    Kind::Advice,
    Kind::Companies,
    Kind::Goals,
    Kind::Activities,
    Kind::Notifications,
    Kind::Feed,
    Kind::Own,
];

/// Which pass it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Pass {
    /// Requests may be under way, and indexes behind.
    First,
    /// All that was under way has ended, and indexes tell of it.
    Again,
}

/// Where the purge of an account is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    kind: Kind,
    pass: Pass,
    /// Whether this pass has found anything.
    found: bool,
}

impl Purge {
    /// A page of a deleted account.
    pub(super) async fn account_page(
        &self,
        id: &UserId,
        cursor: Option<&str>,
    ) -> Result<Next, Failure> {
        let user = self.ground.core().profile(id).strong().get().await?;
        // Without it, the purge has been here before. One that is alive is none of its business.
        let Some(user) = user.filter(|user| user.status == UserStatus::Deleted) else {
            return Ok(Next::Done);
        };
        // The first pass counts as one that found something: there is always a second.
        let first = Place { kind: Kind::Groups, pass: Pass::First, found: true };
        let Place { kind, pass, found } = cursor.map(read_place).transpose()?.unwrap_or(first);
        for kind in KINDS.iter().skip_while(|each| **each != kind) {
            if self.remove_some(*kind, &user, pass).await? {
                return Ok(Next::Page(write_place(Place { kind: *kind, pass, found: true })?));
            }
        }
        if found {
            let again = Place { kind: Kind::Groups, pass: Pass::Again, found: false };
            let again = write_place(again)?;
            let wait = self.settle;
            return Ok(if wait.is_zero() { Next::Page(again) } else { Next::Later(again, wait) });
        }
        let gone = user.key().delete().when(User::STATUS.is(&UserStatus::Deleted));
        match self.ground.core().table().delete(gone).await {
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(Next::Done),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes some things of a kind away; whether there were any.
    async fn remove_some(&self, kind: Kind, user: &User, pass: Pass) -> Result<bool, Failure> {
        let (core, id) = (self.ground.core(), &user.id);
        match kind {
            Kind::Groups => self.leave_groups(id).await,
            Kind::Following => {
                let edges = core.following(id).strong().limit(EDGES_AT_ONCE).page().await?;
                self.unfollow(&edges.items).await
            }
            Kind::Followers => {
                let edges = core.followers(id, user.follower_shards).limit(EDGES_AT_ONCE);
                self.unfollow(&edges.page().await?.items).await
            }
            Kind::Requests => {
                let edges = core.follow_requests(id).limit(EDGES_AT_ONCE).page().await?;
                self.unfollow(&edges.items).await
            }
            Kind::Blocks => {
                let blocks = core.blocks(id).strong().limit(EDGES_AT_ONCE).page().await?;
                self.unblock(&blocks.items).await
            }
            Kind::Blockers => {
                let blocks = core.blockers(id).limit(EDGES_AT_ONCE).page().await?;
                self.unblock(&blocks.items).await
            }
            Kind::Posts => self.remove_posts(id).await,
            Kind::Comments => self.remove_some_comments(id).await,
            Kind::Likes => {
                let likes = core.likes_by(id).limit(PAGE_ITEMS).page().await?.items;
                self.remove_these(likes.iter().map(|like| like.key().into()).collect()).await
            }
            Kind::Shares => {
                let shares = core.shares_by(id).limit(PAGE_ITEMS).page().await?.items;
                let keys = shares.iter().flat_map(|share| [share.key().into(), told_of(share)]);
                self.remove_these(keys.collect()).await
            }
            Kind::Messages => self.remove_messages(id).await,
            Kind::Rooms => self.leave_rooms(id).await,
            Kind::Threads => self.remove_threads(id).await,
            Kind::Advice => self.remove_advice(id).await,
            Kind::Companies => self.remove_companies(id, pass).await,
            Kind::Goals => self.remove_goals(id).await,
            Kind::Activities => self.remove_activities(&id.into()).await,
            Kind::Notifications => {
                let any: NotificationId = id.recast();
                sweep(&self.ground, Notification::at(id, &Time::EPOCH, &any), &[]).await
            }
            Kind::Feed => sweep(&self.ground, FeedHorizon::at(id), &[]).await,
            Kind::Own => {
                // Edges and goals that came in late have a pass of their own.
                let others =
                    [User::SHAPE.name, Follow::SHAPE.name, Block::SHAPE.name, Goal::SHAPE.name];
                sweep(&self.ground, Session::at(id, &id.recast()), &others).await
            }
        }
    }

    async fn leave_groups(&self, id: &UserId) -> Result<bool, Failure> {
        let any = self.ground.core().groups_of(id).limit(1).page().await?;
        if any.items.is_empty() {
            return Ok(false);
        }
        self.groups.leave_all(id).await?;
        Ok(true)
    }

    async fn remove_posts(&self, id: &UserId) -> Result<bool, Failure> {
        let posts = self.ground.core().posts_by(id).limit(CONTENT_AT_ONCE).page().await?.items;
        for post in &posts {
            if let Some(buried) = self.bury(&post.id).await? {
                self.purge_post(&post.id, Some(&buried)).await?;
            }
        }
        Ok(!posts.is_empty())
    }

    async fn remove_some_comments(&self, id: &UserId) -> Result<bool, Failure> {
        let listing = self.ground.core().comments_by(id).limit(CONTENT_AT_ONCE);
        let comments = listing.page().await?.items;
        for comment in &comments {
            if !self.remove_marks(comment).await? {
                self.remove_comments(std::slice::from_ref(comment)).await?;
            }
        }
        Ok(!comments.is_empty())
    }

    /// Takes away a page of what an actor did, with what is known of it; whether there was any.
    pub(super) async fn remove_activities(&self, actor: &ActorId) -> Result<bool, Failure> {
        if sweep(&self.ground, ActorHead::at(actor), &[]).await? {
            return Ok(true);
        }
        sweep(&self.ground, Promotion::at(actor), &[]).await
    }

    async fn remove_these(&self, keys: Vec<Key>) -> Result<bool, Failure> {
        let any = !keys.is_empty();
        remove(&self.ground, keys).await?;
        Ok(any)
    }
}

fn read_place(cursor: &str) -> Result<Place, Failure> {
    let json: roundtable_model::Json = cursor.parse()?;
    Ok(json.to()?)
}

fn write_place(place: Place) -> Result<String, Failure> {
    Ok(roundtable_model::Json::of(&place)?.to_string())
}
