//! Every mutation, by a user who may do it.

use roundtable_domain::{
    Caller, Code, DeviceInput, ExternalIdentity, KeysOnSignOut, NewPromotion, Promotions, Refusal,
};
use roundtable_model::{
    ActorId, ApiKeyId, Email, GroupId, GroupRole, ModerationStatus, NotificationId, PostId,
    PromotionReason, RequestId, Role, Secret, SessionId, Tier, UserId, Visibility,
};
use roundtable_testkit::{ActionOutcome, Town, UserAction};

use crate::goals::GoalMutation;
use crate::media::MediaMutation;
use crate::notifications;
use crate::quests::QuestMutation;
use crate::rooms::RoomMutation;
use crate::stage::Stage;
use crate::trade::TradeMutation;
use crate::webhooks::WebhookMutation;

/// A mutation: a user action, or one that is not tested at random elsewhere.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    Act(Caller, UserAction),
    Notify(Caller, UserId, bool),
    NotifyPosts(Caller, UserId),
    Toggle(Caller, PostId),
    Media(Caller, MediaMutation),
    MarkRead(Caller),
    MarkOneRead(Caller, NotificationId),
    SwitchOff(Caller),
    Room(Caller, RoomMutation),
    Goals(Caller, GoalMutation),
    Quests(Caller, QuestMutation),
    Webhooks(Caller, WebhookMutation),
    Register,
    Login,
    LoginOn(Secret),
    ClearLocks,
    LinkIdentity,
    LinkIdentityAsOperator,
    UnlinkIdentity,
    ChangeEmailToProved(Caller),
    Refresh(Secret),
    Logout(Secret),
    LogoutSession(Caller, SessionId),
    LogoutEverywhere(Caller),
    ChangePassword(Caller),
    ChangeEmail(Caller),
    ConfirmPassword(Caller),
    CreateKey(Caller),
    RevokeKey(Caller, ApiKeyId),
    Invite(Caller),
    Grant,
    Promote(Caller, ActorId),
    OrderPromotion(ActorId),
    Trade(Caller, TradeMutation),
}

/// The subject of an identity that is linked to bo.
pub(crate) const LINKED_SUBJECT: &str = "linked";

/// A person whose address an external issuer has verified.
pub(crate) fn identity(email: &Email) -> ExternalIdentity {
    ExternalIdentity {
        issuer: "https://login.example.org".parse().unwrap(),
        subject: "s-1".parse().unwrap(),
        email: Some(email.clone()),
    }
}

/// Sue's password after she changes it.
pub(crate) fn new_password() -> Secret {
    Secret::new("quite another secret")
}

pub(crate) fn reduce<T, E: Refusal>(answer: Result<T, E>) -> Result<ActionOutcome, Code> {
    let code = answer.map(|_| ActionOutcome::Other).map_err(|error| error.code());
    assert_ne!(code, Err(Code::Internal), "a failure is no refusal");
    code
}

impl Mutation {
    /// The service and the method that perform it.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Act(_, act) => act.operation(),
            Self::Notify(..) | Self::NotifyPosts(..) => "follows.update",
            Self::Toggle(..) => "likes.toggle",
            Self::Media(_, mutation) => mutation.operation(),
            Self::MarkRead(_) => "notifications.mark_read",
            Self::MarkOneRead(..) => "notifications.mark_one_read",
            Self::SwitchOff(_) => "notifications.update_preferences",
            Self::Room(_, mutation) => mutation.operation(),
            Self::Goals(_, mutation) => mutation.operation(),
            Self::Quests(_, mutation) => mutation.operation(),
            Self::Webhooks(_, mutation) => mutation.operation(),
            Self::Register => "accounts.register",
            Self::Login => "accounts.login",
            Self::LoginOn(_) => "accounts.login_on",
            Self::ClearLocks => "accounts.clear_sign_in_locks",
            Self::LinkIdentity => "accounts.link_identity",
            Self::LinkIdentityAsOperator => "accounts.link_identity_as_operator",
            Self::UnlinkIdentity => "accounts.unlink_identity_as_operator",
            Self::ChangeEmailToProved(_) => "accounts.change_email_to_proved",
            Self::Refresh(_) => "accounts.refresh",
            Self::Logout(_) => "accounts.logout",
            Self::LogoutSession(..) => "accounts.logout_session",
            Self::LogoutEverywhere(_) => "accounts.logout_everywhere",
            Self::ChangePassword(_) => "accounts.change_password",
            Self::ChangeEmail(_) => "accounts.change_email",
            Self::ConfirmPassword(_) => "accounts.confirm_password",
            Self::CreateKey(_) => "accounts.create_key",
            Self::RevokeKey(..) => "accounts.revoke_key",
            Self::Invite(_) => "accounts.invite",
            Self::Grant => "accounts.grant",
            Self::Promote(..) => "promotions.set",
            Self::OrderPromotion(_) => "promotions.set_as_operator",
            Self::Trade(_, trade) => trade.operation(),
        }
    }

    /// Returns `true` if a repetition may be refused when the first attempt's result was lost: the
    /// account is deleted, the token used up, or the password changed.
    pub(crate) const fn may_be_refused_again(&self) -> bool {
        matches!(
            self,
            Self::Act(_, UserAction::DeleteAccount(_)) | Self::Refresh(_) | Self::ChangePassword(_)
        )
    }

    pub(crate) async fn perform(
        &self,
        town: &Town,
        once: &RequestId,
    ) -> Result<ActionOutcome, Code> {
        let (accounts, request) = (town.accounts(), Some(once));
        let password = town.password("sue");
        match self {
            Self::Act(caller, act) => town.perform(caller, act, request).await,
            Self::Notify(caller, user, on) => {
                reduce(town.follows().update(caller, user, None, Some(*on), None, request).await)
            }
            Self::NotifyPosts(caller, user) => {
                let wants = Some(true);
                reduce(town.follows().update(caller, user, None, None, wants, request).await)
            }
            Self::MarkRead(caller) => notifications::mark_read(town, caller, request).await,
            Self::MarkOneRead(caller, id) => {
                notifications::mark_one_read(town, caller, id, request).await
            }
            Self::SwitchOff(caller) => notifications::switch_off(town, caller, request).await,
            Self::Room(caller, mutation) => mutation.perform(town, caller, request).await,
            Self::Toggle(caller, post) => reduce(town.likes().toggle(caller, post, request).await),
            Self::Goals(caller, mutation) => mutation.perform(town, caller, request).await,
            Self::Quests(caller, mutation) => mutation.perform(town, caller, request).await,
            Self::Webhooks(caller, mutation) => mutation.perform(town, caller, request).await,
            Self::Media(caller, mutation) => mutation.perform(town, caller, request).await,
            Self::Register => {
                reduce(accounts.register(&town.sign_up_form("tom"), None, request).await)
            }
            Self::Login => reduce(accounts.login(&town.email("sue"), &password, None).await),
            Self::LoginOn(token) => {
                let device = DeviceInput { token: Some(token.clone()), label: None };
                let email = town.email("sue");
                reduce(accounts.login_on(&email.into(), &password, None, &device).await)
            }
            Self::ClearLocks => reduce(accounts.clear_sign_in_locks("sue@example.com").await),
            Self::LinkIdentity => {
                let identity = identity(&town.email("sue"));
                reduce(accounts.link_identity(&identity, &password, None).await)
            }
            Self::LinkIdentityAsOperator => {
                let ExternalIdentity { issuer, subject, .. } = identity(&town.email("bo"));
                let bo = "bo".parse().unwrap();
                reduce(accounts.link_identity_as_operator(&bo, &issuer, &subject).await)
            }
            Self::UnlinkIdentity => {
                let ExternalIdentity { issuer, .. } = identity(&town.email("bo"));
                let (bo, subject) = ("bo".parse().unwrap(), LINKED_SUBJECT.parse().unwrap());
                reduce(accounts.unlink_identity_as_operator(&bo, &issuer, &subject).await)
            }
            Self::ChangeEmailToProved(caller) => {
                let email = town.email("bo");
                let identity = identity(&email);
                let changed = accounts.change_email_to_proved(caller, &password, &email, &identity);
                reduce(changed.await)
            }
            Self::Refresh(token) => reduce(accounts.refresh(token).await),
            Self::Logout(token) => reduce(accounts.logout(token).await),
            Self::LogoutSession(caller, session) => {
                reduce(accounts.logout_session(caller, session).await)
            }
            Self::LogoutEverywhere(caller) => {
                reduce(accounts.logout_everywhere(caller, KeysOnSignOut::Revoke).await)
            }
            Self::ChangePassword(caller) => {
                let (keys, next) = (KeysOnSignOut::Revoke, new_password());
                reduce(accounts.change_password(caller, &password, &next, keys).await)
            }
            Self::ChangeEmail(caller) => {
                reduce(accounts.change_email(caller, &password, &town.email("susan")).await)
            }
            Self::ConfirmPassword(caller) => {
                reduce(accounts.confirm_password(caller, &password).await)
            }
            Self::CreateKey(caller) => {
                let scopes = [String::from("read")];
                reduce(accounts.create_key(caller, "clock", &scopes, None).await)
            }
            Self::RevokeKey(caller, key) => reduce(accounts.revoke_key(caller, key, request).await),
            Self::Invite(caller) => reduce(accounts.invite(caller, None, None).await),
            Self::Grant => reduce(accounts.grant(&"bo".parse().unwrap(), Role::Moderator).await),
            Self::Trade(caller, trade) => trade.perform(town, caller, request).await,
            Self::Promote(caller, subject) => {
                let promotion = NewPromotion {
                    subject_id: subject.clone(),
                    fanout_enabled: true,
                    reason: PromotionReason::Manual,
                    thresholds: None,
                };
                let promotions = Promotions::new(town.context().clone());
                reduce(promotions.set(caller, &promotion, request).await)
            }
            Self::OrderPromotion(subject) => {
                reduce(Promotions::new(town.context().clone()).set_as_operator(subject, true).await)
            }
        }
    }
}

pub(crate) fn user_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let Stage { group, private_group, lonely_group, archived_group, .. } = stage;
    let id = |name: &str| town.id(name);
    let [ana, bo, cleo, pia] = ["ana", "bo", "cleo", "pia"].map(|name| town.caller(name));
    let acts = vec![
        (&cleo, UserAction::Follow(id("ana"))),
        (&ana, UserAction::Unfollow(id("bo"))),
        (&pia, UserAction::Accept(id("cleo"))),
        (&pia, UserAction::Reject(id("cleo"))),
        (&ana, UserAction::Mute(id("bo"), true)),
        (&ana, UserAction::MuteUser(id("cleo"))),
        (&ana, UserAction::UnmuteUser(id("pia"))),
        (&ana, UserAction::Block(id("bo"))),
        (&cleo, UserAction::Unblock(id("mo"))),
        (&cleo, UserAction::CreateGroup { name: String::from("cooks"), private: false }),
        (&ana, UserAction::UpdateGroup(group.clone(), String::from("walkers"))),
        (&ana, UserAction::TurnGroupPrivate(group.clone(), true)),
        (&cleo, UserAction::ReviveGroup(archived_group.clone())),
        (&ana, UserAction::DeleteGroup(group.clone())),
        (&cleo, UserAction::Join(group.clone())),
        (&bo, UserAction::Leave(group.clone())),
        (&cleo, UserAction::Leave(lonely_group.clone())),
        (&ana, UserAction::Invite(private_group.clone(), id("cleo"))),
        (&ana, UserAction::Approve(private_group.clone(), id("bo"))),
        (&ana, UserAction::Remove(group.clone(), id("bo"))),
        (&ana, UserAction::SetRole(group.clone(), id("bo"), GroupRole::Owner)),
    ];
    let mut mutations = from_actions(acts);
    mutations.push(Mutation::NotifyPosts(ana.clone(), id("bo")));
    mutations.push(Mutation::Notify(ana, id("bo"), false));
    mutations
}

pub(crate) fn content_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let Stage { post, shared, pending, comment, group, .. } = stage;
    let [ana, bo, cleo] = ["ana", "bo", "cleo"].map(|name| town.caller(name));
    let mo = town.staff("mo", Role::Moderator);
    let text = || String::from("a text with a #tag");
    let posting = |group: Option<&GroupId>| UserAction::Post {
        content: text(),
        group: group.cloned(),
        visibility: Visibility::Public,
    };
    let answer =
        UserAction::Comment { post: post.clone(), parent: Some(comment.clone()), content: text() };
    let acts = vec![
        (&cleo, posting(None)),
        (&bo, posting(Some(group))),
        (&ana, UserAction::EditPost(post.clone(), text(), Visibility::Followers)),
        (&ana, UserAction::DeletePost(post.clone())),
        (&cleo, UserAction::Like(post.clone(), None)),
        (&bo, UserAction::Unlike(post.clone())),
        (&cleo, UserAction::Share(shared.clone())),
        (&ana, UserAction::Unshare(shared.clone())),
        (&cleo, answer),
        (&bo, UserAction::EditComment(comment.clone(), text())),
        (&bo, UserAction::DeleteComment(comment.clone())),
        (&cleo, UserAction::LikeComment(comment.clone(), None)),
        (&ana, UserAction::UnlikeComment(comment.clone())),
        (&ana, UserAction::PostActivity(post.clone())),
        (&cleo, UserAction::Report(post.clone())),
        (&cleo, UserAction::ReportUser(town.id("bo"))),
        (&cleo, UserAction::ReportGroup(group.clone())),
        (&mo, UserAction::DecideCase((&town.id("sid")).into(), ModerationStatus::Flagged)),
        (&cleo, UserAction::ReportComment(comment.clone())),
        (&mo, UserAction::Moderate(post.clone(), ModerationStatus::Rejected)),
        (&mo, UserAction::Moderate(pending.clone(), ModerationStatus::Approved)),
        (&mo, UserAction::ModerateComment(comment.clone(), ModerationStatus::Flagged)),
    ];
    let mut mutations = from_actions(acts);
    mutations.push(Mutation::Toggle(cleo, post.clone()));
    mutations.push(Mutation::Toggle(bo, post.clone()));
    mutations
}

pub(crate) fn account_mutations(stage: &Stage, town: &Town) -> Vec<Mutation> {
    let Stage { sue, key, .. } = stage;
    let (ana, mo) = (town.caller("ana"), town.staff("mo", Role::Moderator));
    let ada = town.staff("ada", Role::Admin);
    let acts = vec![
        (&ana, UserAction::Rename("annabel".parse().unwrap())),
        (&ana, UserAction::TurnPrivate(true)),
        (&mo, UserAction::Suspend(town.id("bo"))),
        (&mo, UserAction::Unsuspend(town.id("sid"))),
        (&ada, UserAction::SetRoles(town.id("bo"), vec![Role::User, Role::Moderator])),
        (&ada, UserAction::SetTier(town.id("bo"), Tier::Pro)),
        (&ada, UserAction::SetVerified(town.id("bo"), true)),
        (&ana, UserAction::DeleteAccount("ana".parse().unwrap())),
    ];
    let mut mutations = from_actions(acts);
    let (caller, session) = (sue.caller.clone(), sue.session_id.clone());
    mutations.extend([
        Mutation::Register,
        Mutation::Login,
        Mutation::LoginOn(sue.device_token.clone().unwrap()),
        Mutation::ClearLocks,
        Mutation::LinkIdentity,
        Mutation::LinkIdentityAsOperator,
        Mutation::UnlinkIdentity,
        Mutation::ChangeEmailToProved(caller.clone()),
        Mutation::Refresh(sue.refresh_token.clone()),
        Mutation::Logout(sue.refresh_token.clone()),
        Mutation::LogoutSession(caller.clone(), session),
        Mutation::LogoutEverywhere(caller.clone()),
        Mutation::ChangePassword(caller.clone()),
        Mutation::ChangeEmail(caller.clone()),
        Mutation::ConfirmPassword(caller.clone()),
        Mutation::CreateKey(caller.clone()),
        Mutation::RevokeKey(caller.clone(), key.clone()),
        Mutation::Invite(caller),
        Mutation::Grant,
        Mutation::Promote(ada, ActorId::from(&town.id("bo"))),
        Mutation::OrderPromotion(ActorId::from(&town.id("bo"))),
    ]);
    mutations
}

fn from_actions(acts: Vec<(&Caller, UserAction)>) -> Vec<Mutation> {
    acts.into_iter().map(|(caller, act)| Mutation::Act(caller.clone(), act)).collect()
}
