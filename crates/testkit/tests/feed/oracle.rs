//! The oracle: computes home feeds from every item of the table, with none of the code that serves
//! feeds.

use std::collections::{HashMap, HashSet};

use roundtable_domain::FeedEntry;
use roundtable_model::entities::{
    Activity, Block, Comment, FeedHorizon, Follow, Goal, Group, GroupMember, Mute, Post, Share,
    Task, User,
};
use roundtable_model::table::{Item, Scan, Table};
use roundtable_model::{
    ActivityId, ActivityVerb, CommentId, Entity, FollowStatus, FromItem, GroupId, MemberStatus,
    ObjectType, PostId, SubjectId, Time, UserId, UserStatus,
};

use crate::viewer::Viewer;

/// The facts that determine feeds.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) activities: Vec<Activity>,
    pub(crate) people: HashMap<UserId, User>,
    pub(crate) follows: HashMap<(UserId, UserId), Follow>,
    pub(crate) blocks: HashSet<(UserId, UserId)>,
    pub(crate) mutes: HashSet<(UserId, UserId)>,
    pub(crate) groups: HashMap<GroupId, Group>,
    pub(crate) members: HashMap<(GroupId, UserId), GroupMember>,
    pub(crate) posts: HashMap<PostId, Post>,
    pub(crate) comments: HashMap<CommentId, Comment>,
    /// Activities that shares refer to.
    pub(crate) shares: HashSet<ActivityId>,
    pub(crate) goals: HashSet<(UserId, SubjectId)>,
    /// Tasks and their goals.
    pub(crate) tasks: HashMap<(UserId, SubjectId), SubjectId>,
    /// Number of trimmed feeds, for statistics only.
    pub(crate) trimmed: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) activity: Activity,
    /// The post it concerns, possibly through a comment.
    pub(crate) post: Option<Post>,
}

impl Facts {
    pub(crate) async fn of(table: &Table) -> Self {
        let mut facts = Self::default();
        let mut scan = Scan::new().strong();
        loop {
            let page = table.scan(scan.clone()).await.unwrap();
            page.items.iter().for_each(|item| facts.note(item));
            let Some(next) = page.next else { return facts };
            scan = scan.after(next);
        }
    }

    fn note(&mut self, item: &Item) {
        let kind = item.text("type").unwrap_or_default();
        if kind == Activity::SHAPE.name {
            self.activities.push(read(item));
        } else if kind == User::SHAPE.name {
            let user: User = read(item);
            self.people.insert(user.id.clone(), user);
        } else if kind == Follow::SHAPE.name {
            let edge: Follow = read(item);
            self.follows.insert((edge.follower_id.clone(), edge.followee_id.clone()), edge);
        } else if kind == Block::SHAPE.name {
            let Block { blocker_id, blocked_id, .. } = read(item);
            self.blocks.insert((blocker_id, blocked_id));
        } else if kind == Mute::SHAPE.name {
            let Mute { muter_id, muted_id, .. } = read(item);
            self.mutes.insert((muter_id, muted_id));
        } else if kind == Group::SHAPE.name {
            let group: Group = read(item);
            self.groups.insert(group.id.clone(), group);
        } else if kind == GroupMember::SHAPE.name {
            let member: GroupMember = read(item);
            self.members.insert((member.group_id.clone(), member.user_id.clone()), member);
        } else if kind == Post::SHAPE.name {
            let post: Post = read(item);
            self.posts.insert(post.id.clone(), post);
        } else if kind == Comment::SHAPE.name {
            let comment: Comment = read(item);
            self.comments.insert(comment.id.clone(), comment);
        } else if kind == Share::SHAPE.name {
            self.shares.insert(read::<Share>(item).activity_id);
        } else if kind == Goal::SHAPE.name {
            let Goal { user_id, id, .. } = read(item);
            self.goals.insert((user_id, id.into()));
        } else if kind == Task::SHAPE.name {
            let Task { user_id, id, goal_id, .. } = read(item);
            self.tasks.insert((user_id, id.into()), goal_id.into());
        } else if kind == FeedHorizon::SHAPE.name {
            self.trimmed += 1;
        }
    }

    pub(crate) fn is_active(&self, who: &UserId) -> bool {
        self.people.get(who).is_some_and(|person| person.status == UserStatus::Active)
    }

    /// A user's whole feed, newest first.
    pub(crate) fn home(&self, reader: &UserId, moderates: bool) -> Vec<Entry> {
        let viewer = Viewer { facts: self, reader, moderates };
        let mut feed: Vec<Entry> = self
            .activities
            .iter()
            .filter(|activity| self.is_for(reader, activity))
            .filter_map(|activity| viewer.shown(activity))
            .map(|activity| Entry { post: self.post_about(&activity).cloned(), activity })
            .collect();
        feed.sort_by_key(|entry| std::cmp::Reverse(entry.place()));
        feed
    }

    /// Returns `true` if the reader follows the actor or is in the group of an activity.
    fn is_for(&self, reader: &UserId, activity: &Activity) -> bool {
        let Activity { actor_id, group_id, .. } = activity;
        let at_home = match group_id {
            Some(group) => self.is_member(group, reader),
            None => actor_id == reader || self.follows(reader, actor_id),
        };
        let written_by_muted =
            self.post_of(activity).is_some_and(|post| self.mutes(reader, &post.author_id));
        at_home && !self.mutes(reader, actor_id) && !written_by_muted
    }

    /// The post that was created or shared.
    pub(crate) fn post_of(&self, activity: &Activity) -> Option<&Post> {
        (activity.object_type == ObjectType::Post)
            .then(|| self.posts.get(&activity.object_id.recast()))
            .flatten()
    }

    /// The post that was created, shared or commented on.
    fn post_about(&self, activity: &Activity) -> Option<&Post> {
        if activity.object_type == ObjectType::Comment {
            let comment = self.comments.get(&activity.object_id.recast())?;
            return self.posts.get(&comment.post_id);
        }
        self.post_of(activity)
    }

    /// Returns `false` for the activity of a removed share.
    pub(crate) fn is_still_shared(&self, activity: &Activity) -> bool {
        activity.verb != ActivityVerb::Share || self.shares.contains(&activity.activity_id)
    }

    pub(crate) fn follows(&self, follower: &UserId, followee: &UserId) -> bool {
        let edge = self.follows.get(&(follower.clone(), followee.clone()));
        edge.is_some_and(|edge| edge.status == FollowStatus::Active)
    }

    fn mutes(&self, reader: &UserId, other: &UserId) -> bool {
        let ends = (reader.clone(), other.clone());
        // An earlier version stored mutes in follows.
        self.mutes.contains(&ends) || self.follows.get(&ends).is_some_and(|edge| edge.muted)
    }

    pub(crate) fn is_member(&self, group: &GroupId, user: &UserId) -> bool {
        let member = self.members.get(&(group.clone(), user.clone()));
        member.is_some_and(|member| member.status == MemberStatus::Active)
    }
}

fn read<E: FromItem>(item: &Item) -> E {
    E::from_item(item).unwrap()
}

impl Entry {
    pub(crate) fn of(entry: &FeedEntry) -> Self {
        let FeedEntry { activity, post, .. } = entry;
        Self { activity: activity.clone(), post: post.as_deref().cloned() }
    }

    pub(crate) fn place(&self) -> (Time, ActivityId) {
        (self.activity.created_at, self.activity.activity_id.clone())
    }

    /// Returns `true` if both have the same content.
    pub(crate) fn says(&self, other: &Self) -> bool {
        let plain = |entry: &Self| Activity { fanout: false, ..entry.activity.clone() };
        plain(self) == plain(other) && self.post == other.post
    }
}
