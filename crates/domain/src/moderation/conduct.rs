//! Reports of users, groups and messages, and decisions about them. Such a decision is recorded and changes
//! nothing else: moderators suspend users, and admins delete groups.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{CaseReport, Group, Message, ModerationCase, User};
use roundtable_model::table::Check;
use roundtable_model::{
    CaseId, Entity, Expiry, GroupId, MessageId, ModerationStatus, RequestId, RoomId, Shard, Time,
    UserId, rekey,
};
use serde::{Deserialize, Serialize};

use super::decisions::ModerationDecision;
use super::reports::{ReportSource as _, case_write, redacted_case, with_report};
use super::{Moderation, ModerationError, ReviewedCase, StatusChange, is_decided};
use crate::access::{Permission, Relations, allows};
use crate::account::active_account_check;
use crate::limits::{REASON_CHARS_MAX, REVIEW_DAYS_MAX, check_filled, check_text};
use crate::rooms::{RoomMembership, find_message, visible_messages};
use crate::{Caller, ServiceError, audit};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A user, a group or a message that is reported; stored as the outcome of the request.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum ConductTarget {
    User(UserId),
    Group(GroupId),
    Message(RoomId, MessageId),
}

#[boxed]
impl Moderation {
    /// Reports a user. Repeating it has no effect. Returns the case as far as a reporter may see it.
    pub async fn report_user(
        &self,
        caller: &Caller,
        user: &UserId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report_conduct(caller, ConductTarget::User(user.clone()), reason, request).await
    }

    pub async fn report_group(
        &self,
        caller: &Caller,
        group: &GroupId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        self.report_conduct(caller, ConductTarget::Group(group.clone()), reason, request).await
    }

    /// Reports a message of a room that the caller is in. Moderators then read the message.
    pub async fn report_message(
        &self,
        caller: &Caller,
        room: &RoomId,
        message: &MessageId,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        let target = ConductTarget::Message(room.clone(), message.clone());
        self.report_conduct(caller, target, reason, request).await
    }

    async fn report_conduct(
        &self,
        caller: &Caller,
        target: ConductTarget,
        reason: &str,
        request: Option<&RequestId>,
    ) -> Result<ModerationCase, ModerationError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("reason", reason, REASON_CHARS_MAX)?;
        let operation = target.report_operation();
        mutation
            .once(operation, &(&target, reason), request)?
            .replay(async |target: ConductTarget| {
                match self.reported(&target.case_id(), &caller.user_id).await? {
                    (Some(report), Some(case)) => Ok(redacted_case(case, &report.text())),
                    _ => Err(ModerationError::NoSuchCase),
                }
            })
            .run(async |me, attempt| {
                let exists = self.reportable_conduct(caller, &me, &target).await?;
                let id = target.case_id();
                let earlier = match self.reported(&id, &me.id).await? {
                    (Some(report), Some(case)) => {
                        let case = redacted_case(case, &report.text());
                        return attempt.unchanged(&target, case).await;
                    }
                    (_, case) => case,
                };
                let now = self.context.now();
                let ttl = Expiry::at(now.plus_ms(u64::from(REVIEW_DAYS_MAX) * DAY_MS));
                let report = CaseReport {
                    case_id: id,
                    user_id: me.id.clone(),
                    reason: reason.to_owned(),
                    created_at: now,
                    ttl: Some(ttl),
                };
                let case = match &earlier {
                    Some(case) => with_report(case, &report.text()),
                    None => with_report(&self.conduct_case(&target, now), &report.text()),
                };
                // A case is shown as long as it is new enough for the queue.
                let is_opened = earlier.as_ref().is_none_or(is_decided);
                let ttl = if is_opened { Some(ttl) } else { case.ttl };
                let case = ModerationCase { ttl, ..case };
                let mut commit = attempt
                    .commit()
                    .with("report", report.create())
                    .with("subject", exists)
                    .with("case", case_write(earlier.as_ref(), &case)?);
                if let Some(earlier) = earlier.filter(is_decided) {
                    let change = StatusChange {
                        from: earlier.status,
                        to: case.status,
                        reason: Some(reason),
                    };
                    let id = &case.id;
                    let entry = audit::entry(
                        &self.context,
                        Some(caller),
                        operation,
                        id,
                        Some(change.json()?),
                    );
                    commit = commit.with("audit", entry);
                }
                commit.finish(&target, redacted_case(case, &report.text())).await
            })
            .await
    }

    /// Requires that the caller sees the subject and is not responsible for it. Returns the check that it still
    /// exists.
    async fn reportable_conduct(
        &self,
        caller: &Caller,
        me: &User,
        target: &ConductTarget,
    ) -> Result<Check, ModerationError> {
        let (people, groups) = match target {
            ConductTarget::User(id) => (Some(id), None),
            ConductTarget::Group(id) => (None, Some(id)),
            ConductTarget::Message(..) => (None, None),
        };
        let access = self.context.viewer_access_of(caller, me, people, groups).await?;
        let (author, check) = match target {
            ConductTarget::User(id) => {
                (access.addressable(id).map(|user| user.id.clone()), active_account_check(id))
            }
            ConductTarget::Group(id) => {
                let group = access.visible_group(id);
                (group.map(|group| group.owner_id.clone()), Group::at(id).exists())
            }
            ConductTarget::Message(room, id) => {
                let message = self.message_of_member(caller, me, room, id).await?;
                let at = id.time().unwrap_or(Time::EPOCH);
                (message.map(|message| message.user_id), Message::at(room, &at, id).exists())
            }
        };
        let relations = Relations::SIGNED_IN.with_if(author.is_some(), Relations::CAN_SEE);
        let author = author.filter(|_| allows(Permission::Report, relations));
        match author {
            None => Err(target.not_found()),
            Some(author) if author == me.id => Err(ModerationError::OwnContent),
            Some(_) => Ok(check),
        }
    }

    /// Returns a message as its reader sees it; `None` if the reader is not in the room.
    async fn message_of_member(
        &self,
        caller: &Caller,
        me: &User,
        room: &RoomId,
        id: &MessageId,
    ) -> Result<Option<Message>, ServiceError> {
        let rooms = RoomMembership::among(&self.context, &me.id, [room]).await?;
        if !rooms.contains_key(room) {
            return Ok(None);
        }
        let Some(message) = find_message(&self.context, room, id).await? else { return Ok(None) };
        let visible = visible_messages(&self.context, caller, vec![message]).await?;
        Ok(visible.into_iter().flatten().next())
    }

    /// The user's existing report, and the case.
    async fn reported(
        &self,
        id: &CaseId,
        user: &UserId,
    ) -> Result<(Option<CaseReport>, Option<ModerationCase>), ServiceError> {
        let core = self.context.core();
        let (report, case) = (core.case_report(id, user).get(), core.moderation_case(id).get());
        Ok(futures::future::try_join(report, case).await?)
    }

    fn conduct_case(&self, target: &ConductTarget, now: Time) -> ModerationCase {
        let id = target.case_id();
        let case = ModerationCase {
            shard: Shard::of(&id.to_string(), self.context.settings().shards.cases.0),
            id,
            post_id: None,
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
            created_at: now,
            ttl: None,
        };
        match target.clone() {
            ConductTarget::User(id) => ModerationCase { user_id: Some(id), ..case },
            ConductTarget::Group(id) => ModerationCase { group_id: Some(id), ..case },
            ConductTarget::Message(room, _) => ModerationCase { room_id: Some(room), ..case },
        }
    }

    /// Decides a case about a user, a group or a message.
    pub async fn decide_case(
        &self,
        caller: &Caller,
        id: &CaseId,
        status: ModerationStatus,
        reason: Option<&str>,
        request: Option<&RequestId>,
    ) -> Result<ReviewedCase, ModerationError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::Moderate)?;
        if status == ModerationStatus::Pending {
            return Err(ModerationError::InvalidDecision);
        }
        check_text("reason", reason.unwrap_or_default(), REASON_CHARS_MAX)?;
        let operation = "decideCase";
        mutation
            .once(operation, &(id, status, reason), request)?
            .replay(async |id: CaseId| self.case(caller, &id).await)
            .run(async |_, attempt| {
                let ReviewedCase { case, subject } = self.case(caller, id).await?;
                if case.post_id.is_some() {
                    return Err(ModerationError::ContentCase);
                }
                let now = self.context.now();
                let decision = ModerationDecision { status, reason, by: Some(caller) };
                let decided = decision.closing(case.clone(), now);
                let change = StatusChange { from: case.status, to: status, reason };
                let detail = Some(change.json()?);
                let entry = audit::entry(&self.context, Some(caller), operation, id, detail);
                attempt
                    .commit()
                    .with("case", rekey(&case, &decided)?)
                    .with("staff", staff.role_check())
                    .with("audit", entry)
                    .finish(id, ReviewedCase { case: decided, subject })
                    .await
            })
            .await
    }
}

impl ConductTarget {
    fn case_id(&self) -> CaseId {
        match self {
            Self::User(id) => id.into(),
            Self::Group(id) => id.into(),
            Self::Message(_, id) => id.into(),
        }
    }

    const fn report_operation(&self) -> &'static str {
        match self {
            Self::User(_) => "reportUser",
            Self::Group(_) => "reportGroup",
            Self::Message(..) => "reportMessage",
        }
    }

    const fn not_found(&self) -> ModerationError {
        match self {
            Self::User(_) => ModerationError::NoSuchUser,
            Self::Group(_) => ModerationError::NoSuchGroup,
            Self::Message(..) => ModerationError::NoSuchMessage,
        }
    }
}
