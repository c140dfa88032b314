//! Whether somebody may be told something: asked when it is written, and again when it is read.
//!
//! Nobody is told of what they do themselves, of what those do whom they have blocked or muted or whose
//! notifications they have switched off, or of what they could not see by themselves. Staff are told as
//! anybody else is: their sight is for their work.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Comment, Post, Quest, Task};
use roundtable_model::{CommentId, GroupId, NotificationKind, PostId, QuestId, TaskId, UserId};

use super::Notifications;
use super::cause::{About, Cause};
use crate::{Caller, Failure, Sight};

/// What may be told of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// That this person did it.
    pub(super) actor: bool,
    /// What it was done to.
    pub(super) about: bool,
}

/// Everything that some causes of one person are about.
#[derive(Debug, Default)]
struct Things {
    posts: HashMap<PostId, Post>,
    comments: HashMap<CommentId, Comment>,
    quests: HashMap<QuestId, Quest>,
    tasks: HashMap<TaskId, Task>,
}

#[boxed]
impl Notifications {
    /// Which of these causes one person may be told of now.
    pub async fn admits(&self, user: &UserId, causes: &[Cause]) -> Result<Vec<bool>, Failure> {
        let told = self.told(user, causes).await?;
        Ok(told.into_iter().map(|told| told.actor && told.about).collect())
    }

    pub(super) async fn told(&self, user: &UserId, causes: &[Cause]) -> Result<Vec<Told>, Failure> {
        if causes.is_empty() {
            return Ok(Vec::new());
        }
        let things = self.things(user, causes).await?;
        let authors = things.posts.values().map(|post| &post.author_id);
        let writers = things.comments.values().map(|comment| &comment.user_id);
        let actors = causes.iter().filter_map(|cause| cause.actor.as_ref());
        let people: Vec<&UserId> = actors.chain(authors).chain(writers).collect();
        let mut groups: Vec<&GroupId> =
            things.posts.values().filter_map(|post| post.group_id.as_ref()).collect();
        groups.extend(causes.iter().filter_map(|cause| match &cause.about {
            About::Group(id) => Some(id),
            _ => None,
        }));
        let viewer = Caller::user(user.clone());
        let sight = self.ground.sight(Some(&viewer), people, groups).await?;
        let is_here = sight.person(user).is_some();
        let told = |cause: &Cause| Told {
            actor: is_here
                && cause.actor.as_ref().is_none_or(|actor| hears_of(&sight, user, actor)),
            about: is_here && things.are_seen(&sight, cause),
        };
        Ok(causes.iter().map(told).collect())
    }

    async fn things(&self, user: &UserId, causes: &[Cause]) -> Result<Things, Failure> {
        let core = self.ground.core();
        // Each once: several causes may be about the same thing.
        let (mut posts, mut comments) = (BTreeSet::new(), BTreeSet::new());
        let (mut quests, mut tasks) = (BTreeSet::new(), BTreeSet::new());
        for cause in causes {
            match &cause.about {
                About::Post(post) => drop(posts.insert(post.clone())),
                About::Comment(post, comment) => {
                    posts.insert(post.clone());
                    comments.insert((post, comment));
                }
                About::Quest(quest) => drop(quests.insert(quest.clone())),
                About::Task(goal, task) => drop(tasks.insert((goal, task))),
                About::Person(_) | About::Message(..) | About::Group(_) => {}
            }
        }
        let (posts, quests) = (Vec::from_iter(posts), Vec::from_iter(quests));
        let comments = comments.into_iter().map(|(post, id)| Comment::at(post, id));
        let tasks = tasks.into_iter().map(|(goal, id)| Task::at(goal, id));
        let (posts, comments, quests, tasks) = futures::future::try_join4(
            core.posts(&posts).strong().get(),
            self.ground.at("comment_on", comments),
            core.quests_among(user, &quests).get(),
            self.ground.at("task", tasks),
        )
        .await?;
        let id = |post: Post| (post.id.clone(), post);
        Ok(Things {
            posts: posts.into_iter().flatten().map(id).collect(),
            comments: comments.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
            quests: quests.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
            tasks: tasks.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
        })
    }
}

/// Whether somebody wants to hear, and may, of what another does.
fn hears_of(sight: &Sight, user: &UserId, actor: &UserId) -> bool {
    let edge = sight.edge(actor);
    user != actor
        && sight.person(actor).is_some()
        && !sight.is_blocked(actor)
        && edge.is_none_or(|edge| !edge.muted && edge.notification_enabled)
}

impl Things {
    fn are_seen(&self, sight: &Sight, cause: &Cause) -> bool {
        match &cause.about {
            // Who they are is asked with the actor.
            About::Person(_) | About::Message(..) => true,
            About::Post(id) => self.posts.get(id).is_some_and(|post| sight.post(post)),
            About::Comment(post, id) => {
                self.posts.get(post).is_some_and(|post| sight.post(post))
                    && self.comments.get(id).is_some_and(|comment| sight.comment(comment))
            }
            About::Group(id) => sight.group(id).is_some() && sight.membership(id).is_some(),
            About::Quest(id) => self.quests.contains_key(id),
            About::Task(_, id) => self.tasks.get(id).is_some_and(|task| {
                cause.kind == NotificationKind::Reminder && !task.done && task.due_at.is_some()
            }),
        }
    }
}
