//! Secrets in the addresses of files: whoever is given one can fetch the file.

use roundtable_domain::{NewMedia, NewPost};
use roundtable_model::entities::Upload;
use roundtable_model::{
    ContentType, Entity, MediaKey, ModerationStatus, UploadState, Visibility, samples,
};

use super::reads::Reader;
use super::secrets::{Hidden, all_but};

impl Hidden {
    /// Files, in posts that some may see, and in none.
    pub(crate) async fn files(&mut self) {
        let anas = all_but(&["bex", "bob"]);
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
    }

    /// A file that has arrived, whose address is a secret.
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
            post_id: None,
            ..samples::upload()
        };
        self.town.ground().core().table().put(upload.create()).await.unwrap();
        self.files.push(key.clone());
        let Upload { content_type, width, height, .. } = upload;
        NewMedia { s3_key: key, content_type, width, height }
    }
}

impl Reader<'_> {
    /// Every address that somebody is given.
    pub(crate) async fn files(&mut self) {
        let Reader { hidden: Hidden { town, files, .. }, viewer, .. } = *self;
        for key in files {
            let url = town.media().url(viewer, key).await;
            self.note(format!("url of {key}"), url.map(|url| url.url));
        }
    }
}
