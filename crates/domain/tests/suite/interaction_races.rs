//! Actions on a post while the viewer's access to it ends (R7, R18 to R20, R33, I9): they happen
//! before, or not at all.

use std::sync::Arc;

use roundtable_domain::{
    Caller, Code, Comments, Context, Likes, NewComment, NewPost, Refusal, Shares,
};
use roundtable_model::Visibility;
use roundtable_model::entities::{Comment, Post};
use roundtable_testkit::Town;

/// Ana's post and cleo's comment on it. Bo is the one who acts on them.
struct Scene {
    town: Arc<Town>,
    post: Post,
    comment: Comment,
}

#[derive(Clone, Copy, Debug)]
enum Did {
    Like,
    Comment,
    Answer,
    LikeComment,
    Share,
}

const ALL: &[Did] = &[Did::Like, Did::Comment, Did::Answer, Did::LikeComment, Did::Share];

impl Scene {
    async fn of(town: Town, post: NewPost) -> Self {
        let post = town.post_as("ana", post).await;
        let comment = town.comment("cleo", &post.id, "hi").await;
        Self { town: Arc::new(town), post, comment }
    }

    async fn public() -> Self {
        Self::of(Town::of(["ana", "bo", "cleo", "mo"]).await, NewPost::text("hello")).await
    }

    /// A post for ana's followers, who are bo and cleo.
    async fn for_followers(visibility: Visibility) -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        for name in ["bo", "cleo"] {
            town.follow(name, "ana").await;
        }
        // A private account's posts are for followers only.
        town.set_private("ana", visibility == Visibility::Public).await;
        let visibility = Some(visibility);
        Self::of(town, NewPost { visibility, ..NewPost::text("hello") }).await
    }

    /// A post in ana's private group, with bo and cleo as members.
    async fn in_group() -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        let group = town.create_private_group("ana", "secret").await;
        for name in ["bo", "cleo"] {
            town.join(name, &group).await;
            let (ana, name) = (town.caller("ana"), town.id(name));
            town.groups().approve(&ana, &group, &name, None).await.unwrap();
        }
        Self::of(town, NewPost { group_id: Some(group), ..NewPost::text("hello") }).await
    }

    async fn does(&self, context: Context, who: &Caller, did: Did) -> Result<(), Code> {
        let (post_id, content) = (self.post.id.clone(), "from bo".to_owned());
        let post = &post_id.clone();
        let mut input = NewComment { post_id, content, parent_comment_id: None };
        let comments = Comments::new(context.clone());
        match did {
            Did::Like => plain(Likes::new(context).like(who, post, None, None).await),
            Did::Share => plain(Shares::new(context).share(who, post, None).await),
            Did::LikeComment => plain(comments.like(who, &self.comment.id, None, None).await),
            Did::Comment => plain(comments.add(who, &input, None).await),
            Did::Answer => {
                input.parent_comment_id = Some(self.comment.id.clone());
                plain(comments.add(who, &input, None).await)
            }
        }
    }

    /// Returns whether anything of bo's exists.
    async fn has_traces(&self) -> bool {
        let rows = self.town.rows(&format!("POST#{}", self.post.id), "").await;
        let bos = |row: &String| {
            let key = row.split(' ').next().unwrap_or_default();
            key.ends_with("#bo") || row.contains("content=from bo")
        };
        rows.iter().any(bos)
    }
}

fn plain<T, E: Refusal>(done: Result<T, E>) -> Result<(), Code> {
    done.map(drop).map_err(|error| error.code())
}

/// Runs each action of bo's with `cut` interleaved at every point.
async fn each_meets<Cut: Future<Output = ()>>(
    deeds: &[Did],
    scene: impl AsyncFn() -> Scene,
    cut: impl Fn(Arc<Town>, Post) -> Cut + Clone + Send + 'static,
) {
    for did in deeds {
        let mut in_time = 0;
        for gap in 1.. {
            let scene = scene().await;
            let (cut, town, post) = (cut.clone(), scene.town.clone(), scene.post.clone());
            let (context, meanwhile) = scene.town.interleave(gap, async move || {
                cut(town, post).await;
            });
            let done = scene.does(context, &scene.town.caller("bo"), *did).await;
            assert_eq!(done.is_ok(), scene.has_traces().await, "{did:?} at {gap}");
            if !meanwhile.happened() {
                assert_eq!(done, Ok(()));
                break;
            }
            in_time += usize::from(done.is_ok());
            assert_ne!(done, Err(Code::Conflict), "{did:?} at {gap}: the refusal says why");
        }
        assert_eq!(in_time, 1, "{did:?}: only when it is there first");
    }
}

/// R7: a block, by either side.
#[tokio::test]
async fn a_concurrent_block_prevents_interaction() {
    for (blocker, blocked) in [("ana", "bo"), ("bo", "ana")] {
        each_meets(ALL, Scene::public, move |town, _| async move {
            town.block(blocker, blocked).await;
        })
        .await;
    }
}

/// R7: a block by the author of the comment that is answered or liked.
#[tokio::test]
async fn a_concurrent_block_by_a_commenter_prevents_interaction() {
    each_meets(&[Did::Answer, Did::LikeComment], Scene::public, |town, _| async move {
        town.block("cleo", "bo").await;
    })
    .await;
}

/// R7, R18: the end of a follow, where only followers see the post.
#[tokio::test]
async fn a_concurrent_unfollow_prevents_interaction() {
    for visibility in [Visibility::Followers, Visibility::Public] {
        let deeds = [Did::Like, Did::Comment, Did::Answer, Did::LikeComment];
        let scene = async || Scene::for_followers(visibility).await;
        each_meets(&deeds, scene, |town, _| async move {
            let (ana, bo) = (town.caller("ana"), town.id("bo"));
            town.follows().reject(&ana, &bo, None).await.unwrap();
        })
        .await;
    }
}

/// R9: removal from the private group of a post.
#[tokio::test]
async fn a_concurrent_removal_prevents_interaction() {
    let deeds = [Did::Like, Did::Comment, Did::Answer, Did::LikeComment];
    each_meets(&deeds, Scene::in_group, |town, post| async move {
        let (ana, bo, group) = (town.caller("ana"), town.id("bo"), post.group_id.unwrap());
        town.groups().remove(&ana, &group, &bo, None).await.unwrap();
    })
    .await;
}

/// R18: a post that is no longer public cannot be shared.
#[tokio::test]
async fn an_account_turning_private_prevents_sharing() {
    each_meets(&[Did::Share], Scene::public, |town, _| async move {
        town.set_private("ana", true).await;
    })
    .await;
}

/// R7: staff see posts of users who blocked them, to moderate; they can interact no more than others.
#[tokio::test]
async fn blocked_staff_cannot_interact() {
    for (blocker, deeds) in [("ana", ALL), ("cleo", &[Did::Answer, Did::LikeComment])] {
        let scene = Scene::public().await;
        let (town, mo) = (&scene.town, scene.town.mo());
        town.block(blocker, "mo").await;
        town.posts().post(Some(&mo), &scene.post.id).await.unwrap();
        town.comments().comment(Some(&mo), &scene.comment.id).await.unwrap();
        for did in deeds {
            let refused = scene.does(town.context().clone(), &mo, *did).await;
            assert_eq!(refused, Err(Code::NotFound), "{did:?}");
        }
    }
}
