//! Files: what people do with them.

use roundtable_domain::{Caller, Code, NewActivity, NewMedia, NewPost, NewUpload, ProfileChange};
use roundtable_model::{ActivityVerb, ContentType, MediaKey, ObjectType, RequestId};
use roundtable_testkit::{Done, Town};

use crate::deeds::{Deed, told};
use crate::stage::Stage;

/// The files there are: all are ana's.
#[derive(Clone)]
pub(crate) struct Files {
    /// Announced, and not looked at yet.
    sent: MediaKey,
    /// Part of nothing yet.
    taken: [NewMedia; 3],
}

impl Files {
    pub(crate) async fn set(town: &Town) -> Self {
        let sent = town.send_picture("ana").await;
        let taken = async || Town::named(&town.upload("ana").await);
        Self { sent, taken: [taken().await, taken().await, taken().await] }
    }
}

/// One of these deeds.
#[derive(Clone, Debug)]
pub(crate) enum Sending {
    Announce,
    Complete(MediaKey),
    Show(NewMedia),
    Tell(NewMedia),
    Picture(NewMedia),
}

impl Sending {
    /// The service and the method that does it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Announce => "media.create_upload",
            Self::Complete(_) => "media.complete_upload",
            Self::Show(_) => "posts.create",
            Self::Tell(_) => "activities.post",
            Self::Picture(_) => "accounts.update_profile",
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
                let content_type = "video/webm".into();
                let new = NewUpload { content_type, bytes: 1_000, purpose: None };
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
            Self::Tell(media) => {
                let new = NewActivity {
                    group_id: None,
                    verb: ActivityVerb::Join,
                    object_type: ObjectType::User,
                    object_id: (&caller.user_id).into(),
                    preview_text: None,
                    media: Some(media.clone()),
                    tags: Vec::new(),
                };
                told(town.activities().post(caller, &new, request).await)
            }
            Self::Picture(media) => {
                let profile_image = media.clone().into();
                let change = ProfileChange { profile_image, ..ProfileChange::default() };
                told(town.accounts().update_profile(caller, &change, request).await)
            }
        }
    }

    /// What was stopped and done again is there once.
    pub(crate) async fn happened_once(&self, town: &Town, what: &str) {
        let uploads = town.rows("USER#ana", "UPLOAD#").await;
        let count = |word: &str| uploads.iter().filter(|row| row.contains(word)).count();
        match self {
            Self::Announce => assert_eq!(count("video/webm"), 1, "{what}: {uploads:#?}"),
            Self::Complete(_) => assert_eq!(count("state=complete"), 4, "{what}: {uploads:#?}"),
            Self::Show(media) => {
                assert_eq!(count("kind=post"), 1, "{what}: {uploads:#?}");
                let posts = town.ground().core().posts_by(&town.id("ana")).all().await.unwrap();
                let shown = posts.iter().flat_map(|post| &post.media);
                let shown = shown.filter(|shown| shown.s3_key == media.s3_key).count();
                assert_eq!(shown, 1, "{what}");
            }
            Self::Tell(media) => {
                assert_eq!(count("kind=activity"), 1, "{what}: {uploads:#?}");
                let told = town.rows("ACTIVITY#ana", "TS#").await;
                let told = told.iter().filter(|row| row.contains(media.s3_key.as_str())).count();
                assert_eq!(told, 1, "{what}");
            }
            Self::Picture(media) => {
                assert_eq!(count("kind=profile"), 1, "{what}: {uploads:#?}");
                let profile = town.rows("USER#ana", "PROFILE#").await;
                assert!(profile[0].contains(media.s3_key.as_str()), "{what}: {profile:?}");
            }
        }
    }
}

/// What people do with files.
pub(crate) fn with_files(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Files { sent, taken: [shown, told, face] } = stage.files.clone();
    let deeds = [
        Sending::Announce,
        Sending::Complete(sent),
        Sending::Show(shown),
        Sending::Tell(told),
        Sending::Picture(face),
    ];
    deeds.into_iter().map(|deed| Deed::Sending(town.caller("ana"), deed)).collect()
}
