//! The bytes of files that nobody can see any more: gone, whatever happens on the way (R43).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{Edit, MediaStore, NewActivity, NewPost, NewQuest, ProfileChange};
use roundtable_model::entities::{Activity, Post};
use roundtable_model::table::Store;
use roundtable_model::{
    ActivityVerb, ContentType, Entity, GroupId, MediaKey, ObjectType, Role, SubjectId,
};
use roundtable_testkit::{Town, Yielding, stop_at};

use crate::stage::clock;

/// Longer than an address is good to send a file to, and than a dead worker keeps its job.
const LONG_MS: u64 = 2 * 60 * 60 * 1_000;

/// Somebody posts a picture.
async fn shown(town: &Town, name: &str) -> (Post, MediaKey) {
    let picture = town.upload(name).await;
    let (media, key) = (vec![Town::named(&picture)], picture.s3_key);
    let input = NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") };
    (town.post_as(name, input).await, key)
}

/// Somebody tells of themselves, with a picture.
async fn told(town: &Town, name: &str, group_id: Option<GroupId>) -> (Activity, MediaKey) {
    told_of(town, name, group_id, (ObjectType::User, town.id(name).into())).await
}

/// Somebody tells of something, with a picture.
async fn told_of(
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
        media: Some(Town::named(&picture)),
        tags: Vec::new(),
    };
    let told = town.activities().post(&town.caller(name), &input, None).await.unwrap();
    (told, picture.s3_key)
}

/// Somebody has another picture of themselves, or none.
async fn pictured(town: &Town, name: &str, is_shown: bool) -> Option<MediaKey> {
    let picture = if is_shown { Some(town.upload(name).await) } else { None };
    let edit = picture.as_ref().map_or(Edit::Clear, |picture| Town::named(picture).into());
    let change = ProfileChange { profile_image: edit, ..ProfileChange::default() };
    town.accounts().update_profile(&town.caller(name), &change, None).await.unwrap();
    picture.map(|picture| picture.s3_key)
}

/// R43: a file goes with its post, and with nothing else.
#[tokio::test]
async fn a_file_goes_with_its_post() {
    let town = Town::of(["ana"]).await;
    let ((post, _), (_, other)) = (shown(&town, "ana").await, shown(&town, "ana").await);
    let unposted = town.upload("ana").await.s3_key;
    town.settle().await;
    assert_eq!(town.shelf().count(), 3, "a copy of each; what was sent is not needed any more");
    let ana = town.caller("ana");
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 2);
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 2);
    for key in [&other, &unposted] {
        town.media().url(Some(&ana), key).await.unwrap();
    }
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R43: what was sent goes when it has arrived, and what is sent to the same address afterwards goes
/// when that is good no more; so does a copy that somebody made and died.
#[tokio::test]
async fn of_a_file_that_has_arrived_one_copy_stays() {
    let town = Town::of(["ana"]).await;
    let key = shown(&town, "ana").await.1;
    assert_eq!(town.shelf().count(), 2, "what was sent, and a copy");
    town.settle().await;
    assert_eq!(town.shelf().count(), 1);
    town.shelf().arrive(&key, b"once more");
    let length = u64::try_from(b"once more".len()).unwrap();
    town.shelf().take(&key, "stray", length).await.unwrap();
    town.pass_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.shelf().count(), 1);
    let url = town.media().url(None, &key).await.unwrap();
    assert_eq!(town.shelf().fetch(&url.url).unwrap(), Town::picture());
}

/// R12, R43: a file goes with its activity, whether that goes with a group or by itself.
#[tokio::test]
async fn a_file_goes_with_its_activity() {
    let town = Town::of(["ana"]).await;
    let group = town.found("ana", "Runners").await;
    let ((gone, _), (_, in_group)) =
        (told(&town, "ana", None).await, told(&town, "ana", Some(group.clone())).await);
    let kept = told(&town, "ana", None).await.1;
    town.settle().await;
    assert_eq!(town.shelf().count(), 3);
    town.ground().core().table().delete(gone.key().delete()).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 2);
    town.media().url(None, &in_group).await.unwrap();
    town.groups().delete(&town.caller("ana"), &group, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 1);
    town.media().url(None, &kept).await.unwrap();
}

/// R12, R43: what was told of a goal, a quest, a task or a comment goes with it, with its file, wherever
/// it was told; what others told of theirs stays.
#[tokio::test]
async fn a_file_goes_with_what_was_told_of() {
    let town = Town::of(["ana", "bo"]).await;
    let others = town.found("bo", "Bakers").await;
    let group = town.found("ana", "Runners").await;
    town.join("ana", &others).await;
    town.join("bo", &group).await;
    let goal = town.set_goal("ana", "run").await.id;
    let kept = town.set_goal("ana", "rest").await.id;
    let task = town.add_task("ana", &kept, "sleep").await.id;
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
            told_of(&town, "ana", home, object.clone()).await;
        }
    }
    told(&town, "bo", Some(group)).await;
    town.settle().await;
    let ana = town.caller("ana");
    assert_eq!(town.shelf().count(), 13);
    town.goals().delete(&ana, &goal, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 10, "without the goal");
    town.tasks().delete(&ana, &kept, &task, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 7, "without the task");
    town.move_in("ada", |_| {}).await;
    let ada = town.employ("ada", Role::Admin).await;
    town.quests().delete(&ada, &town.id("ana"), &quest, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 4, "without the quest");
    town.comments().delete(&ana, &comment, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 1, "bo's stays");
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R43: what is told of a post shows its file, which does not go with what was told.
#[tokio::test]
async fn a_posts_file_does_not_go_with_a_share() {
    let town = Town::of(["ana", "bo"]).await;
    let (post, key) = shown(&town, "ana").await;
    let bo = town.caller("bo");
    town.shares().share(&bo, &post.id, None).await.unwrap();
    town.settle().await;
    town.shares().unshare(&bo, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 1);
    town.media().url(None, &key).await.unwrap();
}

/// R43: a picture of somebody goes when another one, or none, takes its place.
#[tokio::test]
async fn a_picture_goes_when_it_is_replaced() {
    let town = Town::of(["ana"]).await;
    pictured(&town, "ana", true).await;
    let second = pictured(&town, "ana", true).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 1);
    town.media().url(None, &second).await.unwrap();
    pictured(&town, "ana", false).await;
    town.settle().await;
    assert_eq!(town.shelf().count(), 0);
    assert!(town.rows("USER#ana", "UPLOAD#").await.is_empty());
}

/// R43: nothing is left of the files of whoever has gone, posted or not, arrived or not.
#[tokio::test]
async fn files_go_with_their_owner() {
    let town = Town::of(["ana", "bo"]).await;
    shown(&town, "ana").await;
    town.upload("ana").await;
    town.send_picture("ana").await;
    told(&town, "ana", None).await;
    let group = town.found("bo", "Runners").await;
    town.join("ana", &group).await;
    told(&town, "ana", Some(group)).await;
    pictured(&town, "ana", true).await;
    shown(&town, "bo").await;
    town.accounts().delete_account(&town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 1, "only bo's");
}

/// R43, I10: what never arrived is swept, and whatever of it was sent with it.
#[tokio::test]
async fn what_was_given_up_is_gone() {
    let clock = clock();
    let reference = Arc::new(Reference::new(clock.clone()));
    let store = Store::shared(reference.clone());
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.move_in("ana", |_| {}).await;
    town.send_picture("ana").await;
    let unused = town.upload("ana").await.s3_key;
    let used = shown(&town, "ana").await.1;
    town.pass_ms(LONG_MS);
    assert!(reference.sweep() > 0);
    town.settle().await;
    assert_eq!(town.shelf().count(), 2, "what has arrived stays");
    town.media().url(Some(&town.caller("ana")), &unused).await.unwrap();
    town.pass_ms(24 * 60 * 60 * 1_000);
    assert!(reference.sweep() > 0);
    town.settle().await;
    assert_eq!(town.shelf().count(), 1, "for a day, if nothing has it");
    town.media().url(None, &used).await.unwrap();
}

/// R43: what is sent to an address that is still good after the file was refused goes, too.
#[tokio::test]
async fn what_is_sent_after_the_end_goes_too() {
    let town = Town::of(["ana"]).await;
    let (post, key) = shown(&town, "ana").await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 0);
    town.shelf().arrive(&key, b"once more");
    town.pass_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.shelf().count(), 0);
}

/// R43: a store that is away keeps nobody waiting, and is asked again until it is there, however long
/// that takes; nobody has to drive anything.
#[tokio::test]
async fn a_store_that_was_away_is_asked_again() {
    let town = Town::of(["ana"]).await;
    let (post, _) = shown(&town, "ana").await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.shelf().set_away(true);
    for _ in 0..20 {
        town.settle().await;
        town.pass_ms(10_000);
    }
    town.pass_ms(LONG_MS);
    town.settle().await;
    assert_eq!(town.shelf().count(), 2);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0, "nothing is parked");
    town.shelf().set_away(false);
    town.pass_ms(10 * 60 * 1_000);
    town.settle().await;
    assert_eq!(town.shelf().count(), 0);
}

/// R43: stopped anywhere, it goes on.
#[tokio::test]
async fn stopped_anywhere_files_go_all_the_same() {
    for stops in 0..1_000 {
        let clock = clock();
        let reference = Arc::new(Reference::new(clock.clone()));
        let town = |store| Town::on(store, clock.clone(), Town::settings(), 0);
        let slow = town(Store::new(Yielding::shared(reference.clone()))).await;
        slow.move_in("ana", |_| {}).await;
        let (post, _) = shown(&slow, "ana").await;
        slow.posts().delete(&slow.caller("ana"), &post.id, None).await.unwrap();
        let done = stop_at(stops, slow.settle()).await;
        slow.pass_ms(LONG_MS);
        slow.settle().await;
        assert_eq!(slow.shelf().count(), 0, "stopped after {stops}");
        assert!(slow.rows("USER#ana", "UPLOAD#").await.is_empty());
        if done.is_some() {
            assert!(stops > 20, "{stops} await points are too few to be all");
            return;
        }
    }
    panic!("more await points than expected");
}
