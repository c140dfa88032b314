//! What quests, rewards, tags, files, helpers and what is unread tell.

use roundtable_model::entities::{
    Activity, AssistHelper, AssistThread, Group, Holder, Media, Notification, Offer, Quest,
    QuestStep, TagRef, Upload,
};
use roundtable_model::table::Item;
use roundtable_model::{
    Entity, EntityKind, ObjectType, OfferStatus, QuestKind, QuestStatus, Shard, SubjectId, Tag,
    UserCount, UserId,
};

use super::{Rules, Tell, stored};
use crate::books::{Book, Entry};
use crate::subject::{Subject, Tagged};

impl Tell for Quest {
    const COUNTS: &'static [&'static str] = &["progressCount"];

    fn tell(&self, item: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let own = || Subject::Quest(self.user_id.clone(), self.id.clone());
        say(Entry::stated(Book::Steps, own(), stored(item, "progressCount")));
        say(Entry::owner(Book::Reward, own()));
        if self.status == QuestStatus::Completed {
            say(Entry::fact(Book::Reward, own()).about(self.reward_xp.to_string()));
        }
    }

    /// It is completed by the last one that was wanted, and no earlier.
    fn contradiction(&self, _: &Item, _: &Rules) -> Option<(String, String)> {
        let (progress, target) = (self.progress_count, target(self));
        let expected = match self.status {
            QuestStatus::Completed if progress != target => format!("{target}, as it is completed"),
            QuestStatus::Active if progress >= target => {
                format!("less than {target}, as it is not completed")
            }
            _ => return None,
        };
        Some((format!("progressCount {expected}"), progress.to_string()))
    }
}

/// How many must count for a quest to be completed.
pub(crate) fn target(quest: &Quest) -> u64 {
    let goals = quest.linked_goal_ids.as_ref().map_or(0, Vec::len);
    let tasks = quest.linked_task_ids.as_ref().map_or(0, Vec::len);
    match quest.kind {
        QuestKind::Quantitative => quest.target_count.unwrap_or(u64::MAX),
        QuestKind::Linked => u64::try_from(goals + tasks).unwrap_or(u64::MAX),
    }
}

impl Tell for QuestStep {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        let quest = Subject::Quest(self.user_id.clone(), self.quest_id.clone());
        say(Entry::fact(Book::Steps, quest));
    }
}

impl Tell for Notification {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if self.read_at.is_none() {
            let unread = Subject::Person(self.user_id.clone(), UserCount::Unread, Shard::ZERO);
            say(Entry::fact(Book::Count, unread));
        }
    }
}

impl Tell for Group {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        tags(EntityKind::Group, &(&self.id).into(), &self.tags, say);
    }
}

impl Tell for Offer {
    /// One that is closed is not found by its tags any more.
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if self.status == OfferStatus::Open {
            tags(EntityKind::Offer, &(&self.id).into(), &self.tags, say);
        }
    }
}

impl Tell for TagRef {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        // What people, goals and quests carry is not looked into.
        if matches!(self.entity, EntityKind::Post | EntityKind::Offer | EntityKind::Group) {
            let Self { tag, shard, entity, id, .. } = self.clone();
            let tagged = Subject::Tagged(Tagged { tag, shard, entity, id });
            say(Entry::stated(Book::Tag, tagged, 1));
        }
    }
}

/// That something carries tags.
pub(super) fn tags(entity: EntityKind, id: &SubjectId, tags: &[Tag], say: &mut dyn FnMut(Entry)) {
    for tag in tags {
        let (tag, shard, id) = (tag.clone(), Shard::ZERO, id.clone());
        say(Entry::fact(Book::Tag, Subject::Tagged(Tagged { tag, shard, entity, id })));
    }
}

/// That something shows files of its owner.
pub(super) fn shows<'a>(
    owner: &UserId,
    files: impl IntoIterator<Item = &'a Media>,
    holder: &Holder,
    say: &mut dyn FnMut(Entry),
) {
    for media in files {
        let file = Subject::Item(Upload::at(owner, &media.s3_key).into_key());
        say(Entry::fact(Book::File, file).about(holds(holder)));
    }
}

/// A holder in words: "post p1".
fn holds(Holder { kind, id, home, at }: &Holder) -> String {
    let home = home.as_ref().map_or_else(String::new, |home| format!(" of {home}"));
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    format!("{kind} {id}{home}{at}")
}

impl Tell for Activity {
    /// What it shows of a post is the post's.
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if self.object_type != ObjectType::Post {
            shows(&self.actor_id, &self.media, &Holder::activity(self), say);
        }
    }
}

impl Tell for Upload {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        if let Some(holder) = &self.holder {
            let file = Subject::Item(self.key().into_key());
            say(Entry::stated(Book::File, file, 1).about(holds(holder)));
        }
    }
}

impl Tell for AssistThread {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        for helper in &self.helper_ids {
            let place = Subject::Item(AssistHelper::at(&self.thread_id, helper).into_key());
            say(Entry::fact(Book::Helper, place));
        }
    }
}

impl Tell for AssistHelper {
    fn tell(&self, _: &Item, _: &Rules, say: &mut dyn FnMut(Entry)) {
        say(Entry::stated(Book::Helper, Subject::Item(self.key().into_key()), 1));
    }
}
