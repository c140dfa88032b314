//! A town full of secrets, and who is meant to know each.

use roundtable_domain::PostChange;
use roundtable_domain::{Caller, ModerationMode, NewActivity, NewGroup, NewPost, Posts, Settings};
use roundtable_model::entities::{Goal, User};
use roundtable_model::{
    ActivityVerb, CommentId, Entity, GoalId, GroupId, GroupRole, MediaKey, ModerationStatus,
    ObjectType, PostId, Role, RoomId, Secret, Visibility, samples,
};
use roundtable_testkit::Town;

use super::goals::Plan;
use super::quests::Challenge;
use super::trade::Wares;

/// Who looks: `nobody` is not signed in; bex was blocked by ana, and bob has blocked ana; mel is in the
/// private group, fox was, and gus helps to run it; sue, who followed and was in it, and sid are
/// suspended; dan has deleted his account.
pub(crate) const VIEWERS: [&str; 16] = [
    "nobody", "ana", "pia", "fay", "sam", "bex", "bob", "mel", "fox", "gus", "tom", "sid", "sue",
    "dan", "mo", "ada",
];

/// A secret word, and everybody who is meant to find it somewhere.
#[derive(Debug)]
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    pub(crate) seen_by: Vec<&'static str>,
}

impl Canary {
    pub(crate) fn secret(&self) -> String {
        word(self.name)
    }
}

fn word(name: &str) -> String {
    format!("xq{name}xq")
}

/// The town.
pub(crate) struct Hidden {
    pub(crate) town: Town,
    pub(crate) canaries: Vec<Canary>,
    pub(crate) posts: Vec<PostId>,
    pub(crate) comments: Vec<(PostId, CommentId)>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) wares: Wares,
    pub(crate) files: Vec<MediaKey>,
    pub(crate) rooms: Vec<RoomId>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) challenges: Vec<Challenge>,
}

const PUBLIC: [&str; 13] =
    ["ana", "bex", "bob", "dan", "fay", "fox", "gus", "mel", "mo", "ada", "sam", "sue", "tom"];

/// Everybody but these.
pub(crate) fn all_but(hidden_from: &[&str]) -> Vec<&'static str> {
    VIEWERS.into_iter().filter(|viewer| !hidden_from.contains(viewer)).collect()
}

impl Hidden {
    pub(crate) async fn set() -> Self {
        let town = Town::of([]).await;
        let (canaries, posts, comments, groups) = Default::default();
        let mut hidden = Self {
            town,
            canaries,
            posts,
            comments,
            groups,
            wares: Wares::default(),
            files: Vec::new(),
            rooms: Vec::new(),
            plans: Vec::new(),
            challenges: Vec::new(),
        };
        hidden.people().await;
        hidden.communities().await;
        hidden.talk().await;
        hidden.posts().await;
        hidden.comments().await;
        hidden.files().await;
        hidden.activities().await;
        hidden.help().await;
        hidden.trade().await;
        hidden.goals().await;
        hidden.quests().await;
        hidden.ties();
        hidden.town.settle().await;
        hidden.endings().await;
        hidden.give_up().await;
        hidden
    }

    /// Notes who is meant to see a secret, and makes it up.
    pub(crate) fn secret(&mut self, name: &'static str, seen_by: &[&'static str]) -> String {
        self.canaries.push(Canary { name, seen_by: seen_by.to_vec() });
        word(name)
    }

    /// Everybody, with an address that is theirs and the admins' to know.
    async fn people(&mut self) {
        for name in PUBLIC.into_iter().chain(["pia", "sid"]) {
            let mail = format!("mail-{name}");
            let mail: &'static str = mail.leak();
            let seen_by: &[_] = match name {
                "dan" => &[],
                "ada" => &["ada"],
                name => &[name, "ada"],
            };
            let email = format!("{}@example.com", self.secret(mail, seen_by));
            let change = |user: &mut User| {
                user.email = Some(email.parse().unwrap());
                user.is_private = name == "pia";
                (user.full_name, user.display_name, user.bio) = (None, None, None);
                match name {
                    "sid" => user.nickname = word("sids-nick").parse().unwrap(),
                    "dan" => {
                        user.nickname = word("dans-nick").parse().unwrap();
                        user.handle = Some(word("dans-handle").parse().unwrap());
                        user.full_name = Some(word("dans-name"));
                        user.display_name = Some(word("dans-display"));
                        user.bio = Some(word("dans-bio"));
                    }
                    name => user.bio = Some(word(&format!("{name}s-bio"))),
                }
            };
            self.town.move_in(name, change).await;
        }
        for gone in ["dans-nick", "dans-handle", "dans-name", "dans-display", "dans-bio"] {
            self.secret(gone, &[]);
        }
        self.secret("sids-nick", &["sid", "mo", "ada"]);
        // Bob sees it in the list of those he has blocked.
        self.secret("anas-bio", &all_but(&["bex"]));
        self.secret("bobs-bio", &all_but(&["ana"]));
        self.secret("pias-bio", &all_but(&[]));
        self.town.employ("mo", Role::Moderator).await;
        self.town.employ("ada", Role::Admin).await;
        let wrong = Secret::new("not the one");
        let email = format!("{}@example.com", self.secret("tried", &["ada"])).parse().unwrap();
        let accounts = self.town.accounts();
        accounts.login(&email, &wrong, None).await.unwrap_err();
    }

    async fn communities(&mut self) {
        let town = &self.town;
        for followee in ["ana", "pia", "sid", "dan"] {
            for name in ["fay", "sue"] {
                town.follow(name, followee).await;
                let (caller, id) = (town.caller(followee), town.id(name));
                town.follows().accept(&caller, &id, None).await.unwrap();
            }
            town.follow(followee, "tom").await;
        }
        town.follow("sam", "pia").await;
        let open = town.found("ana", "runners").await;
        let closed = town.found_private("ana", "readers").await;
        let ana = town.caller("ana");
        for group in [&open, &closed] {
            for name in ["mel", "fox", "gus", "sue", "sid", "dan"] {
                town.join(name, group).await;
                town.groups().approve(&ana, group, &town.id(name), None).await.unwrap();
            }
            town.appoint("ana", group, "gus", GroupRole::Admin).await;
            town.groups().leave(&town.caller("fox"), group, None).await.unwrap();
        }
        let ended = self.secret("ended-group", &[]);
        let group = NewGroup { tags: vec!["town".parse().unwrap()], ..NewGroup::named(ended) };
        let ended = self.town.groups().create(&ana, group, None).await.unwrap().id;
        self.groups = vec![open, closed, ended];
    }

    /// Somebody posts a secret.
    async fn post(
        &mut self,
        author: &str,
        name: &'static str,
        seen_by: &[&'static str],
        change: impl FnOnce(&mut NewPost),
    ) -> PostId {
        let mut input = NewPost::text(format!("{} #town", self.secret(name, seen_by)));
        change(&mut input);
        let id = self.town.post_as(author, input).await.id;
        self.posts.push(id.clone());
        id
    }

    async fn posts(&mut self) {
        let (open, closed) = (self.groups[0].clone(), self.groups[1].clone());
        let staff = ["ana", "mo", "ada"];
        let plain = |_: &mut NewPost| {};
        let shown = |visibility| move |post: &mut NewPost| post.visibility = Some(visibility);
        let into = |group: GroupId| move |post: &mut NewPost| post.group_id = Some(group);
        let anas = all_but(&["bex", "bob"]);
        self.post("ana", "public", &anas, plain).await;
        let followers = ["ana", "fay", "mo", "ada"];
        self.post("ana", "followers", &followers, shown(Visibility::Followers)).await;
        self.post("ana", "private", &staff, shown(Visibility::Private)).await;
        self.post("ana", "group", &anas, into(open)).await;
        let members = ["ana", "mel", "gus", "mo", "ada"];
        self.post("ana", "private-group", &members, into(closed)).await;
        self.post("ana", "flagged", &staff, plain).await;
        self.post("ana", "rejected", &staff, plain).await;
        self.post("ana", "deleted", &[], plain).await;
        self.post("ana", "edited", &[], plain).await;
        self.post("ana", "no-longer-public", &staff, plain).await;
        self.post("pia", "private-account", &["pia", "fay", "mo", "ada"], plain).await;
        self.post("bex", "of-blocked", &all_but(&["ana"]), plain).await;
        self.post("bob", "of-blocker", &all_but(&["ana"]), plain).await;
        self.post("sid", "of-suspended", &["sid", "mo", "ada"], plain).await;
        self.post("dan", "of-deleted", &[], plain).await;
        self.post("tom", "toms", &all_but(&[]), plain).await;
        let settings = Settings { moderation: ModerationMode::Before, ..Town::settings() };
        let strict = Posts::new(self.town.on_same_store(settings).await);
        let text = NewPost::text(format!("{} #town", self.secret("pending", &staff)));
        let pending = strict.create(&self.town.caller("ana"), &text, None).await.unwrap();
        self.posts.push(pending.id);
        for name in ["sid", "dan", "ana", "bex"] {
            let toms = self.id_of("toms");
            self.town.like(name, &toms).await;
            self.town.share(name, &toms).await;
        }
        for post in ["no-longer-public", "deleted", "flagged", "of-suspended", "of-deleted"] {
            let post = self.id_of(post);
            self.town.like("tom", &post).await;
            self.town.share("tom", &post).await;
        }
        let reason = self.secret("report", &["mo", "ada"]);
        let public = self.id_of("public");
        self.town.report("tom", &public, &reason).await;
    }

    /// The post with a secret, in the order they were written; the last one is `pending`.
    pub(crate) fn id_of(&self, name: &str) -> PostId {
        const NAMES: [&str; 17] = [
            "public",
            "followers",
            "private",
            "group",
            "private-group",
            "flagged",
            "rejected",
            "deleted",
            "edited",
            "no-longer-public",
            "private-account",
            "of-blocked",
            "of-blocker",
            "of-suspended",
            "of-deleted",
            "toms",
            "pending",
        ];
        self.posts[NAMES.iter().position(|other| *other == name).unwrap()].clone()
    }

    async fn comments(&mut self) {
        let all = all_but(&[]);
        let (anas, blockeds) = (all_but(&["bex", "bob"]), all_but(&["ana"]));
        let staff = ["ana", "mo", "ada"];
        let comments: [(&str, &'static str, &str, &[&'static str]); 13] = [
            ("ana", "toms", "comment", &anas),
            ("bex", "toms", "blocked-comment", &blockeds),
            ("bob", "toms", "blocker-comment", &blockeds),
            ("sid", "toms", "suspended-comment", &["sid", "mo", "ada"]),
            ("dan", "toms", "deleted-persons-comment", &[]),
            ("ana", "toms", "hidden-comment", &staff),
            ("ana", "toms", "deleted-comment", &[]),
            ("ana", "toms", "edited-comment", &[]),
            ("tom", "toms", "toms-comment", &all),
            ("ana", "followers", "followers-comment", &["ana", "fay", "mo", "ada"]),
            ("mel", "private-group", "group-comment", &["ana", "mel", "gus", "mo", "ada"]),
            ("tom", "flagged", "comment-on-flagged", &["ana", "mo", "ada"]),
            ("tom", "deleted", "comment-on-deleted", &[]),
        ];
        for (author, post, name, seen_by) in comments {
            let (post, secret) = (self.id_of(post), self.secret(name.to_owned().leak(), seen_by));
            let comment = self.town.comment(author, &post, &secret).await;
            self.comments.push((post, comment.id));
        }
        let said = &self.comments[0].1;
        let (moderation, tom) = (self.town.moderation(), self.town.caller("tom"));
        moderation.report_comment(&tom, said, "rude", None).await.unwrap();
    }

    /// What people tell of their goals; one of them is no longer there.
    async fn activities(&mut self) {
        let pias = self.secret("private-activity", &["pia", "fay", "mo", "ada"]);
        self.tell("pia", "pias", pias).await;
        let anas = self.secret("activity", &all_but(&["bex", "bob"]));
        self.tell("ana", "anas", anas).await;
        let sids = self.secret("suspended-activity", &["sid", "mo", "ada"]);
        self.tell("sid", "sids", sids).await;
        let gone = self.secret("activity-of-nothing", &[]);
        let goal = self.tell("ana", "gone", gone).await;
        let delete = Goal { user_id: self.town.id("ana"), id: goal, ..samples::goal() };
        let core = self.town.ground().core();
        core.table().delete(delete.key().delete()).await.unwrap();
    }

    async fn tell(&self, name: &str, goal: &str, preview: String) -> GoalId {
        let goal = self.town.goal(name, goal).await;
        let input = NewActivity {
            group_id: None,
            verb: ActivityVerb::GoalUpdate,
            object_type: ObjectType::Goal,
            object_id: (&goal).into(),
            preview_text: Some(preview),
            media: None,
            tags: Vec::new(),
        };
        self.town.activities().post(&self.town.caller(name), &input, None).await.unwrap();
        self.town.pass_ms(1_000);
        goal
    }

    /// What hides things: nothing has followed from it yet.
    async fn endings(&self) {
        let (town, ana, mo) = (&self.town, self.town.caller("ana"), self.town.mo());
        for post in &self.posts {
            town.set_score(post, 100).await;
        }
        town.moderate(&self.id_of("flagged"), ModerationStatus::Flagged).await;
        town.moderate(&self.id_of("rejected"), ModerationStatus::Rejected).await;
        let comment = |at: usize| &self.comments[at].1;
        let flagged = ModerationStatus::Flagged;
        let moderation = town.moderation();
        moderation.moderate_comment(&mo, comment(5), flagged, None, None).await.unwrap();
        town.posts().delete(&ana, &self.id_of("deleted"), None).await.unwrap();
        let change = PostChange { content: Some("other words".into()), visibility: None };
        town.posts().update(&ana, &self.id_of("edited"), &change, None).await.unwrap();
        let change = PostChange { content: None, visibility: Some(Visibility::Private) };
        town.posts().update(&ana, &self.id_of("no-longer-public"), &change, None).await.unwrap();
        town.comments().delete(&ana, comment(6), None).await.unwrap();
        town.comments().update(&ana, comment(7), "other words", None).await.unwrap();
        town.groups().delete(&ana, &self.groups[2], None).await.unwrap();
        town.block("ana", "bex").await;
        town.block("bob", "ana").await;
        for name in ["sue", "sid"] {
            town.accounts().suspend(&mo, &town.id(name), "rude", None).await.unwrap();
        }
        let (dan, nickname) = (town.caller("dan"), word("dans-nick").parse().unwrap());
        town.accounts().delete_account(&dan, &nickname).await.unwrap();
    }

    /// Who looks, signed in or not.
    pub(crate) fn caller(&self, viewer: &str) -> Option<Caller> {
        match viewer {
            "nobody" => None,
            "mo" => Some(self.town.mo()),
            "ada" => Some(self.town.staff("ada", Role::Admin)),
            name => Some(self.town.caller(name)),
        }
    }
}
