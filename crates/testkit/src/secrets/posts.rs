//! Secrets in posts, comments and activities.

use roundtable_domain::{ModerationMode, NewActivity, NewPost, Posts, Settings};
use roundtable_model::entities::Goal;
use roundtable_model::{
    ActivityVerb, Entity, GoalId, GroupId, ObjectType, PostId, Visibility, samples,
};

use super::{SecretTown, viewers_except};
use crate::Town;

impl SecretTown {
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

    pub(super) async fn posts(&mut self) {
        let (open, closed) = (self.groups[0].clone(), self.groups[1].clone());
        let staff = ["ana", "mo", "ada"];
        let plain = |_: &mut NewPost| {};
        let shown = |visibility| move |post: &mut NewPost| post.visibility = Some(visibility);
        let into = |group: GroupId| move |post: &mut NewPost| post.group_id = Some(group);
        let anas = viewers_except(&["bex", "bob"]);
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
        self.post("bex", "of-blocked", &viewers_except(&["ana"]), plain).await;
        self.post("bob", "of-blocker", &viewers_except(&["ana"]), plain).await;
        self.post("sid", "of-suspended", &["sid", "mo", "ada"], plain).await;
        self.post("dan", "of-deleted", &[], plain).await;
        self.post("tom", "toms", &viewers_except(&[]), plain).await;
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
    pub fn id_of(&self, name: &str) -> PostId {
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

    pub(super) async fn comments(&mut self) {
        let all = viewers_except(&[]);
        let (anas, blockeds) = (viewers_except(&["bex", "bob"]), viewers_except(&["ana"]));
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
            let text = format!("{secret} #town");
            let comment = self.town.comment(author, &post, &text).await;
            self.comments.push((post, comment.id));
        }
        let said = &self.comments[0].1;
        let (moderation, tom) = (self.town.moderation(), self.town.caller("tom"));
        moderation.report_comment(&tom, said, "rude", None).await.unwrap();
        // Sue, who is suspended later, and a group that all viewers see.
        moderation.report_user(&tom, &self.town.id("sue"), "rude", None).await.unwrap();
        moderation.report_group(&tom, &self.groups[0], "rude", None).await.unwrap();
    }

    /// Posts activities about goals; one goal is deleted.
    pub(super) async fn activities(&mut self) {
        let pias = self.secret("private-activity", &["pia", "fay", "mo", "ada"]);
        self.tell("pia", "pias", pias).await;
        let anas = self.secret("activity", &viewers_except(&["bex", "bob"]));
        self.tell("ana", "anas", anas).await;
        let sids = self.secret("suspended-activity", &["sid", "mo", "ada"]);
        self.tell("sid", "sids", sids).await;
        let gone = self.secret("activity-of-nothing", &[]);
        let goal = self.tell("ana", "gone", gone).await;
        let delete = Goal { user_id: self.town.id("ana"), id: goal, ..samples::goal() };
        let core = self.town.context().core();
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
        self.town.advance_ms(1_000);
        goal
    }
}
