//! Every mutation, by somebody who may do it.

use roundtable_domain::{Caller, Code, NewPromotion, Promotions, Refusal};
use roundtable_model::{
    ActorId, ApiKeyId, GroupId, GroupRole, ModerationStatus, PostId, PromotionReason, RequestId,
    Role, Secret, SessionId, UserId, Visibility,
};
use roundtable_testkit::{Act, Done, Town};

use crate::goals::GoalDeed;
use crate::media::Sending;
use crate::notifications;
use crate::quests::QuestDeed;
use crate::rooms::Talk;
use crate::stage::Stage;
use crate::trade::Trade;
use crate::webhooks::WebhookDeed;

/// Something somebody does: as everybody does it at random elsewhere, or as only some do.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    Act(Caller, Act),
    Notify(Caller, UserId, bool),
    Toggle(Caller, PostId),
    Sending(Caller, Sending),
    MarkRead(Caller),
    Talk(Caller, Talk),
    Goals(Caller, GoalDeed),
    Quests(Caller, QuestDeed),
    Webhooks(Caller, WebhookDeed),
    Register,
    Login,
    Refresh(Secret),
    Logout(Secret),
    LogoutSession(Caller, SessionId),
    LogoutEverywhere(Caller),
    ChangePassword(Caller, SessionId),
    ChangeEmail(Caller),
    CreateKey(Caller),
    RevokeKey(Caller, ApiKeyId),
    Invite(Caller),
    Grant,
    Promote(Caller, ActorId),
    OrderPromotion(ActorId),
    Trade(Caller, Trade),
}

/// What sue signs in with once she has changed it.
pub(crate) fn another_password() -> Secret {
    Secret::new("quite another secret")
}

pub(crate) fn told<T, E: Refusal>(answer: Result<T, E>) -> Result<Done, Code> {
    let code = answer.map(|_| Done::Other).map_err(|error| error.code());
    assert_ne!(code, Err(Code::Internal), "a failure is no refusal");
    code
}

impl Deed {
    /// The service and the method that does it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Act(_, act) => act.operation(),
            Self::Notify(..) => "follows.update",
            Self::Toggle(..) => "likes.toggle",
            Self::Sending(_, deed) => deed.operation(),
            Self::MarkRead(_) => "notifications.mark_read",
            Self::Talk(_, deed) => deed.operation(),
            Self::Goals(_, deed) => deed.operation(),
            Self::Quests(_, deed) => deed.operation(),
            Self::Webhooks(_, deed) => deed.operation(),
            Self::Register => "accounts.register",
            Self::Login => "accounts.login",
            Self::Refresh(_) => "accounts.refresh",
            Self::Logout(_) => "accounts.logout",
            Self::LogoutSession(..) => "accounts.logout_session",
            Self::LogoutEverywhere(_) => "accounts.logout_everywhere",
            Self::ChangePassword(..) => "accounts.change_password",
            Self::ChangeEmail(_) => "accounts.change_email",
            Self::CreateKey(_) => "accounts.create_key",
            Self::RevokeKey(..) => "accounts.revoke_key",
            Self::Invite(_) => "accounts.invite",
            Self::Grant => "accounts.grant",
            Self::Promote(..) => "promotions.set",
            Self::OrderPromotion(_) => "promotions.order",
            Self::Trade(_, trade) => trade.operation(),
        }
    }

    /// Whether it may be refused the second time, when nobody heard of the first: whoever has deleted
    /// their account is nobody any more, a token is good once, and a password is another one.
    pub(crate) const fn is_for_once(&self) -> bool {
        matches!(
            self,
            Self::Act(_, Act::DeleteAccount(_)) | Self::Refresh(_) | Self::ChangePassword(..)
        )
    }

    pub(crate) async fn be_done(&self, town: &Town, once: &RequestId) -> Result<Done, Code> {
        let (accounts, request) = (town.accounts(), Some(once));
        let password = town.password("sue");
        match self {
            Self::Act(caller, act) => town.act(caller, act, request).await,
            Self::Notify(caller, user, on) => {
                told(town.follows().update(caller, user, None, Some(*on), request).await)
            }
            Self::MarkRead(caller) => notifications::mark_read(town, caller, request).await,
            Self::Talk(caller, deed) => deed.be_done(town, caller, request).await,
            Self::Toggle(caller, post) => told(town.likes().toggle(caller, post, request).await),
            Self::Goals(caller, deed) => deed.be_done(town, caller, request).await,
            Self::Quests(caller, deed) => deed.be_done(town, caller, request).await,
            Self::Webhooks(caller, deed) => deed.be_done(town, caller, request).await,
            Self::Sending(caller, deed) => deed.be_done(town, caller, request).await,
            Self::Register => told(accounts.register(&town.form("tom"), None, request).await),
            Self::Login => told(accounts.login(&town.email("sue"), &password, None).await),
            Self::Refresh(token) => told(accounts.refresh(token).await),
            Self::Logout(token) => told(accounts.logout(token).await),
            Self::LogoutSession(caller, session) => {
                told(accounts.logout_session(caller, session).await)
            }
            Self::LogoutEverywhere(caller) => told(accounts.logout_everywhere(caller).await),
            Self::ChangePassword(caller, session) => {
                let (session, next) = (Some(session), another_password());
                told(accounts.change_password(caller, session, &password, &next).await)
            }
            Self::ChangeEmail(caller) => {
                told(accounts.change_email(caller, &password, &town.email("susan")).await)
            }
            Self::CreateKey(caller) => {
                let scopes = [String::from("read")];
                told(accounts.create_key(caller, "clock", &scopes, None).await)
            }
            Self::RevokeKey(caller, key) => told(accounts.revoke_key(caller, key, request).await),
            Self::Invite(caller) => told(accounts.invite(caller, None, None).await),
            Self::Grant => told(accounts.grant(&"bo".parse().unwrap(), Role::Moderator).await),
            Self::Trade(caller, trade) => trade.be_done(town, caller, request).await,
            Self::Promote(caller, subject) => {
                let promotion = NewPromotion {
                    subject_id: subject.clone(),
                    fanout_enabled: true,
                    reason: PromotionReason::Manual,
                    thresholds: None,
                };
                let promotions = Promotions::new(town.ground().clone());
                told(promotions.set(caller, &promotion, request).await)
            }
            Self::OrderPromotion(subject) => {
                told(Promotions::new(town.ground().clone()).order(subject, true).await)
            }
        }
    }
}

/// What people do to each other, and with groups.
pub(crate) fn among_people(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Stage { group, private_group, lonely_group, .. } = stage;
    let id = |name: &str| town.id(name);
    let [ana, bo, cleo, pia] = ["ana", "bo", "cleo", "pia"].map(|name| town.caller(name));
    let acts = vec![
        (&cleo, Act::Follow(id("ana"))),
        (&ana, Act::Unfollow(id("bo"))),
        (&pia, Act::Accept(id("cleo"))),
        (&pia, Act::Reject(id("cleo"))),
        (&ana, Act::Mute(id("bo"), true)),
        (&ana, Act::Block(id("bo"))),
        (&cleo, Act::Unblock(id("mo"))),
        (&cleo, Act::CreateGroup { name: String::from("cooks"), private: false }),
        (&ana, Act::UpdateGroup(group.clone(), String::from("walkers"))),
        (&ana, Act::DeleteGroup(group.clone())),
        (&cleo, Act::Join(group.clone())),
        (&bo, Act::Leave(group.clone())),
        (&cleo, Act::Leave(lonely_group.clone())),
        (&ana, Act::Invite(private_group.clone(), id("cleo"))),
        (&ana, Act::Approve(private_group.clone(), id("bo"))),
        (&ana, Act::Remove(group.clone(), id("bo"))),
        (&ana, Act::SetRole(group.clone(), id("bo"), GroupRole::Owner)),
    ];
    let mut deeds = of_acts(acts);
    deeds.push(Deed::Notify(ana, id("bo"), false));
    deeds
}

/// What people write, and do with what others wrote.
pub(crate) fn with_content(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Stage { post, shared, pending, comment, group, .. } = stage;
    let [ana, bo, cleo] = ["ana", "bo", "cleo"].map(|name| town.caller(name));
    let mo = town.staff("mo", Role::Moderator);
    let text = || String::from("a text with a #tag");
    let posting = |group: Option<&GroupId>| Act::Post {
        content: text(),
        group: group.cloned(),
        visibility: Visibility::Public,
    };
    let answer =
        Act::Comment { post: post.clone(), parent: Some(comment.clone()), content: text() };
    let acts = vec![
        (&cleo, posting(None)),
        (&bo, posting(Some(group))),
        (&ana, Act::EditPost(post.clone(), text(), Visibility::Followers)),
        (&ana, Act::DeletePost(post.clone())),
        (&cleo, Act::Like(post.clone())),
        (&bo, Act::Unlike(post.clone())),
        (&cleo, Act::Share(shared.clone())),
        (&ana, Act::Unshare(shared.clone())),
        (&cleo, answer),
        (&bo, Act::EditComment(comment.clone(), text())),
        (&bo, Act::DeleteComment(comment.clone())),
        (&cleo, Act::LikeComment(comment.clone())),
        (&ana, Act::UnlikeComment(comment.clone())),
        (&ana, Act::PostActivity(post.clone())),
        (&cleo, Act::Report(post.clone())),
        (&cleo, Act::ReportComment(comment.clone())),
        (&mo, Act::Moderate(post.clone(), ModerationStatus::Rejected)),
        (&mo, Act::Moderate(pending.clone(), ModerationStatus::Approved)),
        (&mo, Act::ModerateComment(comment.clone(), ModerationStatus::Flagged)),
    ];
    let mut deeds = of_acts(acts);
    deeds.push(Deed::Toggle(cleo, post.clone()));
    deeds.push(Deed::Toggle(bo, post.clone()));
    deeds
}

/// What people do with their accounts, and staff with those of others.
pub(crate) fn with_accounts(stage: &Stage, town: &Town) -> Vec<Deed> {
    let Stage { sue, key, .. } = stage;
    let (ana, mo) = (town.caller("ana"), town.staff("mo", Role::Moderator));
    let ada = town.staff("ada", Role::Admin);
    let acts = vec![
        (&ana, Act::Rename("annabel".parse().unwrap())),
        (&ana, Act::TurnPrivate(true)),
        (&mo, Act::Suspend(town.id("bo"))),
        (&mo, Act::Unsuspend(town.id("sid"))),
        (&ada, Act::SetRoles(town.id("bo"), vec![Role::User, Role::Moderator])),
        (&ana, Act::DeleteAccount("ana".parse().unwrap())),
    ];
    let mut deeds = of_acts(acts);
    let (caller, session) = (sue.caller.clone(), sue.session_id.clone());
    deeds.extend([
        Deed::Register,
        Deed::Login,
        Deed::Refresh(sue.refresh_token.clone()),
        Deed::Logout(sue.refresh_token.clone()),
        Deed::LogoutSession(caller.clone(), session.clone()),
        Deed::LogoutEverywhere(caller.clone()),
        Deed::ChangePassword(caller.clone(), session),
        Deed::ChangeEmail(caller.clone()),
        Deed::CreateKey(caller.clone()),
        Deed::RevokeKey(caller.clone(), key.clone()),
        Deed::Invite(caller),
        Deed::Grant,
        Deed::Promote(ada, ActorId::from(&town.id("bo"))),
        Deed::OrderPromotion(ActorId::from(&town.id("bo"))),
    ]);
    deeds
}

fn of_acts(acts: Vec<(&Caller, Act)>) -> Vec<Deed> {
    acts.into_iter().map(|(caller, act)| Deed::Act(caller.clone(), act)).collect()
}
