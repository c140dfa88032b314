//! Media in a bucket of a real server, from announcement to deletion.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hyper::StatusCode;
use roundtable_domain::{
    Caller, MediaError, MediaFiles, MediaStore, NewPost, NewUpload, ProfileChange,
    UploadInstructions,
};
use roundtable_media::Bucket;
use roundtable_model::entities::Media;
use roundtable_model::{ContentType, MediaUse, Visibility};
use roundtable_streams::RunnerBuilder;
use roundtable_testkit::Town;

use crate::server::{BUCKET, Server, request};

/// Longer than an upload URL is valid.
const LONG_MS: u64 = 2 * 60 * 60 * 1_000;

/// A town whose files are in a bucket.
struct Scene {
    town: Town,
    server: Server,
    store: Arc<dyn MediaStore>,
}

impl Scene {
    async fn set() -> Self {
        let server = Server::start().await;
        let store = Arc::new(Bucket::open(&server.settings).unwrap());
        Self { town: Town::of(["ana", "bo", "cleo"]).await, server, store }
    }

    fn media(&self) -> MediaFiles {
        MediaFiles::new(self.town.context().clone(), self.store.clone())
    }

    async fn announced(&self, ana: &Caller, purpose: Option<MediaUse>) -> UploadInstructions {
        let bytes = Town::picture().len() as u64;
        let input = NewUpload { content_type: "image/png".into(), bytes, purpose };
        self.media().create_upload(ana, &input, None).await.unwrap()
    }

    /// Announces, uploads and completes a picture.
    async fn sent(&self, who: &Caller, purpose: Option<MediaUse>) -> Media {
        let ticket = self.announced(who, purpose).await;
        assert_eq!(send(&ticket, &Town::picture()).await, StatusCode::OK);
        self.media().complete_upload(who, &ticket.key, None).await.unwrap()
    }

    /// The bytes that a viewer gets for a file, or `None`.
    async fn fetched(&self, viewer: Option<&Caller>, media: &Media) -> Option<Vec<u8>> {
        let url = match self.media().url(viewer, &media.s3_key).await {
            Err(MediaError::NoSuchMedia) => return None,
            url => url.unwrap().url,
        };
        let (status, headers, body) = request("GET", &url, &BTreeMap::new(), b"").await;
        assert_eq!(
            (status, headers.get("content-type")),
            (StatusCode::OK, Some(&"image/png".parse().unwrap()))
        );
        Some(body)
    }

    /// Runs all derived work, now and after all URLs have expired.
    async fn settle(&self) {
        let run = async || {
            let setup = RunnerBuilder::with_all_processors_undelayed(self.town.context())
                .with_media_store(self.store.clone());
            setup.build().drain().await.unwrap();
        };
        run().await;
        self.town.advance_ms(LONG_MS);
        run().await;
    }

    /// The number of files in the bucket.
    fn count(&self) -> usize {
        count(&self.server.at.path().join(BUCKET))
    }
}

fn count(at: &Path) -> usize {
    let entries = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    // Names with a leading dot are the server's own.
    let is_file = |path: &Path| {
        path.is_file() && !path.file_name().unwrap().to_string_lossy().starts_with('.')
    };
    entries.map(|path| if path.is_dir() { count(&path) } else { is_file(&path).into() }).sum()
}

async fn send(ticket: &UploadInstructions, bytes: &[u8]) -> StatusCode {
    request(ticket.method, &ticket.upload_url, &ticket.headers, bytes).await.0
}

/// R43, I9: a file is downloaded by a signed URL if the viewer may see its post, and is deleted with
/// the post.
#[tokio::test]
async fn a_private_picture_is_posted_and_deleted() {
    let scene = Scene::set().await;
    let (town, ana, bo) = (&scene.town, scene.town.caller("ana"), scene.town.caller("bo"));
    town.follow("bo", "ana").await;
    let picture = scene.sent(&ana, Some(MediaUse::Post)).await;
    assert_eq!((picture.width, picture.height), (Some(3), Some(2)));
    let post = NewPost {
        content_type: ContentType::Image,
        media: vec![Town::as_new_media(&picture)],
        visibility: Some(Visibility::Followers),
        ..NewPost::text("look")
    };
    let post = town.post_as("ana", post).await;
    scene.settle().await;
    assert_eq!(scene.count(), 1, "only what is shown");
    assert_eq!(scene.fetched(Some(&bo), &picture).await, Some(Town::picture()));
    assert_eq!(scene.fetched(Some(&town.caller("cleo")), &picture).await, None);
    town.follows().unfollow(&bo, &ana.user_id, None).await.unwrap();
    assert_eq!(scene.fetched(Some(&bo), &picture).await, None, "no longer");
    town.posts().delete(&ana, &post.id, None).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.count(), 0);
}

/// R43: a profile picture is visible with the profile, and deleted when it is replaced.
#[tokio::test]
async fn a_profile_picture_is_shown_and_replaced() {
    let scene = Scene::set().await;
    let ana = scene.town.caller("ana");
    let (first, second) = (scene.sent(&ana, None).await, scene.sent(&ana, None).await);
    for face in [&first, &second] {
        let profile_image = Town::as_new_media(face).into();
        let change = ProfileChange { profile_image, ..ProfileChange::default() };
        scene.town.accounts().update_profile(&ana, &change, None).await.unwrap();
        assert_eq!(scene.fetched(None, face).await, Some(Town::picture()));
    }
    assert_eq!(scene.fetched(Some(&ana), &first).await, None);
    scene.settle().await;
    assert_eq!(scene.count(), 1);
}

/// R43: a file that is not what was announced is refused and removed, even when it is uploaded again
/// while the URL is valid.
#[tokio::test]
async fn a_file_that_is_not_as_declared_is_refused_and_removed() {
    let scene = Scene::set().await;
    let ana = scene.town.caller("ana");
    let picture = Town::picture();
    let mut html = b"<script>alert(1)</script>".to_vec();
    html.resize(picture.len(), b' ');
    let mut wide = picture.clone();
    wide[16..20].copy_from_slice(&40_000u32.to_be_bytes());
    for (sent_again, wrong) in [html, wide].into_iter().enumerate() {
        let ticket = scene.announced(&ana, None).await;
        assert_eq!(send(&ticket, &wrong).await, StatusCode::OK, "a bucket does not look");
        let refused = scene.media().complete_upload(&ana, &ticket.key, None).await;
        assert!(matches!(refused, Err(MediaError::DeclarationMismatch)), "{refused:?}");
        assert_eq!(scene.count(), sent_again, "only what the others were sent once more");
        assert_eq!(send(&ticket, &wrong).await, StatusCode::OK);
    }
    scene.settle().await;
    assert_eq!(scene.count(), 0);
}
