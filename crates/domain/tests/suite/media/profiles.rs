//! Profile pictures.

use roundtable_domain::{
    AccountError, Code, Edit, MediaError, NewMedia, NewUpload, ProfileChange, Refusal,
};
use roundtable_model::entities::User;
use roundtable_model::{MediaUse, UserStatus};
use roundtable_testkit::Town;

use super::{announced, png, request, sees, showing, uploaded_for};

fn with_picture(picture: impl Into<Edit<NewMedia>>) -> ProfileChange {
    ProfileChange { profile_image: picture.into(), ..ProfileChange::default() }
}

async fn update(town: &Town, change: &ProfileChange) -> Result<User, AccountError> {
    town.accounts().update_profile(&town.caller("ana"), change, None).await
}

/// R43, I9: a user's picture is visible to those who may see the user, even if the posts are not.
#[tokio::test]
async fn a_picture_is_as_visible_as_its_user() {
    let town = Town::of(["bo", "cleo"]).await;
    town.add_user("ana", |ana| ana.is_private = true).await;
    let (ana, bo, cleo) = (town.caller("ana"), town.caller("bo"), town.caller("cleo"));
    let picture = uploaded_for(&town, "ana", MediaUse::Profile).await;
    let key = picture.s3_key.clone();
    assert!(!sees(&town, Some(&bo), &key).await, "it belongs to nothing yet");
    let user = update(&town, &with_picture(picture)).await.unwrap();
    assert_eq!(user.profile_image.unwrap().s3_key, key);
    town.advance_ms(25 * 60 * 60 * 1_000);
    for viewer in [None, Some(&ana), Some(&bo)] {
        assert!(sees(&town, viewer, &key).await, "{viewer:?}");
    }
    town.block("ana", "cleo").await;
    assert!(!sees(&town, Some(&cleo), &key).await);
    town.set_status("ana", UserStatus::Suspended).await;
    assert!(!sees(&town, Some(&bo), &key).await && sees(&town, Some(&ana), &key).await);
}

/// R31, R43: a replaced or removed picture is hidden; one that stays, stays.
#[tokio::test]
async fn a_picture_can_be_replaced_and_removed() {
    let town = Town::of(["ana"]).await;
    let ana = town.caller("ana");
    let (first, second) = (town.upload("ana").await, town.upload("ana").await);
    update(&town, &with_picture(Town::as_new_media(&first))).await.unwrap();
    update(&town, &with_picture(Town::as_new_media(&first))).await.unwrap();
    assert!(sees(&town, None, &first.s3_key).await, "the same again");
    update(&town, &with_picture(Town::as_new_media(&second))).await.unwrap();
    update(&town, &ProfileChange::default()).await.unwrap();
    assert!(sees(&town, None, &second.s3_key).await);
    assert!(!sees(&town, Some(&ana), &first.s3_key).await, "not even to its owner");
    let back = update(&town, &with_picture(Town::as_new_media(&first))).await;
    assert!(matches!(back, Err(AccountError::NoSuchPicture)), "it is deleted: {back:?}");
    let user = update(&town, &with_picture(Edit::Clear)).await.unwrap();
    assert_eq!(user.profile_image, None);
    assert!(!sees(&town, None, &second.s3_key).await);
}

/// R43: a profile accepts only an unused picture of its user that is meant for it.
#[tokio::test]
async fn a_profile_accepts_only_its_users_pictures() {
    let town = Town::of(["ana", "bo"]).await;
    let mine = Town::as_new_media(&town.upload("ana").await);
    let pending = NewMedia { s3_key: town.send_picture("ana").await, ..mine.clone() };
    let other = uploaded_for(&town, "ana", MediaUse::Activity).await;
    let posted = Town::as_new_media(&town.upload("ana").await);
    town.post_as("ana", showing(vec![posted.clone()])).await;
    for wrong in [Town::as_new_media(&town.upload("bo").await), pending, other, posted] {
        let refused = update(&town, &with_picture(wrong)).await;
        assert!(matches!(refused, Err(AccountError::NoSuchPicture)), "{refused:?}");
    }
    update(&town, &with_picture(mine.clone())).await.unwrap();
    let twice = town.posts().create(&town.caller("ana"), &showing(vec![mine]), None).await;
    assert_eq!(twice.unwrap_err().code(), Code::BadRequest);
}

/// R43: a video is refused, however it was declared.
#[tokio::test]
async fn a_video_is_not_accepted_as_a_picture() {
    let town = Town::of(["ana"]).await;
    let video = b"\0\0\0\x18ftypmp42\0\0\0\0isommp42";
    let bytes = video.len() as u64;
    let input = NewUpload { content_type: "video/mp4".into(), bytes, purpose: None };
    let ticket = announced(&town, "ana", &input).await;
    town.media_store().put_incoming(&ticket.key, video);
    let (media, ana) = (town.media(), town.caller("ana"));
    let film = media.complete_upload(&ana, &ticket.key, None).await.unwrap();
    let refused = update(&town, &with_picture(Town::as_new_media(&film))).await;
    assert!(matches!(refused, Err(AccountError::NoSuchPicture)), "{refused:?}");
    let input = NewUpload { purpose: Some(MediaUse::Profile), ..input };
    let refused: MediaError = media.create_upload(&ana, &input, None).await.unwrap_err();
    assert_eq!(refused.code(), Code::BadRequest);
    let fine = NewUpload { purpose: Some(MediaUse::Profile), ..png() };
    announced(&town, "ana", &fine).await;
}

/// R32, R43: a repeated request sets the same picture; two concurrent ones are serialized.
#[tokio::test]
async fn setting_a_picture_is_idempotent() {
    let town = Town::of(["ana"]).await;
    let (accounts, ana, once) = (town.accounts(), town.caller("ana"), request("once"));
    let change = with_picture(Town::as_new_media(&town.upload("ana").await));
    let user = accounts.update_profile(&ana, &change, Some(&once)).await.unwrap();
    let again = accounts.update_profile(&ana, &change, Some(&once)).await.unwrap();
    assert_eq!(again, user);
    let (one, other) = (town.upload("ana").await, town.upload("ana").await);
    let (first, second) =
        (with_picture(Town::as_new_media(&one)), with_picture(Town::as_new_media(&other)));
    let (a, b) = tokio::join!(update(&town, &first), update(&town, &second));
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
    let visible = [sees(&town, None, &one.s3_key).await, sees(&town, None, &other.s3_key).await];
    assert_eq!(visible.into_iter().filter(|visible| *visible).count(), 1, "whichever was last");
}
