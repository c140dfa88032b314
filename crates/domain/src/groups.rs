//! Communities: founding, changing and ending them. Who is in them is `groups/membership`, what people
//! see of them `groups/reads`, and what happens when an account or a group goes `groups/departure`.

mod departure;
mod input;
mod membership;
mod place;
mod reads;
mod roles;
mod tags;
mod writes;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, GroupCounter, GroupMember};
use roundtable_model::{Entity, GroupId, GroupRole, MemberStatus, RequestId, RoomId, UserId};
use serde::{Deserialize, Serialize};

use crate::access::{Act, Standing, allows};
use crate::circle::circle;
use crate::once::{Kept, Tried};
use crate::rooms::{opened, room_of};
use crate::{Caller, Failure, Ground, refusals};

pub use input::{GroupChange, NewGroup};
pub use reads::GroupView;

refusals! {
    /// Why a group, or somebody's place in it, was not changed.
    GroupError {
        NoSuchGroup: NotFound = "there is no such group",
        NoSuchUser: NotFound = "there is no such person",
        NoSuchMember: NotFound = "this person is not a member of the group",
        NoSuchRequest: NotFound = "this person has not asked to join the group",
        NotAMember: NotFound = "you are not a member of this group",
        OwnerStays: Conflict = "a group has exactly one owner: hand it over first",
    }
}

/// The groups of everybody.
#[derive(Clone, Debug)]
pub struct Groups {
    ground: Ground,
}

/// What a request led to: a group, or what is left of one that was deleted.
#[derive(Debug, Serialize, Deserialize)]
enum Outcome {
    Group(GroupId),
    Deleted(Kept<Group>),
}

#[boxed]
impl Groups {
    /// The groups on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Founds a group: the caller owns it, and is its first member.
    pub async fn create(
        &self,
        caller: &Caller,
        group: NewGroup,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let me = self.ground.account(caller).await?.id;
        if !allows(Act::CreateGroup, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        let new = group.checked()?;
        let request = self.ground.request(&me, request, "createGroup", &new)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let (group, owner) = self.founded(&me, &new);
                    let now = group.created_at;
                    let counter =
                        GroupCounter { group_id: group.id.clone(), count: 1, updated_at: now };
                    let commit = self
                        .ground
                        .commit()
                        .with("person", writes::live(&me))
                        .with("group", group.create())
                        .with("member", owner.create())
                        .with("members", counter.create())
                        .with("circle", circle(&me, 0, now))
                        .with_any("tag", tags::in_step(&self.ground, None, Some(&group)).await?);
                    let commit = opened(&room_of(&group, now), [&me])
                        .into_iter()
                        .fold(commit, |commit, (name, write)| commit.with(name, write))
                        .remembering(request.as_ref(), &Outcome::Group(group.id.clone()))?;
                    self.unless_gone(caller, commit.done(group).await?).await
                },
            )
            .await
    }

    /// Changes what a group is called and about. For those who run it.
    pub async fn update(
        &self,
        caller: &Caller,
        group: &GroupId,
        change: GroupChange,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let change = change.checked()?;
        let request = self.ground.request(&me, request, "updateGroup", &(group, &change))?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::UpdateGroup, "updateGroup")?;
                    let (before, now) = (&place.group, self.ground.now());
                    let after = change.applied_to(before, now);
                    let tags = tags::in_step(&self.ground, Some(before), Some(&after)).await?;
                    let mut patch = before
                        .key()
                        .patch()
                        .set(Group::NAME, &after.name)
                        .set(Group::TAGS, &after.tags)
                        .set(Group::UPDATED_AT, &now)
                        .when(writes::unchanged(before));
                    if after.description != before.description {
                        patch = patch.set(Group::DESCRIPTION, &after.description);
                    }
                    let commit = self
                        .ground
                        .commit()
                        .with("group", patch)
                        .with("authority", authority)
                        .with_any("tag", tags)
                        .remembering(request.as_ref(), &Outcome::Group(group.clone()))?;
                    Ok(commit.done(after).await?)
                },
            )
            .await
    }

    /// Ends a group; answers with it as it was. Its members are let go in the background; until then
    /// their memberships are of a group that is not there, and show nowhere.
    pub async fn delete(
        &self,
        caller: &Caller,
        group: &GroupId,
        request: Option<&RequestId>,
    ) -> Result<Group, GroupError> {
        let me = self.ground.account(caller).await?.id;
        let request = self.ground.request(&me, request, "deleteGroup", group)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| self.replayed(outcome).await,
                async || {
                    let place = self.place(caller, group).await?;
                    let authority =
                        place.demand(&self.ground, caller, Act::DeleteGroup, "deleteGroup")?;
                    let group = place.group;
                    // Sent again, the request tells which it was, and no longer what it was about.
                    let (description, tags) = (None, Vec::new());
                    let outcome =
                        Outcome::Deleted(Kept(Group { description, tags, ..group.clone() }));
                    let commit = self
                        .ground
                        .commit()
                        .with("group", group.key().delete().when(writes::unchanged(&group)))
                        .with("authority", authority)
                        .with_any("tag", tags::in_step(&self.ground, Some(&group), None).await?)
                        .remembering(request.as_ref(), &outcome)?;
                    Ok(commit.done(group).await?)
                },
            )
            .await
    }

    /// Before an attempt by somebody who comes into a group is made again, whether they still can: the
    /// account may be what has changed.
    async fn unless_gone<T>(
        &self,
        caller: &Caller,
        tried: Tried<T>,
    ) -> Result<Tried<T>, GroupError> {
        if matches!(tried, Tried::Again) {
            self.ground.reader(caller).await?;
        }
        Ok(tried)
    }

    /// A new group with its owner.
    fn founded(&self, owner: &UserId, new: &NewGroup) -> (Group, GroupMember) {
        let now = self.ground.now();
        let group = Group {
            id: self.ground.ids().next(),
            name: new.name.clone(),
            description: new.description.clone(),
            owner_id: owner.clone(),
            tags: new.tags.clone(),
            is_persistent: new.is_persistent,
            is_private: new.is_private,
            room_id: self.ground.ids().next::<RoomId>(),
            created_at: now,
            updated_at: now,
        };
        let member = GroupMember {
            group_id: group.id.clone(),
            user_id: owner.clone(),
            role: GroupRole::Owner,
            status: MemberStatus::Active,
            joined_at: now,
            // Nothing has been done in it yet, so nothing can be later than now.
            active_since: Some(now),
        };
        (group, member)
    }

    /// A group as it is now; one that was deleted, as it was.
    async fn replayed(&self, outcome: Outcome) -> Result<Group, GroupError> {
        match outcome {
            Outcome::Deleted(Kept(group)) => Ok(group),
            Outcome::Group(id) => {
                self.ground.core().group(&id).get().await?.ok_or(GroupError::NoSuchGroup)
            }
        }
    }
}
