//! Visibility of activities: the viewer must be able to see the actor and the object. Text, media
//! and tags of posts and comments are current, not those copied into the activity.

use std::hash::Hash;
use std::sync::Arc;

use futures::TryFutureExt;
use futures::future::{try_join3, try_join4};
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Activity, Comment, Goal, Post, Quest, Share, Task};
use roundtable_model::{
    ActivityId, ActivityVerb, CommentId, GoalId, GroupId, Id, ObjectType, PostId, QuestId, Result,
    SubjectId, TaskId, UserId,
};

use super::preview;
use crate::{Caller, Context, ServiceError, ViewerAccess};

/// Returns what the viewer may see of these activities, in the same order.
pub(crate) async fn visible_activities(
    context: &Context,
    viewer: Option<&Caller>,
    activities: Vec<Activity>,
) -> Result<Vec<Option<Activity>>, ServiceError> {
    let objects =
        ActivityObjects::of(context, &activities, |ids| stored_posts(context, ids)).await?;
    let people = objects.people(&activities);
    let access = context.viewer_access(viewer, &people, &objects.groups(&activities)).await?;
    Ok(activities.into_iter().map(|activity| objects.shown(&access, activity)).collect())
}

async fn stored_posts(
    context: &Context,
    ids: Vec<PostId>,
) -> Result<HashMap<PostId, Arc<Post>>, ServiceError> {
    let posts = context.core().posts(&ids).strong().get().await?.into_iter().flatten();
    Ok(posts.map(|post| (post.id.clone(), Arc::new(post))).collect())
}

/// The current objects of some activities.
#[derive(Debug, Default)]
pub(crate) struct ActivityObjects {
    posts: HashMap<PostId, Arc<Post>>,
    comments: HashMap<CommentId, Comment>,
    /// Existing goals, tasks and quests, with their owners.
    own: HashSet<(UserId, SubjectId)>,
    /// Activities that a share refers to.
    shares: HashSet<ActivityId>,
}

impl ActivityObjects {
    /// Reads all objects, each kind in one batch; `posts` supplies the posts, possibly from a cache.
    pub(crate) async fn of<Posts>(
        context: &Context,
        activities: &[Activity],
        posts: impl FnOnce(Vec<PostId>) -> Posts,
    ) -> Result<Self, ServiceError>
    where
        Posts: Future<Output = Result<HashMap<PostId, Arc<Post>>, ServiceError>>,
    {
        let mut wanted: HashSet<PostId> = ids(activities, ObjectType::Post);
        wanted.extend(homes::<PostId, CommentId>(activities, ObjectType::Comment).map(|at| at.0));
        let comments = comments(context, activities).map_err(ServiceError::from);
        let own = own(context, activities).map_err(ServiceError::from);
        let shares = shares(context, activities).map_err(ServiceError::from);
        let posts = posts(wanted.into_iter().collect());
        let (posts, comments, own, shares) = try_join4(posts, comments, own, shares).await?;
        Ok(Self { posts, comments, own, shares })
    }

    pub(crate) fn people(&self, activities: &[Activity]) -> HashSet<UserId> {
        let mut people: HashSet<UserId> = ids(activities, ObjectType::User);
        people.extend(activities.iter().map(|activity| activity.actor_id.clone()));
        people.extend(self.posts.values().map(|post| post.author_id.clone()));
        people.extend(self.comments.values().map(|comment| comment.user_id.clone()));
        people
    }

    pub(crate) fn groups(&self, activities: &[Activity]) -> HashSet<GroupId> {
        let mut groups: HashSet<GroupId> = ids(activities, ObjectType::Group);
        groups.extend(activities.iter().filter_map(|activity| activity.group_id.clone()));
        groups.extend(self.posts.values().filter_map(|post| post.group_id.clone()));
        groups
    }

    /// The post that an activity is about, directly or through a comment.
    pub(crate) fn post(&self, activity: &Activity) -> Option<&Arc<Post>> {
        let id = match activity.object_type {
            ObjectType::Post => activity.object_id.recast(),
            ObjectType::Comment => {
                self.comments.get(&activity.object_id.recast::<CommentId>())?.post_id.clone()
            }
            _ => return None,
        };
        self.posts.get(&id)
    }

    /// Returns the activity as the viewer sees it; `None` if they may not.
    pub(crate) fn shown(&self, access: &ViewerAccess, mut activity: Activity) -> Option<Activity> {
        let home = match &activity.group_id {
            Some(group) => {
                access.visible_user(&activity.actor_id).is_some()
                    && access.can_see_in_group(group, activity.created_at)
            }
            None => access.can_see_inside_user(&activity.actor_id),
        };
        if !home {
            return None;
        }
        match activity.object_type {
            ObjectType::Post => {
                let post = self.posts.get(&activity.object_id.recast::<PostId>())?;
                let passed_on = activity.verb == ActivityVerb::Share;
                if passed_on && !self.shares.contains(&activity.activity_id)
                    || !access.can_see_post(post)
                {
                    return None;
                }
                activity.preview_text = preview(&post.content);
                activity.media = post.media.first().cloned();
                activity.tags.clone_from(&post.hashtags);
            }
            ObjectType::Comment => {
                let comment = self.comments.get(&activity.object_id.recast::<CommentId>())?;
                let post = self.posts.get(&comment.post_id)?;
                if !access.can_see_post(post) || !access.can_see_comment(comment) {
                    return None;
                }
                activity.preview_text = preview(&comment.content);
            }
            ObjectType::Goal | ObjectType::Task | ObjectType::Quest => {
                let owned = (activity.actor_id.clone(), activity.object_id.clone());
                self.own.get(&owned)?;
                // Completing a goal is told to followers; a change of it is as private as the goal.
                let is_edit = activity.verb == ActivityVerb::GoalEdit;
                if is_edit && !access.can_see_goals_of(&activity.actor_id) {
                    return None;
                }
            }
            ObjectType::Group => {
                access.visible_group(&activity.object_id.recast())?;
            }
            ObjectType::User => {
                access.visible_user(&activity.object_id.recast())?;
            }
        }
        Some(activity)
    }
}

fn about(activities: &[Activity], kind: ObjectType) -> impl Iterator<Item = &Activity> {
    activities.iter().filter(move |activity| activity.object_type == kind)
}

fn ids<T: From<Id> + Eq + Hash>(activities: &[Activity], kind: ObjectType) -> HashSet<T> {
    about(activities, kind).map(|it| it.object_id.recast()).collect()
}

/// The objects of one kind whose keys need a container, as (container, object).
fn homes<Home: From<Id>, T: From<Id>>(
    activities: &[Activity],
    kind: ObjectType,
) -> impl Iterator<Item = (Home, T)> {
    about(activities, kind)
        .filter_map(|it| Some((it.object_home.as_ref()?.recast(), it.object_id.recast())))
}

/// Returns existing goals, tasks and quests with their owners. A task exists only while its goal does.
async fn own(context: &Context, activities: &[Activity]) -> Result<HashSet<(UserId, SubjectId)>> {
    let goals = about(activities, ObjectType::Goal).map(|it| (&it.actor_id, &it.object_id));
    let of_tasks = about(activities, ObjectType::Task)
        .filter_map(|it| Some((&it.actor_id, it.object_home.as_ref()?)));
    let goals = goals.chain(of_tasks).map(|(owner, id)| Goal::at(owner, &id.recast::<GoalId>()));
    let quests = about(activities, ObjectType::Quest)
        .map(|it| Quest::at(&it.actor_id, &it.object_id.recast::<QuestId>()));
    let tasks = homes::<GoalId, TaskId>(activities, ObjectType::Task)
        .map(|(goal, task)| Task::at(&goal, &task));
    let (goals, quests, tasks) = try_join3(
        context.items_at("goals_among", goals),
        context.items_at("quests_among", quests),
        context.items_at("task", tasks),
    )
    .await?;
    let goals = goals.into_iter().flatten().map(|goal| (goal.user_id, goal.id.into()));
    let mut own: HashSet<(UserId, SubjectId)> = goals.collect();
    let has_goal = |task: &Task| own.contains(&(task.user_id.clone(), (&task.goal_id).into()));
    let tasks: Vec<Task> = tasks.into_iter().flatten().filter(has_goal).collect();
    own.extend(tasks.into_iter().map(|task| (task.user_id, task.id.into())));
    own.extend(quests.into_iter().flatten().map(|quest| (quest.user_id, quest.id.into())));
    Ok(own)
}

async fn shares(context: &Context, activities: &[Activity]) -> Result<HashSet<ActivityId>> {
    let shared = about(activities, ObjectType::Post)
        .filter(|activity| activity.verb == ActivityVerb::Share)
        .map(|it| Share::at(&it.object_id.recast::<PostId>(), &it.actor_id));
    let shares = context.items_at("shared", shared).await?.into_iter().flatten();
    Ok(shares.map(|share| share.activity_id).collect())
}

async fn comments(
    context: &Context,
    activities: &[Activity],
) -> Result<HashMap<CommentId, Comment>> {
    let places: Vec<(PostId, CommentId)> = homes(activities, ObjectType::Comment).collect();
    let places = places.iter().map(|(post, id)| (post, id));
    let comments = crate::comments::comments(context, places).await?.into_iter().flatten();
    Ok(comments.map(|comment| (comment.id.clone(), comment)).collect())
}
