//! User timelines: everything a user did and created, by time (R24), merged from one list per kind.
//!
//! Each kind has its own visibility. Goals, tasks, milestones and quests are for their owner and
//! for admins; messages for their author, while still in the room; everything else for viewers who
//! may see the profile and the object itself.

mod visible;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::User;
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, TimelineEntry, UserId};

use self::visible::TimelineViewer;
use crate::goals::may_see;
use crate::pages::fill_merged_page;
use crate::{Caller, Context, Page, PageInput, ServiceError, refusals};

/// The kinds visible to viewers who may see the profile.
const PUBLIC_KINDS: [EntityKind; 6] = [
    EntityKind::User,
    EntityKind::Follow,
    EntityKind::Group,
    EntityKind::Post,
    EntityKind::Comment,
    EntityKind::Like,
];
/// The kinds visible to their owner and to admins.
const OWNER_KINDS: [EntityKind; 4] =
    [EntityKind::Goal, EntityKind::Task, EntityKind::Milestone, EntityKind::Quest];

refusals! {
    TimelineError {
        NoSuchUser: NotFound = "there is no such user",
    }
}

#[derive(Clone, Debug)]
pub struct Timelines {
    context: Context,
}

#[boxed]
impl Timelines {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Lists what a user did and created, of all kinds or of one, as far as the viewer may see it.
    /// Tasks are listed at their due time.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        kind: Option<EntityKind>,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<TimelineEntry>, TimelineError> {
        let me = self.account_of(viewer).await?;
        let access = self.context.viewer_access(viewer, [user], []).await?;
        if !access.can_see_inside_user(user) {
            return Err(TimelineError::NoSuchUser);
        }
        let mut kinds = self.kinds(viewer.zip(me.as_ref()), user).await?;
        kinds.retain(|one| kind.is_none_or(|kind| kind == *one));
        let timeline_viewer = TimelineViewer { context: &self.context, viewer, user };
        fill_merged_page(
            page,
            async |limit, after| {
                let timeline = self.context.core().entity_timeline(user, &kinds).order(order);
                timeline.limit(limit).after(after).page().await
            },
            async |entries| Ok(timeline_viewer.visible(entries).await?),
        )
        .await
    }

    /// Returns the viewer's account if it is active; otherwise the viewer counts as anonymous.
    async fn account_of(&self, viewer: Option<&Caller>) -> Result<Option<User>, ServiceError> {
        let Some(caller) = viewer else { return Ok(None) };
        match self.context.authorize_read(caller).await {
            Ok(me) => Ok(Some(me)),
            Err(ServiceError::Suspended | ServiceError::Unauthenticated) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The kinds of which this viewer may see entries.
    async fn kinds(
        &self,
        viewer: Option<(&Caller, &User)>,
        user: &UserId,
    ) -> Result<Vec<EntityKind>, ServiceError> {
        let mut kinds = PUBLIC_KINDS.to_vec();
        let Some((caller, me)) = viewer else { return Ok(kinds) };
        if may_see(&self.context, caller, me, user).await? {
            kinds.extend(OWNER_KINDS);
        }
        if me.id == *user {
            kinds.push(EntityKind::Message);
        }
        Ok(kinds)
    }
}
