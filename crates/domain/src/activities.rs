//! Activities: what users did, shown to their followers (R12). An activity is written in the
//! transaction of the event it describes and shown only while its object exists and is visible.

mod head;
mod objects;
mod publish;
mod visible;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Holder, Media, ProfileActivity};
use roundtable_model::table::Order;
use roundtable_model::{
    ActivityId, ActivityVerb, ActorId, GroupId, MediaKey, MediaUse, ObjectType, RequestId,
    Result as ModelResult, SubjectId, Tag, Time,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::head::StoredHead;
use self::objects::ActivityTarget;
pub(crate) use self::objects::{PostingAccess, posting_access};
pub(crate) use self::publish::{ActivityDraft, prepare_activity};
pub(crate) use self::visible::{ActivityObjects, visible_activities};

use crate::access::{Permission, Relations, require};
use crate::limits::{PREVIEW_CHARS_MAX, TAGS_MAX, check_count, check_media_type, check_text};
use crate::media::{claim, unclaimed};
use crate::pages::fill_merged_page;
use crate::{Caller, Context, Page, PageInput, refusals};

refusals! {
    ActivityError {
        NoSuchActor: NotFound = "there is no such user or group",
        NoSuchObject: NotFound = "you have no such object",
        NoSuchGroup: NotFound = "there is no such group",
        NotAMember: Forbidden = "only members can post into this group",
        SharesPosts: BadRequest = "use sharePost to share a post",
        ShowsPosts: BadRequest = "an activity about a post shows the post's own media",
        NoSuchMedia: BadRequest = "this is not a file of yours, or it is already in use",
    }
}

#[derive(Clone, Debug)]
pub struct Activities {
    context: Context,
}

/// An activity to be written.
#[derive(Clone, Debug, Serialize)]
pub struct NewActivity {
    pub group_id: Option<GroupId>,
    pub verb: ActivityVerb,
    pub object_type: ObjectType,
    pub object_id: SubjectId,
    pub preview_text: Option<String>,
    pub media: Option<NewMedia>,
    pub tags: Vec<Tag>,
}

/// An image or video, as described by the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewMedia {
    pub s3_key: MediaKey,
    pub content_type: String,
    /// In pixels.
    pub width: Option<u32>,
    /// In pixels.
    pub height: Option<u32>,
}

/// The recorded outcome of a request.
#[derive(Debug, Serialize, Deserialize)]
struct ActivityOutcome {
    home: ActorId,
    at: Time,
    id: ActivityId,
}

#[boxed]
impl Activities {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Posts an activity of the caller: about their own goal, task, quest, post or comment, about a
    /// group they are in, or about themselves.
    pub async fn post(
        &self,
        caller: &Caller,
        input: &NewActivity,
        request: Option<&RequestId>,
    ) -> Result<Activity, ActivityError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::PostActivity, Relations::SIGNED_IN)?;
        check_text("previewText", input.preview_text.as_deref().unwrap_or(""), PREVIEW_CHARS_MAX)?;
        check_count("tags", input.tags.len(), TAGS_MAX)?;
        if let Some(media) = &input.media {
            check_media_type("media", &media.content_type)?;
            if input.object_type == ObjectType::Post {
                return Err(ActivityError::ShowsPosts);
            }
        }
        // Only sharing creates such an activity, and it is shown only while a share refers to it.
        if (input.verb, input.object_type) == (ActivityVerb::Share, ObjectType::Post) {
            return Err(ActivityError::SharesPosts);
        }
        mutation
            .once("postActivity", input, request)?
            .replay(|outcome| self.replayed(caller, outcome))
            .run(async |me, attempt| {
                let ActivityTarget { checks, home } = self.check_target(caller, input).await?;
                let files =
                    unclaimed(&self.context, &me.id, &input.media, MediaUse::Activity).await?;
                let files = files.ok_or(ActivityError::NoSuchMedia)?;
                let draft = input.draft(caller, home, files.into_iter().next());
                let prepared = prepare_activity(&self.context, attempt, draft).await?;
                let activity = prepared.activity.clone();
                let outcome = ActivityOutcome::of(&activity);
                let commit = attempt.commit().with_all("object", checks);
                let holder = Holder::activity(&activity);
                let file = activity.media.as_ref();
                let claimed = file.map(|media| claim(&me.id, media, &holder));
                let commit = prepared.add_to(commit).with_all("file", claimed);
                commit.finish(outcome, activity).await
            })
            .await
    }

    /// Lists what a user or a group did, as far as the viewer may see it (R27).
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        actor: &ActorId,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<Activity>, ActivityError> {
        let access =
            self.context.viewer_access(viewer, [&actor.recast()], [&actor.recast()]).await?;
        if !access.can_see_inside_user(&actor.recast())
            && !access.can_see_inside_group(&actor.recast())
        {
            return Err(ActivityError::NoSuchActor);
        }
        fill_merged_page(
            page,
            async |limit, after| {
                let listing = self.context.core().activity_timeline(actor).order(order);
                listing.limit(limit).after(after).page().await
            },
            async |activities| Ok(visible_activities(&self.context, viewer, activities).await?),
        )
        .await
    }

    /// Returns the activities at these positions, in the same order; `None` for those the viewer
    /// may not see.
    pub async fn at(
        &self,
        viewer: Option<&Caller>,
        places: &[(ActorId, Time, ActivityId)],
    ) -> Result<Vec<Option<Activity>>, ActivityError> {
        let found = stored_activities(&self.context, places).await?;
        let existing = found.iter().flatten().cloned().collect();
        let mut shown = visible_activities(&self.context, viewer, existing).await?.into_iter();
        Ok(found.into_iter().map(|activity| activity.and_then(|_| shown.next()?)).collect())
    }

    /// Returns the activity as it is now, if the caller may still see it.
    async fn replayed(
        &self,
        caller: &Caller,
        outcome: ActivityOutcome,
    ) -> Result<Activity, ActivityError> {
        let ActivityOutcome { home, at, id } = outcome;
        let activity = stored_activities(&self.context, &[(home, at, id)]).await?;
        let activity = activity.into_iter().flatten().collect();
        let shown = visible_activities(&self.context, Some(caller), activity).await?;
        shown.into_iter().flatten().next().ok_or(ActivityError::NoSuchObject)
    }
}

impl NewActivity {
    fn draft(
        &self,
        caller: &Caller,
        home: Option<SubjectId>,
        media: Option<Media>,
    ) -> ActivityDraft {
        ActivityDraft {
            actor: caller.user_id.clone(),
            group: self.group_id.clone(),
            verb: self.verb,
            object: (self.object_type, self.object_id.clone()),
            object_home: home,
            preview: self.preview_text.clone(),
            media,
            tags: self.tags.clone(),
            is_posted: true,
        }
    }
}

impl ActivityOutcome {
    fn of(activity: &Activity) -> Self {
        Self {
            home: Activity::home(&activity.actor_id, &activity.group_id),
            at: activity.created_at,
            id: activity.activity_id.clone(),
        }
    }
}

/// Reads activities at their positions, whether or not they entered home feeds, in the same order.
pub(crate) async fn stored_activities(
    context: &Context,
    places: &[(ActorId, Time, ActivityId)],
) -> ModelResult<Vec<Option<Activity>>> {
    let at = places.iter().map(|(home, at, id)| Activity::at(home, at, id));
    let mut found = context.items_at("activity", at).await?;
    let is_missing = |place: &usize| found.get(*place).is_some_and(Option::is_none);
    let missing: Vec<usize> = (0..places.len()).filter(is_missing).collect();
    let at = missing.iter().filter_map(|place| places.get(*place));
    let at = at.map(|(home, at, id)| ProfileActivity::at(home, at, id));
    let others = context.items_at("profile_activity", at).await?;
    for (place, other) in missing.into_iter().zip(others) {
        if let Some(slot) = found.get_mut(place) {
            *slot = other.map(Activity::from);
        }
    }
    Ok(found)
}

/// The beginning of a text.
pub(crate) fn preview(text: &str) -> Option<String> {
    let first: String = text.trim().chars().take(PREVIEW_CHARS_MAX).collect();
    (!first.is_empty()).then_some(first)
}
