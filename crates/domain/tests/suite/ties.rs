//! What people do with what others wrote, while the tie that let them see it is cut (R7, R18 to R20,
//! R33, I9): it is done before, or not at all.

use std::sync::Arc;

use roundtable_domain::{
    Caller, Code, Comments, Ground, Likes, NewComment, NewPost, Refusal, Shares,
};
use roundtable_model::Visibility;
use roundtable_model::entities::{Comment, Post};
use roundtable_testkit::Town;

/// Ana's post, and what cleo said about it. It is bo who does something with them.
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

    /// A post for everybody.
    async fn public() -> Self {
        Self::of(Town::of(["ana", "bo", "cleo", "mo"]).await, NewPost::text("hello")).await
    }

    /// A post for those who follow ana, as the others do.
    async fn for_followers(visibility: Visibility) -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        for name in ["bo", "cleo"] {
            town.follow(name, "ana").await;
        }
        // Where the account is private, everything is for those who follow.
        town.set_private("ana", visibility == Visibility::Public).await;
        let visibility = Some(visibility);
        Self::of(town, NewPost { visibility, ..NewPost::text("hello") }).await
    }

    /// A post in ana's private group, in which the others are.
    async fn in_group() -> Self {
        let town = Town::of(["ana", "bo", "cleo"]).await;
        let group = town.found_private("ana", "secret").await;
        for name in ["bo", "cleo"] {
            town.join(name, &group).await;
            let (ana, name) = (town.caller("ana"), town.id(name));
            town.groups().approve(&ana, &group, &name, None).await.unwrap();
        }
        Self::of(town, NewPost { group_id: Some(group), ..NewPost::text("hello") }).await
    }

    async fn does(&self, ground: Ground, who: &Caller, did: Did) -> Result<(), Code> {
        let (post_id, content) = (self.post.id.clone(), "from bo".to_owned());
        let post = &post_id.clone();
        let mut input = NewComment { post_id, content, parent_comment_id: None };
        let comments = Comments::new(ground.clone());
        match did {
            Did::Like => plain(Likes::new(ground).like(who, post, None, None).await),
            Did::Share => plain(Shares::new(ground).share(who, post, None).await),
            Did::LikeComment => plain(comments.like(who, &self.comment.id, None).await),
            Did::Comment => plain(comments.add(who, &input, None).await),
            Did::Answer => {
                input.parent_comment_id = Some(self.comment.id.clone());
                plain(comments.add(who, &input, None).await)
            }
        }
    }

    /// Whether there is anything of bo's.
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

/// Bo does each of these, while `cut` comes in between, at every moment.
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
            let (ground, meanwhile) = scene.town.meanwhile(gap, async move || {
                cut(town, post).await;
            });
            let done = scene.does(ground, &scene.town.caller("bo"), *did).await;
            assert_eq!(done.is_ok(), scene.has_traces().await, "{did:?} at {gap}");
            if !meanwhile.happened() {
                assert_eq!(done, Ok(()));
                break;
            }
            in_time += usize::from(done.is_ok());
            assert_ne!(done, Err(Code::Conflict), "{did:?} at {gap}: they are told why");
        }
        assert_eq!(in_time, 1, "{did:?}: only when it is there first");
    }
}

/// R7: a block, whoever makes it.
#[tokio::test]
async fn a_block_comes_in_between() {
    for (blocker, blocked) in [("ana", "bo"), ("bo", "ana")] {
        each_meets(ALL, Scene::public, move |town, _| async move {
            town.block(blocker, blocked).await;
        })
        .await;
    }
}

/// R7: a block by whoever wrote the comment that is answered or liked.
#[tokio::test]
async fn a_block_of_a_commenter_comes_in_between() {
    each_meets(&[Did::Answer, Did::LikeComment], Scene::public, |town, _| async move {
        town.block("cleo", "bo").await;
    })
    .await;
}

/// R7, R18: the end of a follow, where only those who follow see the post.
#[tokio::test]
async fn the_end_of_a_follow_comes_in_between() {
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

/// R9: being removed from the private group of a post.
#[tokio::test]
async fn the_end_of_a_membership_comes_in_between() {
    let deeds = [Did::Like, Did::Comment, Did::Answer, Did::LikeComment];
    each_meets(&deeds, Scene::in_group, |town, post| async move {
        let (ana, bo, group) = (town.caller("ana"), town.id("bo"), post.group_id.unwrap());
        town.groups().remove(&ana, &group, &bo, None).await.unwrap();
    })
    .await;
}

/// R18: nobody passes on what its author no longer shows to everybody.
#[tokio::test]
async fn an_account_that_turns_private_comes_in_between() {
    each_meets(&[Did::Share], Scene::public, |town, _| async move {
        town.set_private("ana", true).await;
    })
    .await;
}

/// R7: staff see what those wrote who have blocked them, to decide about it; they join in no more than
/// others do.
#[tokio::test]
async fn staff_who_are_blocked_do_not_join_in() {
    for (blocker, deeds) in [("ana", ALL), ("cleo", &[Did::Answer, Did::LikeComment])] {
        let scene = Scene::public().await;
        let (town, mo) = (&scene.town, scene.town.mo());
        town.block(blocker, "mo").await;
        town.posts().post(Some(&mo), &scene.post.id).await.unwrap();
        town.comments().comment(Some(&mo), &scene.comment.id).await.unwrap();
        for did in deeds {
            let refused = scene.does(town.ground().clone(), &mo, *did).await;
            assert_eq!(refused, Err(Code::NotFound), "{did:?}");
        }
    }
}
