//! Moderation cases of posts that are reviewed without a report (R34).

use roundtable_model::entities::{ModerationCase, Post};
use roundtable_model::table::Write;
use roundtable_model::{CaseId, Entity, ModerationStatus, Shard};

use crate::{Context, ModerationMode, ServiceError};

pub(super) fn is_moderated(context: &Context) -> bool {
    context.settings().moderation != ModerationMode::Off
}

pub(super) fn new_case(context: &Context, post: &Post) -> ModerationCase {
    let id = CaseId::from(&post.id);
    ModerationCase {
        shard: Shard::of(&id.to_string(), context.settings().shards.cases.0),
        id,
        post_id: Some(post.id.clone()),
        comment_id: None,
        user_id: None,
        group_id: None,
        room_id: None,
        reason: None,
        reporter_ids: Vec::new(),
        status: ModerationStatus::Pending,
        decided_by: None,
        decided_at: None,
        version: 1,
        created_at: post.updated_at,
        ttl: None,
    }
}

/// Reopens the case of an edited post; fails when the case has changed concurrently.
pub(super) async fn reopen(context: &Context, post: &Post) -> Result<Write, ServiceError> {
    let fresh = new_case(context, post);
    let Some(case) = context.core().moderation_case(&fresh.id).get().await? else {
        return Ok(fresh.create().into());
    };
    let same = ModerationCase::VERSION.is(&case.version);
    if case.status == ModerationStatus::Pending {
        return Ok(case.key().check(same).into());
    }
    // Its day changes, which a rekey would refuse, so it is written as a whole.
    let version = case.version + 1;
    let fresh = ModerationCase { version, reporter_ids: case.reporter_ids, ..fresh };
    Ok(fresh.put().when(same).into())
}
