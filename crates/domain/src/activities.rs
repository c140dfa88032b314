//! What people did, told to those who follow them (R12): written once, beside what it tells of, and
//! shown only while that is there and may be seen.

mod head;
mod objects;
mod publish;
mod seen;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Holder, Media};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GroupId, MediaKey, MediaUse, ObjectType, RequestId, Span,
    SubjectId, Tag, Time,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::head::Head;
use self::objects::Tellable;
pub(crate) use self::objects::{Membership, membership};
pub(crate) use self::publish::{News, publish};
pub(crate) use self::seen::{Objects, seen};

use crate::access::{Act, Standing, allows};
use crate::limits::{PREVIEW_CHARS_MAX, TAGS_MAX, check_count, check_media_type, check_text};
use crate::media::{claim, unclaimed};
use crate::pages::fill;
use crate::{Caller, Failure, Ground, Page, PageInput, refusals};

refusals! {
    /// Why an activity was not written or shown.
    ActivityError {
        NoSuchActor: NotFound = "there is no such person or group",
        NoSuchObject: NotFound = "there is no such thing of yours",
        NoSuchGroup: NotFound = "there is no such group",
        NotAMember: Forbidden = "only members can post into this group",
        SharesPosts: BadRequest = "posts are passed on with sharePost",
        ShowsPosts: BadRequest = "what is told of a post shows the post's own files",
        NoSuchMedia: BadRequest = "this is no file of yours, or one that is elsewhere already",
    }
}

/// The activities of everybody.
#[derive(Clone, Debug)]
pub struct Activities {
    ground: Ground,
}

/// An activity to be written.
#[derive(Clone, Debug, Serialize)]
pub struct NewActivity {
    /// The group it was done in.
    pub group_id: Option<GroupId>,
    /// What was done.
    pub verb: ActivityVerb,
    /// To what kind of thing.
    pub object_type: ObjectType,
    /// To which.
    pub object_id: SubjectId,
    /// A few words about it.
    pub preview_text: Option<String>,
    /// A picture of it.
    pub media: Option<NewMedia>,
    /// What it is about, in a word each.
    pub tags: Vec<Tag>,
}

/// A picture or video, as whoever sends it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewMedia {
    /// Where its bytes are.
    pub s3_key: MediaKey,
    /// What its bytes are, as a MIME type.
    pub content_type: String,
    /// In pixels.
    pub width: Option<u32>,
    /// In pixels.
    pub height: Option<u32>,
}

/// What a request led to.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    home: ActorId,
    at: Time,
    id: ActivityId,
}

#[boxed]
impl Activities {
    /// The activities on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Tells of something the caller did: with a goal, task, quest, post or comment of theirs, with a
    /// group they are in, or about themselves.
    pub async fn post(
        &self,
        caller: &Caller,
        input: &NewActivity,
        request: Option<&RequestId>,
    ) -> Result<Activity, ActivityError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::PostActivity, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        check_text("previewText", input.preview_text.as_deref().unwrap_or(""), PREVIEW_CHARS_MAX)?;
        check_count("tags", input.tags.len(), TAGS_MAX)?;
        if let Some(media) = &input.media {
            check_media_type("media", &media.content_type)?;
            if input.object_type == ObjectType::Post {
                return Err(ActivityError::ShowsPosts);
            }
        }
        // Such an activity is shown only while a share names it, and only sharing makes one.
        if (input.verb, input.object_type) == (ActivityVerb::Share, ObjectType::Post) {
            return Err(ActivityError::SharesPosts);
        }
        let request = self.ground.request(&me.id, request, "postActivity", input)?;
        let is_late = AtomicBool::new(false);
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(caller, outcome).await,
                async || {
                    let Tellable { checks, home } = self.tellable(caller, input).await?;
                    let files =
                        unclaimed(&self.ground, &me.id, &input.media, MediaUse::Activity).await?;
                    let files = files.ok_or(ActivityError::NoSuchMedia)?;
                    let news = input.news(caller, home, files.into_iter().next());
                    let news = news.again(is_late.swap(true, Relaxed));
                    let published = publish(&self.ground, news).await?;
                    let activity = published.activity.clone();
                    let outcome = Outcome::of(&activity);
                    let commit = checks
                        .into_iter()
                        .fold(self.ground.commit(), |commit, check| commit.with("object", check));
                    let holder = Holder::activity(&activity);
                    let file = activity.media.as_ref();
                    let claimed = file.map(|media| claim(&me.id, media, &holder));
                    let commit = published.in_commit(commit).with_any("file", claimed);
                    let commit = commit.remembering(request.as_ref(), &outcome)?;
                    Ok::<_, ActivityError>(commit.done(activity).await?)
                },
            )
            .await
    }

    /// What a person or a group did, as far as the viewer may see it (R27).
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        actor: &ActorId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Activity>, ActivityError> {
        let sight = self.ground.sight(viewer, [&actor.recast()], [&actor.recast()]).await?;
        if !sight.sees_inside(&actor.recast()) && !sight.sees_inside_group(&actor.recast()) {
            return Err(ActivityError::NoSuchActor);
        }
        fill(
            page,
            async |limit, after| {
                let actors = std::slice::from_ref(actor);
                let listing = self.ground.core().activities(actors, Span::ALL);
                listing.order(order).limit(limit).after(after).page().await
            },
            async |activities| Ok(seen(&self.ground, viewer, activities).await?),
        )
        .await
    }

    /// Activities by where and when they happened, each in its place; `None` where there is none for
    /// the viewer.
    pub async fn at(
        &self,
        viewer: Option<&Caller>,
        places: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<Activity>>, ActivityError> {
        let at = places.iter().map(|(home, at, id)| Activity::at(home, at, id));
        let found = self.ground.at("activity", at).await?;
        let there = found.iter().flatten().cloned().collect();
        let mut shown = seen(&self.ground, viewer, there).await?.into_iter();
        Ok(found.into_iter().map(|activity| activity.and_then(|_| shown.next()?)).collect())
    }

    /// An activity as it is now, if the caller may still see it.
    async fn replayed(&self, caller: &Caller, outcome: Outcome) -> Result<Activity, ActivityError> {
        let Outcome { home, at, id } = outcome;
        let activity = self.ground.core().activity(&home, &at, &id).get().await?;
        let shown = seen(&self.ground, Some(caller), activity.into_iter().collect()).await?;
        shown.into_iter().flatten().next().ok_or(ActivityError::NoSuchObject)
    }
}

impl NewActivity {
    fn news(&self, caller: &Caller, home: Option<SubjectId>, media: Option<Media>) -> News {
        News {
            actor: caller.user_id.clone(),
            group: self.group_id.clone(),
            verb: self.verb,
            object: (self.object_type, self.object_id.clone()),
            object_home: home,
            preview: self.preview_text.clone(),
            media,
            tags: self.tags.clone(),
            is_late: false,
        }
    }
}

impl Outcome {
    fn of(activity: &Activity) -> Self {
        Self {
            home: Activity::home(&activity.actor_id, &activity.group_id),
            at: activity.created_at,
            id: activity.activity_id.clone(),
        }
    }
}

/// The first words of a text.
pub(crate) fn preview(text: &str) -> Option<String> {
    let first: String = text.trim().chars().take(PREVIEW_CHARS_MAX).collect();
    (!first.is_empty()).then_some(first)
}
