//! The town as its people remember it: what each of them alone decides about, and what they last did.

use std::collections::{BTreeSet, HashMap, HashSet};

use parking_lot::Mutex;
use roundtable_model::{CommentId, GroupId, Nickname, PostId, Role, UserId};

use crate::deck::Deck;

/// What people can act on, and what should have come of it.
#[derive(Debug, Default)]
pub(crate) struct Naive(Mutex<Memory>);

/// A text, and where it stands.
#[derive(Debug)]
pub(crate) struct Said<Place> {
    pub(crate) author: UserId,
    pub(crate) place: Place,
    /// As its author left it; `None` once it is deleted.
    pub(crate) text: Option<String>,
}

/// A group as it was left.
#[derive(Debug)]
pub(crate) struct Founded {
    pub(crate) founder: UserId,
    /// What it is called; `None` once others had a say.
    pub(crate) name: Option<String>,
    pub(crate) is_deleted: bool,
    /// Whether it may have come to an end, or to somebody else, by itself.
    pub(crate) is_loose: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// What is to be done next, whoever does it.
    pub(crate) deck: Deck,
    /// What has been done, or at least been tried, and how often.
    pub(crate) chosen: BTreeSet<&'static str>,
    pub(crate) acts: usize,
    /// Everything that was posted, commented and founded, gone or not.
    pub(crate) posts: Vec<PostId>,
    pub(crate) comments: Vec<CommentId>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) posted: HashMap<PostId, Said<Option<GroupId>>>,
    pub(crate) commented: HashMap<CommentId, Said<PostId>>,
    pub(crate) founded: HashMap<GroupId, Founded>,
    /// Whether somebody likes, shares or blocks, as they left it.
    pub(crate) likes: HashMap<(UserId, PostId), bool>,
    pub(crate) shares: HashMap<(UserId, PostId), bool>,
    pub(crate) blocks: HashMap<(UserId, UserId), bool>,
    /// Whether somebody follows somebody, as they left it; `None` once others had a say.
    pub(crate) follows: HashMap<(UserId, UserId), Option<bool>>,
    /// What people call themselves since they changed it.
    pub(crate) nicknames: HashMap<UserId, Nickname>,
    /// What the admin gave and took.
    pub(crate) roles: HashMap<UserId, Vec<Role>>,
    /// Who is suspended, as far as staff knows.
    pub(crate) suspended: Vec<UserId>,
    /// Who has deleted their account.
    pub(crate) gone: HashSet<UserId>,
}

impl Naive {
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(&mut self.0.lock())
    }

    /// All that people remember; they forget it.
    pub(crate) fn take(&self) -> Memory {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Memory {
    pub(crate) fn alive(&self, user: &UserId) -> bool {
        !self.gone.contains(user)
    }

    /// Something somebody made themselves, and has not deleted, that comes after `start` of all.
    pub(crate) fn post_of(&self, me: &UserId, start: usize) -> Option<PostId> {
        let is_mine = |said: &Said<_>| said.author == *me && said.text.is_some();
        any(&self.posts, start, |id| self.posted.get(id).is_some_and(is_mine))
    }

    /// The same, of comments.
    pub(crate) fn comment_of(&self, me: &UserId, start: usize) -> Option<CommentId> {
        let is_mine = |said: &Said<_>| said.author == *me && said.text.is_some();
        any(&self.comments, start, |id| self.commented.get(id).is_some_and(is_mine))
    }

    /// The same, of groups.
    pub(crate) fn group_of(&self, me: &UserId, start: usize) -> Option<GroupId> {
        let is_mine = |group: &Founded| group.founder == *me && !group.is_deleted;
        any(&self.groups, start, |id| self.founded.get(id).is_some_and(is_mine))
    }
}

fn any<T: Clone>(all: &[T], start: usize, fits: impl Fn(&T) -> bool) -> Option<T> {
    let turned = all.iter().cycle().skip(start % all.len().max(1)).take(all.len());
    turned.cloned().find(fits)
}
