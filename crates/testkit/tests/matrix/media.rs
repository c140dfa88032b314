//! Rows about files.

use roundtable_domain::{
    Caller, MediaError, NewActivity, NewMedia, NewPost, NewUpload, ProfileChange,
};
use roundtable_model::entities::Upload;
use roundtable_model::{
    ActivityVerb, ContentType, Entity, GroupId, MediaKey, ObjectType, UploadState, Visibility,
    samples,
};
use roundtable_testkit::Town;

use super::operations::{Answer, shows};
use super::stage::owner;

/// Like the main table. A file is as visible as its post, activity or profile; an unused one only
/// to its owner.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

own account              | media.create_upload                                                  | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
sent file                | media.awaiting_owner                                                 | ok   ok   ok   ok   ok   ok   ok   ok   ok   ok   ok
unposted file            | media.awaiting_owner                                                 | 409  409  409  409  409  409  409  409  409  409  409
sent file                | media.complete_upload                                                | -    ok   404  404  404  404  404  404  404  404  403
sent file                | media.url media.urls                                                 | 404  404  404  404  404  404  404  404  404  404  404
unposted file            | media.url media.urls                                                 | 404  ok   404  404  404  404  404  404  404  404  404
file                     | media.url media.urls                                                 | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
followers' file          | media.url media.urls                                                 | 404  ok   ok   404  404  404  404  404  ok   ok   404
private file             | media.url media.urls                                                 | 404  ok   404  404  404  404  404  404  ok   ok   404
private account's file   | media.url media.urls                                                 | 404  ok   ok   404  404  404  404  404  ok   ok   404
private group's file     | media.url media.urls                                                 | 404  ok   404  404  404  ok   404  ok   ok   ok   404
deleted file             | media.url media.urls                                                 | 404  404  404  404  404  404  404  404  404  404  404
suspended account's file | media.url media.urls                                                 | 404  ok   404  404  404  404  404  404  ok   ok   404
deleted account's file   | media.url media.urls                                                 | 404  404  404  404  404  404  404  404  404  404  404
told file                | media.url media.urls                                                 | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
private account's told file | media.url media.urls                                                 | 404  ok   ok   404  404  404  404  404  ok   ok   404
private group's told file | media.url media.urls                                                 | 404  ok   404  404  404  ok   404  ok   ok   ok   404
picture                  | media.url media.urls                                                 | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
private account's picture | media.url media.urls                                                 | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
replaced picture         | media.url media.urls                                                 | 404  404  404  404  404  404  404  404  404  404  404
suspended account's picture | media.url media.urls                                                 | 404  ok   404  404  404  404  404  404  ok   ok   404
deleted account's picture | media.url media.urls                                                 | 404  404  404  404  404  404  404  404  404  404  404
";

const TOLD: [&str; 3] = ["told file", "private account's told file", "private group's told file"];

/// The replaced file comes before its replacement.
const PICTURES: [&str; 5] = [
    "replaced picture",
    "picture",
    "private account's picture",
    "suspended account's picture",
    "deleted account's picture",
];

const IN_POSTS: [&str; 8] = [
    "file",
    "followers' file",
    "private file",
    "private account's file",
    "private group's file",
    "deleted file",
    "suspended account's file",
    "deleted account's file",
];

fn key(object: &str) -> MediaKey {
    let name = object.replace([' ', '\''], "-");
    format!("u/{}/{name}", owner(object)).parse().unwrap()
}

fn picture(object: &str) -> NewMedia {
    let (width, height) = (Some(3), Some(2));
    NewMedia { s3_key: key(object), content_type: "image/png".into(), width, height }
}

pub(crate) async fn set(town: &Town, private_group: &GroupId) {
    let sent = Upload {
        user_id: town.id("ana"),
        key: key("sent file"),
        content_type: "image/png".into(),
        bytes: Town::picture().len() as u64,
        state: UploadState::Pending,
        purpose: None,
        holder: None,
        copy: None,
        created_at: town.now(),
        ttl: None,
        ..samples::upload()
    };
    town.context().core().table().put(sent.create()).await.unwrap();
    town.add_upload("ana", picture("unposted file")).await;
    for object in IN_POSTS {
        let media = vec![town.add_upload(owner(object), picture(object)).await];
        let visibility = match object {
            "followers' file" => Visibility::Followers,
            "private file" => Visibility::Private,
            _ => Visibility::Public,
        };
        let group_id = (object == "private group's file").then(|| private_group.clone());
        let content_type = ContentType::Image;
        let text = NewPost::text("a picture");
        let new = NewPost { content_type, media, visibility: Some(visibility), group_id, ..text };
        let post = town.post_as(owner(object), new).await;
        if object == "deleted file" {
            town.posts().delete(&town.caller("ana"), &post.id, None).await.unwrap();
        }
    }
    for object in TOLD {
        let caller = town.caller(owner(object));
        let input = NewActivity {
            group_id: (object == "private group's told file").then(|| private_group.clone()),
            verb: ActivityVerb::Join,
            object_type: ObjectType::User,
            object_id: (&caller.user_id).into(),
            preview_text: None,
            media: Some(town.add_upload(owner(object), picture(object)).await),
            tags: Vec::new(),
        };
        town.activities().post(&caller, &input, None).await.unwrap();
    }
    for object in PICTURES {
        let profile_image = town.add_upload(owner(object), picture(object)).await.into();
        let change = ProfileChange { profile_image, ..ProfileChange::default() };
        let caller = town.caller(owner(object));
        town.accounts().update_profile(&caller, &change, None).await.unwrap();
    }
}

pub(crate) async fn answer(
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let (media, key) = (town.media(), key(object));
    match (operation, viewer) {
        ("media.url", _) => shows(media.url(viewer, &key).await, |_| true),
        ("media.urls", _) => {
            let urls = media.urls(viewer, &[key]).await;
            let first = urls.map(|urls| urls.into_iter().flatten().next());
            shows(first.and_then(|url| url.ok_or(MediaError::NoSuchMedia)), |_| true)
        }
        // The signature of the URL decides who may send the bytes, not the viewer.
        ("media.awaiting_owner", _) => shows(media.awaiting_owner(&key).await, |_| true),
        (_, None) => "-",
        ("media.create_upload", Some(caller)) => {
            let content_type = "image/png".into();
            let new = NewUpload { content_type, bytes: 100, purpose: None };
            shows(media.create_upload(caller, &new, None).await, |_| true)
        }
        ("media.complete_upload", Some(caller)) => {
            town.media_store().put_incoming(&key, &Town::picture());
            shows(media.complete_upload(caller, &key, None).await, |_| true)
        }
        (other, _) => panic!("no row handler for {other} of {object}"),
    }
}
