//! What moderators read about decisions: the reports of a case and the audit log.

use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{CaseId, Day, SubjectId, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::objects::objects;
use crate::request::RequestContext;
use crate::scalars::Json;
use crate::users::User;

objects! {
    Report of entities::CaseReport;
    AuditEntry of entities::Audit;
}

#[object(of = self.0)]
impl Report {
    fn user(&self) -> &UserId {
        &self.0.user_id
    }
}

#[object(of = self.0)]
impl AuditEntry {
    fn actor_id(&self) -> Option<&UserId> {
        self.0.actor.as_ref()
    }

    async fn actor(
        entries: &[Self],
        context: &RequestContext,
    ) -> Result<Vec<Option<User>>, ApiError> {
        let actors = entries.iter().map(|entry| entry.0.actor.clone());
        User::load_given(context, &actors.collect::<Vec<_>>()).await
    }

    fn subject_id(&self) -> &SubjectId {
        &self.0.subject
    }

    fn detail(&self) -> Option<Json> {
        self.0.detail.as_ref()?.decode().ok().map(Json)
    }
}

pub(crate) async fn list_reports(
    context: &RequestContext,
    case: &CaseId,
    paging: PageArguments,
) -> Result<Connection<Report>, ApiError> {
    let (caller, moderation) = (context.caller()?, context.services().moderation());
    let list = format!("reports of {case}");
    paging.read(context, &list, async |page| moderation.reports(caller, case, page).await).await
}

pub(crate) async fn list_audit_of(
    context: &RequestContext,
    subject: &SubjectId,
    paging: PageArguments,
) -> Result<Connection<AuditEntry>, ApiError> {
    let (caller, moderation) = (context.caller()?, context.services().moderation());
    let list = format!("audit of {subject}");
    paging.read(context, &list, async |page| moderation.audit_of(caller, subject, page).await).await
}

async fn list_audit_by(
    context: &RequestContext,
    actor: &UserId,
    paging: PageArguments,
) -> Result<Connection<AuditEntry>, ApiError> {
    let (caller, moderation) = (context.caller()?, context.services().moderation());
    let list = format!("audit by {actor}");
    paging.read(context, &list, async |page| moderation.audit_by(caller, actor, page).await).await
}

async fn list_audit_on(
    context: &RequestContext,
    day: Option<Day>,
    paging: PageArguments,
) -> Result<Connection<AuditEntry>, ApiError> {
    let (caller, moderation) = (context.caller()?, context.services().moderation());
    let list = format!("audit on {day:?}");
    let read = async |page: &_| moderation.audit(caller, day, day, page).await;
    paging.read(context, &list, read).await
}

pub(crate) struct AuditQueries;

#[fields(Query)]
impl AuditQueries {
    async fn list_reports(
        context: &RequestContext,
        case_id: CaseId,
        paging: PageArguments,
    ) -> Result<Connection<Report>, ApiError> {
        list_reports(context, &case_id, paging).await
    }

    async fn list_audit(
        context: &RequestContext,
        day: Option<Day>,
        actor_id: Option<UserId>,
        subject_id: Option<SubjectId>,
        paging: PageArguments,
    ) -> Result<Connection<AuditEntry>, ApiError> {
        match (day, actor_id, subject_id) {
            (day, None, None) => list_audit_on(context, day, paging).await,
            (None, Some(actor), None) => list_audit_by(context, &actor, paging).await,
            (None, None, Some(subject)) => list_audit_of(context, &subject, paging).await,
            _ => {
                let problem = "day: expected at most one of `day`, `actorId` and `subjectId`";
                Err(ApiError::bad_request(problem))
            }
        }
    }
}
