//! The tally entries of quests, rewards, tags, files, helpers and notifications.

use roundtable_model::entities::{
    Activity, AssistHelper, AssistThread, Group, Holder, Media, Notification, Offer,
    ProfileActivity, Quest, QuestStep, TagRef, Upload,
};
use roundtable_model::table::Item;
use roundtable_model::{
    Entity, EntityKind, ObjectType, OfferStatus, QuestKind, QuestStatus, Shard, SubjectId, Tag,
    UploadState, UserCount, UserId,
};

use super::{CheckRules, TallySource, stored};
use crate::subject::{TaggedSubject, TallySubject};
use crate::tally::{TallyEntry, TallyKind};

impl TallySource for Quest {
    const COUNTS: &'static [&'static str] = &["progressCount"];

    fn emit_entries(&self, item: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let own = || TallySubject::Quest(self.user_id.clone(), self.id.clone());
        emit(TallyEntry::stated(TallyKind::Steps, own(), stored(item, "progressCount")));
        emit(TallyEntry::owner(TallyKind::Reward, own()));
        if self.status == QuestStatus::Completed {
            emit(TallyEntry::fact(TallyKind::Reward, own()).label(self.reward_xp.to_string()));
        }
    }

    /// A quest is completed exactly when its progress reaches the target.
    fn contradiction(&self, _: &Item, _: &CheckRules) -> Option<(String, String)> {
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

/// The progress at which a quest is completed.
pub(crate) fn target(quest: &Quest) -> u64 {
    let goals = quest.linked_goal_ids.as_ref().map_or(0, Vec::len);
    let tasks = quest.linked_task_ids.as_ref().map_or(0, Vec::len);
    match quest.kind {
        QuestKind::Quantitative => quest.target_count.unwrap_or(u64::MAX),
        QuestKind::Linked => u64::try_from(goals + tasks).unwrap_or(u64::MAX),
    }
}

impl TallySource for QuestStep {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let quest = TallySubject::Quest(self.user_id.clone(), self.quest_id.clone());
        emit(TallyEntry::fact(TallyKind::Steps, quest));
    }
}

impl TallySource for Notification {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if self.read_at.is_none() {
            let unread =
                TallySubject::UserCounter(self.user_id.clone(), UserCount::Unread, Shard::ZERO);
            emit(TallyEntry::fact(TallyKind::Counter, unread));
        }
    }
}

impl TallySource for Group {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        emit_tags(EntityKind::Group, &(&self.id).into(), &self.tags, emit);
    }
}

impl TallySource for Offer {
    /// Only open offers are listed under their tags.
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if self.status == OfferStatus::Open {
            emit_tags(EntityKind::Offer, &(&self.id).into(), &self.tags, emit);
        }
    }
}

impl TallySource for TagRef {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        use EntityKind::{Comment, Group, Offer, Post};
        // Tags of users, goals and quests are not checked.
        if matches!(self.entity, Post | Comment | Offer | Group) {
            let Self { tag, shard, entity, id, .. } = self.clone();
            let tagged = TallySubject::Tagged(TaggedSubject { tag, shard, entity, id });
            emit(TallyEntry::stated(TallyKind::Tag, tagged, 1));
        }
    }
}

pub(super) fn emit_tags(
    entity: EntityKind,
    id: &SubjectId,
    tags: &[Tag],
    emit: &mut dyn FnMut(TallyEntry),
) {
    for tag in tags {
        let (tag, shard, id) = (tag.clone(), Shard::ZERO, id.clone());
        emit(TallyEntry::fact(
            TallyKind::Tag,
            TallySubject::Tagged(TaggedSubject { tag, shard, entity, id }),
        ));
    }
}

pub(super) fn emit_files<'a>(
    owner: &UserId,
    files: impl IntoIterator<Item = &'a Media>,
    holder: &Holder,
    emit: &mut dyn FnMut(TallyEntry),
) {
    for media in files {
        let file = TallySubject::Item(Upload::at(owner, &media.s3_key).into_key());
        emit(TallyEntry::fact(TallyKind::File, file).label(describe_holder(holder)));
    }
}

/// Describes a holder: "post p1".
fn describe_holder(Holder { kind, id, home, at }: &Holder) -> String {
    let home = home.as_ref().map_or_else(String::new, |home| format!(" of {home}"));
    let at = at.map_or_else(String::new, |at| format!(" at {at}"));
    format!("{kind} {id}{home}{at}")
}

impl TallySource for Activity {
    /// Files of a post belong to the post, not to its activity.
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if self.object_type != ObjectType::Post {
            emit_files(&self.actor_id, &self.media, &Holder::activity(self), emit);
        }
    }
}

impl TallySource for ProfileActivity {
    fn emit_entries(&self, item: &Item, rules: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        Activity::from(self.clone()).emit_entries(item, rules, emit);
    }
}

impl TallySource for Upload {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        if let Some(bytes) = self.charged_bytes {
            let counted = |counter, amount: u64| {
                let counter = TallySubject::UserCounter(self.user_id.clone(), counter, Shard::ZERO);
                TallyEntry::fact(TallyKind::Counter, counter).amount(amount.into())
            };
            emit(counted(UserCount::MediaBytes, bytes));
            if self.state == UploadState::Pending {
                emit(counted(UserCount::PendingUploads, 1));
            }
        }
        if let Some(holder) = &self.holder {
            let file = TallySubject::Item(self.key().into_key());
            emit(TallyEntry::stated(TallyKind::File, file, 1).label(describe_holder(holder)));
        }
    }
}

impl TallySource for AssistThread {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        for helper in &self.helper_ids {
            let helper_item =
                TallySubject::Item(AssistHelper::at(&self.thread_id, helper).into_key());
            emit(TallyEntry::fact(TallyKind::AssistHelper, helper_item));
        }
    }
}

impl TallySource for AssistHelper {
    fn emit_entries(&self, _: &Item, _: &CheckRules, emit: &mut dyn FnMut(TallyEntry)) {
        let item = TallySubject::Item(self.key().into_key());
        emit(TallyEntry::stated(TallyKind::AssistHelper, item, 1));
    }
}
