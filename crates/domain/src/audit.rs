//! The audit log, written in the transaction of the audited decision.

use roundtable_model::entities::Audit;
use roundtable_model::table::Write;
use roundtable_model::{AuditId, Entity, Json, Shard, SubjectId};

use crate::{Caller, Context};

pub(crate) fn entry(
    context: &Context,
    actor: Option<&Caller>,
    action: &'static str,
    subject: impl Into<SubjectId>,
    detail: Option<Json>,
) -> Write {
    let (now, id) = (context.now(), context.ids().next::<AuditId>());
    let shards = context.settings().shards.audit.0;
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
