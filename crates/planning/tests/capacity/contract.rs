//! Every mutation that the API has is in the plan, under its own name.

use std::collections::BTreeSet;

use roundtable_planning::capacity::{REQUEST_IDS, catalogue, mutations};

/// The mutations of the GraphQL schema with a `requestId`.
const REPEATABLE: [&str; 65] = [
    "register",
    "updateProfile",
    "followUser",
    "unfollowUser",
    "acceptFollower",
    "rejectFollower",
    "blockUser",
    "unblockUser",
    "updateFollow",
    "createGroup",
    "updateGroup",
    "deleteGroup",
    "joinGroup",
    "leaveGroup",
    "setGroupRole",
    "inviteToGroup",
    "approveMember",
    "removeMember",
    "createGoal",
    "updateGoal",
    "deleteGoal",
    "createTask",
    "updateTask",
    "deleteTask",
    "createMilestone",
    "updateMilestone",
    "deleteMilestone",
    "postActivity",
    "createQuest",
    "cancelQuest",
    "deleteQuest",
    "createPost",
    "updatePost",
    "deletePost",
    "likePost",
    "unlikePost",
    "toggleLike",
    "sharePost",
    "unsharePost",
    "likeComment",
    "unlikeComment",
    "addComment",
    "updateComment",
    "deleteComment",
    "createRoom",
    "sendMessage",
    "markRoomRead",
    "createAssistThread",
    "sendAssistMessage",
    "createCompany",
    "createOffer",
    "closeOffer",
    "createUpload",
    "completeUpload",
    "markNotificationsRead",
    "reportPost",
    "reportComment",
    "moderatePost",
    "moderateComment",
    "setPromotion",
    "setUserRoles",
    "suspendUser",
    "unsuspendUser",
    "revokeApiKey",
    "deleteWebhook",
];

/// The mutations of the GraphQL schema without a `requestId`.
const ONCE: [&str; 10] = [
    "login",
    "refreshToken",
    "logout",
    "changePassword",
    "changeEmail",
    "deleteAccount",
    "redriveDeadLetters",
    "createApiKey",
    "createWebhook",
    "createInvitation",
];

fn contract() -> BTreeSet<&'static str> {
    REPEATABLE.into_iter().chain(ONCE).collect()
}

/// R41: the plan covers all mutations of the API.
#[test]
fn every_mutation_is_planned() {
    let planned: BTreeSet<&str> = mutations().iter().map(|mutation| mutation.name).collect();
    let missing: Vec<_> = contract().difference(&planned).copied().collect();
    assert_eq!(missing, <[&str; 0]>::default());
    let priced: BTreeSet<&str> = catalogue().unwrap().writes.iter().map(|it| it.mutation).collect();
    assert_eq!(priced, planned);
}

/// R41: every other entry is a variant of a mutation.
#[test]
fn variants_are_named_after_their_mutation() {
    let contract = contract();
    let planned = mutations();
    let others: Vec<&str> = planned
        .iter()
        .map(|mutation| mutation.name)
        .filter(|name| !contract.contains(name))
        .collect();
    for name in &others {
        let case_of = contract.iter().find(|known| {
            let rest = name.strip_prefix(**known);
            rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        });
        assert!(case_of.is_some(), "{name} is a case of nothing in the contract");
    }
    assert_eq!(
        others,
        [
            "loginFailed",
            "updateProfileRenamed",
            "updateProfilePrivate",
            "followUserAsked",
            "updateGoalCompleted",
            "updateTaskDone",
            "updateMilestoneAchieved",
            "createPostModerated",
        ]
    );
}

/// R32: a mutation stores its outcome if and only if it accepts a `requestId`.
#[test]
fn mutations_with_a_request_id_store_their_outcome() {
    for mutation in mutations() {
        let keeps = mutation.counts().contains_key(REQUEST_IDS);
        let once = ONCE.iter().any(|name| mutation.name.starts_with(name));
        assert_eq!(keeps, !once, "{}", mutation.name);
    }
}
