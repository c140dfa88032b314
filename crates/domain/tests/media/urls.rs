//! Who may fetch a file.

use roundtable_domain::{Caller, MediaError, NewPost};
use roundtable_model::{MediaKey, Role, UserStatus, Visibility};
use roundtable_testkit::Town;

use super::showing;

async fn sees(town: &Town, viewer: Option<&Caller>, key: &MediaKey) -> bool {
    match town.media().url(viewer, key).await {
        Ok(url) => {
            assert_eq!(town.shelf().fetch(&url.url).unwrap(), Town::picture());
            assert_eq!(url.expires_at, town.now().plus_ms(5 * 60 * 1_000), "and not for long");
            assert!(!format!("{url:?}").contains(&url.url), "an address opens a door");
            true
        }
        Err(MediaError::NoSuchMedia) => false,
        Err(error) => panic!("{error}"),
    }
}

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
