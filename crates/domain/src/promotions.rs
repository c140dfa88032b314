//! Promotions: actors whose activities are copied into their readers' feeds ahead of reads, set by
//! an admin or by a rule. Feeds show the same either way (R14, R36).
//!
//! A promotion and the actor's head change together, so that every activity finds in the head
//! whether it is to be copied. The activity itself opens and closes the interval; the fan-out
//! writes its own progress into the promotion.

mod rule;
mod thresholds;

use futures::future::{try_join, try_join3};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, Promotion, User};
use roundtable_model::table::{Check, Write};
use roundtable_model::{
    ActorId, Entity, GroupId, InvalidValue, Json, PromotionReason, RequestId, UserCount, UserStatus,
};
use serde::{Deserialize, Serialize};

use self::rule::{ActorStats, apply_rule};
use self::thresholds::{check_overrides, record_of, thresholds_for};
use crate::access::Permission;
use crate::account::existing_account_check;
use crate::accounts::staff::StaffMember;
use crate::activities::StoredHead;
use crate::mutation::{Attempt, AttemptOutcome};
use crate::{Caller, Context, PromotionSettings, ServiceError, audit, refusals};

refusals! {
    PromotionError {
        NoSuchSubject: NotFound = "there is no such user or group",
    }
}

#[derive(Clone, Debug)]
pub struct Promotions {
    context: Context,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewPromotion {
    /// A user or a group.
    pub subject_id: ActorId,
    pub fanout_enabled: bool,
    /// A manual promotion is final; with any other reason, the rule may change it later.
    pub reason: PromotionReason,
    /// The thresholds that the rule follows for this subject, instead of those of the settings:
    /// `followers`, `followersMax` and `activitiesPerDay`. Without them, it follows the settings.
    pub thresholds: Option<Json>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PromotionOutcome {
    subject: ActorId,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PromotionAuditDetail {
    fanout_enabled: bool,
    reason: PromotionReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    thresholds: Option<serde_json::Value>,
}

enum PromotionSubject {
    User(Box<User>),
    Group(GroupId),
}

impl PromotionSubject {
    /// Requires that the subject still exists: nothing may be left behind for a deleted one.
    fn check(&self) -> Check {
        match self {
            Self::User(user) => existing_account_check(&user.id),
            Self::Group(id) => Group::at(id).exists(),
        }
    }

    /// Returns whether this is the caller, whose profile is checked anyway.
    fn is_caller(&self, caller: &Caller) -> bool {
        matches!(self, Self::User(user) if user.id == caller.user_id)
    }
}

#[boxed]
impl Promotions {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Returns promotions in the order of `subjects`. For admins.
    pub async fn promotions(
        &self,
        caller: &Caller,
        subjects: &[ActorId],
    ) -> Result<Vec<Option<Promotion>>, PromotionError> {
        self.context.authorize_staff(caller, Permission::SeePromotion).await?;
        Ok(self.context.core().promotions(subjects).strong().get().await?)
    }

    pub async fn set(
        &self,
        caller: &Caller,
        input: &NewPromotion,
        request: Option<&RequestId>,
    ) -> Result<Promotion, PromotionError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::SetPromotion)?;
        let settings = &self.context.settings().feed.promotion;
        check_overrides(input.thresholds.as_ref(), settings)?;
        mutation
            .once("setPromotion", input, request)?
            .replay(async |outcome: PromotionOutcome| {
                let promotion = self.promotion(&outcome.subject).await?;
                promotion.ok_or(PromotionError::NoSuchSubject)
            })
            .run(async |_, attempt| self.try_set(Some((caller, &staff)), input, attempt).await)
            .await
    }

    /// Promotes or demotes a subject manually, on behalf of the operator.
    pub async fn set_as_operator(
        &self,
        subject: &ActorId,
        fanout_enabled: bool,
    ) -> Result<Promotion, PromotionError> {
        let (subject_id, reason) = (subject.clone(), PromotionReason::Manual);
        let input = NewPromotion { subject_id, fanout_enabled, reason, thresholds: None };
        self.context.retry(|attempt| self.try_set(None, &input, attempt)).await
    }

    /// Returns the writes that apply the rule to a subject, from its current followers and daily
    /// activities; empty when nothing changes. They must be written together, and fail when a
    /// concurrent decision was made. `ended_day` is the number of activities of the previous day,
    /// if that has just ended.
    pub async fn rule_writes(
        &self,
        subject: &ActorId,
        ended_day: Option<u64>,
    ) -> Result<Vec<Write>, PromotionError> {
        let Some(found) = self.load_subject(subject).await? else { return Ok(Vec::new()) };
        let (head, before, followers) = try_join3(
            StoredHead::of(&self.context, subject),
            self.promotion(subject),
            self.reader_count(&found),
        )
        .await?;
        let stats = ActorStats { followers, today: head.promoted(false).window_count, ended_day };
        let settings = thresholds_for(before.as_ref(), &self.context.settings().feed.promotion);
        let current = before.as_ref().map(|before| (before.fanout_enabled, before.reason));
        let Some((fanout_enabled, reason)) = apply_rule(&settings, current, stats) else {
            return Ok(Vec::new());
        };
        let thresholds = Some(record_of(&settings)?);
        let subject_id = subject.clone();
        let input = NewPromotion { subject_id, fanout_enabled, reason, thresholds };
        let overrides = before.as_ref().and_then(|before| before.overrides.clone());
        let after = self.new_promotion(&found, &input, overrides, before.as_ref());
        let mut writes = promotion_writes(&head, before.as_ref(), &after);
        writes.push(found.check().into());
        Ok(writes)
    }

    /// Returns the thresholds that the rule follows for each of these subjects.
    pub async fn thresholds(
        &self,
        subjects: &[ActorId],
    ) -> Result<Vec<PromotionSettings>, PromotionError> {
        let promotions = self.context.core().promotions(subjects).strong().get().await?;
        let settings = &self.context.settings().feed.promotion;
        let each = promotions.iter().map(|found| thresholds_for(found.as_ref(), settings));
        Ok(each.collect())
    }

    /// By a staff member, or by the operator if `None`.
    async fn try_set(
        &self,
        staff: Option<(&Caller, &StaffMember<'_>)>,
        input: &NewPromotion,
        attempt: Attempt<'_>,
    ) -> Result<AttemptOutcome<Promotion>, PromotionError> {
        let subject = &input.subject_id;
        let found = self.load_subject(subject).await?.ok_or(PromotionError::NoSuchSubject)?;
        let (head, before) =
            try_join(StoredHead::of(&self.context, subject), self.promotion(subject)).await?;
        let outcome = PromotionOutcome { subject: subject.clone() };
        // The operator decides without thresholds, and leaves those that an admin has set.
        let kept = before.as_ref().and_then(|before| before.overrides.clone());
        let overrides = if staff.is_some() { input.thresholds.clone() } else { kept };
        if let Some(before) = &before
            && (before.fanout_enabled, before.reason) == (input.fanout_enabled, input.reason)
            && (&before.thresholds, &before.overrides) == (&input.thresholds, &overrides)
        {
            return attempt.unchanged(outcome, before.clone()).await;
        }
        let caller = staff.map(|(caller, _)| caller);
        let entry = self.audit_entry(caller, input)?;
        let after = self.new_promotion(&found, input, overrides, before.as_ref());
        attempt
            .commit()
            .with_all("promotion", promotion_writes(&head, before.as_ref(), &after))
            .with_all("staff", staff.map(|(_, staff)| staff.role_check()))
            .with_all(
                "subject",
                caller.is_none_or(|it| !found.is_caller(it)).then(|| found.check()),
            )
            .with("audit", entry)
            .finish(outcome, after)
            .await
    }

    fn audit_entry(
        &self,
        caller: Option<&Caller>,
        input: &NewPromotion,
    ) -> Result<Write, ServiceError> {
        let internal = |invalid: InvalidValue| ServiceError::Internal(invalid.to_string());
        let thresholds =
            input.thresholds.as_ref().map(Json::decode).transpose().map_err(internal)?;
        let NewPromotion { subject_id, fanout_enabled, reason, .. } = input;
        let (fanout_enabled, reason) = (*fanout_enabled, *reason);
        let detail = Json::encode(&PromotionAuditDetail { fanout_enabled, reason, thresholds })
            .map_err(internal)?;
        Ok(audit::entry(&self.context, caller, "setPromotion", subject_id, Some(detail)))
    }

    /// The new promotion, with the progress of the fan-out.
    fn new_promotion(
        &self,
        subject: &PromotionSubject,
        input: &NewPromotion,
        overrides: Option<Json>,
        before: Option<&Promotion>,
    ) -> Promotion {
        let (user_id, group_id) = match subject {
            PromotionSubject::User(user) => (Some(user.id.clone()), None),
            PromotionSubject::Group(id) => (None, Some(id.clone())),
        };
        Promotion {
            subject_id: input.subject_id.clone(),
            user_id,
            group_id,
            fanout_enabled: input.fanout_enabled,
            reason: input.reason,
            thresholds: input.thresholds.clone(),
            overrides,
            watermark: before.and_then(|before| before.watermark),
            watermark_since: before.and_then(|before| before.watermark_since),
            updated_at: self.context.now(),
        }
    }

    async fn promotion(&self, subject: &ActorId) -> Result<Option<Promotion>, ServiceError> {
        Ok(self.context.core().promotion(subject).strong().get().await?)
    }

    /// Returns a user that is not deleted, or a group.
    async fn load_subject(&self, id: &ActorId) -> Result<Option<PromotionSubject>, ServiceError> {
        let core = self.context.core();
        if let Some(user) = core.profile(&id.recast()).strong().get().await? {
            let not_deleted = user.status != UserStatus::Deleted;
            return Ok(not_deleted.then(|| PromotionSubject::User(Box::new(user))));
        }
        let group = core.group(&id.recast()).get().await?;
        Ok(group.map(|group| PromotionSubject::Group(group.id)))
    }

    /// The number of readers that would receive copies.
    async fn reader_count(&self, subject: &PromotionSubject) -> Result<u64, ServiceError> {
        let core = self.context.core();
        Ok(match subject {
            PromotionSubject::User(user) => {
                let counts = core.counts(&user.id, &[UserCount::Followers], user.follower_shards);
                counts.strong().get().await?.iter().flatten().map(|counter| counter.count).sum()
            }
            PromotionSubject::Group(id) => {
                let counts = core.group_counts(std::slice::from_ref(id)).strong().get().await?;
                counts.iter().flatten().map(|counter| counter.count).sum()
            }
        })
    }
}

/// The writes that change a promotion, and the head if copying starts or stops. The watermark is
/// not written: it may move concurrently.
fn promotion_writes(
    head: &StoredHead,
    before: Option<&Promotion>,
    after: &Promotion,
) -> Vec<Write> {
    let promotion: Write = match before {
        None => after.create().into(),
        Some(before) => {
            let as_read = Promotion::FANOUT_ENABLED.is(&before.fanout_enabled);
            let as_read = as_read
                .and(Promotion::REASON.is(&before.reason))
                .and(Promotion::OVERRIDES.is(&before.overrides));
            let patch = after.key().patch();
            let patch = patch
                .set(Promotion::FANOUT_ENABLED, &after.fanout_enabled)
                .set(Promotion::REASON, &after.reason)
                .set(Promotion::THRESHOLDS, &after.thresholds)
                .set(Promotion::OVERRIDES, &after.overrides)
                .set(Promotion::UPDATED_AT, &after.updated_at);
            patch.when(as_read).into()
        }
    };
    let mut writes = vec![promotion];
    if before.is_some_and(|before| before.fanout_enabled) != after.fanout_enabled {
        writes.push(head.write(head.promoted(after.fanout_enabled)));
    }
    writes
}
