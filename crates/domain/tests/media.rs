//! Files of people: announced, looked at, part of posts, and shown to those who may see them (R43).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "media/arrival.rs"]
mod arrival;
#[path = "media/posts.rs"]
mod posts;
#[path = "media/urls.rs"]
mod urls;

use roundtable_domain::{NewMedia, NewPost, NewUpload, UploadTicket};
use roundtable_model::{ContentType, RequestId};
use roundtable_testkit::Town;

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

/// A picture to be announced, as it will be sent.
fn png() -> NewUpload {
    NewUpload { content_type: "image/png".into(), bytes: Town::picture().len() as u64 }
}

/// Somebody announces a file.
async fn announced(town: &Town, name: &str, input: &NewUpload) -> UploadTicket {
    town.media().create_upload(&town.caller(name), input, None).await.unwrap()
}

/// A post with these files.
fn showing(media: Vec<NewMedia>) -> NewPost {
    NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") }
}
