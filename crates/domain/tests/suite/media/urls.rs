//! Download URLs.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{NewPost, ProfileChange};
use roundtable_model::table::{ManualClock, Recorder, Store};
use roundtable_model::{ActivityVerb, MediaKey, ObjectType, Role, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::activities::activity_with_file;
use super::{sees, showing};

/// R43, I9: an unused file is visible to its owner only, not even to staff.
#[tokio::test]
async fn an_unused_file_is_visible_to_its_owner_only() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let mo = town.grant_role("mo", Role::Moderator).await;
    let pending = town.send_picture("ana").await;
    let ana = town.caller("ana");
    assert!(!sees(&town, Some(&ana), &pending).await, "it has not been inspected");
    let key = town.upload("ana").await.s3_key;
    assert!(sees(&town, Some(&ana), &key).await);
    for viewer in [None, Some(&town.caller("bo")), Some(&mo)] {
        assert!(!sees(&town, viewer, &key).await, "{viewer:?}");
    }
    for nothing in ["dawn.jpg", "u/ana/unknown", "u/ana", "u/nobody/x", "x/ana/y"] {
        assert!(!sees(&town, Some(&ana), &nothing.parse().unwrap()).await, "{nothing}");
    }
    town.set_status("ana", UserStatus::Deleted).await;
    assert!(!sees(&town, Some(&ana), &key).await, "deleted accounts have no files");
}

/// R43, I9: a file is visible to those who may see its post now.
#[tokio::test]
async fn a_file_is_as_visible_as_its_post() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    town.follow("bo", "ana").await;
    let media = vec![Town::as_new_media(&town.upload("ana").await)];
    let key = media[0].s3_key.clone();
    let input = NewPost { visibility: Some(Visibility::Followers), ..showing(media) };
    let post = town.post_as("ana", input).await;
    assert!(sees(&town, Some(&ana), &key).await && sees(&town, Some(&bo), &key).await);
    assert!(!sees(&town, Some(&cleo), &key).await && !sees(&town, None, &key).await);
    town.follows().unfollow(&bo, &ana.user_id, None).await.unwrap();
    assert!(!sees(&town, Some(&bo), &key).await, "no longer");
    let change = roundtable_domain::PostChange {
        visibility: Some(Visibility::Public),
        ..roundtable_domain::PostChange::default()
    };
    town.posts().update(&ana, &post.id, &change, None).await.unwrap();
    assert!(sees(&town, Some(&cleo), &key).await && sees(&town, None, &key).await);
    town.block("ana", "cleo").await;
    assert!(!sees(&town, Some(&cleo), &key).await);
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    for viewer in [None, Some(&ana), Some(&bo)] {
        assert!(!sees(&town, viewer, &key).await, "deleted files are hidden: {viewer:?}");
    }
}

/// R43: the URLs of a page are read together: fifty files of many users cost only a few reads.
#[tokio::test]
async fn a_page_of_files_costs_a_few_reads() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let recorder = Arc::new(Recorder::default());
    let store = Store::new(Reference::new(clock.clone())).observed(recorder.clone());
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.add_user("bo", |_| {}).await;
    let mut keys: Vec<MediaKey> = Vec::new();
    let mut reads = BTreeSet::new();
    for person in 0..10 {
        let name = format!("person-{person}");
        town.add_user(&name, |_| {}).await;
        for _ in 0..3 {
            let media = vec![Town::as_new_media(&town.upload(&name).await)];
            keys.push(media[0].s3_key.clone());
            town.post_as(&name, showing(media)).await;
        }
        let sent = town.upload(&name).await;
        keys.push(sent.s3_key.clone());
        let about = (ObjectType::User, town.id(&name).into());
        let input = activity_with_file(ActivityVerb::Join, about, &sent);
        town.activities().post(&town.caller(&name), &input, None).await.unwrap();
        let face = town.upload(&name).await;
        let profile_image = Town::as_new_media(&face).into();
        let change = ProfileChange { profile_image, ..ProfileChange::default() };
        town.accounts().update_profile(&town.caller(&name), &change, None).await.unwrap();
        keys.push(face.s3_key);
        recorder.take();
        let urls = town.media().urls(Some(&town.caller("bo")), &keys).await.unwrap();
        reads.insert(recorder.take().len());
        assert!(urls.iter().all(Option::is_some), "{urls:?}");
    }
    assert_eq!(keys.len(), 50);
    assert_eq!(reads.len(), 1, "as many for five as for fifty: {reads:?}");
    let hidden = keys[0].clone();
    let all = [hidden.clone(), "u/nobody/x".parse().unwrap(), keys[1].clone(), hidden];
    let urls = town.media().urls(None, &all).await.unwrap();
    assert_eq!(urls.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(urls[0], urls[3]);
}
