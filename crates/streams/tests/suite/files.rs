//! The bytes of files that nobody can see any more: gone, whatever happens on the way (R43).

use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::NewPost;
use roundtable_model::entities::Post;
use roundtable_model::table::Store;
use roundtable_model::{ContentType, MediaKey};
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

/// R43: a file goes with its post, and with nothing else.
#[tokio::test]
async fn a_file_goes_with_its_post() {
    let town = Town::of(["ana"]).await;
    let ((post, _), (_, other)) = (shown(&town, "ana").await, shown(&town, "ana").await);
    let unposted = town.upload("ana").await.s3_key;
    town.settle().await;
    assert_eq!(town.shelf().count(), 6, "what was sent, and a copy, of three files");
    let ana = town.caller("ana");
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 4);
    assert_eq!(town.rows("USER#ana", "UPLOAD#").await.len(), 2);
    for key in [&other, &unposted] {
        town.media().url(Some(&ana), key).await.unwrap();
    }
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 0);
}

/// R43: nothing is left of the files of whoever has gone, posted or not, arrived or not.
#[tokio::test]
async fn files_go_with_their_owner() {
    let town = Town::of(["ana", "bo"]).await;
    shown(&town, "ana").await;
    town.upload("ana").await;
    town.send_picture("ana").await;
    shown(&town, "bo").await;
    town.accounts().delete_account(&town.caller("ana"), &"ana".parse().unwrap()).await.unwrap();
    town.settle().await;
    assert_eq!(town.shelf().count(), 2, "only bo's");
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
    let kept = town.upload("ana").await.s3_key;
    town.pass_ms(LONG_MS);
    assert!(reference.sweep() > 0);
    town.settle().await;
    assert_eq!(town.shelf().count(), 2, "what has arrived stays");
    town.media().url(Some(&town.caller("ana")), &kept).await.unwrap();
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

/// R43: a store that is away keeps nobody waiting, and is asked again.
#[tokio::test]
async fn a_store_that_was_away_is_asked_again() {
    let town = Town::of(["ana"]).await;
    let (post, _) = shown(&town, "ana").await;
    town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
    town.shelf().set_away(true);
    town.settle().await;
    assert_eq!(town.shelf().count(), 2);
    assert_eq!(town.runner().dead_letters().count().await.unwrap(), 1, "parked, and not lost");
    town.shelf().set_away(false);
    town.runner().dead_letters().redrive_all(10).await.unwrap();
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
