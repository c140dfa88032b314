//! Which activities somebody sees: those whose actor they may see, and whose object is there and for
//! them. Text, pictures and tags of posts and comments are those of now, whatever the activity copied.

use std::sync::Arc;

use futures::future::{try_join, try_join_all, try_join3};
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Activity, Comment, Post};
use roundtable_model::{
    ActivityId, ActivityVerb, CommentId, GoalId, GroupId, ObjectType, PostId, QuestId, Result,
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
        let comments = comments(ground, ids(activities, ObjectType::Comment)).await?;
        let mut wanted: Vec<PostId> = ids(activities, ObjectType::Post);
        wanted.extend(comments.values().map(|comment| comment.post_id.clone()));
        let by_actor = actors(activities).into_iter().map(|(actor, theirs)| async move {
            Ok(try_join(own(ground, actor, &theirs), shares(ground, actor, &theirs)).await?)
        });
        let tasks = async { Ok(tasks(ground, ids(activities, ObjectType::Task)).await?) };
        let (posts, tasks, theirs) =
            try_join3(posts(wanted), tasks, try_join_all(by_actor)).await?;
        let (mut own, mut shares) = (tasks, HashSet::new());
        for (owned, shared) in theirs {
            own.extend(owned);
            shares.extend(shared);
        }
        Ok(Self { posts, comments, own, shares })
    }

    /// Everybody involved, each once.
    pub(crate) fn people(&self, activities: &[Activity]) -> HashSet<UserId> {
        let mut people: HashSet<UserId> = ids(activities, ObjectType::User).into_iter().collect();
        people.extend(activities.iter().map(|activity| activity.actor_id.clone()));
        people.extend(self.posts.values().map(|post| post.author_id.clone()));
        people.extend(self.comments.values().map(|comment| comment.user_id.clone()));
        people
    }

    /// Every group involved, each once.
    pub(crate) fn groups(&self, activities: &[Activity]) -> HashSet<GroupId> {
        let mut groups: HashSet<GroupId> = ids(activities, ObjectType::Group).into_iter().collect();
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

/// The ids of the objects of one kind, each once.
fn ids<T: From<roundtable_model::Id> + Clone + Eq + std::hash::Hash>(
    activities: &[Activity],
    kind: ObjectType,
) -> Vec<T> {
    let named = activities.iter().filter(|activity| activity.object_type == kind);
    let ids: HashSet<T> = named.map(|activity| activity.object_id.recast()).collect();
    ids.into_iter().collect()
}

/// The activities of each actor about things that are read by their owner: most are not.
fn actors(activities: &[Activity]) -> HashMap<&UserId, Vec<&Activity>> {
    let mut actors: HashMap<&UserId, Vec<&Activity>> = HashMap::new();
    let is_theirs = |activity: &&Activity| match activity.object_type {
        ObjectType::Goal | ObjectType::Quest => true,
        ObjectType::Post => activity.verb == ActivityVerb::Share,
        _ => false,
    };
    for activity in activities.iter().filter(is_theirs) {
        actors.entry(&activity.actor_id).or_default().push(activity);
    }
    actors
}

/// The goals and quests among the objects of one actor that are there.
async fn own(
    ground: &Ground,
    actor: &UserId,
    activities: &[&Activity],
) -> Result<Vec<(UserId, SubjectId)>> {
    let named = |kind| {
        let named = activities.iter().filter(move |activity| activity.object_type == kind);
        named.map(|activity| activity.object_id.clone())
    };
    let goals: Vec<GoalId> = named(ObjectType::Goal).map(|id| id.recast()).collect();
    let quests: Vec<QuestId> = named(ObjectType::Quest).map(|id| id.recast()).collect();
    let core = ground.core();
    let (goals, quests) =
        try_join(core.goals_among(actor, &goals).get(), core.quests_among(actor, &quests).get())
            .await?;
    let goals = goals.into_iter().flatten().map(|goal| (goal.user_id, goal.id.into()));
    let quests = quests.into_iter().flatten().map(|quest| (quest.user_id, quest.id.into()));
    Ok(goals.chain(quests).collect())
}

/// The activities of one actor that a share of theirs names.
async fn shares(
    ground: &Ground,
    actor: &UserId,
    activities: &[&Activity],
) -> Result<Vec<ActivityId>> {
    let shared = activities.iter().filter(|activity| {
        activity.verb == ActivityVerb::Share && activity.object_type == ObjectType::Post
    });
    let posts: Vec<PostId> = shared.map(|activity| activity.object_id.recast()).collect();
    let shares = ground.core().shared(&posts, actor).get().await?;
    Ok(shares.into_iter().flatten().map(|share| share.activity_id).collect())
}

/// The tasks that are there, with their owners. Only an index knows a task by its id alone, and an
/// index has no batches: they are asked for all at once.
async fn tasks(ground: &Ground, ids: Vec<TaskId>) -> Result<HashSet<(UserId, SubjectId)>> {
    let tasks = ids.iter().map(|id| ground.core().task_by_id(id).get());
    let tasks = try_join_all(tasks).await?.into_iter().flatten();
    Ok(tasks.map(|task| (task.user_id, task.id.into())).collect())
}

/// The comments that are there; as with tasks, only an index knows them by their ids alone.
async fn comments(ground: &Ground, ids: Vec<CommentId>) -> Result<HashMap<CommentId, Comment>> {
    let comments = ids.iter().map(|id| crate::comments::find(ground, id));
    let comments = try_join_all(comments).await?.into_iter().flatten();
    Ok(comments.map(|comment| (comment.id.clone(), comment)).collect())
}
