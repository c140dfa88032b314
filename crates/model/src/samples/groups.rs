//! The runners, and Cleo's practice.

use super::cast::{ANA, BO, CLEO, COMPANY, OFFER, ROOM, RUNNERS};
use super::{read, read_all};
use crate::entities::{Company, Group, GroupCounter, GroupMember, Offer};
use crate::{GroupRole, JoinPolicy, MemberStatus, OfferStatus};

const FOUNDED_AT: &str = "2025-01-10T12:00:15.204Z";

pub fn group() -> Group {
    Group {
        id: read(RUNNERS),
        name: "River Runners".into(),
        description: Some(
            "Tuesdays and Sundays at six, from the old bridge. All paces; we wait at the top."
                .into(),
        ),
        owner_id: read(ANA),
        tags: read_all(&["running", "outdoors"]),
        is_persistent: true,
        is_private: false,
        join_policy: Some(JoinPolicy::Open),
        public_since: None,
        idle_from: None,
        archives_at: None,
        archived_at: None,
        room_id: read(ROOM),
        created_at: read(FOUNDED_AT),
        updated_at: read(FOUNDED_AT),
    }
}

pub fn group_member() -> GroupMember {
    GroupMember {
        group_id: read(RUNNERS),
        user_id: read(BO),
        role: GroupRole::Member,
        status: MemberStatus::Active,
        joined_at: read("2025-01-10T17:43:28.519Z"),
        active_since: Some(read("2025-01-10T17:43:28.519Z")),
    }
}

pub fn group_counter() -> GroupCounter {
    GroupCounter {
        group_id: read(RUNNERS),
        count: 38,
        updated_at: read("2025-01-26T20:19:02.388Z"),
    }
}

pub fn company() -> Company {
    Company {
        id: read(COMPANY),
        owner_id: read(CLEO),
        name: "Hillside Physiotherapy".into(),
        created_at: read("2025-01-13T09:00:41.630Z"),
    }
}

pub fn offer() -> Offer {
    Offer {
        id: read(OFFER),
        company_id: read(COMPANY),
        title: "Gait analysis for runners, 45 minutes".into(),
        tags: read_all(&["running", "health"]),
        status: OfferStatus::Open,
        created_at: read("2025-01-14T11:18:26.402Z"),
    }
}
