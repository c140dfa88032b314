//! Visibility of timeline entries: each kind in one batch, by the rules of its own service, and as
//! it is now, since indexes may lag.

use std::sync::Arc;

use roundtable_model::entities::{
    Comment, Follow, Goal, GroupMember, Like, Message, Milestone, Post, Quest, RoomMember, Task,
    User,
};
use roundtable_model::{
    FollowStatus, GoalId, GroupId, MemberStatus, PostId, QuestId, TimelineEntry, UserId,
};

use crate::comments::comments;
use crate::posts::{self, posts};
use crate::{Caller, Context, ServiceError, milestones, tasks};

/// A viewer of a user's timeline.
pub(super) struct TimelineViewer<'a> {
    pub(super) context: &'a Context,
    pub(super) viewer: Option<&'a Caller>,
    pub(super) user: &'a UserId,
}

/// Replaces entries of one kind by what the viewer may see of them, in the same order.
macro_rules! visible_of_kind {
    ($entries:ident, $shown:ident, $($kind:ident by $read:expr;)*) => {$(
        let (indexes, found): (Vec<usize>, Vec<_>) = $entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| match entry {
                TimelineEntry::$kind(one) => Some((at, one.clone())),
                _ => None,
            })
            .unzip();
        if !found.is_empty() {
            for (at, visible) in indexes.into_iter().zip($read(found).await?) {
                if let Some(slot) = $shown.get_mut(at) {
                    *slot = visible.map(TimelineEntry::$kind);
                }
            }
        }
    )*};
}

impl TimelineViewer<'_> {
    /// Returns what the viewer may see of these entries, in the same order.
    pub(super) async fn visible(
        &self,
        entries: Vec<TimelineEntry>,
    ) -> Result<Vec<Option<TimelineEntry>>, ServiceError> {
        let mut shown: Vec<Option<TimelineEntry>> = entries.iter().map(|_| None).collect();
        visible_of_kind! { entries, shown,
            User by |found| self.people(found);
            Follow by |found| self.follows(found);
            Group by |found| self.groups(found);
            Goal by |found| self.goals(found);
            Task by |found: Vec<Task>| tasks::with_existing_goals(self.context, found);
            Milestone by |found: Vec<Milestone>| milestones::with_existing_goals(self.context, found);
            Quest by |found| self.quests(found);
            Post by |found| self.posts(found);
            Comment by |found| self.comments(found);
            Like by |found| self.likes(found);
            Message by |found| self.messages(found);
        }
        Ok(shown)
    }

    async fn people(&self, found: Vec<User>) -> Result<Vec<Option<User>>, ServiceError> {
        let access = self.context.viewer_access(self.viewer, [self.user], []).await?;
        let now = |user: User| access.shown_profile(&user.id).map(Arc::unwrap_or_clone);
        Ok(found.into_iter().map(now).collect())
    }

    async fn follows(&self, found: Vec<Follow>) -> Result<Vec<Option<Follow>>, ServiceError> {
        let ids: Vec<UserId> = found.into_iter().map(|edge| edge.followee_id).collect();
        let edges = self.context.core().follows_among(self.user, &ids).strong().get().await?;
        let access = self.context.viewer_access(self.viewer, &ids, []).await?;
        let is_visible = |edge: &Follow| {
            edge.status == FollowStatus::Active && access.visible_user(&edge.followee_id).is_some()
        };
        Ok(edges.into_iter().map(|edge| edge.filter(is_visible)).collect())
    }

    async fn groups(
        &self,
        found: Vec<GroupMember>,
    ) -> Result<Vec<Option<GroupMember>>, ServiceError> {
        let ids: Vec<GroupId> = found.into_iter().map(|member| member.group_id).collect();
        let members = self.context.core().memberships(&ids, self.user).get().await?;
        let access = self.context.viewer_access(self.viewer, [], &ids).await?;
        let is_visible = |member: &GroupMember| {
            member.status == MemberStatus::Active
                && access.can_see_in_group(&member.group_id, member.joined_at)
        };
        Ok(members.into_iter().map(|member| member.filter(is_visible)).collect())
    }

    async fn goals(&self, found: Vec<Goal>) -> Result<Vec<Option<Goal>>, ServiceError> {
        let ids: Vec<GoalId> = found.into_iter().map(|goal| goal.id).collect();
        Ok(self.context.core().goals_among(self.user, &ids).get().await?)
    }

    async fn quests(&self, found: Vec<Quest>) -> Result<Vec<Option<Quest>>, ServiceError> {
        let ids: Vec<QuestId> = found.into_iter().map(|quest| quest.id).collect();
        Ok(self.context.core().quests_among(self.user, &ids).get().await?)
    }

    async fn posts(&self, found: Vec<Post>) -> Result<Vec<Option<Post>>, ServiceError> {
        let found = posts::reread(self.context, found).await?;
        posts::filter_visible(self.context, self.viewer, found).await
    }

    async fn comments(&self, found: Vec<Comment>) -> Result<Vec<Option<Comment>>, ServiceError> {
        let on = self.posts_by_id(found.iter().map(|comment| comment.post_id.clone())).await?;
        let indexes = found.iter().map(|comment| (&comment.post_id, &comment.id));
        let found = comments(self.context, indexes).await?;
        let access = self.context.viewer_access(self.viewer, [self.user], []).await?;
        let visible = found.into_iter().zip(on).map(|(comment, post)| {
            comment.filter(|comment| post.is_some() && access.can_see_comment(comment))
        });
        Ok(visible.collect())
    }

    async fn likes(&self, found: Vec<Like>) -> Result<Vec<Option<Like>>, ServiceError> {
        let ids: Vec<PostId> = found.into_iter().map(|like| like.post_id).collect();
        let likes = self.context.core().liked(&ids, self.user).get().await?;
        let on = self.posts_by_id(ids).await?;
        Ok(likes.into_iter().zip(on).map(|(like, post)| like.filter(|_| post.is_some())).collect())
    }

    /// Returns the posts the viewer may see, in the same order.
    async fn posts_by_id(
        &self,
        ids: impl IntoIterator<Item = PostId>,
    ) -> Result<Vec<Option<Post>>, ServiceError> {
        let ids: Vec<PostId> = ids.into_iter().collect();
        let found = posts(self.context, &ids).await?;
        posts::filter_visible(self.context, self.viewer, found).await
    }

    /// A user's messages in rooms they are still in.
    async fn messages(&self, found: Vec<Message>) -> Result<Vec<Option<Message>>, ServiceError> {
        let memberships = found.iter().map(|message| RoomMember::at(&message.room_id, self.user));
        let memberships = self.context.items_at("room_member", memberships).await?;
        let shown = found.into_iter().zip(memberships);
        Ok(shown.map(|(message, membership)| membership.map(|_| message)).collect())
    }
}
