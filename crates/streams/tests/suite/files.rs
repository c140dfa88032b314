//! The bytes of files that no user can see any more are removed despite failures (R43).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Edit, MediaStore, NewActivity, NewPost, NewQuest, ProfileChange};
use roundtable_model::entities::{Activity, Post};
use roundtable_model::table::Store;
use roundtable_model::{
    ActivityVerb, ContentType, Entity, GroupId, MediaKey, ObjectType, Role, SubjectId,
};
use roundtable_testkit::{Town, YieldingBackend, stop_at};

use crate::test_store::clock;

/// Longer than an upload address is valid, and than the claim of a dead worker.
const LONG_MS: u64 = 2 * 60 * 60 * 1_000;

/// Posts a picture.
async fn picture_post(town: &Town, name: &str) -> (Post, MediaKey) {
    let picture = town.upload(name).await;
    let (media, key) = (vec![Town::as_new_media(&picture)], picture.s3_key);
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") };
    (town.post_as(name, input).await, key)
}

/// Posts an activity about the user, with a picture.
async fn activity_about_self(
    town: &Town,
    name: &str,
    group_id: Option<GroupId>,
) -> (Activity, MediaKey) {
    activity_about(town, name, group_id, (ObjectType::User, town.id(name).into())).await
}

/// Posts an activity about an object, with a picture.
async fn activity_about(
    town: &Town,
    name: &str,
    group_id: Option<GroupId>,
    (object_type, object_id): (ObjectType, SubjectId),
) -> (Activity, MediaKey) {
    let picture = town.upload(name).await;
    let input = NewActivity {
        group_id,
        verb: ActivityVerb::Join,
        object_type,
        object_id,
        preview_text: None,
        media: Some(Town::as_new_media(&picture)),
        tags: Vec::new(),
    };
    let activity = town.activities().post(&town.caller(name), &input, None).await.unwrap();
    (activity, picture.s3_key)
}

/// Replaces or clears a user's picture.
async fn set_picture(town: &Town, name: &str, is_shown: bool) -> Option<MediaKey> {
    let picture = if is_shown { Some(town.upload(name).await) } else { None };
    let edit = picture.as_ref().map_or(Edit::Clear, |picture| Town::as_new_media(picture).into());
    let change = ProfileChange { profile_image: edit, ..ProfileChange::default() };
    town.accounts().update_profile(&town.caller(name), &change, None).await.unwrap();
    picture.map(|picture| picture.s3_key)
}

/// R43: a file goes with its post only.
#[tokio::test]
async fn a_file_goes_with_its_post() {
    let town = Town::of(["ana"]).await;
    let ((post, _), (_, other)) =
        (picture_post(&town, "ana").await, picture_post(&town, "ana").await);
    let unposted = town.upload("ana").await.s3_key;
    town.settle().await;
    assert_eq!(
        town.media_store().count(),
        3,
        "a copy of each; what was sent is not needed any more"
    );
    let ana = town.caller("ana");
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 2);
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 2);
    for key in [&other, &unposted] {
        town.media().url(Some(&ana), key).await.unwrap();
    }
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R43: an upload is removed once its copy exists. Bytes sent to the same address later, and the
/// copy of a crashed request, are removed once the address has expired.
#[tokio::test]
async fn one_copy_of_a_complete_upload_stays() {
    let town = Town::of(["ana"]).await;
    let key = picture_post(&town, "ana").await.1;
    assert_eq!(town.media_store().count(), 2, "the upload and its copy");
    town.settle().await;
    assert_eq!(town.media_store().count(), 1);
    town.media_store().put_incoming(&key, b"once more");
    let length = u64::try_from(b"once more".len()).unwrap();
    town.media_store().copy_upload(&key, "stray", length).await.unwrap();
    town.advance_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.media_store().count(), 1);
    let url = town.media().url(None, &key).await.unwrap();
    assert_eq!(town.media_store().fetch(&url.url).unwrap(), Town::picture());
}

/// R12, R43: a file goes with its activity, whether that is removed with a group or alone.
#[tokio::test]
async fn a_file_goes_with_its_activity() {
    let town = Town::of(["ana"]).await;
    let group = town.create_group("ana", "Runners").await;
    let ((gone, _), (_, in_group)) = (
        activity_about_self(&town, "ana", None).await,
        activity_about_self(&town, "ana", Some(group.clone())).await,
    );
    let remaining = activity_about_self(&town, "ana", None).await.1;
    town.settle().await;
    assert_eq!(town.media_store().count(), 3);
    town.context().core().table().delete(gone.key().delete()).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 2);
    town.media().url(None, &in_group).await.unwrap();
    town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 1);
    town.media().url(None, &remaining).await.unwrap();
}

/// R12, R43: activities about a goal, quest, task or comment go with it, with their files; other
/// users' activities stay.
#[tokio::test]
async fn a_file_goes_with_the_object_of_its_activity() {
    let town = Town::of(["ana", "bo"]).await;
    let others = town.create_group("bo", "Bakers").await;
    let group = town.create_group("ana", "Runners").await;
    town.join("ana", &others).await;
    town.join("bo", &group).await;
    let goal = town.set_goal("ana", "run").await.id;
    let remaining = town.set_goal("ana", "rest").await.id;
    let task = town.add_task("ana", &remaining, "sleep").await.id;
    let quest = town.set_quest("ana", NewQuest::tasks("one", 1)).await.id;
    let post = town.post("bo", "hello").await;
    let comment = town.comment("ana", &post.id, "well said").await.id;
    let objects: [(ObjectType, SubjectId); 4] = [
        (ObjectType::Goal, (&goal).into()),
        (ObjectType::Task, (&task).into()),
        (ObjectType::Quest, (&quest).into()),
        (ObjectType::Comment, (&comment).into()),
    ];
    for object in objects {
        for home in [None, Some(group.clone()), Some(others.clone())] {
            activity_about(&town, "ana", home, object.clone()).await;
        }
    }
    activity_about_self(&town, "bo", Some(group)).await;
    town.settle().await;
    let ana = town.caller("ana");
    assert_eq!(town.media_store().count(), 13);
    town.goals().delete(&ana, &goal, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 10, "without the goal");
    town.tasks().delete(&ana, &remaining, &task, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 7, "without the task");
    town.add_user("ada", |_| {}).await;
    let ada = town.grant_role("ada", Role::Admin).await;
    town.quests().delete(&ada, &town.id("ana"), &quest, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 4, "without the quest");
    town.comments().delete(&ana, &comment, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 1, "bo's file stays");
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R43: a share shows the post's file, which does not go with the share.
#[tokio::test]
async fn a_posts_file_does_not_go_with_a_share() {
    let town = Town::of(["ana", "bo"]).await;
    let (post, key) = picture_post(&town, "ana").await;
    let bo = town.caller("bo");
    town.shares().share(&bo, &post.id, None).await.unwrap();
    town.settle().await;
    town.shares().unshare(&bo, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 1);
    town.media().url(None, &key).await.unwrap();
}

/// R43
#[tokio::test]
async fn a_replaced_picture_is_removed() {
    let town = Town::of(["ana"]).await;
    set_picture(&town, "ana", true).await;
    let second = set_picture(&town, "ana", true).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 1);
    town.media().url(None, &second).await.unwrap();
    set_picture(&town, "ana", false).await;
    town.settle().await;
    assert_eq!(town.media_store().count(), 0);
    assert!(town.rows("USER#ana", "UPLOAD#").await.is_empty());
}

/// R43: all files of a deleted account are removed, posted or not, complete or not.
#[tokio::test]
async fn files_go_with_their_owner() {
    let town = Town::of(["ana", "bo"]).await;
    picture_post(&town, "ana").await;
    town.upload("ana").await;
    town.send_picture("ana").await;
    activity_about_self(&town, "ana", None).await;
    let group = town.create_group("bo", "Runners").await;
    town.join("ana", &group).await;
    activity_about_self(&town, "ana", Some(group)).await;
    set_picture(&town, "ana", true).await;
    picture_post(&town, "bo").await;
    town.accounts().delete_account(&town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 1, "only bo's file");
}

/// R43, I10: incomplete uploads expire, with their bytes.
#[tokio::test]
async fn abandoned_uploads_are_removed() {
    let clock = clock();
    let reference = Arc::new(Reference::new(clock.clone()));
    let store = Store::shared(reference.clone());
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.add_user("ana", |_| {}).await;
    town.send_picture("ana").await;
    let unused = town.upload("ana").await.s3_key;
    let used = picture_post(&town, "ana").await.1;
    town.advance_ms(LONG_MS);
    assert!(reference.sweep() > 0);
    town.settle().await;
    assert_eq!(town.media_store().count(), 2, "complete uploads stay");
    town.media().url(Some(&town.caller("ana")), &unused).await.unwrap();
    town.advance_ms(24 * 60 * 60 * 1_000);
    assert!(reference.sweep() > 0);
    town.settle().await;
    assert_eq!(town.media_store().count(), 1, "unused uploads stay for a day");
    town.media().url(None, &used).await.unwrap();
}

/// R43: bytes sent to a still valid address after the upload was rejected are removed, too.
#[tokio::test]
async fn bytes_sent_after_a_rejection_are_removed() {
    let town = Town::of(["ana"]).await;
    let (post, key) = picture_post(&town, "ana").await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.media_store().count(), 0);
    town.media_store().put_incoming(&key, b"once more");
    town.advance_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.media_store().count(), 0);
}

/// R43: an unavailable media store blocks nothing and is tried again until it works, without an
/// operator.
#[tokio::test]
async fn an_unavailable_media_store_is_tried_again() {
    let town = Town::of(["ana"]).await;
    let (post, _) = picture_post(&town, "ana").await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.media_store().set_unavailable(true);
    for _ in 0..20 {
        town.settle().await;
        town.advance_ms(10_000);
    }
    town.advance_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.media_store().count(), 2);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0, "nothing is parked");
    town.media_store().set_unavailable(false);
    town.advance_ms(10 * 60 * 1_000);
    town.settle().await;
    assert_eq!(town.media_store().count(), 0);
}

/// R43
#[tokio::test]
async fn files_are_removed_although_the_runner_is_stopped_anywhere() {
    for stops in 0..1_000 {
        let clock = clock();
        let reference = Arc::new(Reference::new(clock.clone()));
        let town = |store| Town::on(store, clock.clone(), Town::settings(), 0);
        let slow = town(Store::new(YieldingBackend::shared(reference.clone()))).await;
        slow.add_user("ana", |_| {}).await;
        let (post, _) = picture_post(&slow, "ana").await;
        slow.posts().delete(&slow.caller("ana"), &post.id, None).await.unwrap();
        let done = stop_at(stops, slow.settle()).await;
        slow.advance_ms(LONG_MS);
        slow.settle().await;
        assert_eq!(slow.media_store().count(), 0, "stopped after {stops}");
        assert!(slow.rows("USER#ana", "UPLOAD#").await.is_empty());
        if done.is_some() {
            assert!(stops > 20, "{stops} await points are too few to be all");
            return;
        }
    }
    panic!("more await points than expected");
}
