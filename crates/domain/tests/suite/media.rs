//! Files of people: announced, looked at, part of posts, and shown to those who may see them (R43).

mod activities;
mod arrival;
mod posts;
mod profiles;
mod urls;

use roundtable_domain::{Caller, MediaError, NewMedia, NewPost, NewUpload, UploadTicket};
use roundtable_model::{ContentType, MediaKey, MediaUse, RequestId};
use roundtable_testkit::Town;

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

/// A picture to be announced, as it will be sent.
fn png() -> NewUpload {
    let bytes = Town::picture().len() as u64;
    NewUpload { content_type: "image/png".into(), bytes, purpose: None }
}

/// A picture that has arrived, for one thing only.
async fn meant_for(town: &Town, name: &str, purpose: MediaUse) -> NewMedia {
    let ticket = announced(town, name, &NewUpload { purpose: Some(purpose), ..png() }).await;
    town.shelf().arrive(&ticket.key, &Town::picture());
    let taken = town.media().complete_upload(&town.caller(name), &ticket.key, None).await;
    Town::named(&taken.unwrap())
}

/// Whether somebody is given an address of a file, and the file by it.
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

/// Somebody announces a file.
async fn announced(town: &Town, name: &str, input: &NewUpload) -> UploadTicket {
    town.media().create_upload(&town.caller(name), input, None).await.unwrap()
}

/// A post with these files.
fn showing(media: Vec<NewMedia>) -> NewPost {
    NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") }
}
