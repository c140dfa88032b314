//! Files in activities.

use roundtable_domain::{ActivityError, NewActivity};
use roundtable_model::entities::{Activity, Goal, Media};
use roundtable_model::{ActivityVerb, GoalId, GroupId, MediaUse, ObjectType, SubjectId};
use roundtable_testkit::Town;

use super::{request, sees, uploaded_for};

/// An activity with a file.
pub(crate) fn activity_with_file(
    verb: ActivityVerb,
    (object_type, object_id): (ObjectType, SubjectId),
    media: &Media,
) -> NewActivity {
    let media = Some(Town::as_new_media(media));
    let (group_id, preview_text, tags) = (None, None, Vec::new());
    NewActivity { group_id, verb, object_type, object_id, preview_text, media, tags }
}

/// An activity about a goal, with a file.
fn of_goal(goal: &GoalId, media: &Media, group_id: Option<GroupId>) -> NewActivity {
    let about = (ObjectType::Goal, goal.into());
    NewActivity { group_id, ..activity_with_file(ActivityVerb::GoalUpdate, about, media) }
}

/// Publishes an activity about the user's own goal, with a file.
async fn publish_goal_activity(town: &Town, name: &str, media: &Media) -> Activity {
    let goal = town.goal(name, &format!("goal-{name}")).await;
    let input = of_goal(&goal, media, None);
    town.activities().post(&town.caller(name), &input, None).await.unwrap()
}

/// R12, R43, I9: the file of an activity is visible to those who may see the activity now.
#[tokio::test]
async fn a_file_is_as_visible_as_its_activity() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    let picture = town.upload("ana").await;
    let key = picture.s3_key.clone();
    assert!(!sees(&town, Some(&bo), &key).await, "it belongs to nothing yet");
    let activity = publish_goal_activity(&town, "ana", &picture).await;
    assert_eq!(activity.media.as_ref(), Some(&picture));
    assert!(sees(&town, None, &key).await && sees(&town, Some(&ana), &key).await);
    town.block("ana", "cleo").await;
    assert!(!sees(&town, Some(&cleo), &key).await && sees(&town, Some(&bo), &key).await);
    town.advance_ms(25 * 60 * 60 * 1_000);
    assert!(sees(&town, Some(&bo), &key).await, "what is used stays");
    let goal = Goal::at(&ana.user_id, &activity.object_id.recast()).delete();
    town.context().core().table().delete(goal).await.unwrap();
    for viewer in [None, Some(&ana), Some(&bo)] {
        assert!(!sees(&town, viewer, &key).await, "a file without its activity is hidden");
    }
}

/// R43, I9: files of activities in a private group are for its members.
#[tokio::test]
async fn a_file_in_a_private_group_is_for_members() {
    let town = Town::of(["ana", "bo"]).await;
    let group = town.create_private_group("ana", "Bakers").await;
    let (goal, picture) = (town.goal("ana", "bread").await, town.upload("ana").await);
    let input = of_goal(&goal, &picture, Some(group));
    town.activities().post(&town.caller("ana"), &input, None).await.unwrap();
    assert!(sees(&town, Some(&town.caller("ana")), &picture.s3_key).await);
    assert!(!sees(&town, Some(&town.caller("bo")), &picture.s3_key).await);
    assert!(!sees(&town, None, &picture.s3_key).await);
}

/// R43: an activity accepts only complete uploads of its actor that are meant for it.
#[tokio::test]
async fn an_activity_accepts_only_files_of_its_actor() {
    let town = Town::of(["ana", "bo"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "bread").await;
    let mine = town.upload("ana").await;
    let pending = Media { s3_key: town.send_picture("ana").await, ..mine.clone() };
    let others = uploaded_for(&town, "ana", MediaUse::Post).await;
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

/// R32, R43: a file belongs to one activity, whose request can be repeated.
#[tokio::test]
async fn a_file_belongs_to_one_activity() {
    let town = Town::of(["ana"]).await;
    let (activities, ana) = (town.activities(), town.caller("ana"));
    let goal = town.goal("ana", "bread").await;
    let input = of_goal(&goal, &town.upload("ana").await, None);
    let (one, other) =
        tokio::join!(activities.post(&ana, &input, None), activities.post(&ana, &input, None));
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|ok| **ok).count(), 1);
    let (input, once) = (of_goal(&goal, &town.upload("ana").await, None), request("once"));
    let returned = activities.post(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(activities.post(&ana, &input, Some(&once)).await.unwrap(), returned);
}
