//! The schema on one page: every entity with its keys, then every access pattern.
//!
//! `(…)` are the parts of the primary key, `+ (…)` the other fields that index keys depend on: `?`
//! may be absent, `mut` may change (by a rekey, which rewrites the index). `of (…)` are the fields
//! that name its owners: the item is removed with any of them. `upgraded by (…)` names the functions
//! that upgrade older items, from the first shape to the current one. A template names fields, or a method
//! of one (`{created_at:day}`); `[#{shard}]` is empty for shard 0 and `#n` for the others. A key
//! `if …` exists only if the condition holds. Parts never contain a `#`. `ordered` names the entity
//! whose items the embedded store also keeps in the order of their sort keys, across partitions.

use crate::entities::{
    Activity, ActorHead, ApiKey, AssistHelper, AssistMsg, AssistThread, Audit, Block, CaseReport,
    Checkpoint, Comment, CommentCounter, CommentLike, Company, Credential, DeadLetter, Device,
    EmailLock, FeedHorizon, FeedItem, FeedRanking, Follow, Goal, Group, GroupCounter, GroupMember,
    HandleLock, Idempotency, Identity, Invitation, Job, Like, LoginAttempt, Message, Milestone,
    ModerationCase, Mute, NickLock, Notification, NotificationPreferences, Offer, Post,
    PostCounter, PostSummary, PostWatch, ProfileActivity, Promotion, Quest, QuestStep, Report,
    Room, RoomHead, RoomMember, SealedKey, Session, Share, TagRef, Task, Upload, User, UserCounter,
    Webhook, XpEntry,
};
use crate::shape::TableShape;
use crate::{
    ActivityId, ActorId, ApiKeyId, AuditId, CaseId, CommentId, CompactDay, CompanyId, Days,
    DeviceId, Email, EntityKind, FeedName, GoalId, GroupId, Handle, InviteCode, IssuerName,
    IssuerSubject, JobId, LoginKey, LoginName, MediaKey, MessageId, MilestoneId, ModerationStatus,
    Nickname, NotificationId, OfferId, PostId, ProcessorName, Purpose, QuestId, Queue, RankingId,
    RequestCaller, RequestId, RoomId, SessionId, Shard, Shards, StreamShard, SubjectId, Tag,
    TaskId, ThreadId, Time, UserCount, UserId, WebhookId, single_table,
};

single_table! {
/// The data of all users.
table Core "gg_core" (gsi1, gsi2, gsi3) streamed ordered Activity {
    //                             PARTITION                            SORT
    /// A user, or a group that acts as one in the fediverse.
    User(id: UserId) + (created_at, mut nickname, mut email?, mut status) {
        main                    => "USER#{id}",                         "PROFILE#{id}";
        gsi1                    => "USER#{id}",                         "ENTITY#User#{created_at}";
        gsi2 if holds_names(status) => "NICK#{nickname}",               "PROFILE#{id}";
        gsi3 if email, holds_names(status) => "EMAIL#{email}",          "PROFILE#{id}";
    }
    /// Makes an e-mail address unique.
    EmailLock(email: Email)       { main => "EMAIL#{email}",            "UNIQUE#USER"; }
    /// Makes a nickname unique.
    NickLock(nickname: Nickname)  { main => "NICK#{nickname}",          "UNIQUE#USER"; }
    /// Makes a handle unique.
    HandleLock(handle: Handle)    { main => "HANDLE#{handle}",          "UNIQUE#USER"; }
    /// The hash that a password is checked against.
    Credential(user_id: UserId) of (user_id) {
        main                    => "USER#{user_id}",                    "CREDENTIAL";
    }
    /// A signed-in device.
    Session(user_id: UserId, id: SessionId) of (user_id) {
        main                    => "USER#{user_id}",                    "SESSION#{id}";
    }
    /// A device that its user has signed in on.
    Device(user_id: UserId, id: DeviceId) of (user_id) {
        main                    => "USER#{user_id}",                    "DEVICE#{id}";
    }
    /// A person as an external issuer identifies them.
    Identity(issuer: IssuerName, subject: IssuerSubject) + (user_id, created_at) of (user_id) {
        main                    => "IDENTITY#{issuer}#{subject}",       "IDENTITY";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Identity#{created_at}#{issuer}#{subject}";
    }
    /// A code that lets new users sign up.
    Invitation(code: InviteCode) + (listed_for?, created_at) {
        main                    => "INVITE#{code}",                     "INVITE";
        gsi1 if listed_for      => "USER#{listed_for}",                 "INVITE#{created_at}#{code}";
    }
    /// A counter of a user.
    UserCounter(user_id: UserId, counter: UserCount, shard: Shard) of (user_id) {
        main                    => "USER#{user_id}",                    "COUNTER#{counter}[#{shard}]";
    }
    /// A user follows another, or has asked to.
    Follow(follower_id: UserId, followee_id: UserId) + (shard, day_shard, mut status, mut active_since?) of (follower_id, followee_id) {
        let following = active_since, active(status);
        main                    => "USER#{follower_id}",                "FOLLOWING#{followee_id}";
        gsi1 if following       => "USER#{followee_id}[#{shard}]",      "FOLLOWER#{follower_id}";
        gsi1 else if pending(status) => "USER#{followee_id}",           "REQUEST#{follower_id}";
        gsi2 if following       => "FOLLOW_ACTIVITY#{active_since:day}[#{day_shard}]", "{active_since}#{follower_id}#{followee_id}";
        gsi3 if following       => "USER#{follower_id}",                "ENTITY#Following#{active_since}#{followee_id}";
    }
    /// A follower wants notifications of a user's new posts.
    PostWatch(follower_id: UserId, followee_id: UserId) of (follower_id, followee_id) {
        main                    => "USER#{follower_id}",                "WATCH#{followee_id}";
        gsi1                    => "USER#{followee_id}",                "WATCHER#{follower_id}";
    }
    /// A user blocks another.
    Block(blocker_id: UserId, blocked_id: UserId) of (blocker_id, blocked_id) {
        main                    => "USER#{blocker_id}",                 "BLOCK#{blocked_id}";
        gsi1                    => "USER#{blocked_id}",                 "BLOCKER#{blocker_id}";
    }
    /// A user hides another from their home feed and notifications.
    Mute(muter_id: UserId, muted_id: UserId) of (muter_id, muted_id) {
        main                    => "USER#{muter_id}",                   "MUTE#{muted_id}";
        gsi1                    => "USER#{muted_id}",                   "MUTER#{muter_id}";
    }
    /// A community of users.
    Group(id: GroupId)            { main => "GROUP#{id}",               "GROUP#{id}"; }
    /// A user in a group, invited to it, or asking to join.
    GroupMember(group_id: GroupId, user_id: UserId) + (joined_at) of (group_id, user_id) {
        main                    => "GROUP#{group_id}",                  "MEMBER#{user_id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Group#{joined_at}#{group_id}";
    }
    /// The number of active members of a group.
    GroupCounter(group_id: GroupId) of (group_id) {
        main                    => "GROUP#{group_id}",                  "COUNTER#MEMBERS";
    }
    /// Something a user wants to achieve.
    Goal(user_id: UserId, id: GoalId) + (created_at) of (user_id) {
        main                    => "USER#{user_id}",                    "GOAL#{id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Goal#{created_at}#{id}";
    }
    /// A step towards a goal.
    Task(goal_id: GoalId, id: TaskId) + (user_id, shard, mut due_at?, mut done) of (goal_id) {
        main                    => "GOAL#{goal_id}",                    "TASK#{id}";
        gsi1 if due_at          => "USER#{user_id}",                    "ENTITY#Task#{due_at}#{id}";
        gsi2 if due_at, open(done) => "DUE#{due_at:compact_day}[#{shard}]", "{due_at}#TASK#{id}";
        gsi3                    => "TASK#{id}",                         "GOAL#{goal_id}";
    }
    /// A share of a goal's tasks to reach.
    Milestone(user_id: UserId, goal_id: GoalId, id: MilestoneId) + (created_at) of (user_id) {
        main                    => "USER#{user_id}",                    "MILESTONE#{goal_id}#{id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Milestone#{created_at}#{id}";
    }
    /// A challenge with a reward.
    Quest(user_id: UserId, id: QuestId) + (created_at) of (user_id) {
        main                    => "USER#{user_id}",                    "QUEST#{id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Quest#{created_at}#{id}";
    }
    /// One task or goal that counts for a quest.
    QuestStep(user_id: UserId, quest_id: QuestId, subject_id: SubjectId) of (user_id) {
        main                    => "USER#{user_id}",                    "QUESTSTEP#{quest_id}#{subject_id}";
    }
    /// The reward of a completed quest.
    XpEntry(user_id: UserId, quest_id: QuestId) of (user_id) {
        main                    => "USER#{user_id}",                    "XP#{quest_id}";
    }
    /// An event for feeds, written once.
    Activity(home(actor_id, group_id): ActorId, created_at: Time, activity_id: ActivityId) of (home) {
        main                    => "ACTIVITY#{home}",                   "TS#{created_at}#{activity_id}";
    }
    /// An activity that lists of its actor or group show, but no home feed.
    ProfileActivity(home(actor_id, group_id): ActorId, created_at: Time, activity_id: ActivityId) of (home) {
        main                    => "PROFILE_ACTIVITY#{home}",           "TS#{created_at}#{activity_id}";
    }
    /// The newest activity of an actor, and the intervals in which its activities are fanned out.
    ActorHead(actor_id: ActorId) of (actor_id) {
        main                    => "ACTIVITY#{actor_id}",               "HEAD";
    }
    /// An activity copied into a follower's feed.
    FeedItem(follower_id: UserId, created_at: Time, activity_id: ActivityId) of (follower_id) {
        main                    => "FEED#{follower_id}",                "TS#{created_at}#{activity_id}";
    }
    /// The oldest time a materialized feed reaches back to.
    FeedHorizon(user_id: UserId) of (user_id) {
        main                    => "FEED#{user_id}",                    "HORIZON";
    }
    /// A user or group whose activities are fanned out.
    Promotion(subject_id: ActorId) of (subject_id) {
        main                    => "PROMO#{subject_id}",                "PROMO#{subject_id}";
    }
    /// A conversation of two users or a group.
    Room(id: RoomId)              { main => "ROOM#{id}",                "ROOM#{id}"; }
    /// The newest message of a room.
    RoomHead(room_id: RoomId) of (room_id) {
        main                    => "ROOM#{room_id}",                    "HEAD";
    }
    /// A user in a room.
    RoomMember(room_id: RoomId, user_id: UserId) + (joined_at) of (room_id, user_id) {
        main                    => "ROOM#{room_id}",                    "MEMBER#{user_id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Room#{joined_at}#{room_id}";
    }
    /// A message in a room.
    Message(room_id: RoomId, created_at: Time, id: MessageId) + (user_id, listed) of (room_id, user_id) {
        main                    => "ROOM#{room_id}",                    "MSG#{created_at}#{id}";
        gsi1 if in_timeline(listed) => "USER#{user_id}",                "ENTITY#Message#{created_at}#{id}";
        gsi1 else               => "USER#{user_id}",                    "MESSAGE#{created_at}#{id}";
    }
    /// A request for help.
    AssistThread(thread_id: ThreadId) + (user_id, created_at) of (user_id) {
        main                    => "ASSIST#{thread_id}",                "THREAD";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Assist#{created_at}#{thread_id}";
    }
    /// A user who was asked for help.
    AssistHelper(thread_id: ThreadId, user_id: UserId) + (created_at) of (thread_id, user_id) {
        main                    => "ASSIST#{thread_id}",                "HELPER#{user_id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#Helping#{created_at}#{thread_id}";
    }
    /// A message in a request for help.
    AssistMsg(thread_id: ThreadId, created_at: Time, id: MessageId) + (user_id) of (thread_id, user_id) {
        main                    => "ASSIST#{thread_id}",                "MSG#{created_at}#{id}";
        gsi1                    => "USER#{user_id}",                    "ENTITY#AssistMsg#{created_at}#{id}";
    }
    /// A text, an image or a video.
    Post(id: PostId) + (author_id, created_at, feed_id, shard, group_id?, mut visibility, mut moderation_status,
                        mut is_deleted, mut author_is_private, mut published_at?, mut score?) of (author_id) {
        let listed = published_at, publicly_listed(visibility, moderation_status, is_deleted, group_id, author_is_private);
        main                    => "POST#{id}",                         "POST";
        gsi1                    => "USER#{author_id}",                  "POST#{created_at}#{id}";
        gsi2 if listed, global(feed_id) => "TIMELINE#{published_at:day}[#{shard}]", "{published_at}#{id}";
        gsi2 else if listed     => "FEED#{feed_id}#{published_at:day}[#{shard}]", "{published_at}#{id}";
        gsi3 if listed, score   => "POPULAR_POSTS[#{shard}]",           "{score}#{published_at}#{id}";
    }
    /// A post, comment, user, group or message under moderation.
    ModerationCase(id: CaseId) + (created_at, shard, mut status) {
        main                    => "CASE#{id}",                         "CASE#{id}";
        gsi2                    => "MODERATION#{status}#{created_at:day}[#{shard}]", "{created_at}#{id}";
    }
    /// The counted reactions to a post.
    PostCounter(post_id: PostId) of (post_id) {
        main                    => "POST#{post_id}",                    "COUNTER#ENGAGEMENT";
    }
    /// A comment on a post, or a reply to another comment.
    Comment(post_id: PostId, id: CommentId) + (user_id, created_at) of (post_id, user_id) {
        main                    => "POST#{post_id}",                    "COMMENT#{id}";
        gsi1                    => "USER#{user_id}",                    "COMMENT#{created_at}#{id}";
        gsi2                    => "COMMENT#{id}",                      "METADATA";
    }
    /// A user likes a post.
    Like(post_id: PostId, user_id: UserId) + (created_at) of (post_id, user_id) {
        main                    => "POST#{post_id}",                    "LIKE#{user_id}";
        gsi1                    => "USER#{user_id}",                    "LIKE#{created_at}#{post_id}";
    }
    /// A user shared a post.
    Share(post_id: PostId, user_id: UserId) + (created_at) of (post_id, user_id) {
        main                    => "POST#{post_id}",                    "SHARE#{user_id}";
        gsi1                    => "USER#{user_id}",                    "SHARE#{created_at}#{post_id}";
    }
    /// A user likes a comment.
    CommentLike(post_id: PostId, comment_id: CommentId, user_id: UserId) of (post_id) {
        main                    => "POST#{post_id}",                    "CLIKE#{comment_id}#{user_id}";
    }
    /// The counted reactions to a comment.
    CommentCounter(post_id: PostId, comment_id: CommentId) of (post_id) {
        main                    => "POST#{post_id}",                    "COUNTER#COMMENT#{comment_id}";
    }
    /// A user's report of a post or comment.
    Report(post_id: PostId, subject_id: CaseId, user_id: UserId) of (post_id) {
        main                    => "POST#{post_id}",                    "REPORT#{subject_id}#{user_id}";
    }
    /// A user's report of a user, a group or a message.
    CaseReport(case_id: CaseId, user_id: UserId) {
        main                    => "CASE#{case_id}",                    "REPORT#{user_id}";
    }
    /// A notification of a user.
    Notification(user_id: UserId, created_at: Time, id: NotificationId) of (user_id) {
        main                    => "NOTIF#{user_id}",                   "TS#{created_at}#{id}";
    }
    /// The kinds of notifications that a user has switched off.
    NotificationPreferences(user_id: UserId) of (user_id) {
        main                    => "USER#{user_id}",                    "NOTIFICATIONS";
    }
    /// A company that makes offers.
    Company(id: CompanyId) + (owner_id, created_at) of (owner_id) {
        main                    => "COMPANY#{id}",                      "COMPANY#{id}";
        gsi1                    => "USER#{owner_id}",                   "ENTITY#Company#{created_at}#{id}";
    }
    /// An offer of a company.
    Offer(id: OfferId) + (company_id) of (company_id) {
        main                    => "OFFER#{id}",                        "OFFER#{id}";
        gsi3                    => "COMPANY#{company_id}",              "Offer#{id}";
    }
    /// A reference from a tag to a tagged object.
    TagRef(tag: Tag, shard: Shard, entity: EntityKind, id: SubjectId) {
        main                    => "TAG#{tag}[#{shard}]",               "{entity}#{id}";
    }
    /// A file that is being uploaded.
    Upload(user_id: UserId, key: MediaKey) of (user_id) {
        main                    => "USER#{user_id}",                    "UPLOAD#{key}";
    }
    /// The outcome of a request, so that repeating the request has no further effect.
    Idempotency(caller: RequestCaller, request_id: RequestId) {
        main                    => "IDEMP#{caller}#{request_id}",       "IDEMP";
    }
    /// A key for programs.
    ApiKey(user_id: UserId, id: ApiKeyId) of (user_id) {
        main                    => "USER#{user_id}",                    "APIKEY#{id}";
    }
    /// An entry of the audit log.
    Audit(created_at: Time, shard: Shard, id: AuditId) + (actor?, subject) upgraded by (listed_by_actor_and_subject) {
        main                    => "AUDIT#{created_at:day}[#{shard}]",  "{created_at}#{id}";
        gsi1 if actor           => "USER#{actor}",                      "AUDIT#{created_at}#{id}";
        gsi2                    => "AUDIT_OF#{subject}",                "{created_at}#{id}";
    }
}
access_patterns {
    profile(id: UserId)                          => main, "USER#{id}", "PROFILE#{id}" -> User;
    user_card(user: UserId)                      => gsi1, "USER#{user}", begins "ENTITY#User#", desc -> User;
    profiles(ids: [UserId])                      => main, "USER#{ids}", "PROFILE#{ids}" -> User;
    /// The user with this e-mail address; signing in reads `email_lock` instead.
    user_by_email(email: Email)                  => gsi3, "EMAIL#{email}", first begins "PROFILE#" -> User;
    user_by_nickname(nickname: Nickname)         => gsi2, "NICK#{nickname}", first begins "PROFILE#" -> User;
    email_lock(email: Email)                     => main, "EMAIL#{email}", "UNIQUE#USER", strong -> EmailLock;
    nick_lock(nickname: Nickname)                => main, "NICK#{nickname}", "UNIQUE#USER", strong -> NickLock;
    nick_locks(nicknames: [Nickname])            => main, "NICK#{nicknames}", "UNIQUE#USER", strong -> NickLock;
    handle_lock(handle: Handle)                  => main, "HANDLE#{handle}", "UNIQUE#USER", strong -> HandleLock;
    credential(user: UserId)                     => main, "USER#{user}", "CREDENTIAL", strong -> Credential;
    sessions(user: UserId)                       => main, "USER#{user}", begins "SESSION#", asc, strong -> Session;
    session(user: UserId, id: SessionId)         => main, "USER#{user}", "SESSION#{id}", strong -> Session;
    devices(user: UserId)                        => main, "USER#{user}", begins "DEVICE#", asc, strong -> Device;
    device(user: UserId, id: DeviceId)           => main, "USER#{user}", "DEVICE#{id}", strong -> Device;
    identity(issuer: IssuerName, subject: IssuerSubject) => main, "IDENTITY#{issuer}#{subject}", "IDENTITY", strong -> Identity;
    identities_of(user: UserId)                  => gsi1, "USER#{user}", begins "ENTITY#Identity#", asc -> Identity;
    invitation(code: InviteCode)                 => main, "INVITE#{code}", "INVITE", strong -> Invitation;
    invitations_by(user: UserId)                 => gsi1, "USER#{user}", begins "INVITE#", desc -> Invitation;
    api_keys(user: UserId)                       => main, "USER#{user}", begins "APIKEY#", asc, strong -> ApiKey;
    api_key(user: UserId, id: ApiKeyId)          => main, "USER#{user}", "APIKEY#{id}", strong -> ApiKey;
    /// The counters of a user.
    counts(user: UserId, of: [UserCount], shards: Shards) => main, "USER#{user}", "COUNTER#{of}[#{shards}]" -> UserCounter;
    counts_among(users: [UserId], of: UserCount, shards: Shards) => main, "USER#{users}", "COUNTER#{of}[#{shards}]" -> UserCounter;
    following(user: UserId)                      => main, "USER#{user}", begins "FOLLOWING#", asc -> Follow;
    followers(user: UserId, shards: Shards)      => gsi1, "USER#{user}[#{shards}]", begins "FOLLOWER#", asc -> Follow;
    followers_in_shard(user: UserId, shard: Shard) => gsi1, "USER#{user}[#{shard}]", begins "FOLLOWER#", asc -> Follow;
    follow_requests(user: UserId)                => gsi1, "USER#{user}", begins "REQUEST#", asc -> Follow;
    follows(follower: UserId, followee: UserId)  => main, "USER#{follower}", "FOLLOWING#{followee}", strong -> Follow;
    follows_among(follower: UserId, followees: [UserId]) => main, "USER#{follower}", "FOLLOWING#{followees}" -> Follow;
    recent_following(user: UserId)               => gsi3, "USER#{user}", begins "ENTITY#Following#", desc -> Follow;
    follow_activity(days: Days, shards: Shards)  => gsi2, "FOLLOW_ACTIVITY#{days}[#{shards}]", all, desc -> Follow;
    post_watchers(user: UserId)                  => gsi1, "USER#{user}", begins "WATCHER#", asc -> PostWatch;
    blocks(user: UserId)                         => main, "USER#{user}", begins "BLOCK#", asc -> Block;
    blockers(user: UserId)                       => gsi1, "USER#{user}", begins "BLOCKER#", asc -> Block;
    blocked_by(blockers: [UserId], user: UserId) => main, "USER#{blockers}", "BLOCK#{user}", strong -> Block;
    blocked(blocker: UserId, others: [UserId])   => main, "USER#{blocker}", "BLOCK#{others}", strong -> Block;
    mutes(user: UserId)                          => main, "USER#{user}", begins "MUTE#", asc -> Mute;
    mutes_among(muter: UserId, others: [UserId]) => main, "USER#{muter}", "MUTE#{others}", strong -> Mute;
    group(id: GroupId)                           => main, "GROUP#{id}", "GROUP#{id}", strong -> Group;
    groups(ids: [GroupId])                       => main, "GROUP#{ids}", "GROUP#{ids}" -> Group;
    members(group: GroupId)                      => main, "GROUP#{group}", begins "MEMBER#", asc -> GroupMember;
    member(group: GroupId, user: UserId)         => main, "GROUP#{group}", "MEMBER#{user}", strong -> GroupMember;
    memberships(groups: [GroupId], user: UserId) => main, "GROUP#{groups}", "MEMBER#{user}", strong -> GroupMember;
    group_counts(groups: [GroupId])              => main, "GROUP#{groups}", "COUNTER#MEMBERS" -> GroupCounter;
    groups_of(user: UserId)                      => gsi1, "USER#{user}", begins "ENTITY#Group#", desc -> GroupMember;
    goals(user: UserId)                          => main, "USER#{user}", begins "GOAL#", asc -> Goal;
    goal(user: UserId, id: GoalId)               => main, "USER#{user}", "GOAL#{id}", strong -> Goal;
    goals_among(user: UserId, ids: [GoalId])     => main, "USER#{user}", "GOAL#{ids}", strong -> Goal;
    goal_timeline(user: UserId)                  => gsi1, "USER#{user}", begins "ENTITY#Goal#", desc -> Goal;
    tasks(goal: GoalId)                          => main, "GOAL#{goal}", begins "TASK#", asc -> Task;
    task(goal: GoalId, id: TaskId)               => main, "GOAL#{goal}", "TASK#{id}", strong -> Task;
    /// One task by its id alone; before a decision, read it again with `task`.
    task_by_id(id: TaskId)                       => gsi3, "TASK#{id}", first begins "GOAL#" -> Task;
    tasks_by_due(user: UserId, due: Span<Time>)  => gsi1, "USER#{user}", within "ENTITY#Task#{due}", asc -> Task;
    tasks_due_on(day: CompactDay, shards: Shards) => gsi2, "DUE#{day}[#{shards}]", all, asc -> Task;
    milestones(user: UserId, goal: GoalId)       => main, "USER#{user}", begins "MILESTONE#{goal}#", asc -> Milestone;
    milestone(user: UserId, goal: GoalId, id: MilestoneId) => main, "USER#{user}", "MILESTONE#{goal}#{id}", strong -> Milestone;
    milestone_timeline(user: UserId)             => gsi1, "USER#{user}", begins "ENTITY#Milestone#", desc -> Milestone;
    quests(user: UserId)                         => gsi1, "USER#{user}", begins "ENTITY#Quest#", desc -> Quest;
    /// The quests of a user, none of which may be missed: `quests` reads an index.
    quests_by_id(user: UserId)                   => main, "USER#{user}", begins "QUEST#", asc, strong -> Quest;
    quest(user: UserId, id: QuestId)             => main, "USER#{user}", "QUEST#{id}", strong -> Quest;
    quests_among(user: UserId, ids: [QuestId])   => main, "USER#{user}", "QUEST#{ids}", strong -> Quest;
    quests_linked_to_goal(user: UserId, goal: GoalId) => gsi1, "USER#{user}", begins "ENTITY#Quest#", desc, where linked_goal_ids has goal -> Quest;
    quests_linked_to_task(user: UserId, task: TaskId) => gsi1, "USER#{user}", begins "ENTITY#Quest#", desc, where linked_task_ids has task -> Quest;
    quest_steps(user: UserId, quest: QuestId)    => main, "USER#{user}", begins "QUESTSTEP#{quest}#", asc -> QuestStep;
    xp_entries(user: UserId)                     => main, "USER#{user}", begins "XP#", asc -> XpEntry;
    /// The activities of several actors, newest first.
    activities(actors: [ActorId], at: Span<Time>) => main, "ACTIVITY#{actors}", within "TS#{at}", desc, page 50 -> Activity;
    activities_of(actor: ActorId, at: Span<Time>) => main, "ACTIVITY#{actor}", within "TS#{at}", desc, page 50 -> Activity;
    activity(home: ActorId, at: Time, id: ActivityId) => main, "ACTIVITY#{home}", "TS#{at}#{id}", strong -> Activity;
    profile_activities_of(actor: ActorId, at: Span<Time>) => main, "PROFILE_ACTIVITY#{actor}", within "TS#{at}", desc, page 50 -> ProfileActivity;
    profile_activity(home: ActorId, at: Time, id: ActivityId) => main, "PROFILE_ACTIVITY#{home}", "TS#{at}#{id}", strong -> ProfileActivity;
    actor_heads(actors: [ActorId])               => main, "ACTIVITY#{actors}", "HEAD" -> ActorHead;
    feed_items(reader: UserId, at: Span<Time>)   => main, "FEED#{reader}", within "TS#{at}", desc, page 50 -> FeedItem;
    /// The oldest time of `feed_items`.
    feed_horizon(reader: UserId)                 => main, "FEED#{reader}", "HORIZON", strong -> FeedHorizon;
    promotion(subject: ActorId)                  => main, "PROMO#{subject}", "PROMO#{subject}" -> Promotion;
    promotions(subjects: [ActorId])              => main, "PROMO#{subjects}", "PROMO#{subjects}" -> Promotion;
    room(id: RoomId)                             => main, "ROOM#{id}", "ROOM#{id}", strong -> Room;
    rooms(ids: [RoomId])                         => main, "ROOM#{ids}", "ROOM#{ids}" -> Room;
    room_heads(rooms: [RoomId])                  => main, "ROOM#{rooms}", "HEAD", strong -> RoomHead;
    room_members(room: RoomId)                   => main, "ROOM#{room}", begins "MEMBER#", asc -> RoomMember;
    room_member(room: RoomId, user: UserId)      => main, "ROOM#{room}", "MEMBER#{user}", strong -> RoomMember;
    messages(room: RoomId, at: Span<Time>)       => main, "ROOM#{room}", within "MSG#{at}", desc, strong, page 50 -> Message;
    rooms_of(user: UserId)                       => gsi1, "USER#{user}", begins "ENTITY#Room#", desc -> RoomMember;
    messages_by(user: UserId)                    => gsi1, "USER#{user}", begins "ENTITY#Message#", desc -> Message;
    /// The messages of a user that no timeline lists; they are removed with the account.
    unlisted_messages_by(user: UserId)           => gsi1, "USER#{user}", begins "MESSAGE#", desc -> Message;
    assist_thread(id: ThreadId)                  => main, "ASSIST#{id}", "THREAD", strong -> AssistThread;
    assist_threads(ids: [ThreadId])              => main, "ASSIST#{ids}", "THREAD", strong -> AssistThread;
    assist_helpers(thread: ThreadId)             => main, "ASSIST#{thread}", begins "HELPER#", asc, strong -> AssistHelper;
    assist_message(thread: ThreadId, at: Time, id: MessageId) => main, "ASSIST#{thread}", "MSG#{at}#{id}", strong -> AssistMsg;
    assist_messages(thread: ThreadId)            => main, "ASSIST#{thread}", begins "MSG#", desc, strong, page 50 -> AssistMsg;
    assists_of(user: UserId)                     => gsi1, "USER#{user}", begins "ENTITY#Assist#", desc -> AssistThread;
    helping(user: UserId)                        => gsi1, "USER#{user}", begins "ENTITY#Helping#", desc -> AssistHelper;
    assist_messages_by(user: UserId)             => gsi1, "USER#{user}", begins "ENTITY#AssistMsg#", desc -> AssistMsg;
    post(id: PostId)                             => main, "POST#{id}", "POST", strong -> Post;
    posts(ids: [PostId])                         => main, "POST#{ids}", "POST" -> Post;
    post_summaries(ids: [PostId])                => main, "POST#{ids}", "POST" -> Post as PostSummary;
    post_counters(ids: [PostId])                 => main, "POST#{ids}", "COUNTER#ENGAGEMENT" -> PostCounter;
    comments(post: PostId)                       => main, "POST#{post}", begins "COMMENT#", desc -> Comment;
    replies(post: PostId, parent: CommentId)     => main, "POST#{post}", begins "COMMENT#", asc, where parent_comment_id is parent -> Comment;
    /// One comment by its id alone.
    comment(id: CommentId)                       => gsi2, "COMMENT#{id}", first "METADATA" -> Comment;
    comment_on(post: PostId, id: CommentId)      => main, "POST#{post}", "COMMENT#{id}", strong -> Comment;
    comment_counters(post: PostId, comments: [CommentId]) => main, "POST#{post}", "COUNTER#COMMENT#{comments}" -> CommentCounter;
    comment_likes(post: PostId, comments: [CommentId], user: UserId) => main, "POST#{post}", "CLIKE#{comments}#{user}", strong -> CommentLike;
    likes_of_comment(post: PostId, comment: CommentId) => main, "POST#{post}", begins "CLIKE#{comment}#", asc, strong -> CommentLike;
    posts_by(user: UserId)                       => gsi1, "USER#{user}", begins "POST#", desc -> Post;
    likes_by(user: UserId)                       => gsi1, "USER#{user}", begins "LIKE#", desc -> Like;
    comments_by(user: UserId)                    => gsi1, "USER#{user}", begins "COMMENT#", desc -> Comment;
    shares_by(user: UserId)                      => gsi1, "USER#{user}", begins "SHARE#", desc -> Share;
    liked(posts: [PostId], user: UserId)         => main, "POST#{posts}", "LIKE#{user}", strong -> Like;
    likes(post: PostId)                          => main, "POST#{post}", begins "LIKE#", asc -> Like;
    shared(posts: [PostId], user: UserId)        => main, "POST#{posts}", "SHARE#{user}", strong -> Share;
    shares(post: PostId)                         => main, "POST#{post}", begins "SHARE#", asc -> Share;
    /// The posts of all users, day by day.
    timeline(days: Days, shards: Shards)         => gsi2, "TIMELINE#{days}[#{shards}]", all, desc -> Post;
    feed_timeline(feed: FeedName, days: Days, shards: Shards) => gsi2, "FEED#{feed}#{days}[#{shards}]", all, desc -> Post;
    /// The posts with the most reactions.
    popular(shards: Shards)                      => gsi3, "POPULAR_POSTS[#{shards}]", all, desc -> Post;
    moderation_queue(status: ModerationStatus, days: Days, shards: Shards) => gsi2, "MODERATION#{status}#{days}[#{shards}]", all, desc -> ModerationCase;
    moderation_case(id: CaseId)                  => main, "CASE#{id}", "CASE#{id}", strong -> ModerationCase;
    case_reports(case: CaseId)                   => main, "CASE#{case}", begins "REPORT#", asc -> CaseReport;
    case_report(case: CaseId, user: UserId)      => main, "CASE#{case}", "REPORT#{user}", strong -> CaseReport;
    reports(post: PostId, subject: CaseId)       => main, "POST#{post}", begins "REPORT#{subject}#", asc -> Report;
    report(post: PostId, subject: CaseId, user: UserId) => main, "POST#{post}", "REPORT#{subject}#{user}", strong -> Report;
    company(id: CompanyId)                       => main, "COMPANY#{id}", "COMPANY#{id}", strong -> Company;
    companies(ids: [CompanyId])                  => main, "COMPANY#{ids}", "COMPANY#{ids}" -> Company;
    companies_of(user: UserId)                   => gsi1, "USER#{user}", begins "ENTITY#Company#", desc -> Company;
    offer(id: OfferId)                           => main, "OFFER#{id}", "OFFER#{id}", strong -> Offer;
    offers(ids: [OfferId])                       => main, "OFFER#{ids}", "OFFER#{ids}" -> Offer;
    offers_of(company: CompanyId)                => gsi3, "COMPANY#{company}", begins "Offer#", asc -> Offer;
    tagged(tag: Tag, shards: Shards)             => main, "TAG#{tag}[#{shards}]", all, asc -> TagRef;
    tagged_of(tag: Tag, entity: EntityKind, shards: Shards) => main, "TAG#{tag}[#{shards}]", begins "{entity}#", asc -> TagRef;
    /// The references of an object's tags in all shards: there may have been fewer when it was tagged.
    tag_refs(tags: [Tag], shards: Shards, entity: EntityKind, id: SubjectId) => main, "TAG#{tags}[#{shards}]", "{entity}#{id}", strong -> TagRef;
    notifications(user: UserId, at: Span<Time>)  => main, "NOTIF#{user}", within "TS#{at}", desc, strong -> Notification;
    notification_preferences(user: UserId)       => main, "USER#{user}", "NOTIFICATIONS", strong -> NotificationPreferences;
    upload(user: UserId, key: MediaKey)          => main, "USER#{user}", "UPLOAD#{key}", strong -> Upload;
    uploads(user: UserId)                        => main, "USER#{user}", begins "UPLOAD#", asc -> Upload;
    /// The outcome of a request.
    outcome(caller: RequestCaller, request: RequestId)  => main, "IDEMP#{caller}#{request}", "IDEMP", strong -> Idempotency;
    audit(days: Days, shards: Shards)            => main, "AUDIT#{days}[#{shards}]", all, desc -> Audit;
    audit_by(actor: UserId)                      => gsi1, "USER#{actor}", begins "AUDIT#", desc -> Audit;
    audit_of(subject: SubjectId)                 => gsi2, "AUDIT_OF#{subject}", all, desc -> Audit;
}
together {
    /// The user with this handle.
    user_by_handle     = handle_lock + profile;
    /// A post with its comments.
    post_with_comments = post + comments;
    /// Posts in a list, with their counters.
    post_stats         = post_summaries + post_counters;
    /// A user's entities of all kinds, by time.
    entity_timeline    = user_card + recent_following + groups_of + goal_timeline + tasks_by_due + milestone_timeline
                       + quests + posts_by + comments_by + likes_by + messages_by;
    /// The activities of a user or in a group, those that enter home feeds and the others, by time.
    activity_timeline  = activities_of + profile_activities_of;
    /// The requests for help of a user, as author or helper, by time.
    assists            = assists_of + helping;
}
accepted {
    hot Comment.main, Like.main, Share.main, CommentLike.main, Report.main => "One post takes 500 such transactions a second and can be read with one query; shards can be added later.";
    hot PostCounter.main, CommentCounter.main => "Counted from the stream and aggregated per batch: one write for many reactions.";
    hot UserCounter.main => "500 new followers of one user a second; FOLLOWERS has shards, between which DynamoDB splits a partition that stays hot. UNREAD is counted from the stream and may lag. MEDIA_BYTES and PENDING_UPLOADS change with the uploads of one user.";
    hot Notification.main => "Written from the stream: beyond 500 a second for one user they are delayed, and no request waits for them; shards can be added later.";
    hot FeedItem.main => "Only activities of promoted actors that one user follows: far fewer than a partition takes.";
    hot GroupMember.main, GroupCounter.main => "500 users joining one group a second; a membership check stays one read.";
    hot RoomHead.main, RoomMember.main, Message.main, AssistMsg.main => "A readable conversation is far slower, and its order requires one partition.";
    hot AssistHelper.main => "A few, written once, with their thread.";
    hot Activity.main, ActorHead.main => "An actor's activities commit one after the other through its head, which is slower than a partition.";
    hot ProfileActivity.main => "What users do by hand, such as commenting; a group's comments are far fewer than a partition takes.";
    hot Follow.gsi1 => "Followers have shards. Requests wait for one user to answer them, never a thousand a second.";
    hot Block.gsi1 => "A thousand users blocking the same user in one second are not expected.";
    hot Audit.gsi2 => "A decision is made by hand, and few are made about one user or object.";
    hot CaseReport.main => "500 reports of one user a second are not expected.";
    hot Mute.gsi1 => "A thousand users muting the same user in one second are not expected.";
    hot Offer.gsi3 => "Only the owner creates a company's offers.";
    hot Follow.gsi2, Task.gsi2, Post.gsi2, Post.gsi3, ModerationCase.gsi2, TagRef.main, Audit.main => "The key ends in a shard; the number of shards is a setting, which can be raised at any time.";
    unbounded Goal.main, Task.main, Task.gsi1, Milestone.main, Quest.main, QuestStep.main, XpEntry.main => "Created by hand by one user, who may keep them.";
    unbounded ApiKey.main => "Created by hand by one user, and limited by the accounts service.";
    unbounded Invitation.gsi1 => "Created by hand by one user; those of users without a staff role are limited by the accounts service.";
    unbounded Upload.main => "Uploads that do not arrive or are not attached expire, and their bytes have a quota; only `verify` lists them.";
    unbounded ProfileActivity.main => "Read from the newest end; an activity is deleted with what it is about.";
    unbounded Activity.main => "Feeds reach back to any depth, and are read from the newest end.";
    unbounded Comment.main, CommentLike.main, CommentCounter.main, Message.main, AssistMsg.main => "A conversation is kept as long as its post, room or thread, and read a page at a time; messages can have a ttl.";
    unbounded TagRef.main => "Deleted with its object, and a popular tag has shards.";
    unbounded Post.gsi1, Comment.gsi1, Like.gsi1, Share.gsi1, Message.gsi1, AssistThread.gsi1, AssistHelper.gsi1, AssistMsg.gsi1, Company.gsi1 => "One user's actions, created by hand and read from the newest end; they are deleted with the account.";
    unbounded Audit.gsi1, Audit.gsi2 => "The audit log is kept, and read from the newest end.";
    unbounded Post.gsi3 => "Only posts above the threshold, over shards, and only the top is read; the rest costs storage only.";
    unbounded Offer.gsi3 => "A company's offers, created by hand by its owner.";
    filter-after-limit quests_linked_to_goal.gsi1, quests_linked_to_task.gsi1 => "A user has few quests; reading on fills the page.";
    filter-after-limit replies.main => "Only the comments of one post are read; reading on fills the page.";
    mutable-key User.gsi2, User.gsi3 => "A rename is rare, checks the version and moves the lock in the same transaction.";
    mutable-key Follow.gsi1, Follow.gsi2, Follow.gsi3 => "A request becomes a follow once, when it is accepted.";
    mutable-key Task.gsi1, Task.gsi2 => "Tasks are listed by due date; it rarely changes, and then by a rekey.";
    mutable-key Post.gsi2 => "A post is published once.";
    mutable-key Post.gsi3 => "The score in the key is rewritten only when its bucket changes.";
    mutable-key ModerationCase.gsi2 => "The queue is read by status, and a case changes its status a few times at most.";
    mixed-roles Follow.gsi1, Block.gsi1, Mute.gsi1 => "Each is read by its own prefix; no pattern reads a user's whole partition.";
    unowned EmailLock.main, NickLock.main, HandleLock.main => "Deleting the account releases its names.";
    unowned Invitation.main => "It outlives its inviter, and carries only the inviter's id.";
    undeclared-owner Invitation.main => "It outlives its inviter, and carries only the inviter's id.";
    unowned ModerationCase.main => "Its id is that of its post or comment, and it is removed with either; a case about a user, a group or a message expires.";
    unowned CaseReport.main => "It expires, and carries only the ids of the case and of the reporting user.";
    unowned TagRef.main => "Removed with the tagged object, whose tags lead to it.";
    unowned Audit.main => "The audit log is kept.";
    partial-owner Message.gsi1 => "Each message has one of the two keys, and both are in its author's partition.";
    partial-owner Follow.gsi1 => "The account purge removes follows itself: followers in all shards, and requests.";
    undeclared-owner Audit.main => "The audit log is kept, and carries only the actor's id, which leads to no profile once the account is gone.";
    undeclared-owner Task.main => "It goes with its goal, which belongs to the user.";
    undeclared-owner Milestone.main => "The purge of its goal lists it under the user.";
    undeclared-owner Post.main => "The purge of its group finds it through its activity; a post that waits for approval stays with its author.";
    undeclared-owner CaseReport.main => "It expires, and its ids lead to nothing once the account or the group is gone.";
    undeclared-owner CommentLike.main, Report.main => "It stays with the post and carries only the user's id, which leads to no profile once the account is gone.";
    type-before-time User.gsi1 => "One kind at a time is read far more often; entity_timeline merges them all.";
}

/// Failed sign-ins, by account, network and device; a separate table, so that they are not in the stream.
table LoginAttempts "gg_login_attempts" {
    /// Failed sign-ins to one account, from one network or of one device, in one time window.
    LoginAttempt(kind: LoginKey, subject: LoginName, window: Time) {
        main                    => "{kind}#{subject}",                  "WINDOW#{window}";
    }
}
access_patterns {
    login_attempts(kind: LoginKey, subject: LoginName) => main, "{kind}#{subject}", begins "WINDOW#", desc, strong -> LoginAttempt;
}
accepted {
    hot LoginAttempt.main => "An account or address is locked long before that.";
}

/// Records of background work; a separate table, so that they are not in the stream. Stream leases
/// (`LEASES#…`) belong to the workers of the stream.
table Ops "gg_ops" {
    /// The position of a processor in a shard of the stream.
    Checkpoint(processor: ProcessorName, stream_shard: StreamShard) {
        main                    => "CHECKPOINT#{processor}",            "SHARD#{stream_shard}";
    }
    /// Background work, done a page at a time.
    Job(queue: Queue, shard: Shard, due_at: Time, id: JobId) {
        main                    => "JOB#{queue}[#{shard}]",             "{due_at}#{id}";
    }
    /// Work that failed too often.
    DeadLetter(queue: Queue, failed_at: Time, id: JobId) {
        main                    => "DLQ#{queue}",                       "{failed_at}#{id}";
    }
    /// An endpoint that receives events.
    Webhook(id: WebhookId)        { main => "WEBHOOKS",                 "WEBHOOK#{id}"; }
    /// A reader's feed in the order of rank, while the reader pages through it.
    FeedRanking(user_id: UserId, id: RankingId) {
        main                    => "FEED_RANKING#{user_id}",            "{id}";
    }
    /// A signing or cursor key that all processes share.
    SealedKey(purpose: Purpose, created_at: Time, id: SubjectId) {
        main                    => "KEY#{purpose}",                     "{created_at}#{id}";
    }
}
access_patterns {
    checkpoint(processor: ProcessorName, shard: StreamShard) => main, "CHECKPOINT#{processor}", "SHARD#{shard}", strong -> Checkpoint;
    checkpoints(processor: ProcessorName)            => main, "CHECKPOINT#{processor}", begins "SHARD#", asc, strong -> Checkpoint;
    jobs(queue: Queue, due: Span<Time>, shards: Shards) => main, "JOB#{queue}[#{shards}]", within "{due}", asc -> Job;
    jobs_in_shard(queue: Queue, shard: Shard, due: Span<Time>) => main, "JOB#{queue}[#{shard}]", within "{due}", asc, strong -> Job;
    dead_letter(queue: Queue, at: Time, id: JobId) => main, "DLQ#{queue}", "{at}#{id}", strong -> DeadLetter;
    dead_letters(queue: Queue)                   => main, "DLQ#{queue}", all, asc, strong -> DeadLetter;
    webhook(id: WebhookId)                       => main, "WEBHOOKS", "WEBHOOK#{id}", strong -> Webhook;
    webhooks()                                   => main, "WEBHOOKS", begins "WEBHOOK#", asc, strong -> Webhook;
    feed_ranking(user: UserId, id: RankingId)        => main, "FEED_RANKING#{user}", "{id}", strong -> FeedRanking;
    sealed_keys(purpose: Purpose)                => main, "KEY#{purpose}", all, desc, strong -> SealedKey;
}
accepted {
    unowned Checkpoint.main, Job.main, DeadLetter.main, Webhook.main, SealedKey.main => "They belong to the installation.";
    hot Checkpoint.main => "One write for each batch of changes and shard of the stream.";
    hot Job.main => "The key ends in a shard, and shards can be added; a job is a page of work, not a single write.";
    hot DeadLetter.main => "Only work that failed after all its retries.";
    hot Webhook.main, SealedKey.main => "A handful, changed by hand or once in months.";
    unbounded Checkpoint.main => "Checkpoints of shards that have left the stream are deleted.";
    unbounded Job.main => "A job is deleted when it is done.";
    unbounded DeadLetter.main => "Each waits until an operator redrives or drops it.";
    unbounded Webhook.main => "A handful, created by hand.";
    unbounded SealedKey.main => "One in months, and a retired one gets a ttl.";
}
}

/// All tables, the main one first.
pub const SCHEMA: &[&TableShape] = &[Core::SHAPE, LoginAttempts::SHAPE, Ops::SHAPE];
