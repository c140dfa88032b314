//! Whose activities are copied into the feeds of their readers, before anybody asks for them: by an
//! admin's word, or by a rule. What feeds show does not depend on it (R14, R36).
//!
//! A promotion and its subject's head change together, so that every activity finds in the head whether
//! it is to be copied. The activity itself opens and closes the interval; how far copying has come is
//! the fan-out's to write, beside what is written here.

mod rule;

use futures::future::{try_join, try_join3};
use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Group, Promotion, User};
use roundtable_model::table::{Check, Write};
use roundtable_model::{
    ActorId, Entity, GroupId, Json, Misfit, PromotionReason, RequestId, UserCount, UserStatus,
};
use serde::{Deserialize, Serialize};

use self::rule::{Seen, ruled};
use crate::access::Act;
use crate::accounts::staff::Official;
use crate::activities::Head;
use crate::limits::check_text;
use crate::once::{Request, Tried};
use crate::{Caller, Failure, Ground, audit, refusals};

/// Characters of thresholds: a few numbers.
const THRESHOLDS_CHARS_MAX: usize = 1_000;

refusals! {
    /// Why nobody was promoted or demoted.
    PromotionError {
        NoSuchSubject: NotFound = "there is no such person or group",
    }
}

/// The promotions of everybody.
#[derive(Clone, Debug)]
pub struct Promotions {
    ground: Ground,
}

/// What an admin wants to be true of somebody.
#[derive(Clone, Debug, Serialize)]
pub struct NewPromotion {
    /// Of whom: a person, or a group.
    pub subject_id: ActorId,
    /// Whether their activities are copied from now on.
    pub fanout_enabled: bool,
    /// Why. What is so by hand stays so; for any other reason, the rule may decide otherwise later.
    pub reason: PromotionReason,
    /// What had to be exceeded, for the record.
    pub thresholds: Option<Json>,
}

/// Whose promotion a request changed.
#[derive(Debug, Serialize, Deserialize)]
struct Outcome {
    subject: ActorId,
}

/// What the audit says of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    fanout_enabled: bool,
    reason: PromotionReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    thresholds: Option<serde_json::Value>,
}

/// What had to be exceeded, by the rule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Thresholds {
    followers: u64,
    followers_max: u64,
    activities_per_day: u64,
}

/// Whom a promotion is about.
enum Subject {
    Person(Box<User>),
    Group(GroupId),
}

impl Subject {
    /// Demands that they are still there: nothing may be left behind for somebody who is not.
    fn check(&self) -> Check {
        match self {
            Self::Person(user) => user.key().check(User::STATUS.is_not(&UserStatus::Deleted)),
            Self::Group(id) => Group::at(id).exists(),
        }
    }

    /// Whether this is the caller, whose profile is looked at anyway.
    fn is(&self, caller: &Caller) -> bool {
        matches!(self, Self::Person(user) if user.id == caller.user_id)
    }
}

#[boxed]
impl Promotions {
    /// The promotions on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// The promotions of people and groups, each in its place, if there ever was one; for admins.
    pub async fn promotions(
        &self,
        caller: &Caller,
        subjects: &[ActorId],
    ) -> Result<Vec<Option<Promotion>>, PromotionError> {
        let me = self.ground.reader(caller).await?;
        Official::new(caller, me).may(Act::SeePromotion)?;
        Ok(self.ground.core().promotions(subjects).strong().get().await?)
    }

    /// Promotes or demotes somebody.
    pub async fn set(
        &self,
        caller: &Caller,
        input: &NewPromotion,
        request: Option<&RequestId>,
    ) -> Result<Promotion, PromotionError> {
        let me = self.ground.account(caller).await?;
        let official = Official::new(caller, me);
        official.may(Act::SetPromotion)?;
        let thresholds = input.thresholds.as_ref().map(Json::as_str).unwrap_or_default();
        check_text("thresholds", thresholds, THRESHOLDS_CHARS_MAX)?;
        let request = self.ground.request(&caller.user_id, request, "setPromotion", input)?;
        self.ground
            .once(
                request.as_ref(),
                async |outcome: Outcome| {
                    let promotion = self.promotion(&outcome.subject).await?;
                    promotion.ok_or(PromotionError::NoSuchSubject)
                },
                async || self.try_set(Some((caller, &official)), input, request.as_ref()).await,
            )
            .await
    }

    /// Promotes or demotes somebody by hand, as whoever runs this.
    pub async fn order(
        &self,
        subject: &ActorId,
        fanout_enabled: bool,
    ) -> Result<Promotion, PromotionError> {
        let (subject_id, reason) = (subject.clone(), PromotionReason::Manual);
        let input = NewPromotion { subject_id, fanout_enabled, reason, thresholds: None };
        self.ground
            .once(
                None,
                async |outcome: Outcome| {
                    let promotion = self.promotion(&outcome.subject).await?;
                    promotion.ok_or(PromotionError::NoSuchSubject)
                },
                async || self.try_set(None, &input, None).await,
            )
            .await
    }

    /// The writes that promote or demote somebody as the rule has it, from how many follow them now and
    /// what they do in a day: none, when everything stays as it is. They hold only together, and are
    /// refused when it has been decided otherwise meanwhile. `ended_day` is how much they did in the day
    /// before the present one, when that has just begun.
    pub async fn decide(
        &self,
        subject: &ActorId,
        ended_day: Option<u64>,
    ) -> Result<Vec<Write>, PromotionError> {
        let Some(found) = self.subject(subject).await? else { return Ok(Vec::new()) };
        let (head, before, followers) = try_join3(
            Head::of(&self.ground, subject),
            self.promotion(subject),
            self.followers(&found),
        )
        .await?;
        let seen = Seen { followers, today: head.promoted(false).window_count, ended_day };
        let settings = &self.ground.settings().feed.promotion;
        let was = before.as_ref().map(|before| (before.fanout_enabled, before.reason));
        let Some((fanout_enabled, reason)) = ruled(settings, was, seen) else {
            return Ok(Vec::new());
        };
        let thresholds = Json::of(&Thresholds {
            followers: settings.followers_min,
            followers_max: settings.followers_max,
            activities_per_day: settings.per_day_min,
        });
        let thresholds = thresholds.map_err(|misfit| Failure::Internal(misfit.to_string()))?;
        let wanted = NewPromotion {
            subject_id: subject.clone(),
            fanout_enabled,
            reason,
            thresholds: Some(thresholds),
        };
        let after = self.after(&found, &wanted, before.as_ref());
        let mut writes = turn(&head, before.as_ref(), &after);
        writes.push(found.check().into());
        Ok(writes)
    }

    /// By an official, or else by whoever runs this.
    async fn try_set(
        &self,
        official: Option<(&Caller, &Official<'_>)>,
        input: &NewPromotion,
        request: Option<&Request>,
    ) -> Result<Tried<Promotion>, PromotionError> {
        let subject = &input.subject_id;
        let found = self.subject(subject).await?.ok_or(PromotionError::NoSuchSubject)?;
        let (head, before) =
            try_join(Head::of(&self.ground, subject), self.promotion(subject)).await?;
        let outcome = Outcome { subject: subject.clone() };
        if let Some(before) = &before
            && (before.fanout_enabled, before.reason, &before.thresholds)
                == (input.fanout_enabled, input.reason, &input.thresholds)
        {
            return Ok(self.ground.nothing_to_do(request, &outcome, before.clone()).await?);
        }
        let caller = official.map(|(caller, _)| caller);
        let entry = self.entry(caller, input)?;
        let after = self.after(&found, input, before.as_ref());
        let commit = turn(&head, before.as_ref(), &after)
            .into_iter()
            .fold(self.ground.commit(), |commit, write| commit.with("promotion", write))
            .with_any("official", official.map(|(_, official)| official.check_office()))
            .with_any("subject", caller.is_none_or(|it| !found.is(it)).then(|| found.check()))
            .with("audit", entry)
            .remembering(request, &outcome)?;
        Ok(commit.done(after).await?)
    }

    /// What the audit says of a decision.
    fn entry(&self, caller: Option<&Caller>, input: &NewPromotion) -> Result<Write, Failure> {
        let broken = |misfit: Misfit| Failure::Internal(misfit.to_string());
        let thresholds = input.thresholds.as_ref().map(Json::to).transpose().map_err(broken)?;
        let NewPromotion { subject_id, fanout_enabled, reason, .. } = input;
        let (fanout_enabled, reason) = (*fanout_enabled, *reason);
        let detail = Json::of(&Detail { fanout_enabled, reason, thresholds }).map_err(broken)?;
        Ok(audit::entry(&self.ground, caller, "setPromotion", subject_id, Some(detail)))
    }

    /// The promotion as it is to be, with what the fan-out has written.
    fn after(
        &self,
        subject: &Subject,
        wanted: &NewPromotion,
        before: Option<&Promotion>,
    ) -> Promotion {
        let (user_id, group_id) = match subject {
            Subject::Person(user) => (Some(user.id.clone()), None),
            Subject::Group(id) => (None, Some(id.clone())),
        };
        Promotion {
            subject_id: wanted.subject_id.clone(),
            user_id,
            group_id,
            fanout_enabled: wanted.fanout_enabled,
            reason: wanted.reason,
            thresholds: wanted.thresholds.clone(),
            watermark: before.and_then(|before| before.watermark),
            watermark_since: before.and_then(|before| before.watermark_since),
            updated_at: self.ground.now(),
        }
    }

    async fn promotion(&self, subject: &ActorId) -> Result<Option<Promotion>, Failure> {
        Ok(self.ground.core().promotion(subject).strong().get().await?)
    }

    /// A person whose account is not gone, or a group.
    async fn subject(&self, id: &ActorId) -> Result<Option<Subject>, Failure> {
        let core = self.ground.core();
        if let Some(user) = core.profile(&id.recast()).strong().get().await? {
            let there = user.status != UserStatus::Deleted;
            return Ok(there.then(|| Subject::Person(Box::new(user))));
        }
        let group = core.group(&id.recast()).get().await?;
        Ok(group.map(|group| Subject::Group(group.id)))
    }

    /// How many would be copied to.
    async fn followers(&self, subject: &Subject) -> Result<u64, Failure> {
        let core = self.ground.core();
        Ok(match subject {
            Subject::Person(user) => {
                let counts = core.counts(&user.id, &[UserCount::Followers], user.follower_shards);
                counts.strong().get().await?.iter().flatten().map(|counter| counter.count).sum()
            }
            Subject::Group(id) => {
                let counts = core.group_counts(std::slice::from_ref(id)).strong().get().await?;
                counts.iter().flatten().map(|counter| counter.count).sum()
            }
        })
    }
}

/// The writes that turn a promotion, and the head with it where activities notice. Only what is decided
/// here is written: the watermark may move at the same time.
fn turn(head: &Head, before: Option<&Promotion>, after: &Promotion) -> Vec<Write> {
    let promotion: Write = match before {
        None => after.create().into(),
        Some(before) => {
            let as_read = Promotion::FANOUT_ENABLED.is(&before.fanout_enabled);
            let as_read = as_read.and(Promotion::REASON.is(&before.reason));
            let patch = after.key().patch();
            let patch = patch
                .set(Promotion::FANOUT_ENABLED, &after.fanout_enabled)
                .set(Promotion::REASON, &after.reason)
                .set(Promotion::THRESHOLDS, &after.thresholds)
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
