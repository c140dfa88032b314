//! Who may fetch a file.

use std::collections::BTreeSet;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{NewPost, ProfileChange};
use roundtable_model::table::{ManualClock, Recorder, Store};
use roundtable_model::{ActivityVerb, MediaKey, ObjectType, Role, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::activities::telling;
use super::{sees, showing};

/// R43, I9: a file that is in no post is its owner's alone, and not even staff's.
#[tokio::test]
async fn a_file_in_no_post_is_its_owners() {
    let town = Town::of(["ana", "bo", "mo"]).await;
    let mo = town.employ("mo", Role::Moderator).await;
    let pending = town.send_picture("ana").await;
    let ana = town.caller("ana");
    assert!(!sees(&town, Some(&ana), &pending).await, "nobody has looked at it");
    let key = town.upload("ana").await.s3_key;
    assert!(sees(&town, Some(&ana), &key).await);
    for viewer in [None, Some(&town.caller("bo")), Some(&mo)] {
        assert!(!sees(&town, viewer, &key).await, "{viewer:?}");
    }
    for nothing in ["dawn.jpg", "u/ana/unknown", "u/ana", "u/nobody/x", "x/ana/y"] {
        assert!(!sees(&town, Some(&ana), &nothing.parse().unwrap()).await, "{nothing}");
    }
    town.set_status("ana", UserStatus::Deleted).await;
    assert!(!sees(&town, Some(&ana), &key).await, "whoever has gone has no files");
}

/// R43, I9: a file is for whoever may see its post, at that moment.
#[tokio::test]
async fn a_file_is_for_whoever_may_see_its_post_now() {
    let town = Town::of(["ana", "bo", "cleo"]).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    town.follow("bo", "ana").await;
    let media = vec![Town::named(&town.upload("ana").await)];
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
        assert!(!sees(&town, viewer, &key).await, "deleted, it is nobody's: {viewer:?}");
    }
}

/// R43: the addresses of a whole page are read together: fifty files, in posts, activities and profiles
/// of many people, cost no more reads than a few.
#[tokio::test]
async fn a_page_of_files_costs_a_few_reads() {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let recorder = Arc::new(Recorder::default());
    let store = Store::new(Reference::new(clock.clone())).observed(recorder.clone());
    let town = Town::on(store, clock, Town::settings(), 0).await;
    town.move_in("bo", |_| {}).await;
    let mut keys: Vec<MediaKey> = Vec::new();
    let mut reads = BTreeSet::new();
    for person in 0..10 {
        let name = format!("person-{person}");
        town.move_in(&name, |_| {}).await;
        for _ in 0..3 {
            let media = vec![Town::named(&town.upload(&name).await)];
            keys.push(media[0].s3_key.clone());
            town.post_as(&name, showing(media)).await;
        }
        let sent = town.upload(&name).await;
        keys.push(sent.s3_key.clone());
        let about = (ObjectType::User, town.id(&name).into());
        let input = telling(ActivityVerb::Join, about, &sent);
        town.activities().post(&town.caller(&name), &input, None).await.unwrap();
        let face = town.upload(&name).await;
        let profile_image = Town::named(&face).into();
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
