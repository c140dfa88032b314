//! Pictures of people.

use roundtable_domain::{
    AccountError, Code, Edit, MediaError, NewMedia, NewUpload, ProfileChange, Refusal,
};
use roundtable_model::entities::User;
use roundtable_model::{MediaUse, UserStatus};
use roundtable_testkit::Town;

use super::{announced, meant_for, png, request, sees, showing};

fn pictured(picture: impl Into<Edit<NewMedia>>) -> ProfileChange {
    ProfileChange { profile_image: picture.into(), ..ProfileChange::default() }
}

async fn update(town: &Town, change: &ProfileChange) -> Result<User, AccountError> {
    town.accounts().update_profile(&town.caller("ana"), change, None).await
}

/// R43, I9: somebody's picture is for whoever may see them, also if their posts are not.
#[tokio::test]
async fn a_picture_is_for_whoever_may_see_the_person_now() {
    let town = Town::of(["bo", "cleo"]).await;
    town.move_in("ana", |ana| ana.is_private = true).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    let picture = meant_for(&town, "ana", MediaUse::Profile).await;
    let key = picture.s3_key.clone();
    assert!(!sees(&town, Some(&bo), &key).await, "it belongs to nothing yet");
    let user = update(&town, &pictured(picture)).await.unwrap();
    assert_eq!(user.profile_image.unwrap().s3_key, key);
    town.pass_ms(25 * 60 * 60 * 1_000);
    for viewer in [None, Some(&ana), Some(&bo)] {
        assert!(sees(&town, viewer, &key).await, "{viewer:?}");
    }
    town.block("ana", "cleo").await;
    assert!(!sees(&town, Some(&cleo), &key).await);
    town.set_status("ana", UserStatus::Suspended).await;
    assert!(!sees(&town, Some(&bo), &key).await && sees(&town, Some(&ana), &key).await);
}

/// R31, R43: a picture that is replaced or taken away is shown to nobody; one that stays, stays.
#[tokio::test]
async fn a_picture_is_replaced_and_taken_away() {
    let town = Town::of(["ana"]).await;
    let ana = town.caller("ana");
    let (first, second) = (town.upload("ana").await, town.upload("ana").await);
    update(&town, &pictured(Town::named(&first))).await.unwrap();
    update(&town, &pictured(Town::named(&first))).await.unwrap();
    assert!(sees(&town, None, &first.s3_key).await, "the same again");
    update(&town, &pictured(Town::named(&second))).await.unwrap();
    update(&town, &ProfileChange::default()).await.unwrap();
    assert!(sees(&town, None, &second.s3_key).await);
    assert!(!sees(&town, Some(&ana), &first.s3_key).await, "not even to its owner");
    let back = update(&town, &pictured(Town::named(&first))).await;
    assert!(matches!(back, Err(AccountError::NoSuchPicture)), "it is gone: {back:?}");
    let user = update(&town, &pictured(Edit::Clear)).await.unwrap();
    assert_eq!(user.profile_image, None);
    assert!(!sees(&town, None, &second.s3_key).await);
}

/// R43: only a picture of one's own that is nowhere else and meant for it is one.
#[tokio::test]
async fn a_profile_shows_only_pictures_of_its_own() {
    let town = Town::of(["ana", "bo"]).await;
    let mine = Town::named(&town.upload("ana").await);
    let pending = NewMedia { s3_key: town.send_picture("ana").await, ..mine.clone() };
    let other = meant_for(&town, "ana", MediaUse::Activity).await;
    let posted = Town::named(&town.upload("ana").await);
    town.post_as("ana", showing(vec![posted.clone()])).await;
    for wrong in [Town::named(&town.upload("bo").await), pending, other, posted] {
        let refused = update(&town, &pictured(wrong)).await;
        assert!(matches!(refused, Err(AccountError::NoSuchPicture)), "{refused:?}");
    }
    update(&town, &pictured(mine.clone())).await.unwrap();
    let twice = town.posts().create(&town.caller("ana"), &showing(vec![mine]), None).await;
    assert_eq!(twice.unwrap_err().code(), Code::BadRequest);
}

/// R43: a video is nobody's face, whether it was announced as one or not.
#[tokio::test]
async fn a_video_is_no_picture() {
    let town = Town::of(["ana"]).await;
    let video = b"\0\0\0\x18ftypmp42\0\0\0\0isommp42";
    let bytes = video.len() as u64;
    let input = NewUpload { content_type: "video/mp4".into(), bytes, purpose: None };
    let ticket = announced(&town, "ana", &input).await;
    town.shelf().arrive(&ticket.key, video);
    let (media, ana) = (town.media(), town.caller("ana"));
    let film = media.complete_upload(&ana, &ticket.key, None).await.unwrap();
    let refused = update(&town, &pictured(Town::named(&film))).await;
    assert!(matches!(refused, Err(AccountError::NoSuchPicture)), "{refused:?}");
    let input = NewUpload { purpose: Some(MediaUse::Profile), ..input };
    let refused: MediaError = media.create_upload(&ana, &input, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
    let fine = NewUpload { purpose: Some(MediaUse::Profile), ..png() };
    announced(&town, "ana", &fine).await;
}

/// R32, R43: sent again with its request, a picture is the same; two at once are one after the other.
#[tokio::test]
async fn a_picture_can_be_sent_again() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana, once) = (town.accounts(), town.caller("ana"), request("once"));
    let change = pictured(Town::named(&town.upload("ana").await));
    let user = accounts.update_profile(&ana, &change, Some(&once)).await.unwrap();
    let again = accounts.update_profile(&ana, &change, Some(&once)).await.unwrap();
    assert_eq!(again, user);
    let (one, other) = (town.upload("ana").await, town.upload("ana").await);
    let (first, second) = (pictured(Town::named(&one)), pictured(Town::named(&other)));
    let (a, b) = tokio::join!(update(&town, &first), update(&town, &second));
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
    let seen = [sees(&town, None, &one.s3_key).await, sees(&town, None, &other.s3_key).await];
    assert_eq!(seen.into_iter().filter(|seen| *seen).count(), 1, "whichever was last");
}
