//! Which entries of a timeline somebody sees: each kind at once, by the rule of its own service, and as
//! things are now, since indexes may be behind.

use roundtable_model::entities::{
    Comment, Follow, Goal, GroupMember, Like, Message, Milestone, Post, Quest, RoomMember, Task,
    User,
};
use roundtable_model::{
    FollowStatus, GoalId, GroupId, MemberStatus, PostId, QuestId, TimelineEntry, UserId,
};

use crate::accounts::shown;
use crate::comments::comments;
use crate::posts::{self, posts};
use crate::{Caller, Failure, Ground, milestones, tasks};

/// Somebody who looks at somebody's timeline.
pub(super) struct Looks<'a> {
    pub(super) ground: &'a Ground,
    pub(super) viewer: Option<&'a Caller>,
    pub(super) user: &'a UserId,
}

/// Entries of one kind as the viewer sees them, put back into their places.
macro_rules! look {
    ($entries:ident, $shown:ident, $($kind:ident by $read:expr;)*) => {$(
        let (places, found): (Vec<usize>, Vec<_>) = $entries
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| match entry {
                TimelineEntry::$kind(one) => Some((at, one.clone())),
                _ => None,
            })
            .unzip();
        if !found.is_empty() {
            for (at, seen) in places.into_iter().zip($read(found).await?) {
                if let Some(place) = $shown.get_mut(at) {
                    *place = seen.map(TimelineEntry::$kind);
                }
            }
        }
    )*};
}

impl Looks<'_> {
    /// Those that the viewer may see, each in its place.
    pub(super) async fn seen(
        &self,
        entries: Vec<TimelineEntry>,
    ) -> Result<Vec<Option<TimelineEntry>>, Failure> {
        let mut shown: Vec<Option<TimelineEntry>> = entries.iter().map(|_| None).collect();
        look! { entries, shown,
            User by |found| self.people(found);
            Follow by |found| self.follows(found);
            Group by |found| self.groups(found);
            Goal by |found| self.goals(found);
            Task by |found: Vec<Task>| tasks::shown(self.ground, found);
            Milestone by |found: Vec<Milestone>| milestones::shown(self.ground, found);
            Quest by |found| self.quests(found);
            Post by |found| self.posts(found);
            Comment by |found| self.comments(found);
            Like by |found| self.likes(found);
            Message by |found| self.messages(found);
        }
        Ok(shown)
    }

    async fn people(&self, found: Vec<User>) -> Result<Vec<Option<User>>, Failure> {
        let sight = self.ground.sight(self.viewer, [self.user], []).await?;
        let now = |user: User| sight.person(&user.id).cloned();
        Ok(found.into_iter().map(|user| Some(shown(self.viewer, now(user)?))).collect())
    }

    async fn follows(&self, found: Vec<Follow>) -> Result<Vec<Option<Follow>>, Failure> {
        let ids: Vec<UserId> = found.into_iter().map(|edge| edge.followee_id).collect();
        let edges = self.ground.core().follows_among(self.user, &ids).strong().get().await?;
        let sight = self.ground.sight(self.viewer, &ids, []).await?;
        let shows = |edge: &Follow| {
            edge.status == FollowStatus::Active && sight.person(&edge.followee_id).is_some()
        };
        Ok(edges.into_iter().map(|edge| edge.filter(shows)).collect())
    }

    async fn groups(&self, found: Vec<GroupMember>) -> Result<Vec<Option<GroupMember>>, Failure> {
        let ids: Vec<GroupId> = found.into_iter().map(|member| member.group_id).collect();
        let members = self.ground.core().memberships(&ids, self.user).get().await?;
        let sight = self.ground.sight(self.viewer, [], &ids).await?;
        let shows = |member: &GroupMember| {
            member.status == MemberStatus::Active && sight.sees_inside_group(&member.group_id)
        };
        Ok(members.into_iter().map(|member| member.filter(shows)).collect())
    }

    async fn goals(&self, found: Vec<Goal>) -> Result<Vec<Option<Goal>>, Failure> {
        let ids: Vec<GoalId> = found.into_iter().map(|goal| goal.id).collect();
        Ok(self.ground.core().goals_among(self.user, &ids).get().await?)
    }

    async fn quests(&self, found: Vec<Quest>) -> Result<Vec<Option<Quest>>, Failure> {
        let ids: Vec<QuestId> = found.into_iter().map(|quest| quest.id).collect();
        Ok(self.ground.core().quests_among(self.user, &ids).get().await?)
    }

    async fn posts(&self, found: Vec<Post>) -> Result<Vec<Option<Post>>, Failure> {
        let found = posts::current(self.ground, found).await?;
        posts::seen(self.ground, self.viewer, found).await
    }

    async fn comments(&self, found: Vec<Comment>) -> Result<Vec<Option<Comment>>, Failure> {
        let on = self.posts_by_id(found.iter().map(|comment| comment.post_id.clone())).await?;
        let places = found.iter().map(|comment| (&comment.post_id, &comment.id));
        let found = comments(self.ground, places).await?;
        let sight = self.ground.sight(self.viewer, [self.user], []).await?;
        let seen = found.into_iter().zip(on).map(|(comment, post)| {
            comment.filter(|comment| post.is_some() && sight.comment(comment))
        });
        Ok(seen.collect())
    }

    async fn likes(&self, found: Vec<Like>) -> Result<Vec<Option<Like>>, Failure> {
        let ids: Vec<PostId> = found.into_iter().map(|like| like.post_id).collect();
        let likes = self.ground.core().liked(&ids, self.user).get().await?;
        let on = self.posts_by_id(ids).await?;
        Ok(likes.into_iter().zip(on).map(|(like, post)| like.filter(|_| post.is_some())).collect())
    }

    /// Posts that the viewer may see, each in its place.
    async fn posts_by_id(
        &self,
        ids: impl IntoIterator<Item = PostId>,
    ) -> Result<Vec<Option<Post>>, Failure> {
        let ids: Vec<PostId> = ids.into_iter().collect();
        let found = posts(self.ground, &ids).await?;
        posts::seen(self.ground, self.viewer, found).await
    }

    /// What somebody said in rooms that they are still in.
    async fn messages(&self, found: Vec<Message>) -> Result<Vec<Option<Message>>, Failure> {
        let seats = found.iter().map(|message| RoomMember::at(&message.room_id, self.user));
        let seats = self.ground.at("room_member", seats).await?;
        let shown = found.into_iter().zip(seats);
        Ok(shown.map(|(message, seat)| seat.map(|_| message)).collect())
    }
}
