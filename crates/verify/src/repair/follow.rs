//! Writes what is there because something else is, and takes away what is not: seats of members, rewards
//! of completed quests, references of tags.

use roundtable_model::entities::{
    Group, GroupMember, Offer, Post, Quest, Room, RoomMember, TagRef, XpEntry,
};
use roundtable_model::table::{Check, Get, Transaction};
use roundtable_model::{
    Entity, EntityKind, MemberStatus, OfferStatus, QuestId, QuestStatus, Result, RoomId, Tag, Time,
    UserId,
};

use super::Mended;
use crate::Verify;
use crate::books::Book;
use crate::subject::{Subject, Tagged};

/// Characters of a post by which a tag shows it.
const TITLE_CHARS: usize = 100;

/// What carries tags: which, what it is called, since when, and that it is as it was read.
struct Carrier {
    tags: Vec<Tag>,
    title: String,
    created_at: Time,
    check: Check,
}

impl Verify {
    pub(super) async fn follow(&self, subject: &Subject, book: Book) -> Result<Mended> {
        match (subject, book) {
            (Subject::Seat(room, user), _) => self.seat_again(room, user).await,
            (Subject::Quest(user, quest), Book::Reward) => self.reward_again(user, quest).await,
            (Subject::Tagged(tagged), _) => self.tag_again(tagged).await,
            _ => Ok(Mended::left("nothing follows there")),
        }
    }

    /// Whoever is an active member of a room's group has a seat, and nobody else.
    async fn seat_again(&self, room: &RoomId, user: &UserId) -> Result<Mended> {
        let core = &self.tables.core;
        let Some(Room { group_id: Some(group), .. }) = core.room(room).get().await? else {
            return Ok(Mended::left("it is a seat in no group's room"));
        };
        let member = core.member(&group, user).get().await?;
        let seat = core.room_member(room, user).get().await?;
        let is_member = member.as_ref().is_some_and(|one| one.status == MemberStatus::Active);
        let seen = match &member {
            Some(member) => member.key().check(GroupMember::STATUS.is(&member.status)),
            None => GroupMember::at(&group, user).absent(),
        };
        let both = Transaction::new().with(core.table(), seen);
        let both = match (is_member, seat) {
            (true, None) => {
                // As if they had just come in.
                let heads = core.room_heads(std::slice::from_ref(room)).get().await?;
                let read_seq = heads.into_iter().flatten().next().map_or(0, |head| head.seq);
                let joined_at = Time::now(&*self.reader.clock);
                let (room_id, user_id) = (room.clone(), user.clone());
                let seat = RoomMember { room_id, user_id, read_seq, joined_at };
                both.with(core.table(), seat.create())
            }
            (false, Some(seat)) => both.with(core.table(), seat.key().delete()),
            _ => return Ok(Mended::Done),
        };
        core.table().store().transact(both).await?;
        Ok(Mended::Done)
    }

    /// A completed quest has earned its reward. What was earned by no completed quest is left.
    async fn reward_again(&self, user: &UserId, id: &QuestId) -> Result<Mended> {
        let core = &self.tables.core;
        let quest = core.quest(user, id).get().await?;
        let place = Get::new(XpEntry::at(user, id)).strong();
        let there = core.table().get(place).await?.item.is_some();
        let completed = quest.filter(|quest| quest.status == QuestStatus::Completed);
        let (Some(quest), false) = (completed, there) else {
            return Ok(Mended::left("somebody has to decide whether it was earned"));
        };
        let reward = XpEntry {
            user_id: user.clone(),
            quest_id: id.clone(),
            reward_xp: quest.reward_xp,
            created_at: quest.updated_at,
        };
        let is_completed = quest.key().check(Quest::STATUS.is(&QuestStatus::Completed));
        let both = Transaction::new().with(core.table(), reward.create());
        core.table().store().transact(both.with(core.table(), is_completed)).await?;
        Ok(Mended::Done)
    }

    /// What carries a tag is found by it, and nothing else.
    async fn tag_again(&self, tagged: &Tagged) -> Result<Mended> {
        let Tagged { tag, shard, entity, id } = tagged;
        let table = self.tables.core.table();
        let carrier = self.carrier(tagged).await?;
        let carries = |carrier: &Carrier| carrier.tags.iter().any(|other| other.same_as(tag));
        let Some(carrier) = carrier.filter(carries) else {
            let reference = TagRef::at(tag, shard, entity, id);
            table.delete(reference.delete()).await?;
            return Ok(Mended::Done);
        };
        let reference = TagRef {
            tag: tag.clone(),
            shard: *shard,
            entity: *entity,
            id: id.clone(),
            user_id: None,
            title: carrier.title,
            created_at: carrier.created_at,
        };
        let both = Transaction::new().with(table, reference.create());
        table.store().transact(both.with(table, carrier.check)).await?;
        Ok(Mended::Done)
    }

    async fn carrier(&self, tagged: &Tagged) -> Result<Option<Carrier>> {
        let (core, id) = (&self.tables.core, &tagged.id);
        Ok(match tagged.entity {
            EntityKind::Post => core.post(&id.recast()).get().await?.and_then(|post| {
                let title = post.content.trim().chars().take(TITLE_CHARS).collect();
                let check = post.key().check(Post::HASHTAGS.is(&post.hashtags));
                let (tags, created_at) = (post.hashtags, post.created_at);
                (!post.is_deleted).then_some(Carrier { tags, title, created_at, check })
            }),
            EntityKind::Offer => core.offer(&id.recast()).get().await?.and_then(|offer| {
                let check = offer.key().check(Offer::STATUS.is(&OfferStatus::Open));
                let Offer { tags, title, created_at, status, .. } = offer;
                let is_open = status == OfferStatus::Open;
                is_open.then_some(Carrier { tags, title, created_at, check })
            }),
            EntityKind::Group => core.group(&id.recast()).get().await?.map(|group| {
                let check = group.key().check(Group::TAGS.is(&group.tags));
                let Group { tags, name, updated_at, .. } = group;
                Carrier { tags, title: name, created_at: updated_at, check }
            }),
            _ => None,
        })
    }
}
