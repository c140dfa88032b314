//! The model of a town: the last state of everything that a single user decides about.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use roundtable_model::{CommentId, GroupId, Nickname, PostId, Role, UserId};

use super::deck::Deck;
use super::features::FeatureModel;

/// The model of a town, which its users share.
#[derive(Debug, Default)]
pub struct SharedModel(Mutex<TownModel>);

/// A text and its location.
#[derive(Debug)]
pub(crate) struct TextModel<Place> {
    pub(crate) author: UserId,
    pub(crate) place: Place,
    /// The last text; `None` once it is deleted.
    pub(crate) text: Option<String>,
}

#[derive(Debug)]
pub(crate) struct GroupModel {
    pub(crate) founder: UserId,
    /// `None` once other users may have renamed it.
    pub(crate) name: Option<String>,
    pub(crate) is_deleted: bool,
    /// True if it may have been deleted or passed on with its owner's account.
    pub(crate) is_loose: bool,
}

/// Everything that the users of a town have decided.
#[derive(Debug, Default)]
pub struct TownModel {
    pub(crate) deck: Deck,
    /// Attempts by action.
    pub(crate) chosen: BTreeSet<&'static str>,
    pub(crate) acts: usize,
    /// Successes by action.
    pub(crate) done: usize,
    /// All posts, comments and groups, deleted ones included.
    pub(crate) posts: Vec<PostId>,
    pub(crate) comments: Vec<CommentId>,
    pub(crate) groups: Vec<GroupId>,
    pub(crate) posted: BTreeMap<PostId, TextModel<Option<GroupId>>>,
    pub(crate) commented: BTreeMap<CommentId, TextModel<PostId>>,
    pub(crate) founded: BTreeMap<GroupId, GroupModel>,
    /// The last state of likes, shares and blocks.
    pub(crate) likes: BTreeMap<(UserId, PostId), bool>,
    pub(crate) shares: BTreeMap<(UserId, PostId), bool>,
    pub(crate) blocks: BTreeMap<(UserId, UserId), bool>,
    /// The last state of follows; `None` once the followee may have changed it.
    pub(crate) follows: BTreeMap<(UserId, UserId), Option<bool>>,
    /// Current and former members of groups, and requests.
    pub(crate) joined: Vec<(UserId, GroupId)>,
    /// Changed nicknames.
    pub(crate) nicknames: BTreeMap<UserId, Nickname>,
    /// Roles the admin granted or revoked.
    pub(crate) roles: BTreeMap<UserId, Vec<Role>>,
    /// Suspended users, according to staff actions.
    pub(crate) suspended: Vec<UserId>,
    /// Users who deleted their accounts.
    pub(crate) gone: BTreeSet<UserId>,
    pub(crate) active_users: BTreeSet<UserId>,
    /// Users who were ever suspended.
    pub(crate) sanctioned: BTreeSet<UserId>,
    /// Pairs of users with possibly suppressed notifications.
    pub(crate) disturbed: BTreeSet<(UserId, UserId)>,
    pub(crate) features: FeatureModel,
}

impl SharedModel {
    /// A model whose actions are chosen by `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(TownModel { deck: Deck::seeded(seed), ..TownModel::default() }))
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut TownModel) -> T) -> T {
        look(&mut self.0.lock())
    }

    /// Takes the model, and leaves an empty one.
    pub fn take(&self) -> TownModel {
        std::mem::take(&mut *self.0.lock())
    }
}

impl TownModel {
    /// The numbers of actions that were tried, and of those that succeeded.
    pub const fn actions(&self) -> (usize, usize) {
        (self.acts, self.done)
    }

    pub(crate) fn alive(&self, user: &UserId) -> bool {
        !self.gone.contains(user)
    }

    pub(crate) fn is_blocked(&self, one: &UserId, other: &UserId) -> bool {
        let blocks = |pair: (&UserId, &UserId)| {
            self.blocks.get(&(pair.0.clone(), pair.1.clone())).is_some_and(|blocks| *blocks)
        };
        blocks((one, other)) || blocks((other, one))
    }

    /// An existing post after `start` others, optionally by `author`.
    pub(crate) fn a_post(&self, author: Option<&UserId>, start: usize) -> Option<PostId> {
        any(&self.posts, start, |id| self.posted.get(id).is_some_and(|it| self.stands(it, author)))
    }

    pub(crate) fn a_comment(&self, author: Option<&UserId>, start: usize) -> Option<CommentId> {
        let stands = |id: &_| self.commented.get(id).is_some_and(|it| self.stands(it, author));
        any(&self.comments, start, stands)
    }

    fn stands<Place>(&self, said: &TextModel<Place>, author: Option<&UserId>) -> bool {
        let by_whom = author.is_none_or(|author| said.author == *author);
        by_whom && said.text.is_some() && self.alive(&said.author)
    }

    pub(crate) fn a_group(&self, founder: Option<&UserId>, start: usize) -> Option<GroupId> {
        let by_whom = |group: &GroupModel| founder.is_none_or(|founder| group.founder == *founder);
        let stands = |group: &GroupModel| by_whom(group) && !group.is_deleted;
        any(&self.groups, start, |id| self.founded.get(id).is_some_and(stands))
    }

    /// A group that a user is in, or has requested to join.
    pub(crate) fn a_group_with(&self, member: &UserId, start: usize) -> Option<GroupId> {
        any(&self.joined, start, |(user, _)| user == member).map(|(_, group)| group)
    }

    /// A member of a group, or a user who has requested to join.
    pub(crate) fn a_member(&self, group: &GroupId, start: usize) -> Option<UserId> {
        any(&self.joined, start, |(_, joined)| joined == group).map(|(user, _)| user)
    }
}

fn any<T: Clone>(all: &[T], start: usize, fits: impl Fn(&T) -> bool) -> Option<T> {
    let mut turned = all.iter().cycle().skip(start % all.len().max(1)).take(all.len());
    turned.find(|one| fits(one)).cloned()
}
