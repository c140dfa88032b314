//! The posts, activities and profiles that files belong to, as far as the viewer may see them; read
//! in a few batches.

use std::sync::Arc;

use futures::future::try_join3;
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Activity, Holder, Post, Upload};
use roundtable_model::{ActivityId, ActorId, MediaUse, PostId, Time, UserId};

use crate::{Caller, Context, ServiceError, ViewerAccess};

/// The holders of some files that the viewer may see.
#[derive(Debug)]
pub(super) struct VisibleHolders {
    posts: HashMap<PostId, Post>,
    activities: HashMap<ActivityId, Activity>,
    owners: ViewerAccess,
    viewer: Option<UserId>,
}

impl VisibleHolders {
    pub(super) async fn of(
        context: &Context,
        viewer: Option<&Caller>,
        uploads: &[Arc<Upload>],
    ) -> Result<Self, ServiceError> {
        let holders = || uploads.iter().filter_map(|upload| upload.holder.as_ref());
        let posts: HashSet<PostId> = holders()
            .filter(|holder| holder.kind == MediaUse::Post)
            .map(|holder| holder.id.recast())
            .collect();
        let mut activities: Vec<&Holder> =
            holders().filter(|holder| holder.kind == MediaUse::Activity).collect();
        // Each once: an activity may hold several of the files.
        let mut unique_ids = HashSet::new();
        activities.retain(|holder| unique_ids.insert(&holder.id));
        // A file of a profile, or not in use yet, is as visible as its owner.
        let owners = uploads.iter().filter(|upload| {
            upload.holder.as_ref().is_none_or(|holder| holder.kind == MediaUse::Profile)
        });
        let (posts, activities, owners) = try_join3(
            visible_posts(context, viewer, posts.into_iter().collect()),
            visible_activities(context, viewer, activities),
            async {
                Ok(context.viewer_access(viewer, owners.map(|upload| &upload.user_id), []).await?)
            },
        )
        .await?;
        let viewer = viewer.map(|viewer| viewer.user_id.clone());
        Ok(Self { posts, activities, owners, viewer })
    }

    /// Returns whether the viewer may see a file: its holder is visible and still refers to it. A
    /// file without a holder is visible to its owner only.
    pub(super) fn can_see(&self, upload: &Upload) -> bool {
        let owner = self.owners.visible_user(&upload.user_id);
        let Some(holder) = &upload.holder else {
            return owner.is_some() && self.viewer.as_ref() == Some(&upload.user_id);
        };
        match holder.kind {
            MediaUse::Post => self.posts.get(&holder.id.recast::<PostId>()).is_some_and(|post| {
                post.author_id == upload.user_id
                    && post.media.iter().any(|media| media.s3_key == upload.key)
            }),
            MediaUse::Activity => {
                let activity = self.activities.get(&holder.id.recast::<ActivityId>());
                activity.is_some_and(|activity| {
                    activity.actor_id == upload.user_id
                        && activity.media.as_ref().is_some_and(|media| media.s3_key == upload.key)
                })
            }
            MediaUse::Profile => owner.is_some_and(|owner| {
                owner.profile_image.as_ref().is_some_and(|media| media.s3_key == upload.key)
            }),
        }
    }
}

async fn visible_posts(
    context: &Context,
    viewer: Option<&Caller>,
    ids: Vec<PostId>,
) -> Result<HashMap<PostId, Post>, ServiceError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let posts = crate::posts::posts(context, &ids).await?;
    let visible = crate::posts::filter_visible(context, viewer, posts).await?;
    Ok(visible.into_iter().flatten().map(|post| (post.id.clone(), post)).collect())
}

async fn visible_activities(
    context: &Context,
    viewer: Option<&Caller>,
    holders: Vec<&Holder>,
) -> Result<HashMap<ActivityId, Activity>, ServiceError> {
    let places = holders
        .into_iter()
        .filter_map(|holder| Some((holder.home.clone()?, holder.at?, holder.id.recast())));
    let places: Vec<(ActorId, Time, ActivityId)> = places.collect();
    if places.is_empty() {
        return Ok(HashMap::new());
    }
    let found = crate::activities::stored_activities(context, &places).await?;
    let found = found.into_iter().flatten().collect();
    let visible = crate::activities::visible_activities(context, viewer, found).await?;
    Ok(visible.into_iter().flatten().map(|it| (it.activity_id.clone(), it)).collect())
}
