//! All reads of a viewer.

use std::fmt::{Debug, Display};

use roundtable_domain::{Caller, Page, PageInput, Statistics, Webhooks};
use roundtable_model::table::Order;
use roundtable_model::{ActorId, CaseId, CommentId, Email, ModerationStatus, PostId, UserId};
use roundtable_testkit::{SecretTown, VIEWERS};

/// The output of a read.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) by: String,
    pub(crate) text: String,
}

pub(crate) async fn read_everything(secrets: &SecretTown, viewer: &str) -> Vec<Observation> {
    let caller = secrets.caller(viewer);
    let mut reader = Reader { secrets, viewer: caller.as_ref(), observations: Vec::new() };
    for name in VIEWERS.into_iter().filter(|name| *name != "nobody") {
        reader.user(name).await;
    }
    for post in &secrets.posts {
        reader.post(post).await;
    }
    for (_, comment) in &secrets.comments {
        reader.comment(comment).await;
    }
    reader.groups().await;
    reader.batches().await;
    reader.relations().await;
    reader.lists().await;
    reader.trade().await;
    reader.search().await;
    reader.files().await;
    reader.timelines().await;
    if let Some(caller) = &caller {
        reader.own_reads(caller).await;
        reader.feeds(caller).await;
        reader.notifications(caller).await;
        reader.rooms(caller).await;
        reader.goals(caller).await;
        reader.quests(caller).await;
        reader.staff_reads(caller).await;
        reader.live(caller).await;
    }
    reader.observations
}

pub(crate) struct Reader<'a> {
    pub(crate) secrets: &'a SecretTown,
    pub(crate) viewer: Option<&'a Caller>,
    observations: Vec<Observation>,
}

impl Reader<'_> {
    /// Records a result or an error.
    pub(crate) fn note<T: Debug, E: Debug + Display>(
        &mut self,
        by: impl Display,
        answer: Result<T, E>,
    ) {
        let text = match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!text.contains("Internal") && !text.contains("Store("), "{by}: {text}");
        self.observations.push(Observation { by: by.to_string(), text });
    }

    /// Reads a list to its end, in pages of one and of a hundred, which must show the same.
    pub(crate) async fn list<T: Debug, E: Debug + Display>(
        &mut self,
        by: impl Display,
        read: impl AsyncFn(PageInput) -> Result<Page<T>, E>,
    ) {
        let mut runs = Vec::new();
        for size in [1, 100] {
            let (mut run, mut after) = (Vec::new(), None);
            loop {
                let page = read(PageInput { limit: Some(size), after: after.take() }).await;
                if let Ok(page) = &page {
                    run.extend(page.items.iter().map(|(item, _)| format!("{item:?}")));
                    after.clone_from(&page.next);
                }
                self.note(format_args!("{by} by {size}"), page);
                if after.is_none() {
                    break;
                }
            }
            runs.push(run);
        }
        assert_eq!(runs[0], runs[1], "{by}");
    }

    async fn user(&mut self, name: &str) {
        let Self { secrets: SecretTown { town, .. }, viewer, .. } = *self;
        let id: UserId = town.id(name);
        let nickname = match name {
            "sid" => String::from("xqsids-nickxq"),
            "dan" => String::from("xqdans-nickxq"),
            name => name.to_owned(),
        };
        let (accounts, follows) = (town.accounts(), town.follows());
        self.note(format!("user {name}"), accounts.user(viewer, &id).await);
        let nick = nickname.parse().unwrap();
        self.note(format!("by_nickname {name}"), accounts.by_nickname(viewer, &nick).await);
        self.note(format!("by_username {name}"), accounts.by_username(viewer, &nick).await);
        let email: Email = format!("xqmail-{name}xq@example.com").parse().unwrap();
        self.note(format!("by_email {name}"), accounts.by_email(viewer, &email).await);
        let handle = "xqdans-handlexq".parse().unwrap();
        self.note("by_handle", accounts.by_handle(viewer, &handle).await);
        self.list(format!("following {name}"), async |page| {
            follows.following(viewer, &id, &page).await
        })
        .await;
        self.list(format!("followers {name}"), async |page| {
            follows.followers(viewer, &id, &page).await
        })
        .await;
        for order in [Order::Ascending, Order::Descending] {
            self.list(format!("posts by {name}"), async |page| {
                town.posts().by(viewer, &id, order, &page).await
            })
            .await;
            self.list(format!("activities of {name}"), async |page| {
                town.activities().of(viewer, &ActorId::from(&id), order, &page).await
            })
            .await;
        }
        self.list(format!("likes by {name}"), async |page| {
            town.likes().by(viewer, &id, &page).await
        })
        .await;
        self.list(format!("comments by {name}"), async |page| {
            town.comments().by(viewer, &id, &page).await
        })
        .await;
        self.list(format!("groups of {name}"), async |page| {
            town.groups().of(viewer, &id, &page).await
        })
        .await;
    }

    async fn post(&mut self, id: &PostId) {
        let Self { secrets: SecretTown { town, .. }, viewer, .. } = *self;
        self.note(format!("post {id}"), town.posts().post(viewer, id).await);
        self.list(format!("likes of {id}"), async |page| town.likes().of(viewer, id, &page).await)
            .await;
        for order in [Order::Ascending, Order::Descending] {
            self.list(format!("comments on {id}"), async |page| {
                town.comments().on(viewer, id, order, &page).await
            })
            .await;
        }
    }

    async fn comment(&mut self, id: &CommentId) {
        let Self { secrets: SecretTown { town, .. }, viewer, .. } = *self;
        self.note(format!("comment {id}"), town.comments().comment(viewer, id).await);
        self.list(format!("replies to {id}"), async |page| {
            town.comments().replies(viewer, id, &page).await
        })
        .await;
    }

    async fn groups(&mut self) {
        let Self { secrets: SecretTown { town, groups, .. }, viewer, .. } = *self;
        for group in groups {
            self.note(format!("group {group}"), town.groups().get(viewer, group).await);
            self.list(format!("members of {group}"), async |page| {
                town.groups().members(viewer, group, &page).await
            })
            .await;
            let actor = ActorId::from(group);
            self.list(format!("activities in {group}"), async |page| {
                town.activities().of(viewer, &actor, Order::Descending, &page).await
            })
            .await;
        }
        self.note("groups", town.groups().views(viewer, groups).await);
    }

    async fn batches(&mut self) {
        let Self { secrets: SecretTown { town, posts, comments, .. }, viewer, .. } = *self;
        let people: Vec<UserId> = VIEWERS.into_iter().map(|name| town.id(name)).collect();
        self.note("people", town.accounts().people(viewer, &people).await);
        self.note("counts", town.accounts().counts(viewer, &people).await);
        self.note("posts", town.posts().posts(viewer, posts).await);
        self.note("stats", town.posts().stats(viewer, posts).await);
        self.note("counters", town.posts().counters(posts).await);
        self.note("comments", town.comments().comments(viewer, comments).await);
        let ids: Vec<CommentId> = comments.iter().map(|(_, id)| id.clone()).collect();
        self.note("comments by ids", town.comments().by_ids(viewer, &ids).await);
        let places = self.secrets.activity_keys().await;
        self.note("activities", town.activities().at(viewer, &places).await);
        self.note("marks of comments", town.comments().engagement(viewer, comments).await);
        for id in &people {
            self.note(format!("has_liked {id}"), town.likes().has_liked(viewer, id, posts).await);
            let follows = town.follows().is_following(viewer, id, &town.id("tom")).await;
            self.note(format!("is_following {id}"), follows);
        }
    }

    async fn lists(&mut self) {
        let Self { secrets: SecretTown { town, .. }, viewer, .. } = *self;
        let (posts, day) = (town.posts(), town.now().day());
        let tag = "town".parse().unwrap();
        let statuses = [ModerationStatus::Pending, ModerationStatus::Flagged];
        let statuses = statuses.into_iter().chain([ModerationStatus::Rejected]).map(Some);
        for order in [Order::Ascending, Order::Descending] {
            for status in statuses.clone().chain([None, Some(ModerationStatus::Approved)]) {
                self.list(format!("global {status:?}"), async |page| {
                    posts.global(viewer, None, status, order, &page).await
                })
                .await;
            }
            self.list("on_day", async |page| posts.on_day(viewer, day, order, &page).await).await;
            self.list("tagged", async |page| posts.tagged(viewer, &tag, order, &page).await).await;
        }
        self.list("popular", async |page| posts.popular(viewer, &page).await).await;
        let follows = town.follows();
        self.list("activity_of", async |page| follows.activity_of(viewer, day, &page).await).await;
    }

    async fn own_reads(&mut self, caller: &Caller) {
        let Self { secrets: SecretTown { town, posts, .. }, .. } = *self;
        let accounts = town.accounts();
        self.note("me", accounts.me(caller).await);
        self.note("marks", town.posts().viewer_states(caller, posts).await);
        self.list("keys", async |page| accounts.keys(caller, &page).await).await;
        self.list("requests", async |page| town.follows().requests(caller, &page).await).await;
        self.list("blocked", async |page| town.blocks().list(caller, &page).await).await;
        self.list("muted", async |page| town.mutes().list(caller, &page).await).await;
        self.list("mine", async |page| town.groups().mine(caller, &page).await).await;
    }

    async fn staff_reads(&mut self, caller: &Caller) {
        let Self { secrets: SecretTown { town, posts, comments, .. }, .. } = *self;
        let moderation = town.moderation();
        for status in ModerationStatus::ALL {
            self.list(format!("queue {status:?}"), async |page| {
                moderation.queue(caller, Some(*status), &page).await
            })
            .await;
        }
        let of_posts = posts.iter().map(CaseId::from);
        for case in of_posts.chain(comments.iter().map(|(_, comment)| comment.into())) {
            self.note(format!("case {case}"), moderation.case(caller, &case).await);
            self.list(format!("reports {case}"), async |page| {
                moderation.reports(caller, &case, &page).await
            })
            .await;
        }
        let of_posts = posts.iter().map(CaseId::from);
        let of_comments = comments.iter().map(|(_, comment)| comment.into());
        let cases: Vec<CaseId> = of_posts.chain(of_comments).collect();
        self.note("cases", moderation.cases(caller, &cases).await);
        let statistics = Statistics::new(town.context().clone());
        let webhooks = Webhooks::new(town.context().clone());
        self.list("webhooks", async |page| webhooks.list(caller, &page).await).await;
        self.note("totals", statistics.totals(caller).await);
        self.note("operator", town.accounts().check_operator(caller).await);
        self.list("audit", async |page| moderation.audit(caller, None, None, &page).await).await;
        for name in VIEWERS {
            let id = town.id(name);
            self.list(format!("audit by {name}"), async |page| {
                moderation.audit_by(caller, &id, &page).await
            })
            .await;
            let subject = town.id(name).into();
            self.list(format!("audit of {name}"), async |page| {
                moderation.audit_of(caller, &subject, &page).await
            })
            .await;
        }
        let accounts = town.accounts();
        for name in VIEWERS.into_iter().chain(["tried"]) {
            let key = if name == "tried" { name.to_owned() } else { format!("mail-{name}") };
            let key = format!("xq{key}xq@example.com");
            self.list(format!("login_attempts {name}"), async |page| {
                accounts.login_attempts(caller, &key, &page).await
            })
            .await;
        }
    }
}
