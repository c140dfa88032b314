//! What files belong to, as the viewer may see it now; read in a few batches, however many files.

use futures::future::try_join3;
use hashbrown::{HashMap, HashSet};
use roundtable_model::entities::{Activity, Holder, Post, Upload};
use roundtable_model::{ActivityId, At, MediaUse, PostId, UserId};

use crate::{Caller, Failure, Ground, Sight};

/// The posts, activities and people that files belong to: those the viewer may see.
#[derive(Debug)]
pub(super) struct Holders {
    posts: HashMap<PostId, Post>,
    activities: HashMap<ActivityId, Activity>,
    owners: Sight,
    viewer: Option<UserId>,
}

impl Holders {
    pub(super) async fn of(
        ground: &Ground,
        viewer: Option<&Caller>,
        uploads: &[Upload],
    ) -> Result<Self, Failure> {
        let holders = || uploads.iter().filter_map(|upload| upload.holder.as_ref());
        let posts: HashSet<PostId> = holders()
            .filter(|holder| holder.kind == MediaUse::Post)
            .map(|holder| holder.id.recast())
            .collect();
        let mut activities: Vec<&Holder> =
            holders().filter(|holder| holder.kind == MediaUse::Activity).collect();
        // Each once: several files of one are asked for together.
        let mut asked = HashSet::new();
        activities.retain(|holder| asked.insert(&holder.id));
        // A file of a profile, or of nothing yet, is as visible as its owner.
        let owners = uploads.iter().filter(|upload| {
            upload.holder.as_ref().is_none_or(|holder| holder.kind == MediaUse::Profile)
        });
        let (posts, activities, owners) = try_join3(
            seen_posts(ground, viewer, posts.into_iter().collect()),
            seen_activities(ground, viewer, activities),
            async { Ok(ground.sight(viewer, owners.map(|upload| &upload.user_id), []).await?) },
        )
        .await?;
        let viewer = viewer.map(|viewer| viewer.user_id.clone());
        Ok(Self { posts, activities, owners, viewer })
    }

    /// Whether the viewer may see a file: what it belongs to is there for them, and has it still. One
    /// that belongs to nothing is its owner's alone.
    pub(super) fn show(&self, upload: &Upload) -> bool {
        let owner = self.owners.person(&upload.user_id);
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

async fn seen_posts(
    ground: &Ground,
    viewer: Option<&Caller>,
    ids: Vec<PostId>,
) -> Result<HashMap<PostId, Post>, Failure> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let posts = crate::posts::posts(ground, &ids).await?;
    let seen = crate::posts::seen(ground, viewer, posts).await?;
    Ok(seen.into_iter().flatten().map(|post| (post.id.clone(), post)).collect())
}

async fn seen_activities(
    ground: &Ground,
    viewer: Option<&Caller>,
    holders: Vec<&Holder>,
) -> Result<HashMap<ActivityId, Activity>, Failure> {
    let places = holders.into_iter().filter_map(|holder| {
        Some(Activity::at(holder.home.as_ref()?, &holder.at?, &holder.id.recast()))
    });
    let places: Vec<At<Activity>> = places.collect();
    if places.is_empty() {
        return Ok(HashMap::new());
    }
    let found = ground.at("activity", places).await?.into_iter().flatten().collect();
    let seen = crate::activities::seen(ground, viewer, found).await?;
    Ok(seen.into_iter().flatten().map(|it| (it.activity_id.clone(), it)).collect())
}
