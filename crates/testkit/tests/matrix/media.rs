//! Who gets which answer about files.

use roundtable_domain::{Caller, NewMedia, NewPost, NewUpload};
use roundtable_model::entities::Upload;
use roundtable_model::{ContentType, Entity, GroupId, MediaKey, UploadState, Visibility, samples};
use roundtable_testkit::Town;

use super::asks::{Answer, shows};
use super::stage::owner;

/// As in the large table. A file is where its post is; one that is in none is its owner's alone.
#[rustfmt::skip]
pub(crate) const TABLE: &str = "
object                   | operations                                                           | anon owner follower stranger blocked member former gadmin moder admin susp

own account              | media.create_upload                                                  | -    ok   ok   ok   ok   ok   ok   ok   ok   ok   403
sent file                | media.complete_upload                                                | -    ok   404  404  404  404  404  404  404  404  403
sent file                | media.url                                                            | 404  404  404  404  404  404  404  404  404  404  404
unposted file            | media.url                                                            | 404  ok   404  404  404  404  404  404  404  404  404
file                     | media.url                                                            | ok   ok   ok   ok   404  ok   ok   ok   ok   ok   ok
followers' file          | media.url                                                            | 404  ok   ok   404  404  404  404  404  ok   ok   404
private file             | media.url                                                            | 404  ok   404  404  404  404  404  404  ok   ok   404
private account's file   | media.url                                                            | 404  ok   ok   404  404  404  404  404  ok   ok   404
private group's file     | media.url                                                            | 404  ok   404  404  404  ok   404  ok   ok   ok   404
deleted file             | media.url                                                            | 404  404  404  404  404  404  404  404  404  404  404
suspended account's file | media.url                                                            | 404  ok   404  404  404  404  404  404  ok   ok   404
deleted account's file   | media.url                                                            | 404  404  404  404  404  404  404  404  404  404  404
";

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

/// The key of a row's file.
fn key(object: &str) -> MediaKey {
    let name = object.replace([' ', '\''], "-");
    format!("u/{}/{name}", owner(object)).parse().unwrap()
}

fn picture(object: &str) -> NewMedia {
    let (width, height) = (Some(3), Some(2));
    NewMedia { s3_key: key(object), content_type: "image/png".into(), width, height }
}

/// Everything there is.
pub(crate) async fn set(town: &Town, private_group: &GroupId) {
    let sent = Upload {
        user_id: town.id("ana"),
        key: key("sent file"),
        content_type: "image/png".into(),
        bytes: Town::picture().len() as u64,
        state: UploadState::Pending,
        post_id: None,
        copy: None,
        created_at: town.now(),
        ttl: None,
        ..samples::upload()
    };
    town.ground().core().table().put(sent.create()).await.unwrap();
    town.arrived("ana", picture("unposted file")).await;
    for object in IN_POSTS {
        let media = vec![town.arrived(owner(object), picture(object)).await];
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
}

/// Does what a row says as somebody.
pub(crate) async fn answer(
    town: &Town,
    (operation, object): (&str, &str),
    viewer: Option<&Caller>,
) -> Answer {
    let (media, key) = (town.media(), key(object));
    match (operation, viewer) {
        ("media.url", _) => shows(media.url(viewer, &key).await, |_| true),
        (_, None) => "-",
        ("media.create_upload", Some(caller)) => {
            let new = NewUpload { content_type: "image/png".into(), bytes: 100 };
            shows(media.create_upload(caller, &new, None).await, |_| true)
        }
        ("media.complete_upload", Some(caller)) => {
            town.shelf().arrive(&key, &Town::picture());
            shows(media.complete_upload(caller, &key, None).await, |_| true)
        }
        (other, _) => panic!("nobody knows how to ask {other} of {object}"),
    }
}
