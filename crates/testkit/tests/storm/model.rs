//! The town as its people remember it: what each of them alone decides about, and what they last did.

use std::collections::HashMap;

use parking_lot::Mutex;
use roundtable_model::{CommentId, GroupId, PostId, UserId};
use roundtable_testkit::Town;

/// What people can act on, and what should have come of it.
#[derive(Debug, Default)]
pub(crate) struct Naive(Mutex<Memory>);

#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Everything that was posted, commented and founded, gone or not.
    pub(crate) posts: Vec<PostId>,
    pub(crate) comments: Vec<CommentId>,
    pub(crate) groups: Vec<GroupId>,
    /// Whether somebody likes or shares a post, as they left it.
    pub(crate) likes: HashMap<(UserId, PostId), bool>,
    pub(crate) shares: HashMap<(UserId, PostId), bool>,
    /// Whether somebody follows somebody, as they left it; `None` once others had a say.
    pub(crate) follows: HashMap<(UserId, UserId), Option<bool>>,
    /// What a post says, as its author left it; `None` once it is deleted.
    pub(crate) contents: HashMap<PostId, Option<String>>,
    /// Who has deleted their account.
    pub(crate) gone: Vec<UserId>,
}

impl Naive {
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(&mut self.0.lock())
    }

    /// What is there is what people remember.
    pub(crate) async fn agrees_with(&self, town: &Town) {
        let core = town.ground().core();
        let memory = std::mem::take(&mut *self.0.lock());
        let alive = |user: &UserId| !memory.gone.contains(user);
        for (post, content) in &memory.contents {
            let stored = core.post(post).get().await.unwrap();
            let stored = stored.filter(|post| !post.is_deleted && alive(&post.author_id));
            let expected = content.as_ref().filter(|_| stored.is_some());
            if content.is_none() {
                assert!(stored.is_none(), "{post} was deleted");
            }
            assert_eq!(stored.as_ref().map(|post| &post.content), expected, "{post}");
        }
        let live = |post: &PostId| memory.contents.get(post).is_some_and(Option::is_some);
        for ((user, post), liked) in
            memory.likes.iter().filter(|((user, post), _)| live(post) && alive(user))
        {
            let there = core.liked(std::slice::from_ref(post), user).get().await.unwrap();
            let kept = core.post(post).get().await.unwrap().is_some_and(|post| !post.is_deleted);
            assert!(
                !kept || there.iter().all(|like| like.is_some() == *liked),
                "{user} likes {post}: {liked}"
            );
        }
        for ((user, post), shared) in
            memory.shares.iter().filter(|((user, post), _)| live(post) && alive(user))
        {
            let there = core.shared(std::slice::from_ref(post), user).get().await.unwrap();
            let kept = core.post(post).get().await.unwrap().is_some_and(|post| !post.is_deleted);
            assert!(
                !kept || there.iter().all(|share| share.is_some() == *shared),
                "{user} shared {post}: {shared}"
            );
        }
        let mut compared = 0;
        for ((follower, followee), follows) in &memory.follows {
            let Some(follows) = follows.filter(|_| alive(follower) && alive(followee)) else {
                continue;
            };
            let there = core.follows(follower, followee).get().await.unwrap().is_some();
            assert_eq!(there, follows, "{follower} follows {followee}");
            compared += 1;
        }
        assert!(compared > 0 && !memory.likes.is_empty(), "a storm in which nothing happened");
    }
}
