//! The town as its people remember it: what each of them alone decides about, and what they last did.

use std::collections::{BTreeSet, HashMap, HashSet};

use parking_lot::Mutex;
use roundtable_model::{CommentId, GroupId, Nickname, PostId, Role, UserId};

use crate::deck::Deck;
use crate::life::Life;

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
    /// How often it was more than tried.
    pub(crate) done: usize,
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
    /// Who is, or was, in which group, or asked to be.
    pub(crate) joined: Vec<(UserId, GroupId)>,
    /// What people call themselves since they changed it.
    pub(crate) nicknames: HashMap<UserId, Nickname>,
    /// What the admin gave and took.
    pub(crate) roles: HashMap<UserId, Vec<Role>>,
    /// Who is suspended, as far as staff knows.
    pub(crate) suspended: Vec<UserId>,
    /// Who has deleted their account.
    pub(crate) gone: HashSet<UserId>,
    /// Everybody who has done anything.
    pub(crate) everybody: BTreeSet<UserId>,
    /// Who has ever been suspended, as far as staff knows.
    pub(crate) sanctioned: HashSet<UserId>,
    /// Of whom somebody may not have been told at some time.
    pub(crate) disturbed: HashSet<(UserId, UserId)>,
    /// What they pursue beside all this.
    pub(crate) life: Life,
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

    /// Whether one of the two has blocked the other.
    pub(crate) fn is_blocked(&self, one: &UserId, other: &UserId) -> bool {
        let blocks = |pair: (&UserId, &UserId)| {
            self.blocks.get(&(pair.0.clone(), pair.1.clone())).is_some_and(|blocks| *blocks)
        };
        blocks((one, other)) || blocks((other, one))
    }

    /// Something that is there, and was said after `start` others: by `author`, if it matters.
    pub(crate) fn a_post(&self, author: Option<&UserId>, start: usize) -> Option<PostId> {
        any(&self.posts, start, |id| self.posted.get(id).is_some_and(|it| self.stands(it, author)))
    }

    /// The same, of comments.
    pub(crate) fn a_comment(&self, author: Option<&UserId>, start: usize) -> Option<CommentId> {
        let stands = |id: &_| self.commented.get(id).is_some_and(|it| self.stands(it, author));
        any(&self.comments, start, stands)
    }

    fn stands<Place>(&self, said: &Said<Place>, author: Option<&UserId>) -> bool {
        let by_whom = author.is_none_or(|author| said.author == *author);
        by_whom && said.text.is_some() && self.alive(&said.author)
    }

    /// The same, of groups.
    pub(crate) fn a_group(&self, founder: Option<&UserId>, start: usize) -> Option<GroupId> {
        let by_whom = |group: &Founded| founder.is_none_or(|founder| group.founder == *founder);
        let stands = |group: &Founded| by_whom(group) && !group.is_deleted;
        any(&self.groups, start, |id| self.founded.get(id).is_some_and(stands))
    }

    /// A group that somebody is in, or asks to be in.
    pub(crate) fn a_group_with(&self, member: &UserId, start: usize) -> Option<GroupId> {
        any(&self.joined, start, |(user, _)| user == member).map(|(_, group)| group)
    }

    /// Somebody in a group, or who asks to be in it.
    pub(crate) fn a_member(&self, group: &GroupId, start: usize) -> Option<UserId> {
        any(&self.joined, start, |(_, joined)| joined == group).map(|(user, _)| user)
    }
}

fn any<T: Clone>(all: &[T], start: usize, fits: impl Fn(&T) -> bool) -> Option<T> {
    let mut turned = all.iter().cycle().skip(start % all.len().max(1)).take(all.len());
    turned.find(|one| fits(one)).cloned()
}
