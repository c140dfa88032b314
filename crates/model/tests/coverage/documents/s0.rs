//! s0: goals and quests, with follows, groups, chat, and a feed that is pulled or pushed.

use super::DocumentOperation::{Put, QueryEach};
use super::{
    Document, DocumentFilter, DocumentQuestion, DocumentShape, Stated, attributes, get, main, on,
    query,
};

/// The base of our table, extended by its social part.
pub(crate) const S0: Document = Document {
    name: "s0",
    table: "gg_core",
    indexes: &["GSI1", "GSI2", "GSI3"],
    ttl: Some("ttl"),
    stream: true,
    typed: true,
    shapes: SHAPES,
    questions: QUESTIONS,
};

const SHAPES: &[DocumentShape] = &[
    DocumentShape {
        entity: "User",
        ours: "User",
        keys: &[
            main("USER#{id}", "PROFILE#{id}"),
            on("GSI1", "USER#{id}", "ENTITY#User#{createdAt}"),
            on("GSI2", "NICK#{nickname}", "PROFILE#{id}"),
            on("GSI3", "EMAIL#{email}", "PROFILE#{id}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, nickname, email, fullName => full_name, language, tags, tier,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Follow",
        ours: "Follow",
        // One item cannot have two keys in one index, so the copy for the timeline is never there.
        keys: &[
            main("USER#{followerId}", "FOLLOWING#{followeeId}"),
            on("GSI1", "USER#{followeeId}#{shard}", "FOLLOWER#{followerId}").optional(),
            on("GSI1", "USER#{followeeId}", "FOLLOWER#{followerId}"),
            on("GSI1", "USER#{followerId}", "ENTITY#Following#{createdAt}#{followeeId}").optional(),
        ],
        parts: attributes! { shard },
        attributes: attributes! {
            followerId => follower_id, followeeId => followee_id, createdAt => created_at,
        },
    },
    DocumentShape {
        entity: "Counter",
        ours: "UserCounter",
        keys: &[main("USER#{userId}", "COUNTER#{counter}")],
        parts: attributes! { userId => user_id, counter },
        attributes: attributes! { count, updatedAt => updated_at },
    },
    DocumentShape {
        entity: "Group",
        ours: "Group",
        keys: &[main("GROUP#{groupId}", "GROUP#{groupId}")],
        parts: attributes! { groupId => id },
        attributes: attributes! {
            name, description, ownerId => owner_id, tags, isPersistent => is_persistent,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "GroupMember",
        ours: "GroupMember",
        keys: &[
            main("GROUP#{groupId}", "MEMBER#{userId}"),
            on("GSI1", "USER#{userId}", "ENTITY#Group#{joinedAt}#{groupId}"),
        ],
        parts: &[],
        attributes: attributes! {
            groupId => group_id, userId => user_id, role, joinedAt => joined_at,
        },
    },
    DocumentShape {
        entity: "Goal",
        ours: "Goal",
        keys: &[
            main("USER#{userId}", "GOAL#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Goal#{createdAt}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, userId => user_id, title, description, tags, status,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Task",
        ours: "Task",
        keys: &[
            main("GOAL#{goalId}", "TASK#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Task#{dueAt}#{id}").optional(),
        ],
        parts: &[],
        attributes: attributes! {
            id, goalId => goal_id, userId => user_id, title, dueAt => due_at, nlpPlan => nlp_plan,
            done, createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Activity",
        ours: "Activity",
        keys: &[main("ACTIVITY#{actorId}", "TS#{createdAt}#{activityId}")],
        parts: &[],
        attributes: attributes! {
            activityId => activity_id, actorId => actor_id, verb, objectType => object_type,
            objectId => object_id, previewText => preview_text, media, tags,
            createdAt => created_at,
        },
    },
    DocumentShape {
        entity: "FeedItem",
        ours: "FeedItem",
        keys: &[main("FEED#{followerId}", "TS#{createdAt}#{activityId}")],
        parts: &[],
        attributes: attributes! {
            followerId => follower_id, activityId => activity_id, actorId => actor_id, verb,
            objectType => object_type, objectId => object_id, previewText => preview_text,
            createdAt => created_at, ttl,
        },
    },
    DocumentShape {
        entity: "Promotion",
        ours: "Promotion",
        keys: &[main("PROMO#{userId}", "PROMO#{userId}")],
        parts: &[],
        attributes: attributes! {
            userId => user_id, fanoutEnabled => fanout_enabled, reason, thresholds,
            updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Quest",
        ours: "Quest",
        keys: &[
            main("USER#{userId}", "QUEST#{id}"),
            on("GSI1", "USER#{userId}", "ENTITY#Quest#{createdAt}"),
        ],
        parts: &[],
        attributes: attributes! {
            id, userId => user_id, title, description, difficulty, rewardXp => reward_xp, status,
            tags, deadline, kind, linkedGoalIds => linked_goal_ids,
            linkedTaskIds => linked_task_ids, targetCount => target_count,
            countScope => count_scope, startAt => start_at, periodSeconds => period_seconds,
            createdAt => created_at, updatedAt => updated_at,
        },
    },
    DocumentShape {
        entity: "Room",
        ours: "Room",
        keys: &[main("ROOM#{roomId}", "ROOM#{roomId}")],
        parts: attributes! { roomId => id },
        attributes: attributes! { scope, members => RoomMember.user_id, createdAt => created_at },
    },
    DocumentShape {
        entity: "Message",
        ours: "Message",
        keys: &[main("ROOM#{roomId}", "MSG#{createdAt}#{messageId}")],
        parts: attributes! { messageId => id },
        attributes: attributes! {
            roomId => room_id, userId => user_id, text, createdAt => created_at, ttl,
        },
    },
];

const QUESTIONS: &[DocumentQuestion] = &[
    query("following", "whom I follow", "USER#{me}").begins("FOLLOWING#").by("following"),
    query("followers", "who follows me", "USER#{me}")
        .index("GSI1")
        .begins("FOLLOWER#")
        .by("followers"),
    get("follower_count", "how many follow me", "USER#{me}", "COUNTER#FOLLOWERS").by("counts"),
    get("following_count", "how many I follow", "USER#{me}", "COUNTER#FOLLOWING").by("counts"),
    get("group", "a group", "GROUP#{group}", "GROUP#{group}").by("group"),
    query("members", "who is in a group", "GROUP#{group}").begins("MEMBER#").by("members"),
    query("my_groups", "the groups I am in", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Group#")
        .by("groups_of")
        .deviates("newest first, where the document leaves the order to the index"),
    query("feed_pulled", "what those I follow did lately", "ACTIVITY#{followee}")
        .as_(QueryEach)
        .newest()
        .limit(50)
        .by("activities")
        .deviates("the sort keys are bounded, because the head of the actor is there, too"),
    query("feed_pushed", "what was copied into my feed", "FEED#{me}")
        .newest()
        .limit(50)
        .by("feed_items")
        .deviates("the sort keys are bounded, because the horizon of the feed is there, too"),
    get("write_activity", "an activity is written once", "ACTIVITY#{actor}", "TS#{ts}#{id}")
        .as_(Put)
        .by("activity"),
    query("quests", "my quests", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Quest#")
        .by("quests")
        .deviates("newest first, where the document leaves the order to the index"),
    get("quest", "one of my quests", "USER#{me}", "QUEST#{quest}").by("quest"),
    // The document filters in the client, after the page was read.
    query("quests_of_goal", "my quests that name a goal", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Quest#")
        .filter(&[DocumentFilter::Contains("linkedGoalIds", "{goal}")])
        .by("quests_linked_to_goal")
        .deviates("newest first, and pages are full however few fit"),
    query("quests_of_task", "my quests that name a task", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Quest#")
        .filter(&[DocumentFilter::Contains("linkedTaskIds", "{task}")])
        .by("quests_linked_to_task")
        .deviates("newest first, and pages are full however few fit"),
    get("send_message", "a message is sent", "ROOM#{room}", "MSG#{ts}#{id}")
        .as_(Put)
        .by("messages"),
    query("history", "what was said in a room, newest first", "ROOM#{room}")
        .newest()
        .limit(50)
        .by("messages")
        .deviates("messages only: the document's first page begins with the room itself"),
    get("profile", "a person", "USER#{id}", "PROFILE#{id}").stated(Stated::Key).by("profile"),
    query("by_nickname", "who has a nickname", "NICK#{nickname}")
        .index("GSI2")
        .stated(Stated::Index)
        .by("user_by_nickname"),
    query("by_email", "who has an e-mail address", "EMAIL#{email}")
        .index("GSI3")
        .stated(Stated::Index)
        .by("user_by_email"),
    query("timeline", "what I made, of all kinds", "USER#{me}")
        .index("GSI1")
        .stated(Stated::Index)
        .by("entity_timeline")
        .deviates(
            "by time across kinds, newest first, without the followers in the same partition",
        ),
    query("recent_following", "whom I followed lately", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Following#")
        .stated(Stated::Key)
        .by("recent_following")
        .deviates("in an index of its own: the document's copy has no room beside the mirror"),
    query("goals", "my goals", "USER#{me}").begins("GOAL#").stated(Stated::Key).by("goals"),
    query("goal_timeline", "my goals by time", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Goal#")
        .stated(Stated::Key)
        .by("goal_timeline")
        .deviates("newest first, where the document leaves the order to the index"),
    query("tasks", "the tasks of a goal", "GOAL#{goal}")
        .begins("TASK#")
        .stated(Stated::Key)
        .by("tasks"),
    query("tasks_by_due", "my tasks, the most urgent first", "USER#{me}")
        .index("GSI1")
        .begins("ENTITY#Task#")
        .stated(Stated::Key)
        .by("tasks_by_due"),
    get("promotion", "whether a user's activities are copied", "PROMO#{id}", "PROMO#{id}")
        .stated(Stated::Example)
        .by("promotions"),
    get("room", "a room", "ROOM#{room}", "ROOM#{room}")
        .stated(Stated::Key)
        .by("room")
        .deviates("its members are items, so that rooms can grow"),
    get("owned_goal", "whether a linked goal is mine", "USER#{me}", "GOAL#{goal}")
        .stated(Stated::Example)
        .by("goal"),
    get("owned_task", "whether a linked task is mine", "GOAL#{goal}", "TASK#{task}")
        .stated(Stated::Example)
        .by("task"),
    query("sharded_followers", "the followers of a famous user", "USER#{me}#{shard}")
        .as_(QueryEach)
        .index("GSI1")
        .begins("FOLLOWER#")
        .stated(Stated::Index)
        .by("followers")
        .deviates("the first shard has no suffix, so that shards can be added later"),
];
