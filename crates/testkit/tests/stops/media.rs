//! Mutations of media files.

use roundtable_domain::{Caller, Code, NewActivity, NewMedia, NewPost, NewUpload, ProfileChange};
use roundtable_model::{ActivityVerb, ContentType, MediaKey, ObjectType, RequestId};
use roundtable_testkit::{ActionOutcome, Town};

use crate::mutations::{Mutation, reduce};
use crate::stage::Stage;

/// Ana's files.
#[derive(Clone)]
pub(crate) struct MediaFixture {
    /// Uploaded, and not completed.
    sent: MediaKey,
    /// Completed, and in no post.
    taken: [NewMedia; 3],
}

impl MediaFixture {
    pub(crate) async fn set(town: &Town) -> Self {
        let sent = town.send_picture("ana").await;
        let taken = async || Town::as_new_media(&town.upload("ana").await);
        Self { sent, taken: [taken().await, taken().await, taken().await] }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum MediaMutation {
    Announce,
    Complete(MediaKey),
    Show(NewMedia),
    Tell(NewMedia),
    Picture(NewMedia),
}

impl MediaMutation {
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Announce => "media.create_upload",
            Self::Complete(_) => "media.complete_upload",
            Self::Show(_) => "posts.create",
            Self::Tell(_) => "activities.post",
            Self::Picture(_) => "accounts.update_profile",
        }
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        caller: &Caller,
        request: Option<&RequestId>,
    ) -> Result<ActionOutcome, Code> {
        match self {
            Self::Announce => {
                let content_type = "video/webm".into();
                let new = NewUpload { content_type, bytes: 1_000, purpose: None };
                reduce(town.media().create_upload(caller, &new, request).await)
            }
            Self::Complete(key) => {
                // Every town has its own media store.
                town.media_store().put_incoming(key, &Town::picture());
                reduce(town.media().complete_upload(caller, key, request).await)
            }
            Self::Show(media) => {
                let media = vec![media.clone()];
                let content_type = ContentType::Image;
                let new = NewPost { content_type, media, ..NewPost::text("my picture") };
                reduce(town.posts().create(caller, &new, request).await)
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
                reduce(town.activities().post(caller, &new, request).await)
            }
            Self::Picture(media) => {
                let profile_image = media.clone().into();
                let change = ProfileChange { profile_image, ..ProfileChange::default() };
                reduce(town.accounts().update_profile(caller, &change, request).await)
            }
        }
    }

    pub(crate) async fn assert_happened_once(&self, town: &Town, what: &str) {
        let uploads = town.rows("USER#ana", "UPLOAD#").await;
        let count = |word: &str| uploads.iter().filter(|row| row.contains(word)).count();
        match self {
            Self::Announce => assert_eq!(count("video/webm"), 1, "{what}: {uploads:#?}"),
            Self::Complete(_) => assert_eq!(count("state=complete"), 4, "{what}: {uploads:#?}"),
            Self::Show(media) => {
                assert_eq!(count("kind=post"), 1, "{what}: {uploads:#?}");
                let posts = town.context().core().posts_by(&town.id("ana")).all().await.unwrap();
                let shown = posts.iter().flat_map(|post| &post.media);
                let shown = shown.filter(|shown| shown.s3_key == media.s3_key).count();
                assert_eq!(shown, 1, "{what}");
            }
            Self::Tell(media) => {
                assert_eq!(count("kind=activity"), 1, "{what}: {uploads:#?}");
                let reduce = town.rows("ACTIVITY#ana", "TS#").await;
                let reduce =
                    reduce.iter().filter(|row| row.contains(media.s3_key.as_str())).count();
                assert_eq!(reduce, 1, "{what}");
            }
            Self::Picture(media) => {
                assert_eq!(count("kind=profile"), 1, "{what}: {uploads:#?}");
                let profile = town.rows("USER#ana", "PROFILE#").await;
                assert!(profile[0].contains(media.s3_key.as_str()), "{what}: {profile:?}");
            }
        }
    }
}

pub(crate) fn media_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let MediaFixture { sent, taken: [shown, reduce, face] } = stage.files.clone();
    let mutations = [
        MediaMutation::Announce,
        MediaMutation::Complete(sent),
        MediaMutation::Show(shown),
        MediaMutation::Tell(reduce),
        MediaMutation::Picture(face),
    ];
    mutations.into_iter().map(|mutation| Mutation::Media(town.caller("ana"), mutation)).collect()
}
