//! Closed vocabularies, spelled as the API spells them. A word that is not listed here is refused.
//!
//! Words are ordered by their text, as keys are: not by rank.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::attribute::{Misfit, Text, text_like};
use crate::part::KeyPart;

macro_rules! vocabulary {
    ($($(#[$doc:meta])* $name:ident { $first:ident = $first_text:literal
        $(, $word:ident = $text:literal)* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $first,
            $($word,)*
        }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$word),*];

            /// The word, as it is written everywhere.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$word => $text,)*
                }
            }
        }

        impl FromStr for $name {
            type Err = Misfit;

            fn from_str(text: &str) -> Result<Self, Misfit> {
                match text {
                    $first_text => Ok(Self::$first),
                    $($text => Ok(Self::$word),)*
                    _ => Err(Misfit::new(
                        concat!("one of ", $first_text $(, ", ", $text)*),
                        format_args!("\"{text}\""),
                    )),
                }
            }
        }

        impl Text for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                read(self.as_str())
            }
        }

        /// As [`Display`](fmt::Display).
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl KeyPart for $name {
            const BYTES_MAX: usize = longest(&[$first_text $(, $text)*]);

            fn write_part(&self, key: &mut String) {
                key.push_str(self.as_str());
            }
        }

        text_like! { $name: stringify!($name); }

        #[cfg(test)]
        impl crate::attribute::Sample for $name {
            fn sample(random: &mut rand::rngs::SmallRng) -> Self {
                use rand::seq::IndexedRandom;
                Self::ALL.choose(random).copied().unwrap_or(Self::$first)
            }
        }
    )*};
}

/// The length of the longest word.
const fn longest(mut words: &[&str]) -> usize {
    let mut longest = 0;
    while let Some((word, rest)) = words.split_first() {
        if word.len() > longest {
            longest = word.len();
        }
        words = rest;
    }
    longest
}

vocabulary! {
    /// What somebody may do.
    Role { User = "user", Moderator = "moderator", Admin = "admin" }
    /// Whether somebody is here.
    UserStatus { Active = "active", Suspended = "suspended", Deleted = "deleted" }
    /// What somebody pays for.
    Tier { Free = "free", Pro = "pro" }
    /// What an actor of the fediverse is.
    ActorType { Person = "Person", Group = "Group" }
    /// Whether a follow was accepted.
    FollowStatus { Active = "active", Pending = "pending" }
    /// Whether somebody is in a group.
    MemberStatus { Active = "active", Pending = "pending", Invited = "invited" }
    /// What can be on a timeline or carry a tag.
    EntityKind {
        User = "User", Follow = "Follow", Group = "Group", Goal = "Goal", Task = "Task",
        Milestone = "Milestone", Quest = "Quest", Post = "Post", Comment = "Comment", Like = "Like",
        Message = "Message", Offer = "Offer",
    }
    /// What somebody may do in a group.
    GroupRole { Owner = "owner", Admin = "admin", Member = "member" }
    /// How a goal stands.
    GoalStatus { Active = "active", Completed = "completed", Archived = "archived" }
    /// How a quest stands.
    QuestStatus { Active = "active", Completed = "completed", Cancelled = "cancelled" }
    /// How hard a quest is.
    QuestDifficulty { Easy = "easy", Medium = "medium", Hard = "hard" }
    /// What completes a quest: given things, or a number of them.
    QuestKind { Linked = "linked", Quantitative = "quantitative" }
    /// What counts for a quest.
    CountScope { Any = "any", Linked = "linked" }
    /// What somebody did.
    ActivityVerb {
        Post = "post", Comment = "comment", GoalUpdate = "goal_update", Like = "like",
        Follow = "follow", Join = "join", QuestUpdate = "quest_update", Share = "share",
    }
    /// What somebody did it with.
    ObjectType {
        Goal = "Goal", Task = "Task", Group = "Group", Post = "Post", Quest = "Quest", User = "User",
        Comment = "Comment",
    }
    /// What a post is made of.
    ContentType { Text = "text", Image = "image", Video = "video" }
    /// Who may see a post.
    Visibility { Public = "public", Followers = "followers", Private = "private" }
    /// What moderators think.
    ModerationStatus {
        Pending = "PENDING", Approved = "APPROVED", Rejected = "REJECTED", Flagged = "FLAGGED",
    }
    /// How somebody likes something.
    LikeType { Like = "like", Love = "love", Laugh = "laugh" }
    /// Whose room it is.
    RoomScope { Dm = "dm", Group = "group" }
    /// Why somebody's activities are fanned out.
    PromotionReason { Followers = "followers", Volume = "volume", Manual = "manual" }
    /// Whether an offer can be taken.
    OfferStatus { Open = "open", Closed = "closed" }
    /// What a notification is about.
    NotificationKind {
        Follow = "follow", FollowRequest = "follow_request", Like = "like", Comment = "comment",
        Mention = "mention", Share = "share", Message = "message", Group = "group", Quest = "quest",
        Reminder = "reminder", Moderation = "moderation",
    }
    /// What is counted of a person.
    UserCount {
        Followers = "FOLLOWERS", Following = "FOLLOWING", Posts = "POSTS", Xp = "XP",
        Unread = "UNREAD",
    }
    /// What attempts to sign in are counted by.
    LoginKey { Email = "EMAIL", Ip = "IP" }
    /// Whether a file is there.
    UploadState { Pending = "pending", Complete = "complete" }
    /// What a file is part of.
    MediaUse { Post = "post", Activity = "activity", Profile = "profile" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand::rngs::SmallRng;

    use super::*;
    use crate::attribute::{Attribute, Sample, round_trips, seeded};
    use crate::part::written;

    #[test]
    fn words_are_spelled_as_the_api_spells_them() {
        assert_eq!(ActivityVerb::GoalUpdate.to_string(), "goal_update");
        assert_eq!("FLAGGED".parse(), Ok(ModerationStatus::Flagged));
        assert_eq!(written(&UserCount::Xp), "XP");
        assert_eq!(format!("{:?} {:>6}", Role::Admin, RoomScope::Dm), "admin     dm");
        assert_eq!(serde_json::to_string(Tier::ALL).unwrap(), r#"["free","pro"]"#);
        assert_eq!(serde_json::from_str::<Tier>("\"pro\"").unwrap(), Tier::Pro);
        assert_eq!(<Vec<Role>>::KIND, "list of Role");
    }

    #[test]
    fn other_words_are_refused_with_those_there_are() {
        let refused = "Admin".parse::<Role>().unwrap_err();
        assert_eq!(refused.to_string(), "expected one of user, moderator, admin, found \"Admin\"");
        assert!("".parse::<LikeType>().is_err() && " like".parse::<LikeType>().is_err());
        assert!(serde_json::from_str::<Tier>("\"gold\"").is_err());
    }

    #[test]
    fn words_are_ordered_as_keys_are() {
        assert!(Role::Admin < Role::User);
        assert_eq!(EntityKind::BYTES_MAX, "Milestone".len());
    }

    /// What holds for every vocabulary.
    fn holds<T>(all: &[T], random: &mut SmallRng) -> Result<(), TestCaseError>
    where
        T: Attribute + Sample + KeyPart + FromStr<Err = Misfit> + Ord + fmt::Display + fmt::Debug,
    {
        let texts: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        prop_assert_eq!(texts.len(), all.len(), "a word stands for one thing");
        let (one, other) = (round_trips::<T>(random)?, T::sample(random));
        prop_assert!(all.contains(&one) && written(&one).len() <= T::BYTES_MAX);
        prop_assert!(!written(&one).contains('#'));
        prop_assert!(one.to_string().parse::<T>().is_ok_and(|same| same == one), "{:?}", one);
        prop_assert_eq!(one.cmp(&other), written(&one).cmp(&written(&other)));
        Ok(())
    }

    proptest! {
        #[test]
        fn every_word_reads_back(seed: u64) {
            let random = &mut seeded(seed);
            holds(Role::ALL, random)?;
            holds(UserStatus::ALL, random)?;
            holds(EntityKind::ALL, random)?;
            holds(ActivityVerb::ALL, random)?;
            holds(ObjectType::ALL, random)?;
            holds(ModerationStatus::ALL, random)?;
            holds(NotificationKind::ALL, random)?;
            holds(UserCount::ALL, random)?;
            holds(LoginKey::ALL, random)?;
            holds(UploadState::ALL, random)?;
            holds(MediaUse::ALL, random)?;
        }
    }
}
