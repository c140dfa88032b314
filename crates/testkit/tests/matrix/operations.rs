//! The reads of a row, and operations with passwords, tokens and keys.

use roundtable_domain::{
    AccountError, Caller, Code, DeviceInput, ExternalIdentity, KeysOnSignOut, Page, PageInput,
    Refusal, Registration, Settings, SignUp, Statistics, TaggedItem,
};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, CaseId, Email, EntityKind, ModerationStatus, Secret, UserId};
use roundtable_testkit::Town;

use super::feeds;
use super::goals;
use super::live;
use super::media;
use super::notifications;
use super::quests;
use super::search;
use super::stage::{Stage, password};
use super::user_actions::{act, person, variant};
use super::webhooks;

pub(crate) type Answer = &'static str;

/// The operation, object and viewer of a cell.
struct Question<'a> {
    stage: &'a Stage,
    town: Town,
    operation: &'a str,
    object: &'a str,
    viewer: Option<Caller>,
}

/// Performs the operation of a row as a viewer, in a separate town; also returns the operation.
pub(crate) async fn answer(
    stage: &Stage,
    operation: &str,
    object: &str,
    viewer: Option<Caller>,
) -> (Answer, Option<&'static str>) {
    let registration = Registration::Invitation;
    let town = stage.town(Settings { registration, ..Town::settings() }).await;
    let is_old = object == "old sign-in";
    let viewer = viewer.map(|it| if is_old { it } else { it.with_password_at(town.now()) });
    if let Some(act) = act(stage, operation, object) {
        let Some(caller) = viewer else { return ("-", Some(variant(&act))) };
        let done = town.perform(&caller, &act, None).await;
        return (done.map_or_else(coded, |_| "ok"), Some(variant(&act)));
    }
    let question = Question { stage, town, operation, object, viewer };
    let (service, _) = operation.split_once('.').unwrap();
    let answer = match service {
        "accounts" => question.account().await,
        "follows" | "blocks" | "mutes" => question.people().await,
        "groups" => question.groups().await,
        "moderation" if operation == "moderation.report_message" => {
            let Question { town, viewer, .. } = &question;
            stage.rooms.answer(town, operation, object, viewer.as_ref()).await
        }
        "moderation" => question.moderation().await,
        "webhooks" | "dead_letters" => {
            let Question { town, viewer, .. } = &question;
            webhooks::answer(town, operation, viewer.as_ref()).await
        }
        "notifications" => {
            let Question { town, viewer, .. } = &question;
            notifications::answer(town, operation, object, viewer.as_ref()).await
        }
        "quests" => {
            let (Question { town, .. }, asked) = (&question, (operation, object));
            quests::answer(&stage.quests, town, asked, question.viewer.as_ref()).await
        }
        "rooms" | "messages" => {
            let Question { town, viewer, .. } = &question;
            stage.rooms.answer(town, operation, object, viewer.as_ref()).await
        }
        "feeds" | "promotions" => {
            let Question { town, viewer, .. } = &question;
            let (post, group) = (stage.posts.get(object), stage.groups.get(object));
            feeds::answer((town, post), group, (operation, object), viewer.as_ref()).await
        }
        "comments" => question.comments().await,
        "tags" if stage.comments.contains_key(object) => question.comments().await,
        "live" => {
            let Question { town, viewer, .. } = &question;
            live::answer(stage, town, (operation, object), viewer.as_ref()).await
        }
        "statistics" => {
            let Some(caller) = &question.viewer else { return ("-", None) };
            let statistics = Statistics::new(question.town.context().clone());
            shows(statistics.totals(caller).await, |totals| totals.users > 0)
        }
        "assistance" | "companies" | "offers" | "tags" => {
            let Question { town, viewer, .. } = &question;
            stage.trade.answer(town, operation, object, viewer.as_ref()).await
        }
        "search" => {
            let Question { town, viewer, .. } = &question;
            search::answer(stage, town, object, viewer.as_ref()).await
        }
        "media" => {
            let Question { town, viewer, .. } = &question;
            media::answer(town, (operation, object), viewer.as_ref()).await
        }
        "goals" | "tasks" | "milestones" | "timelines" => {
            let (Question { town, .. }, asked) = (&question, (operation, object));
            goals::answer(&stage.goals, town, asked, question.viewer.as_ref()).await
        }
        _ => question.posts().await,
    };
    (answer, None)
}

fn coded(code: Code) -> Answer {
    match code {
        Code::BadRequest => "400",
        Code::Unauthenticated => "401",
        Code::Forbidden => "403",
        Code::NotFound => "404",
        Code::Conflict => "409",
        other => panic!("{other} is none of the answers"),
    }
}

/// `Ok` if the answer shows the object.
pub(crate) fn shows<T, E: Refusal>(answer: Result<T, E>, it: impl FnOnce(T) -> bool) -> Answer {
    match answer {
        Ok(answer) => {
            if it(answer) {
                "ok"
            } else {
                "no"
            }
        }
        Err(error) => {
            assert!(error.code() != Code::Internal, "{error}");
            coded(error.code())
        }
    }
}

/// `Ok` if a list shows the object.
pub(crate) fn lists<T, E: Refusal>(answer: Result<Page<T>, E>, it: impl Fn(&T) -> bool) -> Answer {
    shows(answer, |page| page.into_items().iter().any(it))
}

pub(crate) fn page() -> PageInput {
    PageInput { limit: Some(100), after: None }
}

impl Question<'_> {
    fn unknown(&self) -> ! {
        panic!("no row handler for {} of {}", self.operation, self.object)
    }

    async fn account(&self) -> Answer {
        let Self { town, object, .. } = self;
        let (accounts, viewer) = (town.accounts(), self.viewer.as_ref());
        let (id, page) = (person(object), page());
        let name = id.to_string();
        let is = |user: &roundtable_model::entities::User| user.id == id;
        match self.operation {
            "accounts.user" => {
                shows(accounts.user(viewer, &id).await, |user| user.as_ref().is_some_and(is))
            }
            "accounts.people" => {
                let people = accounts.people(viewer, std::slice::from_ref(&id)).await;
                shows(people, |people| people.iter().flatten().any(|user| is(user)))
            }
            "accounts.by_nickname" => {
                let found = accounts.by_nickname(viewer, &name.parse().unwrap()).await;
                shows(found, |user| user.as_ref().is_some_and(is))
            }
            "accounts.by_username" => {
                let found = accounts.by_username(viewer, &name.parse().unwrap()).await;
                shows(found, |user| user.as_ref().is_some_and(is))
            }
            "accounts.by_handle" => {
                let found = accounts.by_handle(viewer, &name.parse().unwrap()).await;
                shows(found, |user| user.as_ref().is_some_and(is))
            }
            "accounts.by_email" => {
                let found = accounts.by_email(viewer, &town.email(&name)).await;
                shows(found, |user| user.as_ref().is_some_and(is))
            }
            "accounts.counts" => {
                let counts = accounts.counts(viewer, std::slice::from_ref(&id)).await;
                shows(counts, |counts| counts.iter().any(Option::is_some))
            }
            "accounts.login"
            | "accounts.login_on"
            | "accounts.link_identity"
            | "accounts.refresh"
            | "accounts.authenticate"
            | "accounts.caller_of"
            | "accounts.logout"
            | "accounts.register" => self.proof().await,
            _ => match viewer {
                Some(caller) => self.own_account(caller, &id, &page).await,
                None => "-",
            },
        }
    }

    /// Operations that require a password, token, key or code: the viewer's own.
    async fn proof(&self) -> Answer {
        let Self { stage, town, object, .. } = self;
        let accounts = town.accounts();
        let name = self.viewer.as_ref().map(|viewer| viewer.user_id.to_string());
        let name = name.as_deref();
        let right = if *object == "wrong password" { wrong() } else { password() };
        let nothing = Secret::new("nothing");
        let device = name.map_or(&nothing, |name| &stage.devices[name].refresh_token);
        let device_token = name.and_then(|name| stage.devices[name].device_token.as_ref());
        match self.operation {
            "accounts.login" => {
                let email = town.email(name.unwrap_or("nobody"));
                shows(accounts.login(&email, &right, None).await, |_| true)
            }
            "accounts.login_on" => {
                let (email, token) = (town.email(name.unwrap_or("nobody")), device_token.cloned());
                let input = DeviceInput { token, label: None };
                shows(accounts.login_on(&email.into(), &right, None, &input).await, |_| true)
            }
            "accounts.link_identity" => {
                let identity = identity(&town.email(name.unwrap_or("nobody")));
                shows(accounts.link_identity(&identity, &right, None).await, |()| true)
            }
            "accounts.refresh" => shows(accounts.refresh(device).await, |_| true),
            "accounts.caller_of" => {
                let user = name.unwrap_or("nobody").parse().unwrap();
                let nowhere = "nowhere".parse().unwrap();
                let session = name.map_or(&nowhere, |name| &stage.devices[name].session_id);
                shows(accounts.caller_of(&user, session).await, |_| true)
            }
            "accounts.logout" => shows(accounts.logout(device).await, |was_in| was_in),
            "accounts.authenticate" => {
                let key = name.map_or(&nothing, |name| &stage.keys[name].secret);
                shows(accounts.authenticate(key).await, |_| true)
            }
            "accounts.register" => {
                let invitation = name.map(|name| stage.codes[name].clone());
                let form = SignUp { invitation, ..town.sign_up_form("newcomer") };
                shows(accounts.register(&form, None, None).await, |_| true)
            }
            _ => self.unknown(),
        }
    }

    async fn own_account(&self, caller: &Caller, id: &UserId, page: &PageInput) -> Answer {
        let Self { stage, town, object, .. } = self;
        let (accounts, me) = (town.accounts(), caller.user_id.to_string());
        let whose = if *object == "own account" { me.as_str() } else { &id.to_string() };
        let known = if *object == "wrong password" { wrong() } else { password() };
        match self.operation {
            "accounts.check_operator" => shows(accounts.check_operator(caller).await, |()| true),
            "accounts.me" => shows(accounts.me(caller).await, |me| me.is_some()),
            "accounts.keys" => {
                let key = &stage.keys[whose].key.id;
                lists(accounts.keys(caller, page).await, |other| other.id == *key)
            }
            "accounts.revoke_key" => {
                let key = &stage.keys[whose].key.id;
                shows(accounts.revoke_key(caller, key, None).await, |_| true)
            }
            "accounts.create_key" => {
                let scopes = [String::from("read")];
                shows(accounts.create_key(caller, "other", &scopes, None).await, |_| true)
            }
            "accounts.delete_account" => {
                let nickname = me.parse().unwrap();
                shows(accounts.delete_account(caller, &nickname).await, |()| true)
            }
            "accounts.invite" => shows(accounts.invite(caller, None, None).await, |_| true),
            "accounts.login_attempts" => {
                let key = town.email(whose).to_string();
                lists(accounts.login_attempts(caller, &key, page).await, |_| true)
            }
            "accounts.logout_session" => {
                let session = &stage.devices[whose].session_id;
                shows(accounts.logout_session(caller, session).await, |was_in| was_in)
            }
            "accounts.logout_everywhere" => {
                shows(accounts.logout_everywhere(caller, KeysOnSignOut::Revoke).await, |_| true)
            }
            "accounts.change_password" => {
                let (next, keys) = (Secret::new("another password"), KeysOnSignOut::Revoke);
                shows(accounts.change_password(caller, &known, &next, keys).await, |_| true)
            }
            "accounts.confirm_password" => {
                shows(accounts.confirm_password(caller, &known).await, |_| true)
            }
            "accounts.change_email" => {
                let name = if *object == "taken name" { "tom" } else { "elsewhere" };
                let changed: Result<_, AccountError> =
                    accounts.change_email(caller, &known, &town.email(name)).await;
                shows(changed, |_| true)
            }
            "accounts.change_email_to_proved" => {
                let email = town.email("elsewhere");
                let proof = identity(&email);
                let changed = accounts.change_email_to_proved(caller, &known, &email, &proof).await;
                shows(changed, |_| true)
            }
            _ => self.unknown(),
        }
    }

    async fn people(&self) -> Answer {
        let Self { town, object, .. } = self;
        let (follows, viewer, page) = (town.follows(), self.viewer.as_ref(), page());
        let (id, fay, tom) = (person(object), town.id("fay"), town.id("tom"));
        match (self.operation, viewer) {
            ("follows.is_following", _) => {
                shows(follows.is_following(viewer, &fay, &id).await, |follows| follows)
            }
            ("follows.among", _) => {
                let ends = if *object == "request" { (id, town.id("pia")) } else { (fay, id) };
                let found = follows.among(viewer, &[ends]).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("follows.followed", Some(caller)) => {
                shows(follows.followed(caller, &[id]).await, |answers| answers == [true])
            }
            ("follows.following", _) => {
                lists(follows.following(viewer, &id, &page).await, |edge| edge.followee_id == tom)
            }
            ("follows.followers", _) => {
                lists(follows.followers(viewer, &id, &page).await, |edge| edge.follower_id == fay)
            }
            ("follows.activity_of", _) => {
                let edges = follows.activity_of(viewer, town.now().day(), &page).await;
                lists(edges, |edge| edge.follower_id == fay && edge.followee_id == id)
            }
            ("follows.followed_by", Some(caller)) => {
                let answers = follows.followed_by(caller, &[fay]).await;
                shows(answers, |answers| answers == [true])
            }
            ("follows.requests", Some(caller)) => {
                lists(follows.requests(caller, &page).await, |edge| edge.follower_id == id)
            }
            ("blocks.list", Some(caller)) => {
                lists(town.blocks().list(caller, &page).await, |user| user.id == id)
            }
            ("mutes.list", Some(caller)) => {
                lists(town.mutes().list(caller, &page).await, |mute| mute.muted_id == id)
            }
            ("mutes.among", Some(caller)) => {
                shows(town.mutes().among(caller, &[id]).await, |mutes| mutes[0].is_some())
            }
            (
                "follows.requests"
                | "follows.followed_by"
                | "follows.followed"
                | "blocks.list"
                | "mutes.list"
                | "mutes.among",
                None,
            ) => "-",
            _ => self.unknown(),
        }
    }

    async fn groups(&self) -> Answer {
        let Self { stage, town, object, .. } = self;
        let (groups, viewer, page) = (town.groups(), self.viewer.as_ref(), page());
        let (group, ana) = (&stage.groups[object], town.id("ana"));
        match (self.operation, viewer) {
            ("groups.get", _) => shows(groups.get(viewer, group).await, |_| true),
            ("groups.views", _) => {
                let views = groups.views(viewer, std::slice::from_ref(group)).await;
                shows(views, |views| views.iter().any(Option::is_some))
            }
            ("groups.members", _) => {
                lists(groups.members(viewer, group, &page).await, |member| member.user_id == ana)
            }
            ("groups.memberships", _) => {
                let whose = match (*object, viewer) {
                    ("private group's request", _) => town.id("tia"),
                    ("own membership", Some(caller)) => caller.user_id.clone(),
                    _ => ana,
                };
                let found = groups.memberships(viewer, &[(group.clone(), whose)]).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("groups.of", _) => {
                lists(groups.of(viewer, &ana, &page).await, |view| view.group.id == *group)
            }
            ("groups.mine", Some(caller)) => {
                lists(groups.mine(caller, &page).await, |view| view.group.id == *group)
            }
            ("groups.mine", None) => "-",
            _ => self.unknown(),
        }
    }

    async fn moderation(&self) -> Answer {
        let Self { stage, town, object, .. } = self;
        let (moderation, page) = (town.moderation(), page());
        let Some(caller) = &self.viewer else { return "-" };
        if self.operation == "moderation.audit" {
            return lists(moderation.audit(caller, None, None, &page).await, |_| true);
        }
        if self.operation == "moderation.audit_by" {
            return lists(moderation.audit_by(caller, &town.id("mo"), &page).await, |_| true);
        }
        if self.operation == "moderation.audit_of" {
            let sid = town.id("sid").into();
            return lists(moderation.audit_of(caller, &sid, &page).await, |_| true);
        }
        let comment = stage.comments.get(object).map(CaseId::from);
        let case = comment.unwrap_or_else(|| (&stage.posts[object]).into());
        match self.operation {
            "moderation.case" => shows(moderation.case(caller, &case).await, |_| true),
            "moderation.cases" => {
                let found = moderation.cases(caller, std::slice::from_ref(&case)).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            "moderation.reports" => lists(moderation.reports(caller, &case, &page).await, |_| true),
            "moderation.queue" => {
                let status = status(object);
                let queue = moderation.queue(caller, status, &page).await;
                lists(queue, |subject| subject.case.id == case)
            }
            _ => self.unknown(),
        }
    }

    async fn comments(&self) -> Answer {
        let Self { stage, town, object, .. } = self;
        let (comments, viewer, page) = (town.comments(), self.viewer.as_ref(), page());
        let Some(id) = stage.comments.get(object) else {
            let on = comments.on(viewer, &stage.posts[object], Order::Ascending, &page).await;
            return shows(on, |_| true);
        };
        let post = stage.post_of(object);
        match self.operation {
            "comments.comment" => shows(comments.comment(viewer, id).await, |_| true),
            "comments.comments" => {
                let found = comments.comments(viewer, &[(post, id.clone())]).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            "comments.by_ids" => {
                let found = comments.by_ids(viewer, std::slice::from_ref(id)).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            "comments.replies" => shows(comments.replies(viewer, id, &page).await, |_| true),
            "comments.on" => {
                let on = comments.on(viewer, &post, Order::Descending, &page).await;
                lists(on, |comment| comment.id == *id)
            }
            "comments.by" => {
                let by = comments.by(viewer, &person(object), &page).await;
                lists(by, |comment| comment.id == *id)
            }
            "tags.search" => {
                let (tag, kind) = ("said".parse().unwrap(), Some(EntityKind::Comment));
                let found = town.tags().search(viewer, &tag, kind, Order::Descending, &page).await;
                lists(found, |one| matches!(one, TaggedItem::Comment(found) if found.id == *id))
            }
            "comments.engagement" => {
                let marks = comments.engagement(viewer, &[(post, id.clone())]).await;
                shows(marks, |marks| marks.iter().any(|marks| marks.liked))
            }
            _ => self.unknown(),
        }
    }

    async fn posts(&self) -> Answer {
        let Self { stage, town, object, .. } = self;
        let (posts, likes) = (town.posts(), town.likes());
        let (viewer, page, order) = (self.viewer.as_ref(), page(), Order::Descending);
        let (id, author) = (&stage.posts[object], person(object));
        let ids = std::slice::from_ref(id);
        let is = |post: &roundtable_model::entities::Post| post.id == *id;
        match (self.operation, viewer) {
            ("posts.post", _) => shows(posts.post(viewer, id).await, |_| true),
            ("posts.posts", _) => {
                shows(posts.posts(viewer, ids).await, |posts| posts.iter().flatten().any(is))
            }
            ("posts.stats", _) => {
                shows(posts.stats(viewer, ids).await, |stats| stats.iter().any(Option::is_some))
            }
            ("posts.by", _) => lists(posts.by(viewer, &author, order, &page).await, is),
            ("posts.global", _) => {
                lists(posts.global(viewer, None, status(object), order, &page).await, is)
            }
            ("posts.on_day", _) => {
                lists(posts.on_day(viewer, town.now().day(), order, &page).await, is)
            }
            ("posts.popular", _) => lists(posts.popular(viewer, &page).await, is),
            ("posts.tagged", _) => {
                lists(posts.tagged(viewer, &"town".parse().unwrap(), order, &page).await, is)
            }
            ("posts.viewer_states", Some(caller)) => {
                shows(posts.viewer_states(caller, ids).await, |marks| {
                    marks.iter().any(|marks| marks.liked)
                })
            }
            ("likes.of", _) => {
                lists(likes.of(viewer, id, &page).await, |like| like.user_id == author)
            }
            ("likes.by", _) => {
                lists(likes.by(viewer, &author, &page).await, |like| like.post_id == *id)
            }
            ("likes.among", _) => {
                let found = likes.among(viewer, &[(id.clone(), author)]).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("activities.at", _) => {
                let place = feeds::place(town, &author, stage.groups.get(object), id).await;
                let found = town.activities().at(viewer, &[place]).await;
                shows(found, |found| found.iter().any(Option::is_some))
            }
            ("likes.has_liked", _) => {
                let liked = likes.has_liked(viewer, &author, ids).await;
                shows(liked, |liked| liked.contains(&true))
            }
            ("likes.toggle", Some(caller)) => shows(likes.toggle(caller, id, None).await, |_| true),
            ("activities.of", _) => {
                let group = stage.groups.get(object).map(ActorId::from);
                let actor = group.unwrap_or_else(|| (&author).into());
                let told = town.activities().of(viewer, &actor, order, &page).await;
                lists(told, |activity| activity.object_id == id.into())
            }
            ("posts.viewer_states" | "likes.toggle", None) => "-",
            _ => self.unknown(),
        }
    }
}

/// The status filter of moderators' lists.
fn status(object: &str) -> Option<ModerationStatus> {
    match object {
        "pending post" => Some(ModerationStatus::Pending),
        "flagged post" | "hidden comment" => Some(ModerationStatus::Flagged),
        "rejected post" => Some(ModerationStatus::Rejected),
        _ => None,
    }
}

fn wrong() -> Secret {
    Secret::new("not the one")
}

/// A person whose address an external issuer has verified.
fn identity(email: &Email) -> ExternalIdentity {
    ExternalIdentity {
        issuer: "https://login.example.org".parse().unwrap(),
        subject: "s-1".parse().unwrap(),
        email: Some(email.clone()),
    }
}
