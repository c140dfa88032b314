//! Files: what people do with them.

use roundtable_domain::{Caller, Code, NewMedia, NewPost, NewUpload};
use roundtable_model::{ContentType, MediaKey, RequestId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// The files there are: both are ana's.
#[derive(Clone)]
pub(crate) struct Files {
    /// Announced, and not looked at yet.
    sent: MediaKey,
    /// In no post yet.
    taken: NewMedia,
}

impl Files {
    pub(crate) async fn set(town: &Town) -> Self {
        let sent = town.send_picture("ana").await;
        Self { sent, taken: Town::named(&town.upload("ana").await) }
    }
}

/// One of these deeds.
#[derive(Clone, Debug)]
pub(crate) enum Sending {
    Announce,
    Complete(MediaKey),
    Show(NewMedia),
}

impl Sending {
    /// The service and the method that does it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Announce => "media.create_upload",
            Self::Complete(_) => "media.complete_upload",
            Self::Show(_) => "posts.create",
        }
    }

    pub(crate) async fn be_done(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<Done, Code> {
        match self {
            Self::Announce => {
                let new = NewUpload { content_type: "video/webm".into(), bytes: 1_000 };
                told(town.media().create_upload(caller, &new, request).await)
            }
            Self::Complete(key) => {
                // Every town has a shelf of its own.
                town.shelf().arrive(key, &Town::picture());
                told(town.media().complete_upload(caller, key, request).await)
            }
            Self::Show(media) => {
                let media = vec![media.clone()];
                let content_type = ContentType::Image;
                let new = NewPost { content_type, media, ..NewPost::text("my picture") };
                told(town.posts().create(caller, &new, request).await)
            }
        }
    }

    /// What was stopped and done again is there once.
    pub(crate) async fn happened_once(&self, town: &Town, what: &str) {
        let uploads = town.rows("USER#ana", "UPLOAD#").await;
        let count = |word: &str| uploads.iter().filter(|row| row.contains(word)).count();
        match self {
            Self::Announce => assert_eq!(count("video/webm"), 1, "{what}: {uploads:#?}"),
            Self::Complete(_) => assert_eq!(count("state=complete"), 2, "{what}: {uploads:#?}"),
            Self::Show(media) => {
                assert_eq!(count("postId="), 1, "{what}: {uploads:#?}");
                let posts = town.ground().core().posts_by(&town.id("ana")).all().await.unwrap();
                let shown = posts.iter().flat_map(|post| &post.media);
                let shown = shown.filter(|shown| shown.s3_key == media.s3_key).count();
                assert_eq!(shown, 1, "{what}");
            }
        }
    }
}

/// What people do with files.
pub(crate) fn with_files(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Files { sent, taken } = stage.files.clone();
    let deeds = [Sending::Announce, Sending::Complete(sent), Sending::Show(taken)];
    deeds.into_iter().map(|deed| Deed::Sending(town.caller("ana"), deed)).collect()
}
