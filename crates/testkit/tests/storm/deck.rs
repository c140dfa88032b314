//! What happens in a storm, as cards of a deck that is dealt to everybody: whoever is quicker gets
//! another card, and still the same things are done in the same number of acts, all of them each time
//! the deck is through.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, SliceRandom};

/// How often each act is in the deck, by its name. Accounts are deleted by plan.
const CARDS: &[(usize, &str)] = &[
    (12, "Follow"),
    (4, "Unfollow"),
    (3, "Accept"),
    (1, "Reject"),
    (2, "Mute"),
    (2, "Block"),
    (3, "Unblock"),
    (3, "CreateGroup"),
    (2, "UpdateGroup"),
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
    (2, "Moderate"),
    (1, "ModerateComment"),
    (1, "TurnPrivate"),
    (1, "Rename"),
    (1, "Suspend"),
    (2, "Unsuspend"),
    (1, "SetRoles"),
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

/// What only staff can do, and what they do every other time.
pub(crate) const OF_STAFF: &[&str] = &[
    "Moderate",
    "ModerateComment",
    "Suspend",
    "Unsuspend",
    "Unsuspend",
    "Unsuspend",
    "SetRoles",
    "DeleteQuest",
    "CloseOffer",
];

/// So many acts are in a deck.
pub(crate) fn size() -> usize {
    CARDS.iter().map(|(often, _)| often).sum()
}

/// The cards that are left, and what the next deck is shuffled by.
#[derive(Debug)]
pub(crate) struct Deck {
    left: Vec<&'static str>,
    given_back: Vec<&'static str>,
    random: SmallRng,
}

impl Default for Deck {
    fn default() -> Self {
        let random = SmallRng::seed_from_u64(1);
        Self { left: Vec::new(), given_back: Vec::new(), random }
    }
}

impl Deck {
    /// The next card.
    pub(crate) fn deal(&mut self) -> &'static str {
        if self.left.is_empty() {
            let cards = CARDS.iter().flat_map(|(often, act)| std::iter::repeat_n(*act, *often));
            self.left = cards.chain(self.given_back.drain(..)).collect();
            self.left.shuffle(&mut self.random);
        }
        self.left.pop().unwrap()
    }

    /// Whoever got this card could not do what it says: it comes again with the next deck.
    pub(crate) fn give_back(&mut self, card: &'static str) {
        self.given_back.push(card);
    }
}

/// A card for somebody who plays alone.
pub(crate) fn any(random: &mut SmallRng) -> &'static str {
    CARDS.choose(random).unwrap().1
}
