//! Media files: uploads, claims by posts, and visibility (R43).

mod activities;
mod posts;
mod profiles;
mod quota;
mod uploads;
mod urls;

use roundtable_domain::{Caller, MediaError, NewMedia, NewPost, NewUpload, UploadInstructions};
use roundtable_model::{ContentType, MediaKey, MediaUse, RequestId};
use roundtable_testkit::Town;

fn request(id: &str) -> RequestId {
    id.parse().unwrap()
}

fn png() -> NewUpload {
    let bytes = Town::picture().len() as u64;
    NewUpload { content_type: "image/png".into(), bytes, purpose: None }
}

/// An uploaded picture restricted to one use.
async fn uploaded_for(town: &Town, name: &str, purpose: MediaUse) -> NewMedia {
    let ticket = announced(town, name, &NewUpload { purpose: Some(purpose), ..png() }).await;
    town.media_store().put_incoming(&ticket.key, &Town::picture());
    let taken = town.media().complete_upload(&town.caller(name), &ticket.key, None).await;
    Town::as_new_media(&taken.unwrap())
}

/// Returns whether the viewer gets a URL of the file, and the file by it.
async fn sees(town: &Town, viewer: Option<&Caller>, key: &MediaKey) -> bool {
    match town.media().url(viewer, key).await {
        Ok(url) => {
            assert_eq!(town.media_store().fetch(&url.url).unwrap(), Town::picture());
            assert_eq!(url.expires_at, town.now().plus_ms(5 * 60 * 1_000), "and not for long");
            assert!(!format!("{url:?}").contains(&*url.url), "an address opens a door");
            true
        }
        Err(MediaError::NoSuchMedia) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn announced(town: &Town, name: &str, input: &NewUpload) -> UploadInstructions {
    town.media().create_upload(&town.caller(name), input, None).await.unwrap()
}

fn showing(media: Vec<NewMedia>) -> NewPost {
    NewPost { content_type: ContentType::Image, media, ..NewPost::text("look") }
}
