//! The enums of the schema, which are the model's.

use roundtable_graphql_macros::enums;
use roundtable_model::table::Order;

/// The order of a list by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelSortDirection {
    /// Oldest first.
    Asc,
    /// Newest first.
    Desc,
}

impl ModelSortDirection {
    pub(crate) fn order_or(direction: Option<Self>, default: Order) -> Order {
        match direction {
            Some(Self::Asc) => Order::Ascending,
            Some(Self::Desc) => Order::Descending,
            None => default,
        }
    }
}

enums!(
    ModelSortDirection,
    roundtable_domain::FeedOrder,
    roundtable_domain::FeedSource,
    roundtable_domain::SearchType,
    roundtable_model::ActivityVerb,
    roundtable_model::ActorType,
    roundtable_model::ContentType,
    roundtable_model::CountScope,
    roundtable_model::EntityKind,
    roundtable_model::FollowStatus,
    roundtable_model::GoalStatus,
    roundtable_model::GroupRole,
    roundtable_model::JoinPolicy,
    roundtable_model::LikeType,
    roundtable_model::MemberStatus,
    roundtable_model::ModerationStatus,
    roundtable_model::NotificationKind,
    roundtable_model::ObjectType,
    roundtable_model::OfferStatus,
    roundtable_model::PromotionReason,
    roundtable_model::QuestDifficulty,
    roundtable_model::QuestKind,
    roundtable_model::QuestStatus,
    roundtable_model::Role,
    roundtable_model::RoomScope,
    roundtable_model::Tier,
    roundtable_model::UserStatus,
    roundtable_model::Visibility,
);
