//! The trail of who decided what: written in the transaction of the decision itself.

use roundtable_model::entities::Audit;
use roundtable_model::table::Write;
use roundtable_model::{AuditId, Entity, Json, Shard, SubjectId};

use crate::{Caller, Ground};

/// The entry that says who did what to whom or what, and why.
pub(crate) fn entry(
    ground: &Ground,
    actor: Option<&Caller>,
    action: &'static str,
    subject: impl Into<SubjectId>,
    detail: Option<Json>,
) -> Write {
    let (now, id) = (ground.now(), ground.ids().next::<AuditId>());
    let shards = ground.settings().shards.audit.0;
    let audit = Audit {
        created_at: now,
        shard: Shard::of(&id.to_string(), shards),
        id,
        actor: actor.map(|actor| actor.user_id.clone()),
        action: action.to_owned(),
        subject: subject.into(),
        detail,
    };
    audit.create().into()
}
