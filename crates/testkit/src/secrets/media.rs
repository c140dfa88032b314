//! Secrets in the URLs of files: a viewer who gets the URL can fetch the file.

use roundtable_domain::{NewActivity, NewMedia, NewPost, ProfileChange};
use roundtable_model::entities::{Goal, Upload};
use roundtable_model::{
    ActivityVerb, ContentType, Entity, GroupId, MediaKey, ModerationStatus, ObjectType,
    UploadState, Visibility, samples,
};

use super::{SecretTown, viewers_except};

impl SecretTown {
    /// Uploads files, with and without a post.
    pub(crate) async fn files(&mut self) {
        let anas = viewers_except(&["bex", "bob"]);
        let staff = ["ana", "mo", "ada"];
        let closed = self.groups[1].clone();
        let shown = |visibility| NewPost { visibility: Some(visibility), ..NewPost::text("") };
        let public = || shown(Visibility::Public);
        let files: [(&str, &'static str, &[&'static str], NewPost); 9] = [
            ("ana", "file", &anas, public()),
            ("ana", "followers-file", &["ana", "fay", "mo", "ada"], shown(Visibility::Followers)),
            ("ana", "private-file", &staff, shown(Visibility::Private)),
            (
                "ana",
                "group-file",
                &["ana", "mel", "gus", "mo", "ada"],
                NewPost { group_id: Some(closed), ..public() },
            ),
            ("ana", "flagged-file", &staff, public()),
            ("ana", "deleted-file", &[], public()),
            ("pia", "private-accounts-file", &["pia", "fay", "mo", "ada"], public()),
            ("sid", "suspended-file", &["sid", "mo", "ada"], public()),
            ("dan", "deleted-accounts-file", &[], public()),
        ];
        for (owner, name, seen_by, post) in files {
            let media = vec![self.file(owner, name, seen_by).await];
            let input = NewPost { content_type: ContentType::Image, media, ..post };
            let post = self.town.post_as(owner, input).await;
            if name == "deleted-file" {
                let ana = self.town.caller("ana");
                self.town.posts().delete(&ana, &post.id, None).await.unwrap();
            }
            if name == "flagged-file" {
                self.town.moderate(&post.id, ModerationStatus::Flagged).await;
            }
        }
        self.file("ana", "unposted-file", &["ana"]).await;
        self.file("sid", "suspended-unposted-file", &["sid"]).await;
        self.file("dan", "deleted-unposted-file", &[]).await;
        self.activity_files().await;
        self.pictures().await;
    }

    /// Uploads files of activities, of which one belongs to a deleted goal.
    async fn activity_files(&mut self) {
        let anas = viewers_except(&["bex", "bob"]);
        let closed = self.groups[1].clone();
        let files: [(&str, &'static str, &[&'static str], Option<GroupId>); 6] = [
            ("ana", "told-file", &anas, None),
            ("ana", "group-told-file", &["ana", "mel", "gus", "mo", "ada"], Some(closed)),
            ("ana", "file-of-nothing", &[], None),
            ("pia", "private-told-file", &["pia", "fay", "mo", "ada"], None),
            ("sid", "suspended-told-file", &["sid", "mo", "ada"], None),
            ("dan", "deleted-told-file", &[], None),
        ];
        for (owner, name, seen_by, group_id) in files {
            let goal = self.town.goal(owner, &format!("goal-{name}")).await;
            let input = NewActivity {
                group_id,
                verb: ActivityVerb::GoalUpdate,
                object_type: ObjectType::Goal,
                object_id: (&goal).into(),
                preview_text: None,
                media: Some(self.file(owner, name, seen_by).await),
                tags: Vec::new(),
            };
            let caller = self.town.caller(owner);
            self.town.activities().post(&caller, &input, None).await.unwrap();
            if name == "file-of-nothing" {
                let gone = Goal::at(&caller.user_id, &goal).delete();
                self.town.context().core().table().delete(gone).await.unwrap();
            }
        }
    }

    /// Uploads profile pictures: visible with the profile, unless replaced.
    async fn pictures(&mut self) {
        let (anas, all) = (viewers_except(&["bex", "bob"]), viewers_except(&[]));
        let pictures: [(&str, &'static str, &[&'static str]); 5] = [
            ("ana", "replaced-picture", &[]),
            ("ana", "anas-picture", &anas),
            ("pia", "pias-picture", &all),
            ("sid", "sids-picture", &["sid", "mo", "ada"]),
            ("dan", "dans-picture", &[]),
        ];
        for (owner, name, seen_by) in pictures {
            let profile_image = self.file(owner, name, seen_by).await.into();
            let change = ProfileChange { profile_image, ..ProfileChange::default() };
            let caller = self.town.caller(owner);
            self.town.accounts().update_profile(&caller, &change, None).await.unwrap();
        }
    }

    /// Writes a completed upload whose URL holds a secret.
    async fn file(
        &mut self,
        owner: &str,
        name: &'static str,
        seen_by: &[&'static str],
    ) -> NewMedia {
        let key: MediaKey = format!("u/{owner}/{name}").parse().unwrap();
        let upload = Upload {
            user_id: self.town.id(owner),
            key: key.clone(),
            copy: Some(self.secret(name, seen_by)),
            state: UploadState::Complete,
            purpose: None,
            holder: None,
            ..samples::upload()
        };
        self.town.context().core().table().put(upload.create()).await.unwrap();
        self.files.push(key.clone());
        let Upload { content_type, width, height, .. } = upload;
        NewMedia { s3_key: key, content_type, width, height }
    }
}
