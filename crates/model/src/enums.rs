//! Enums that are stored as text, spelled as in the API. Other texts are refused.
//!
//! Variants are ordered by their text, like keys, not by declaration.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::attribute::{InvalidValue, TextValue, text_like};
use crate::part::KeyPart;

macro_rules! text_enums {
    ($($(#[$doc:meta])* $name:ident { $first:ident = $first_text:literal
        $(, $word:ident = $text:literal)* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $first,
            $($word,)*
        }

        impl $name {
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$word),*];

            /// Returns the text, as stored and as in the API.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$word => $text,)*
                }
            }
        }

        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<Self, InvalidValue> {
                match text {
                    $first_text => Ok(Self::$first),
                    $($text => Ok(Self::$word),)*
                    _ => Err(InvalidValue::new(
                        concat!("one of ", $first_text $(, ", ", $text)*),
                        format_args!("\"{text}\""),
                    )),
                }
            }
        }

        impl TextValue for $name {
            fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
                read(self.as_str())
            }
        }

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

text_enums! {
    Role { User = "user", Moderator = "moderator", Admin = "admin" }
    UserStatus { Active = "active", Suspended = "suspended", Deleted = "deleted" }
    /// The paid tier of a user.
    Tier { Free = "free", Pro = "pro" }
    /// The kind of an actor in the fediverse.
    ActorType { Person = "Person", Group = "Group" }
    FollowStatus { Active = "active", Pending = "pending" }
    MemberStatus { Active = "active", Pending = "pending", Invited = "invited" }
    /// An entity that can be in a timeline or have a tag.
    EntityKind {
        User = "User", Follow = "Follow", Group = "Group", Goal = "Goal", Task = "Task",
        Milestone = "Milestone", Quest = "Quest", Post = "Post", Comment = "Comment", Like = "Like",
        Message = "Message", Offer = "Offer",
    }
    /// The way into a group.
    JoinPolicy { Open = "open", Request = "request", Invitation = "invitation" }
    GroupRole { Owner = "owner", Admin = "admin", Member = "member" }
    GoalStatus { Active = "active", Completed = "completed", Archived = "archived" }
    QuestStatus { Active = "active", Completed = "completed", Cancelled = "cancelled" }
    QuestDifficulty { Easy = "easy", Medium = "medium", Hard = "hard" }
    /// The condition that completes a quest: given tasks and goals, or a number of them.
    QuestKind { Linked = "linked", Quantitative = "quantitative" }
    /// The tasks that count for a quest.
    CountScope { Any = "any", Linked = "linked" }
    /// The action of an activity.
    ActivityVerb {
        Post = "post", Comment = "comment", GoalUpdate = "goal_update", GoalEdit = "goal_edit",
        Like = "like", Follow = "follow", Join = "join", QuestUpdate = "quest_update",
        Share = "share",
    }
    /// The kind of an activity's object.
    ObjectType {
        Goal = "Goal", Task = "Task", Group = "Group", Post = "Post", Quest = "Quest", User = "User",
        Comment = "Comment",
    }
    /// The main content of a post.
    ContentType { Text = "text", Image = "image", Video = "video" }
    /// The audience of a post.
    Visibility { Public = "public", Followers = "followers", Private = "private" }
    ModerationStatus {
        Pending = "PENDING", Approved = "APPROVED", Rejected = "REJECTED", Flagged = "FLAGGED",
    }
    LikeType { Like = "like", Love = "love", Laugh = "laugh" }
    /// A room of two users, or of a group.
    RoomScope { Dm = "dm", Group = "group" }
    /// The reason an actor's activities are fanned out.
    PromotionReason { Followers = "followers", Volume = "volume", Manual = "manual" }
    OfferStatus { Open = "open", Closed = "closed" }
    NotificationKind {
        Follow = "follow", FollowRequest = "follow_request", Like = "like", Comment = "comment",
        Mention = "mention", Share = "share", Message = "message", Group = "group", Quest = "quest",
        Reminder = "reminder", Moderation = "moderation", ApiKey = "api_key",
        Identity = "identity", GroupArchival = "group_archival", FollowAccepted = "follow_accepted",
        GroupRequest = "group_request", SignIn = "sign_in", AssistRequest = "assist_request",
        AssistAnswer = "assist_answer", CommentLike = "comment_like",
        Post = "post",
    }
    /// A counter of a user.
    UserCount {
        Followers = "FOLLOWERS", Following = "FOLLOWING", Posts = "POSTS", Xp = "XP",
        Unread = "UNREAD", MediaBytes = "MEDIA_BYTES", PendingUploads = "PENDING_UPLOADS",
    }
    /// The subject that sign-in attempts are counted by.
    LoginKey {
        // All strangers who try to sign in to one account, and all of one network.
        Email = "EMAIL", Ip = "IP",
        // The strangers of one network who try to sign in to one account.
        EmailFromIp = "EMAIL_FROM_IP",
        // A device that the user has signed in on before.
        Device = "DEVICE",
        // A user who is signed in and repeats the password.
        User = "USER",
    }
    UploadState { Pending = "pending", Complete = "complete" }
    /// The kind of object that a file belongs to.
    MediaUse { Post = "post", Activity = "activity", Profile = "profile" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand::rngs::SmallRng;

    use super::*;
    use crate::attribute::{Attribute, Sample, round_trips, seeded};
    use crate::part::key_text;

    #[test]
    fn variants_are_spelled_as_in_the_api() {
        assert_eq!(ActivityVerb::GoalUpdate.to_string(), "goal_update");
        assert_eq!("FLAGGED".parse(), Ok(ModerationStatus::Flagged));
        assert_eq!(key_text(&UserCount::Xp), "XP");
        assert_eq!(format!("{:?} {:>6}", Role::Admin, RoomScope::Dm), "admin     dm");
        assert_eq!(serde_json::to_string(Tier::ALL).unwrap(), r#"["free","pro"]"#);
        assert_eq!(serde_json::from_str::<Tier>("\"pro\"").unwrap(), Tier::Pro);
        assert_eq!(<Vec<Role>>::KIND, "list of Role");
    }

    #[test]
    fn an_unknown_text_is_refused_with_the_known_ones() {
        let refused = "Admin".parse::<Role>().unwrap_err();
        assert_eq!(refused.to_string(), "expected one of user, moderator, admin, found \"Admin\"");
        assert!("".parse::<LikeType>().is_err() && " like".parse::<LikeType>().is_err());
        assert!(serde_json::from_str::<Tier>("\"gold\"").is_err());
    }

    #[test]
    fn variants_are_ordered_like_keys() {
        assert!(Role::Admin < Role::User);
        assert_eq!(EntityKind::BYTES_MAX, "Milestone".len());
    }

    /// Checks the properties of every enum.
    fn holds<T>(all: &[T], random: &mut SmallRng) -> Result<(), TestCaseError>
    where
        T: Attribute
            + Sample
            + KeyPart
            + FromStr<Err = InvalidValue>
            + Ord
            + fmt::Display
            + fmt::Debug,
    {
        let texts: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        prop_assert_eq!(texts.len(), all.len(), "texts are unique");
        let (one, other) = (round_trips::<T>(random)?, T::sample(random));
        prop_assert!(all.contains(&one) && key_text(&one).len() <= T::BYTES_MAX);
        prop_assert!(!key_text(&one).contains('#'));
        prop_assert!(one.to_string().parse::<T>().is_ok_and(|same| same == one), "{:?}", one);
        prop_assert_eq!(one.cmp(&other), key_text(&one).cmp(&key_text(&other)));
        Ok(())
    }

    proptest! {
        #[test]
        fn every_variant_reads_back(seed: u64) {
            let random = &mut seeded(seed);
            holds(Role::ALL, random)?;
            holds(UserStatus::ALL, random)?;
            holds(JoinPolicy::ALL, random)?;
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
