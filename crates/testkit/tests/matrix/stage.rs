//! The town of all cells: a user for each column, and an object for each row.

use std::collections::HashMap;
use std::sync::Arc;

use roundtable_conformance::Reference;
use roundtable_domain::{
    Caller, ModerationMode, NewApiKey, NewPost, Posts, Settings, SignedInUser,
};
use roundtable_model::entities::Credential;
use roundtable_model::table::{ManualClock, Store};
use roundtable_model::{
    CommentId, Entity, GroupId, GroupRole, InviteCode, ModerationStatus, PostId, Role, Secret,
    UserId, Visibility,
};
use roundtable_testkit::Town;

use super::goals::{self, GoalFixtures};
use super::quests::{self, QuestFixtures};

use super::rooms::Rooms;
use super::trade::TradeFixture;

/// The viewer of a column, by relation to the object of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Viewer {
    Anonymous,
    /// Ana, or the owner of the object.
    Owner,
    /// Fay, whose follows ana and pia accepted.
    Follower,
    /// Sam, without any relation.
    Stranger,
    /// Bex, blocked by ana and pia.
    Blocked,
    /// Mel, who is in both groups.
    Member,
    /// Fox, who has left both groups.
    Former,
    /// Gus, an admin of both groups.
    GroupAdmin,
    Moderator,
    Admin,
    /// Sue, who followed ana and pia, and was in both groups, before she was suspended.
    Suspended,
}

impl Viewer {
    /// The columns of the table.
    pub(crate) const ALL: [Self; 11] = [
        Self::Anonymous,
        Self::Owner,
        Self::Follower,
        Self::Stranger,
        Self::Blocked,
        Self::Member,
        Self::Former,
        Self::GroupAdmin,
        Self::Moderator,
        Self::Admin,
        Self::Suspended,
    ];

    fn name(self, object: &str) -> Option<&'static str> {
        Some(match self {
            Self::Anonymous => return None,
            Self::Owner => owner(object),
            Self::Follower => "fay",
            Self::Stranger => "sam",
            Self::Blocked => "bex",
            Self::Member => "mel",
            Self::Former => "fox",
            Self::GroupAdmin => "gus",
            Self::Moderator => "mo",
            Self::Admin => "ada",
            Self::Suspended => "sue",
        })
    }

    pub(crate) fn caller(self, object: &str) -> Option<Caller> {
        let id: UserId = self.name(object)?.parse().unwrap();
        Some(match self {
            Self::Moderator => Caller::with_roles(id, &[Role::User, Role::Moderator]),
            Self::Admin => Caller::with_roles(id, &[Role::User, Role::Admin]),
            _ => Caller::user(id),
        })
    }
}

/// The owner of a row's object.
pub(crate) fn owner(object: &str) -> &'static str {
    match object {
        "private account's post"
        | "private account's file"
        | "private account's told file"
        | "private account's picture"
        | "private profile"
        | "request" => "pia",
        "suspended profile"
        | "suspended account's file"
        | "suspended account's picture"
        | "suspended account's post"
        | "suspended account's offer"
        | "suspended account's goal"
        | "suspended account's quest" => "sid",
        "deleted profile"
        | "deleted account's file"
        | "deleted account's picture"
        | "deleted account's post"
        | "deleted account's offer"
        | "deleted account's goal"
        | "deleted account's quest" => "dan",
        "moderator" => "moe",
        _ => "ana",
    }
}

const CAST: [&str; 17] = [
    "ana", "fay", "sam", "bex", "mel", "fox", "gus", "mo", "ada", "sue", "tom", "tia", "ted",
    "gil", "sid", "dan", "moe",
];

/// The town, created once, and its objects by name.
pub(crate) struct Stage {
    backend: Reference,
    clock: Arc<ManualClock>,
    pub(crate) posts: HashMap<&'static str, PostId>,
    pub(crate) comments: HashMap<&'static str, CommentId>,
    pub(crate) groups: HashMap<&'static str, GroupId>,
    pub(crate) devices: HashMap<&'static str, SignedInUser>,
    pub(crate) keys: HashMap<&'static str, NewApiKey>,
    pub(crate) codes: HashMap<&'static str, InviteCode>,
    pub(crate) rooms: Rooms,
    pub(crate) trade: TradeFixture,
    pub(crate) goals: GoalFixtures,
    pub(crate) quests: QuestFixtures,
}

impl Stage {
    pub(crate) async fn set() -> Self {
        let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
        let backend = Arc::new(Reference::new(clock.clone()));
        let store = Store::shared(backend.clone());
        let town = Town::on(store, clock.clone(), Town::settings(), 0).await;
        let mut stage = Self {
            backend: Reference::new(clock.clone()),
            clock,
            posts: HashMap::new(),
            comments: HashMap::new(),
            groups: HashMap::new(),
            devices: HashMap::new(),
            keys: HashMap::new(),
            codes: HashMap::new(),
            rooms: Rooms::default(),
            trade: TradeFixture::default(),
            goals: GoalFixtures::new(),
            quests: QuestFixtures::new(),
        };
        stage.people(&town).await;
        stage.communities(&town).await;
        stage.content(&town).await;
        let (open, closed) = (&stage.groups["group"], &stage.groups["private group"]);
        super::media::set(&town, closed).await;
        stage.rooms = Rooms::set(&town, open, closed).await;
        stage.trade = TradeFixture::set(&town).await;
        stage.goals = goals::set(&town).await;
        stage.quests = quests::set(&town).await;
        town.settle().await;
        goals::end(&town, &stage.goals).await;
        stage.hide_content(&town).await;
        stage.backend = backend.fork();
        stage
    }

    /// A copy of the town for one cell.
    pub(crate) async fn town(&self, settings: Settings) -> Town {
        let store = Store::new(self.backend.fork());
        Town::on(store, self.clock.clone(), settings, 1).await
    }

    pub(crate) fn post_of(&self, comment: &str) -> PostId {
        let post = match comment {
            "comment for followers" => "followers' post",
            "comment in private group" => "private group's post",
            _ => "public post",
        };
        self.posts[post].clone()
    }

    /// Adds all users, each with a password, a session, a key and an invitation.
    async fn people(&mut self, town: &Town) {
        for name in CAST {
            town.add_user(name, |user| user.handle = Some(name.parse().unwrap())).await;
        }
        town.add_user("pia", |pia| {
            pia.is_private = true;
            pia.handle = Some("pia".parse().unwrap());
        })
        .await;
        for (name, role) in
            [("mo", Role::Moderator), ("moe", Role::Moderator), ("ada", Role::Admin)]
        {
            town.grant_role(name, role).await;
        }
        let core = town.context().core();
        let zoe = town.sign_up("zoe").await.user.id;
        let credential = core.credential(&zoe).get().await.unwrap().unwrap();
        for name in CAST.into_iter().chain(["pia"]) {
            let credential = Credential { user_id: town.id(name), ..credential.clone() };
            core.table().put(credential.create()).await.unwrap();
            let (accounts, caller) = (town.accounts(), town.caller(name));
            let device = accounts.login(&town.email(name), &password(), None).await.unwrap();
            self.devices.insert(name, device);
            let key = accounts.create_key(&caller, "mine", &[String::from("read")], None).await;
            self.keys.insert(name, key.unwrap());
            let invitation = accounts.invite(&caller, None, None).await.unwrap();
            self.codes.insert(name, invitation.code);
        }
        // A failed attempt to sign in as ana.
        let wrong = Secret::new("not the one");
        town.accounts().login(&town.email("ana"), &wrong, None).await.unwrap_err();
    }

    async fn communities(&mut self, town: &Town) {
        for followee in ["ana", "pia", "sid", "dan"] {
            for name in ["fay", "sue"] {
                town.follow(name, followee).await;
                let (caller, id) = (town.caller(followee), town.id(name));
                town.follows().accept(&caller, &id, None).await.unwrap();
            }
            town.follow(followee, "tom").await;
        }
        town.follow("tia", "pia").await;
        let (open, closed) = (
            town.create_group("ana", "runners").await,
            town.create_private_group("ana", "readers").await,
        );
        for group in [&open, &closed] {
            for name in ["mel", "fox", "gus", "ted", "gil", "sue"] {
                town.join(name, group).await;
                let (ana, id) = (town.caller("ana"), town.id(name));
                town.groups().approve(&ana, group, &id, None).await.unwrap();
            }
            for name in ["gus", "gil"] {
                town.set_group_role("ana", group, name, GroupRole::Admin).await;
            }
            town.groups().leave(&town.caller("fox"), group, None).await.unwrap();
        }
        town.join("tia", &closed).await;
        self.groups.extend([
            ("group", open.clone()),
            ("group's post", open.clone()),
            ("privacy", open.clone()),
            ("group's admin", open.clone()),
            ("group's owner", open),
            ("private group", closed.clone()),
            ("private group's request", closed.clone()),
            ("own membership", closed.clone()),
            ("private group's post", closed),
        ]);
    }

    async fn content(&mut self, town: &Town) {
        let text = |of: &str| NewPost::text(format!("{of} #town"));
        let shown = |of, visibility| NewPost { visibility: Some(visibility), ..text(of) };
        let into = |of, group: &GroupId| NewPost { group_id: Some(group.clone()), ..text(of) };
        let (open, closed) = (self.groups["group"].clone(), self.groups["private group"].clone());
        let posts = [
            ("public post", text("public")),
            ("followers' post", shown("followers", Visibility::Followers)),
            ("private post", shown("private", Visibility::Private)),
            ("private account's post", text("private account")),
            ("group's post", into("group", &open)),
            ("private group's post", into("private group", &closed)),
            ("flagged post", text("flagged")),
            ("rejected post", text("rejected")),
            ("deleted post", text("deleted")),
            ("suspended account's post", text("suspended account")),
            ("deleted account's post", text("deleted account")),
        ];
        for (name, input) in posts {
            self.posts.insert(name, town.post_as(owner(name), input).await.id);
        }
        let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
        let strict = Posts::new(town.on_same_store(settings).await);
        let pending = strict.create(&town.caller("ana"), &text("pending"), None).await.unwrap();
        self.posts.insert("pending post", pending.id);
        town.advance_ms(1_000);
        let public = self.posts["public post"].clone();
        let comments = [
            ("comment", "ana", "public post"),
            ("comment below one's post", "tom", "public post"),
            ("hidden comment", "ana", "public post"),
            ("deleted comment", "ana", "public post"),
            ("comment for followers", "ana", "followers' post"),
            ("comment in private group", "ana", "private group's post"),
        ];
        for (name, author, post) in comments {
            let comment = town.comment(author, &self.posts[post], "well #said").await;
            self.comments.insert(name, comment.id);
        }
        // By their authors, who always see them.
        for (name, post) in &self.posts {
            town.like(owner(name), post).await;
        }
        town.share("ana", &public).await;
        town.report("tom", &public, "rude").await;
        let said = &self.comments["comment"];
        town.comments().like(&town.caller("ana"), said, None, None).await.unwrap();
        let (moderation, tom) = (town.moderation(), town.caller("tom"));
        moderation.report_comment(&tom, said, "rude", None).await.unwrap();
    }

    /// Deletes, hides and suspends, without running the processors.
    async fn hide_content(&self, town: &Town) {
        for post in self.posts.values() {
            town.set_score(post, 100).await;
        }
        town.moderate(&self.posts["flagged post"], ModerationStatus::Flagged).await;
        town.moderate(&self.posts["rejected post"], ModerationStatus::Rejected).await;
        let (mo, ana) = (town.mo(), town.caller("ana"));
        let hidden = (&self.comments["hidden comment"], ModerationStatus::Flagged);
        town.moderation().moderate_comment(&mo, hidden.0, hidden.1, None, None).await.unwrap();
        town.posts().delete(&ana, &self.posts["deleted post"], None).await.unwrap();
        town.comments().delete(&ana, &self.comments["deleted comment"], None).await.unwrap();
        for name in ["ana", "pia"] {
            town.block(name, "bex").await;
        }
        town.mute("ana", "tia").await;
        let tia = town.caller("tia");
        town.moderation().report_user(&tia, &town.id("tom"), "rude", None).await.unwrap();
        for name in ["sue", "sid"] {
            town.accounts().suspend(&mo, &town.id(name), "rude", None).await.unwrap();
        }
        let dan = town.caller("dan");
        town.accounts().delete_account(&dan, &"dan".parse().unwrap()).await.unwrap();
    }
}

pub(crate) fn password() -> Secret {
    Secret::new("zoe has a secret")
}
