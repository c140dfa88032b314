//! Eligibility: whether a user may be notified. It is checked when a notification is written and
//! again when it is read.
//!
//! Users are not notified of their own actions, of actions by users they blocked, muted or
//! silenced, of kinds they have switched off, or of objects they cannot see. Staff roles do not apply.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{AssistThread, Comment, Post, Quest, Task};
use roundtable_model::{
    CommentId, GroupId, NotificationKind, PostId, QuestId, TaskId, ThreadId, UserId,
};

use super::Notifications;
use super::cause::{Cause, CauseObject};
use crate::access::{Permission, allows};
use crate::groups::relations;
use crate::viewer_access::ViewerRelations;
use crate::{Caller, ServiceError};

/// The parts of a cause that its recipient may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Eligibility {
    pub(super) actor: bool,
    pub(super) about: bool,
}

/// The objects of one user's causes.
#[derive(Debug, Default)]
struct CauseObjects {
    posts: HashMap<PostId, Post>,
    comments: HashMap<CommentId, Comment>,
    quests: HashMap<QuestId, Quest>,
    tasks: HashMap<TaskId, Task>,
    threads: HashMap<ThreadId, AssistThread>,
}

#[boxed]
impl Notifications {
    /// Returns which of these causes the user may be notified of now.
    pub async fn may_notify(
        &self,
        user: &UserId,
        causes: &[Cause],
    ) -> Result<Vec<bool>, ServiceError> {
        let eligibility = self.eligibility(user, causes).await?;
        Ok(eligibility.into_iter().map(|may| may.actor && may.about).collect())
    }

    pub(super) async fn eligibility(
        &self,
        user: &UserId,
        causes: &[Cause],
    ) -> Result<Vec<Eligibility>, ServiceError> {
        if causes.is_empty() {
            return Ok(Vec::new());
        }
        let (objects, off) =
            futures::future::try_join(self.objects(user, causes), self.kinds_off(user)).await?;
        let authors = objects.posts.values().map(|post| &post.author_id);
        let writers = objects.comments.values().map(|comment| &comment.user_id);
        let actors: BTreeSet<&UserId> =
            causes.iter().filter_map(|cause| cause.actor.as_ref()).collect();
        let others: Vec<UserId> = actors.iter().copied().cloned().collect();
        let helped = objects.threads.values().map(|thread| &thread.user_id);
        let people: Vec<&UserId> =
            actors.into_iter().chain(authors).chain(writers).chain(helped).collect();
        let mut groups: Vec<&GroupId> =
            objects.posts.values().filter_map(|post| post.group_id.as_ref()).collect();
        groups.extend(causes.iter().filter_map(|cause| match &cause.about {
            CauseObject::Group(id) | CauseObject::JoinRequest(id, _) => Some(id),
            _ => None,
        }));
        let viewer = Caller::user(user.clone());
        let access = self.context.viewer_relations(Some(&viewer), people, groups);
        let mutes = self.context.core().mutes_among(user, &others).get();
        let (access, mutes) = futures::future::try_join(access, mutes).await?;
        let now = self.context.now();
        let mutes = mutes.into_iter().flatten().filter(|mute| mute.is_in_force(now));
        let muted: BTreeSet<UserId> = mutes.map(|mute| mute.muted_id).collect();
        let is_here = access.visible_user(user).is_some();
        let eligibility = |cause: &Cause| Eligibility {
            actor: is_here
                && cause.actor.as_ref().is_none_or(|actor| {
                    !muted.contains(actor) && may_hear_of(&access, user, actor)
                }),
            about: is_here && !off.contains(&cause.kind) && objects.are_visible(&access, cause),
        };
        Ok(causes.iter().map(eligibility).collect())
    }

    async fn objects(&self, user: &UserId, causes: &[Cause]) -> Result<CauseObjects, ServiceError> {
        let core = self.context.core();
        // Each object once: several causes may share it.
        let (mut posts, mut comments) = (BTreeSet::new(), BTreeSet::new());
        let (mut quests, mut tasks) = (BTreeSet::new(), BTreeSet::new());
        let mut threads = BTreeSet::new();
        for cause in causes {
            match &cause.about {
                CauseObject::Post(post) => drop(posts.insert(post.clone())),
                CauseObject::Comment(post, comment) => {
                    posts.insert(post.clone());
                    comments.insert((post, comment));
                }
                CauseObject::Quest(quest) => drop(quests.insert(quest.clone())),
                CauseObject::Task(goal, task) => drop(tasks.insert((goal, task))),
                CauseObject::Assist(thread, _) => drop(threads.insert(thread.clone())),
                CauseObject::Person(_)
                | CauseObject::Message(..)
                | CauseObject::Group(_)
                | CauseObject::JoinRequest(..) => {}
            }
        }
        let (posts, quests) = (Vec::from_iter(posts), Vec::from_iter(quests));
        let comments = comments.into_iter().map(|(post, id)| Comment::at(post, id));
        let tasks = tasks.into_iter().map(|(goal, id)| Task::at(goal, id));
        let threads = Vec::from_iter(threads);
        let (posts, comments, quests, tasks, threads) = futures::future::try_join5(
            core.posts(&posts).strong().get(),
            self.context.items_at("comment_on", comments),
            core.quests_among(user, &quests).get(),
            self.context.items_at("task", tasks),
            core.assist_threads(&threads).get(),
        )
        .await?;
        let id = |post: Post| (post.id.clone(), post);
        Ok(CauseObjects {
            posts: posts.into_iter().flatten().map(id).collect(),
            comments: comments.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
            quests: quests.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
            tasks: tasks.into_iter().flatten().map(|one| (one.id.clone(), one)).collect(),
            threads: threads
                .into_iter()
                .flatten()
                .map(|one| (one.thread_id.clone(), one))
                .collect(),
        })
    }
}

/// Returns whether the user may and wants to hear of the actor, by the relations of the two and the
/// settings of the user's follow.
fn may_hear_of(access: &ViewerRelations, user: &UserId, actor: &UserId) -> bool {
    let edge = access.follow_of(actor);
    user != actor
        && access.visible_user(actor).is_some()
        && !access.is_blocked(actor)
        && edge.is_none_or(|edge| !edge.muted && edge.notification_enabled)
}

impl CauseObjects {
    fn are_visible(&self, access: &ViewerRelations, cause: &Cause) -> bool {
        match &cause.about {
            // Their visibility is that of the actor.
            CauseObject::Person(_) | CauseObject::Message(..) => true,
            CauseObject::Post(id) => {
                self.posts.get(id).is_some_and(|post| access.can_see_post(post))
            }
            CauseObject::Comment(post, id) => {
                self.posts.get(post).is_some_and(|post| access.can_see_post(post))
                    && self.comments.get(id).is_some_and(|comment| access.can_see_comment(comment))
            }
            CauseObject::Group(id) => {
                access.visible_group(id).is_some() && access.membership(id).is_some()
            }
            CauseObject::JoinRequest(id, _) => {
                let mine = access.membership(id);
                mine.is_some_and(|mine| allows(Permission::ApproveMember, relations(mine)))
            }
            CauseObject::Quest(id) => self.quests.contains_key(id),
            CauseObject::Assist(id, _) => self.threads.get(id).is_some_and(|thread| {
                let is_helper = thread.helper_ids.contains(&cause.user);
                thread.user_id == cause.user
                    || is_helper && access.addressable(&thread.user_id).is_some()
            }),
            CauseObject::Task(_, id) => self.tasks.get(id).is_some_and(|task| {
                cause.kind == NotificationKind::Reminder && !task.done && task.due_at.is_some()
            }),
        }
    }
}
