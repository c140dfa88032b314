//! What a person did and made, of all kinds, by time (R24): merged from one list for each kind.
//!
//! Every kind keeps its own rule about who sees it: goals, tasks, milestones and quests are for their
//! owner and for admins, messages for whoever wrote them and is still in the room, and the rest for
//! whoever may see the profile and the thing itself.

mod seen;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::User;
use roundtable_model::table::Order;
use roundtable_model::{EntityKind, Role, TimelineEntry, UserId};

use self::seen::Looks;
use crate::goals::may_see;
use crate::{Caller, Failure, Ground, Page, PageInput, Roles, refusals};

/// Entries looked at for one page, so that somebody who may see almost nothing does not read a whole
/// life: then the page ends where it is, full or not.
const LOOKED_ENTRIES_MAX: usize = 2_000;
/// Entries read in one go at the most.
const READ_ENTRIES_MAX: usize = 100;

/// The kinds that are for everybody who may see the profile.
const SHOWN: [EntityKind; 6] = [
    EntityKind::User,
    EntityKind::Follow,
    EntityKind::Group,
    EntityKind::Post,
    EntityKind::Comment,
    EntityKind::Like,
];
/// Those that are for their owner and for admins.
const OWNED: [EntityKind; 4] =
    [EntityKind::Goal, EntityKind::Task, EntityKind::Milestone, EntityKind::Quest];

refusals! {
    /// Why a timeline was not shown.
    TimelineError {
        NoSuchUser: NotFound = "there is no such person",
    }
}

/// The timelines of everybody.
#[derive(Clone, Debug)]
pub struct Timelines {
    ground: Ground,
}

#[boxed]
impl Timelines {
    /// The timelines on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// What a person did and made, as far as the viewer may see it: of all kinds, or of one. Tasks stand
    /// at the time they are due.
    pub async fn of(
        &self,
        viewer: Option<&Caller>,
        user: &UserId,
        kind: Option<EntityKind>,
        order: Order,
        page: &PageInput,
    ) -> Result<Page<TimelineEntry>, TimelineError> {
        let me = self.account_of(viewer).await?;
        let viewer = viewer.map(|caller| in_office(caller, me.as_ref()));
        let viewer = viewer.as_ref();
        let sight = self.ground.sight(viewer, [user], []).await?;
        if !sight.sees_inside(user) {
            return Err(TimelineError::NoSuchUser);
        }
        let mut kinds = self.kinds(viewer.zip(me.as_ref()), user).await?;
        kinds.retain(|known| kind.is_none_or(|kind| kind == *known));
        let looks = Looks { ground: &self.ground, viewer, user };
        let wanted = page.size()?;
        let (mut items, mut after) = (Vec::with_capacity(wanted), page.after.clone());
        // One more than a page, to know whether another one follows.
        let (mut at_once, mut looked) = ((wanted + 1).min(READ_ENTRIES_MAX), 0);
        loop {
            let timeline = self.ground.core().entity_timeline(user, &kinds).order(order);
            let found = timeline.limit(at_once).after(after.take()).page().await?;
            looked += found.entries.len();
            let (entries, cursors): (Vec<_>, Vec<_>) = found.entries.into_iter().unzip();
            for (seen, cursor) in looks.seen(entries).await?.into_iter().zip(cursors) {
                items.extend(seen.map(|entry| (entry, cursor)));
            }
            if items.len() > wanted {
                items.truncate(wanted);
                let next = items.last().map(|(_, cursor)| cursor.clone());
                return Ok(Page { items, next });
            }
            if found.next.is_none() || looked >= LOOKED_ENTRIES_MAX {
                return Ok(Page { items, next: found.next });
            }
            (after, at_once) = (found.next, READ_ENTRIES_MAX);
        }
    }

    /// The account of whoever looks, if it can be used: otherwise they see what everybody may.
    async fn account_of(&self, viewer: Option<&Caller>) -> Result<Option<User>, Failure> {
        let Some(caller) = viewer else { return Ok(None) };
        match self.ground.reader(caller).await {
            Ok(me) => Ok(Some(me)),
            Err(Failure::Suspended | Failure::Unauthenticated) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The kinds that this viewer may see any of.
    async fn kinds(
        &self,
        viewer: Option<(&Caller, &User)>,
        user: &UserId,
    ) -> Result<Vec<EntityKind>, Failure> {
        let mut kinds = SHOWN.to_vec();
        let Some((caller, me)) = viewer else { return Ok(kinds) };
        if may_see(&self.ground, caller, me, user).await? {
            kinds.extend(OWNED);
        }
        if me.id == *user {
            kinds.push(EntityKind::Message);
        }
        Ok(kinds)
    }
}

/// The caller with those roles only that the profile still has, whatever their token says.
fn in_office(caller: &Caller, me: Option<&User>) -> Caller {
    let has = |role, claimed| claimed && me.is_some_and(|me| me.roles.contains(&role));
    let roles = Roles {
        moderator: has(Role::Moderator, caller.roles.moderator),
        admin: has(Role::Admin, caller.roles.admin),
    };
    Caller { roles, ..caller.clone() }
}
