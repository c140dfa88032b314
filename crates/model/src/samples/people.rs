//! Ana's account and her circle.

use super::cast::{ANA, BO, CLEO, DAN, POST, POSTED_AT};
use super::{read, read_all};
use crate::entities::{
    ApiKey, Block, Credential, Device, EmailLock, Follow, HandleLock, Idempotency, Identity,
    Invitation, Media, Mute, NickLock, PostWatch, Session, User, UserCounter,
};
use crate::{
    ActorType, Expiry, FollowStatus, Role, Secret, Shard, Shards, Tier, UserCount, UserStatus,
};

const SIGNED_UP_AT: &str = "2025-01-06T09:12:44.318Z";
const NICKNAME: &str = "ana_runs";
const EMAIL: &str = "ana.ferreira@mail.example";
const HANDLE: &str = "ana.ferreira";
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1qqB9oYqkOYucqnLI3bC
GUmiRNNwot2GBREVclMyylOyEdA+w7BXtsTn8J+IBn5zAXZLROeoGFjha6/FaBGE
yF9okP9e8KT0TadR5cBFlGsjQUosoRqpHvlP7TdHj9phZmUsydGBZqwJBpPHUqpW
3aeWBPVw/KZkwspf17evKFs8DOlao4/DRgp/jRBfksDwDWTIetdTn/d2NobnFCjT
1Wltlv6pbe75L3oX+BAYkXtJT3lBR4agwgQqys7ENL/+4vnYp12cpfoxZ7G3O8Ev
R5zVlHTiMfsE0HNZMk9avch3LfZmoC/+frsiFiAGkJydZyFLzcMKA/c/btMlKwyF
GQIDAQAB
-----END PUBLIC KEY-----
";

pub fn user() -> User {
    User {
        id: read(ANA),
        nickname: read(NICKNAME),
        email: Some(read(EMAIL)),
        full_name: Some("Ana Ferreira".into()),
        display_name: Some("Ana".into()),
        birth_date: Some(read("1991-06-14")),
        status: UserStatus::Active,
        country: Some("PT".into()),
        language: Some("pt-PT".into()),
        gender: Some("female".into()),
        pronouns: Some("she/her".into()),
        bio: Some(
            "Runs before sunrise, bakes after it. Half marathon in May, wish me luck. \
             Pictures are my own unless Bo took them."
                .into(),
        ),
        tags: read_all(&["running", "baking", "photography"]),
        tier: Tier::Free,
        roles: vec![Role::User],
        profile_image: Some(Media {
            s3_key: read("media/01JGXE8S5VQ3N0W2T7ZP6C4HKD.jpg"),
            content_type: "image/jpeg".into(),
            width: Some(512),
            height: Some(512),
        }),
        profile_image_url: None,
        is_verified: false,
        is_private: false,
        handle: Some(read(HANDLE)),
        actor_type: ActorType::Person,
        public_key: Some(PUBLIC_KEY.into()),
        inbox_url: Some("https://town.example/users/ana_runs/inbox".into()),
        outbox_url: Some("https://town.example/users/ana_runs/outbox".into()),
        followers_url: Some("https://town.example/users/ana_runs/followers".into()),
        following_url: Some("https://town.example/users/ana_runs/following".into()),
        preferred_username: NICKNAME.into(),
        domain: None,
        follower_shards: Shards::ONE,
        version: 3,
        created_at: read(SIGNED_UP_AT),
        updated_at: read("2025-01-19T21:07:30.655Z"),
    }
}

pub fn email_lock() -> EmailLock {
    EmailLock {
        email: read(EMAIL),
        user_id: read(ANA),
        created_at: read(SIGNED_UP_AT),
        proved_at: None,
    }
}

pub fn nick_lock() -> NickLock {
    NickLock { nickname: read(NICKNAME), user_id: read(ANA), created_at: read(SIGNED_UP_AT) }
}

pub fn handle_lock() -> HandleLock {
    HandleLock {
        handle: read(HANDLE),
        user_id: read(ANA),
        created_at: read("2025-01-06T09:20:11.940Z"),
    }
}

/// The hash of Ana's password.
pub fn credential() -> Credential {
    Credential {
        user_id: read(ANA),
        password_hash: Secret::new(
            "$argon2id$v=19$m=19456,t=2,p=1$c2FtcGxlLXNhbHQtYW5h\
             $Zm9yIGRvY3VtZW50cyBvbmx5LCBub3QgYSBoYXNoIQ",
        ),
        created_at: read(SIGNED_UP_AT),
        updated_at: read(SIGNED_UP_AT),
    }
}

/// Ana has been signed in on her phone for a week.
pub fn session() -> Session {
    Session {
        user_id: read(ANA),
        id: read("01JJK5FXQ9NTH82F7AG3BCKKDJ"),
        refresh_hash: Secret::new(
            "5d1f7c0e9a3b48262f60d7e8b1c4a5930e7d2b6f8c914a3505f6e7d8c9b0a1f2",
        ),
        family: read("01JJ182CM8H3BV4H15G5E4G7X0"),
        used_at: None,
        created_at: read("2025-01-27T05:59:30.281Z"),
        ttl: Expiry::at_seconds(1_740_549_571),
    }
}

/// Ana's phone, on which she signed in that morning.
pub fn device() -> Device {
    Device {
        user_id: read(ANA),
        id: read("01JJ182CM8Z1T7A0Q4W6X5B3NE"),
        secret_hash: Secret::new(
            "9b02c41df7a85e6630f1d2c94b7e8a5f1c6d3e0b2a4988776f5e4d3c2b1a0f9e",
        ),
        label: Some("Ana's phone".into()),
        created_at: read("2025-01-20T06:58:12.744Z"),
        signed_up_at: None,
        used_at: read("2025-01-27T05:59:30.281Z"),
        ttl: Expiry::at_seconds(1_769_493_571),
    }
}

/// Ana at the issuer of her university.
pub fn identity() -> Identity {
    Identity {
        issuer: read("https://login.uni.example"),
        subject: read("8b1f0c52-6c3e-4f0e-9d57-2f1c0a7be4d3"),
        user_id: read(ANA),
        created_at: read("2025-01-07T18:20:11.907Z"),
    }
}

/// Ana invites three people.
pub fn invitation() -> Invitation {
    Invitation {
        code: read("RIVER-7K3M-QX2P"),
        inviter_id: read(ANA),
        listed_for: Some(read(ANA)),
        uses_left: 3,
        created_at: read("2025-01-27T08:59:12.004Z"),
        ttl: Some(Expiry::at_seconds(1_739_178_000)),
    }
}

/// The number of Ana's followers.
pub fn user_counter() -> UserCounter {
    UserCounter {
        user_id: read(ANA),
        counter: UserCount::Followers,
        shard: Shard::ZERO,
        count: 1284,
        version: None,
        seq: None,
        updated_at: read("2025-01-27T14:51:06.233Z"),
    }
}

/// Ana follows Bo, as he does her.
pub fn follow() -> Follow {
    Follow {
        follower_id: read(ANA),
        followee_id: read(BO),
        follower_nickname: read(NICKNAME),
        followee_nickname: read("bo"),
        status: FollowStatus::Active,
        muted: false,
        active_since: Some(read("2025-01-06T18:52:40.117Z")),
        shard: Shard::ZERO,
        day_shard: Shard::ZERO,
        notification_enabled: true,
        notify_posts: None,
        activity_pub_id: Some("https://town.example/follows/01JGYFCGHN7T5B2XKQ0RM8E4WZ".into()),
        version: 1,
        created_at: read("2025-01-06T18:52:40.117Z"),
    }
}

pub fn post_watch() -> PostWatch {
    PostWatch {
        follower_id: read(ANA),
        followee_id: read(BO),
        created_at: read("2025-01-06T18:53:02.604Z"),
    }
}

pub fn block() -> Block {
    Block {
        blocker_id: read(CLEO),
        blocked_id: read(DAN),
        created_at: read("2025-01-27T18:05:31.760Z"),
    }
}

/// Ana does not want to hear of Dan for a week.
pub fn mute() -> Mute {
    let until = read("2025-02-03T18:07:12.480Z");
    Mute::new(&read(ANA), &read(DAN), Some(until), read("2025-01-27T18:07:12.480Z"))
}

/// The key of a program that posts for Ana.
pub fn api_key() -> ApiKey {
    ApiKey {
        user_id: read(ANA),
        id: read("01JJ4HR61YWBHP1G201CYFW6VZ"),
        name: "Watch to town".into(),
        prefix: "rt_01JJ4HR6".into(),
        secret_hash: Secret::new(
            "b8e04d2c6f1a937504c8d9e2f3a6b7180d5c4e9f2a1b3c7d6e8f90a4b5c2d1e3",
        ),
        scopes: vec!["posts:write".into(), "activities:write".into()],
        created_at: read("2025-01-21T13:45:07.390Z"),
        ttl: Some(Expiry::at_seconds(1_769_003_107)),
    }
}

/// Ana's phone can repeat the request without creating a second post.
pub fn idempotency() -> Idempotency {
    Idempotency {
        caller: read(ANA),
        request_id: read("9f0c5b1e-6d27-4a83-b1f4-2c7e5a90d318"),
        fingerprint: "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b".into(),
        outcome: read(&format!("{{\"postId\":\"{POST}\"}}")),
        created_at: read(POSTED_AT),
        ttl: Expiry::at_seconds(1_738_078_200),
    }
}
