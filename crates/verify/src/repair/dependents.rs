//! Writes or deletes items that depend on another one: room members, rewards of completed quests,
//! tag references.

use roundtable_model::entities::{
    Comment, Group, GroupMember, Offer, Post, Quest, Room, RoomMember, TagRef, XpEntry,
};
use roundtable_model::table::{Check, Get, Transaction};
use roundtable_model::{
    CommentId, Entity, EntityKind, MemberStatus, OfferStatus, QuestId, QuestStatus, Result, RoomId,
    SubjectId, Tag, Time, UserId,
};

use super::RepairOutcome;
use crate::Verifier;
use crate::subject::{TaggedSubject, TallySubject};
use crate::tally::TallyKind;

/// Characters of a post or comment that serve as its title in tag listings.
const TITLE_CHARS: usize = 100;

/// An entity that carries tags, and the condition that its tags have not changed.
struct TaggedContent {
    tags: Vec<Tag>,
    title: String,
    /// The container it is found in.
    within: Option<SubjectId>,
    created_at: Time,
    check: Check,
}

impl Verifier {
    pub(super) async fn rewrite_dependent(
        &self,
        subject: &TallySubject,
        kind: TallyKind,
    ) -> Result<RepairOutcome> {
        match (subject, kind) {
            (TallySubject::RoomMember(room, user), _) => self.fix_room_member(room, user).await,
            (TallySubject::Quest(user, quest), TallyKind::Reward) => {
                self.rewrite_reward(user, quest).await
            }
            (TallySubject::Tagged(tagged), _) => self.rewrite_tag_reference(tagged).await,
            _ => Ok(RepairOutcome::skipped("it depends on no other item")),
        }
    }

    /// Makes a user a member of a group's room if, and only if, the user is an active member of the
    /// group.
    async fn fix_room_member(&self, room: &RoomId, user: &UserId) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let Some(Room { group_id: Some(group), .. }) = core.room(room).get().await? else {
            return Ok(RepairOutcome::skipped("the room belongs to no group"));
        };
        let member = core.member(&group, user).get().await?;
        let room_member = core.room_member(room, user).get().await?;
        let is_member = member.as_ref().is_some_and(|one| one.status == MemberStatus::Active);
        let is_unchanged = match &member {
            Some(member) => member.key().check(GroupMember::STATUS.is(&member.status)),
            None => GroupMember::at(&group, user).absent(),
        };
        let transaction = Transaction::new().with(core.table(), is_unchanged);
        let transaction = match (is_member, room_member) {
            (true, None) => {
                // As if the user had just joined.
                let heads = core.room_heads(std::slice::from_ref(room)).get().await?;
                let read_seq = heads.into_iter().flatten().next().map_or(0, |head| head.seq);
                let joined_at = Time::now(&*self.reader.clock);
                let (room_id, user_id) = (room.clone(), user.clone());
                let room_member = RoomMember { room_id, user_id, read_seq, joined_at };
                transaction.with(core.table(), room_member.create())
            }
            (false, Some(room_member)) => {
                transaction.with(core.table(), room_member.key().delete())
            }
            _ => return Ok(RepairOutcome::Done),
        };
        core.table().store().transact(transaction).await?;
        Ok(RepairOutcome::Done)
    }

    /// Writes the reward of a completed quest. Rewards without a completed quest stay.
    async fn rewrite_reward(&self, user: &UserId, id: &QuestId) -> Result<RepairOutcome> {
        let core = &self.tables.core;
        let quest = core.quest(user, id).get().await?;
        let get = Get::new(XpEntry::at(user, id)).strong();
        let has_entry = core.table().get(get).await?.item.is_some();
        let completed = quest.filter(|quest| quest.status == QuestStatus::Completed);
        let (Some(quest), false) = (completed, has_entry) else {
            return Ok(RepairOutcome::skipped(
                "an operator has to decide if the reward was earned",
            ));
        };
        let reward = XpEntry {
            user_id: user.clone(),
            quest_id: id.clone(),
            reward_xp: quest.reward_xp,
            created_at: quest.updated_at,
        };
        let is_completed = quest.key().check(Quest::STATUS.is(&QuestStatus::Completed));
        let transaction = Transaction::new().with(core.table(), reward.create());
        core.table().store().transact(transaction.with(core.table(), is_completed)).await?;
        Ok(RepairOutcome::Done)
    }

    /// Writes the tag reference of an entity that carries the tag, or deletes it.
    async fn rewrite_tag_reference(&self, tagged: &TaggedSubject) -> Result<RepairOutcome> {
        let TaggedSubject { tag, shard, entity, id } = tagged;
        let table = self.tables.core.table();
        let tagged_content = self.tagged_content(tagged).await?;
        let carries = |tagged_content: &TaggedContent| {
            tagged_content.tags.iter().any(|other| other.same_as(tag))
        };
        let Some(tagged_content) = tagged_content.filter(carries) else {
            let reference = TagRef::at(tag, shard, entity, id);
            table.delete(reference.delete()).await?;
            return Ok(RepairOutcome::Done);
        };
        let reference = TagRef {
            tag: tag.clone(),
            shard: *shard,
            entity: *entity,
            id: id.clone(),
            user_id: None,
            within: tagged_content.within,
            title: tagged_content.title,
            created_at: tagged_content.created_at,
        };
        let transaction = Transaction::new().with(table, reference.create());
        table.store().transact(transaction.with(table, tagged_content.check)).await?;
        Ok(RepairOutcome::Done)
    }

    async fn tagged_content(&self, tagged: &TaggedSubject) -> Result<Option<TaggedContent>> {
        let (core, id) = (&self.tables.core, &tagged.id);
        Ok(match tagged.entity {
            EntityKind::Post => core.post(&id.recast()).get().await?.and_then(|post| {
                let title = post.content.trim().chars().take(TITLE_CHARS).collect();
                let check = post.key().check(Post::HASHTAGS.is(&post.hashtags));
                let (tags, created_at, within) = (post.hashtags, post.created_at, None);
                (!post.is_deleted).then_some(TaggedContent {
                    tags,
                    title,
                    within,
                    created_at,
                    check,
                })
            }),
            EntityKind::Comment => self.tagged_comment(&id.recast()).await?,
            EntityKind::Offer => core.offer(&id.recast()).get().await?.and_then(|offer| {
                let check = offer.key().check(Offer::STATUS.is(&OfferStatus::Open));
                let Offer { tags, title, created_at, status, .. } = offer;
                let is_open = status == OfferStatus::Open;
                let within = None;
                is_open.then_some(TaggedContent { tags, title, within, created_at, check })
            }),
            EntityKind::Group => core.group(&id.recast()).get().await?.map(|group| {
                let check = group.key().check(Group::TAGS.is(&group.tags));
                let Group { tags, name, updated_at, .. } = group;
                TaggedContent { tags, title: name, within: None, created_at: updated_at, check }
            }),
            _ => None,
        })
    }

    async fn tagged_comment(&self, id: &CommentId) -> Result<Option<TaggedContent>> {
        let core = &self.tables.core;
        let Some(found) = core.comment(id).get().await? else { return Ok(None) };
        let comment = core.comment_on(&found.post_id, id).get().await?;
        Ok(comment.filter(|comment| !comment.is_deleted).map(|comment| TaggedContent {
            tags: comment.tags().to_vec(),
            title: comment.content.trim().chars().take(TITLE_CHARS).collect(),
            within: Some((&comment.post_id).into()),
            created_at: comment.created_at,
            check: comment.key().check(Comment::HASHTAGS.is(&comment.hashtags)),
        }))
    }
}
