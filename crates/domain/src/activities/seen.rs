//! Which activities somebody sees: those whose actor they may see, and whose object is there and for
//! them. Text, pictures and tags of posts and comments are those of now, whatever the activity copied.

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
use crate::{Caller, Failure, Ground, Sight};

/// Those of the activities that the viewer may see, each in its place, as they are to be shown.
pub(crate) async fn seen(
    ground: &Ground,
    viewer: Option<&Caller>,
    activities: Vec<Activity>,
) -> Result<Vec<Option<Activity>>, Failure> {
    let objects = Objects::of(ground, &activities, |ids| stored_posts(ground, ids)).await?;
    let people = objects.people(&activities);
    let sight = ground.sight(viewer, &people, &objects.groups(&activities)).await?;
    Ok(activities.into_iter().map(|activity| objects.shown(&sight, activity)).collect())
}

/// Posts as the table has them.
async fn stored_posts(
    ground: &Ground,
    ids: Vec<PostId>,
) -> Result<HashMap<PostId, Arc<Post>>, Failure> {
    let posts = ground.core().posts(&ids).strong().get().await?.into_iter().flatten();
    Ok(posts.map(|post| (post.id.clone(), Arc::new(post))).collect())
}

/// What activities are about, as it is now.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    posts: HashMap<PostId, Arc<Post>>,
    comments: HashMap<CommentId, Comment>,
    /// The goals, tasks and quests that are still there, with their owners.
    own: HashSet<(UserId, SubjectId)>,
    /// The activities that a share names.
    shares: HashSet<ActivityId>,
}

impl Objects {
    /// Reads all of them, each kind at once; posts, which are most, from where the caller has them.
    pub(crate) async fn of<Posts>(
        ground: &Ground,
        activities: &[Activity],
        posts: impl FnOnce(Vec<PostId>) -> Posts,
    ) -> Result<Self, Failure>
    where
        Posts: Future<Output = Result<HashMap<PostId, Arc<Post>>, Failure>>,
    {
        let mut wanted: HashSet<PostId> = ids(activities, ObjectType::Post);
        wanted.extend(homes::<PostId, CommentId>(activities, ObjectType::Comment).map(|at| at.0));
        let comments = comments(ground, activities).map_err(Failure::from);
        let own = own(ground, activities).map_err(Failure::from);
        let shares = shares(ground, activities).map_err(Failure::from);
        let posts = posts(wanted.into_iter().collect());
        let (posts, comments, own, shares) = try_join4(posts, comments, own, shares).await?;
        Ok(Self { posts, comments, own, shares })
    }

    /// Everybody involved, each once.
    pub(crate) fn people(&self, activities: &[Activity]) -> HashSet<UserId> {
        let mut people: HashSet<UserId> = ids(activities, ObjectType::User);
        people.extend(activities.iter().map(|activity| activity.actor_id.clone()));
        people.extend(self.posts.values().map(|post| post.author_id.clone()));
        people.extend(self.comments.values().map(|comment| comment.user_id.clone()));
        people
    }

    /// Every group involved, each once.
    pub(crate) fn groups(&self, activities: &[Activity]) -> HashSet<GroupId> {
        let mut groups: HashSet<GroupId> = ids(activities, ObjectType::Group);
        groups.extend(activities.iter().filter_map(|activity| activity.group_id.clone()));
        groups.extend(self.posts.values().filter_map(|post| post.group_id.clone()));
        groups
    }

    /// The post that an activity is about, or whose comment it is about.
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

    /// The activity as the viewer is shown it; `None` when they are not.
    pub(crate) fn shown(&self, sight: &Sight, mut activity: Activity) -> Option<Activity> {
        let home = match &activity.group_id {
            Some(group) => {
                sight.person(&activity.actor_id).is_some() && sight.sees_inside_group(group)
            }
            None => sight.sees_inside(&activity.actor_id),
        };
        if !home {
            return None;
        }
        match activity.object_type {
            ObjectType::Post => {
                let post = self.posts.get(&activity.object_id.recast::<PostId>())?;
                let passed_on = activity.verb == ActivityVerb::Share;
                if passed_on && !self.shares.contains(&activity.activity_id) || !sight.post(post) {
                    return None;
                }
                activity.preview_text = preview(&post.content);
                activity.media = post.media.first().cloned();
                activity.tags.clone_from(&post.hashtags);
            }
            ObjectType::Comment => {
                let comment = self.comments.get(&activity.object_id.recast::<CommentId>())?;
                let post = self.posts.get(&comment.post_id)?;
                if !sight.post(post) || !sight.comment(comment) {
                    return None;
                }
                activity.preview_text = preview(&comment.content);
            }
            ObjectType::Goal | ObjectType::Task | ObjectType::Quest => {
                let owned = (activity.actor_id.clone(), activity.object_id.clone());
                self.own.get(&owned)?;
            }
            ObjectType::Group => {
                sight.group(&activity.object_id.recast())?;
            }
            ObjectType::User => {
                sight.person(&activity.object_id.recast())?;
            }
        }
        Some(activity)
    }
}

/// The activities about one kind of thing.
fn about(activities: &[Activity], kind: ObjectType) -> impl Iterator<Item = &Activity> {
    activities.iter().filter(move |activity| activity.object_type == kind)
}

/// The ids of the objects of one kind, each once.
fn ids<T: From<Id> + Eq + Hash>(activities: &[Activity], kind: ObjectType) -> HashSet<T> {
    about(activities, kind).map(|it| it.object_id.recast()).collect()
}

/// Where the objects of one kind are that live in something else: in what, and which.
fn homes<Home: From<Id>, T: From<Id>>(
    activities: &[Activity],
    kind: ObjectType,
) -> impl Iterator<Item = (Home, T)> {
    about(activities, kind)
        .filter_map(|it| Some((it.object_home.as_ref()?.recast(), it.object_id.recast())))
}

/// The goals, tasks and quests that are there, with their owners. A task is there only while its goal is.
async fn own(ground: &Ground, activities: &[Activity]) -> Result<HashSet<(UserId, SubjectId)>> {
    let goals = about(activities, ObjectType::Goal).map(|it| (&it.actor_id, &it.object_id));
    let of_tasks = about(activities, ObjectType::Task)
        .filter_map(|it| Some((&it.actor_id, it.object_home.as_ref()?)));
    let goals = goals.chain(of_tasks).map(|(owner, id)| Goal::at(owner, &id.recast::<GoalId>()));
    let quests = about(activities, ObjectType::Quest)
        .map(|it| Quest::at(&it.actor_id, &it.object_id.recast::<QuestId>()));
    let tasks = homes::<GoalId, TaskId>(activities, ObjectType::Task)
        .map(|(goal, task)| Task::at(&goal, &task));
    let (goals, quests, tasks) = try_join3(
        ground.at("goals_among", goals),
        ground.at("quests_among", quests),
        ground.at("task", tasks),
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

/// The activities that a share names.
async fn shares(ground: &Ground, activities: &[Activity]) -> Result<HashSet<ActivityId>> {
    let shared = about(activities, ObjectType::Post)
        .filter(|activity| activity.verb == ActivityVerb::Share)
        .map(|it| Share::at(&it.object_id.recast::<PostId>(), &it.actor_id));
    let shares = ground.at("shared", shared).await?.into_iter().flatten();
    Ok(shares.map(|share| share.activity_id).collect())
}

/// The comments that are there.
async fn comments(ground: &Ground, activities: &[Activity]) -> Result<HashMap<CommentId, Comment>> {
    let places: Vec<(PostId, CommentId)> = homes(activities, ObjectType::Comment).collect();
    let places = places.iter().map(|(post, id)| (post, id));
    let comments = crate::comments::comments(ground, places).await?.into_iter().flatten();
    Ok(comments.map(|comment| (comment.id.clone(), comment)).collect())
}
