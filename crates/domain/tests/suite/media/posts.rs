//! Files in posts.

use roundtable_domain::{Code, NewMedia, PostError, Refusal};
use roundtable_model::entities::Holder;
use roundtable_model::{MediaUse, UploadState};
use roundtable_testkit::Town;

use super::showing;

/// R18, R43: a post shows the inspected properties, not those its author declares.
#[tokio::test]
async fn a_post_shows_the_inspected_properties_of_a_file() {
    let town = Town::of(["ana"]).await;
    let picture = town.upload("ana").await;
    let sent = NewMedia {
        content_type: "image/webp".into(),
        width: Some(9_000),
        ..Town::as_new_media(&picture)
    };
    let post = town.post_as("ana", showing(vec![sent])).await;
    assert_eq!(post.media, [picture]);
}

/// R43: a post accepts only complete uploads of its author.
#[tokio::test]
async fn a_post_accepts_only_files_of_its_author() {
    let town = Town::of(["ana", "bo"]).await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let bos = Town::as_new_media(&town.upload("bo").await);
    let pending = NewMedia { s3_key: town.send_picture("ana").await, ..bos.clone() };
    let unknown = NewMedia { s3_key: "u/ana/unknown".parse().unwrap(), ..bos.clone() };
    let mine = Town::as_new_media(&town.upload("ana").await);
    let other = super::uploaded_for(&town, "ana", MediaUse::Profile).await;
    for wrong in [bos, pending, unknown, other] {
        let input = showing(vec![mine.clone(), wrong]);
        let refused = posts.create(&ana, &input, None).await;
        assert!(matches!(refused, Err(PostError::NoSuchMedia)), "{refused:?}");
    }
    let twice = posts.create(&ana, &showing(vec![mine.clone(), mine.clone()]), None).await;
    assert_eq!(twice.unwrap_err().code(), Code::BadRequest);
    assert!(town.rows("USER#ana", "COUNTER#POSTS").await.is_empty(), "nothing was written");
    let meant = super::uploaded_for(&town, "ana", MediaUse::Post).await;
    town.post_as("ana", showing(vec![mine, meant])).await;
}

/// R43: a file belongs to one post and is deleted with it.
#[tokio::test]
async fn a_file_belongs_to_one_post() {
    let town = Town::of(["ana"]).await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let input = showing(vec![Town::as_new_media(&town.upload("ana").await)]);
    let (one, other) =
        tokio::join!(posts.create(&ana, &input, None), posts.create(&ana, &input, None));
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|ok| **ok).count(), 1);
    let again = posts.create(&ana, &input, None).await;
    assert!(matches!(again, Err(PostError::NoSuchMedia)), "{again:?}");
}

/// R32, R43: a repeated request returns the same post, with its files.
#[tokio::test]
async fn a_post_with_files_is_idempotent() {
    let town = Town::of(["ana"]).await;
    let (posts, ana) = (town.posts(), town.caller("ana"));
    let input = showing(vec![Town::as_new_media(&town.upload("ana").await)]);
    let once = super::request("once");
    let post = posts.create(&ana, &input, Some(&once)).await.unwrap();
    let again = posts.create(&ana, &input, Some(&once)).await.unwrap();
    assert_eq!(again, post);
    let key = &post.media[0].s3_key;
    let upload = town.context().core().upload(&town.id("ana"), key).get().await.unwrap().unwrap();
    let holder = Some(Holder::post(&post.id));
    assert_eq!((upload.holder, upload.state), (holder, UploadState::Complete));
}
