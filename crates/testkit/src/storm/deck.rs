//! The actions of a storm as a shuffled deck of cards that is dealt to all users: faster users get
//! more cards, but each deck contains every action the same number of times.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, SliceRandom};

/// The number of cards of each action. Account deletions are scheduled instead.
const CARDS: &[(usize, &str)] = &[
    (12, "Follow"),
    (4, "Unfollow"),
    (3, "Accept"),
    (1, "Reject"),
    (2, "Mute"),
    (2, "MuteUser"),
    (1, "UnmuteUser"),
    (2, "Block"),
    (3, "Unblock"),
    (3, "CreateGroup"),
    (2, "UpdateGroup"),
    (1, "TurnGroupPrivate"),
    (1, "ReviveGroup"),
    (1, "DeleteGroup"),
    (5, "Join"),
    (2, "Leave"),
    (1, "Invite"),
    (2, "Approve"),
    (1, "Remove"),
    (1, "SetRole"),
    (12, "Post"),
    (3, "EditPost"),
    (2, "DeletePost"),
    (12, "Like"),
    (4, "Unlike"),
    (4, "Share"),
    (2, "Unshare"),
    (8, "Comment"),
    (2, "EditComment"),
    (2, "DeleteComment"),
    (4, "LikeComment"),
    (1, "UnlikeComment"),
    (2, "PostActivity"),
    (1, "Report"),
    (1, "ReportComment"),
    (1, "ReportUser"),
    (1, "ReportGroup"),
    (1, "DecideCase"),
    (2, "Moderate"),
    (1, "ModerateComment"),
    (1, "TurnPrivate"),
    (1, "Rename"),
    (1, "Suspend"),
    (2, "Unsuspend"),
    (1, "SetRoles"),
    (1, "SetTier"),
    (1, "SetVerified"),
    (4, "SetGoal"),
    (2, "RenameGoal"),
    (3, "ReachGoal"),
    (1, "DeleteGoal"),
    (10, "AddTask"),
    (14, "DoTask"),
    (1, "DeleteTask"),
    (3, "AddMilestone"),
    (1, "Achieve"),
    (1, "DeleteMilestone"),
    (8, "SetQuest"),
    (1, "CancelQuest"),
    (1, "DeleteQuest"),
    (5, "OpenRoom"),
    (3, "OpenGroupRoom"),
    (16, "Say"),
    (4, "ReadRoom"),
    (2, "AskForHelp"),
    (3, "Advise"),
    (2, "EnterCompany"),
    (3, "MakeOffer"),
    (1, "CloseOffer"),
    (2, "ReadNotifications"),
    (1, "SwitchOff"),
    (3, "Announce"),
    (3, "Complete"),
    (2, "PostPicture"),
];

/// Actions only staff can do, and do every other time.
pub(crate) const OF_STAFF: &[&str] = &[
    "Moderate",
    "ModerateComment",
    "DecideCase",
    "Suspend",
    "Unsuspend",
    "Unsuspend",
    "Unsuspend",
    "SetRoles",
    "SetTier",
    "SetVerified",
    "DeleteQuest",
    "CloseOffer",
];

pub(crate) fn size() -> usize {
    CARDS.iter().map(|(often, _)| often).sum()
}

/// The remaining cards, and the random generator of the next deck.
#[derive(Debug)]
pub(crate) struct Deck {
    left: Vec<&'static str>,
    given_back: Vec<&'static str>,
    random: SmallRng,
}

impl Default for Deck {
    fn default() -> Self {
        Self::seeded(1)
    }
}

impl Deck {
    pub(crate) fn seeded(seed: u64) -> Self {
        let random = SmallRng::seed_from_u64(seed);
        Self { left: Vec::new(), given_back: Vec::new(), random }
    }

    pub(crate) fn deal(&mut self) -> &'static str {
        if self.left.is_empty() {
            let cards = CARDS.iter().flat_map(|(often, act)| std::iter::repeat_n(*act, *often));
            self.left = cards.chain(self.given_back.drain(..)).collect();
            self.left.shuffle(&mut self.random);
        }
        self.left.pop().unwrap()
    }

    /// Returns a card that could not be played, for the next deck.
    pub(crate) fn give_back(&mut self, card: &'static str) {
        self.given_back.push(card);
    }
}

/// A random card, outside the deck.
pub(crate) fn any(random: &mut SmallRng) -> &'static str {
    CARDS.choose(random).unwrap().1
}
