//! Files that are part of activities.

use roundtable_domain::{ActivityError, NewActivity};
use roundtable_model::entities::{Activity, Goal, Media};
use roundtable_model::{ActivityVerb, GoalId, GroupId, MediaUse, ObjectType, SubjectId};
use roundtable_testkit::Town;

use super::{meant_for, request, sees};

/// Something to be told, with a file.
pub(crate) fn telling(
    verb: ActivityVerb,
    (object_type, object_id): (ObjectType, SubjectId),
    media: &Media,
) -> NewActivity {
    let media = Some(Town::named(media));
    let (group_id, preview_text, tags) = (None, None, Vec::new());
    NewActivity { group_id, verb, object_type, object_id, preview_text, media, tags }
}

/// Something to be told of a goal, with a file.
fn of_goal(goal: &GoalId, media: &Media, group_id: Option<GroupId>) -> NewActivity {
    let about = (ObjectType::Goal, goal.into());
    NewActivity { group_id, ..telling(ActivityVerb::GoalUpdate, about, media) }
}

/// Somebody tells of a goal of theirs, with a file.
async fn told(town: &Town, name: &str, media: &Media) -> Activity {
    let goal = town.goal(name, &format!("goal-{name}")).await;
    let input = of_goal(&goal, media, None);
    town.activities().post(&town.caller(name), &input, None).await.unwrap()
}

/// R12, R43, I9: the file of an activity is for whoever may see that, at that moment.
#[tokio::test]
async fn a_file_is_for_whoever_may_see_its_activity_now() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    let picture = town.upload("ana").await;
    let key = picture.s3_key.clone();
    assert!(!sees(&town, Some(&bo), &key).await, "it belongs to nothing yet");
    let activity = told(&town, "ana", &picture).await;
    assert_eq!(activity.media.as_ref(), Some(&picture));
    assert!(sees(&town, None, &key).await && sees(&town, Some(&ana), &key).await);
    town.block("ana", "cleo").await;
    assert!(!sees(&town, Some(&cleo), &key).await && sees(&town, Some(&bo), &key).await);
    town.pass_ms(25 * 60 * 60 * 1_000);
    assert!(sees(&town, Some(&bo), &key).await, "what is used stays");
    let goal = Goal::at(&ana.user_id, &activity.object_id.recast()).delete();
    town.ground().core().table().delete(goal).await.unwrap();
    for viewer in [None, Some(&ana), Some(&bo)] {
        assert!(!sees(&town, viewer, &key).await, "what is told of nothing is nobody's");
    }
}

/// R43, I9: what is told in a private group is for its members.
#[tokio::test]
async fn a_file_told_in_a_private_group_is_its_members() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.found_private("ana", "Bakers").await;
    let (goal, picture) = (town.goal("ana", "bread").await, town.upload("ana").await);
    let input = of_goal(&goal, &picture, Some(group));
    town.activities().post(&town.caller("ana"), &input, None).await.unwrap();
    assert!(sees(&town, Some(&town.caller("ana")), &picture.s3_key).await);
    assert!(!sees(&town, Some(&town.caller("bo")), &picture.s3_key).await);
    assert!(!sees(&town, None, &picture.s3_key).await);
}

/// R43: only what somebody has sent, for this or for anything, and what has arrived can be told with.
#[tokio::test]
async fn an_activity_shows_only_files_of_its_actor() {
    let town = Town::of(["ana", "bo"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "bread").await;
    let mine = town.upload("ana").await;
    let pending = Media { s3_key: town.send_picture("ana").await, ..mine.clone() };
    let others = meant_for(&town, "ana", MediaUse::Post).await;
    let others = Media { s3_key: others.s3_key, ..mine.clone() };
    for wrong in [town.upload("bo").await, pending, others] {
        let refused = activities.post(&ana, &of_goal(&goal, &wrong, None), None).await;
        assert!(matches!(refused, Err(ActivityError::NoSuchMedia)), "{refused:?}");
    }
    let post = town.post("ana", "hello").await;
    let of_post = NewActivity {
        verb: ActivityVerb::Post,
        object_type: ObjectType::Post,
        object_id: (&post.id).into(),
        ..of_goal(&goal, &mine, None)
    };
    let refused = activities.post(&ana, &of_post, None).await;
    assert!(matches!(refused, Err(ActivityError::ShowsPosts)), "{refused:?}");
    activities.post(&ana, &of_goal(&goal, &mine, None), None).await.unwrap();
}

/// R32, R43: one file is in one activity, which can be sent again with its request.
#[tokio::test]
async fn a_file_is_in_one_activity() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "bread").await;
    let input = of_goal(&goal, &town.upload("ana").await, None);
    let (one, other) =
        tokio::join!(activities.post(&ana, &input, None), activities.post(&ana, &input, None));
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|ok| **ok).count(), 1);
    let (input, once) = (of_goal(&goal, &town.upload("ana").await, None), request("once"));
    let told = activities.post(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(activities.post(&ana, &input, Some(&once)).await.unwrap(), told);
}
