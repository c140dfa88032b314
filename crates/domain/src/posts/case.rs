//! Posts that moderators look at, whether anybody has reported them or not (R34).

use roundtable_model::entities::{ModerationCase, Post};
use roundtable_model::table::Write;
use roundtable_model::{CaseId, Entity, ModerationStatus, Shard};

use crate::{Failure, Ground, ModerationMode};

/// Whether moderators look at every post.
pub(super) fn is_looked_at(ground: &Ground) -> bool {
    ground.settings().moderation != ModerationMode::Off
}

/// A case for a post that moderators have yet to look at.
pub(super) fn new(ground: &Ground, post: &Post) -> ModerationCase {
    let id = CaseId::from(&post.id);
    ModerationCase {
        shard: Shard::of(&id.to_string(), ground.settings().shards.cases.0),
        id,
        post_id: post.id.clone(),
        comment_id: None,
        reason: None,
        reporter_ids: Vec::new(),
        status: ModerationStatus::Pending,
        decided_by: None,
        decided_at: None,
        version: 1,
        created_at: post.updated_at,
    }
}

/// The write by which moderators look at a post again; refused when its case is no longer as it was.
pub(super) async fn reopened(ground: &Ground, post: &Post) -> Result<Write, Failure> {
    let fresh = new(ground, post);
    let Some(case) = ground.core().moderation_case(&fresh.id).get().await? else {
        return Ok(fresh.create().into());
    };
    let same = ModerationCase::VERSION.is(&case.version);
    if case.status == ModerationStatus::Pending {
        return Ok(case.key().check(same).into());
    }
    // Its day changes, which a rekey would refuse: it is written as a whole.
    let version = case.version + 1;
    let fresh = ModerationCase { version, reporter_ids: case.reporter_ids, ..fresh };
    Ok(fresh.put().when(same).into())
}
