//! Every public method of the services, and the place where it is served: a field of the contract, or the
//! crate that calls it. A method that is not listed, or that its place does not call, fails here.

#![expect(clippy::unwrap_used, reason = "a failed setup should stop the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use apollo_compiler::Schema;
use roundtable_testkit::service_operations;

/// A method, and a field of the contract, a crate, or after `=` the method that does the same for the API:
/// of many objects at once, or with more arguments.
const SERVED: &str = "
accounts.authenticate                  server
accounts.by_email                      Query.getUserByEmail
accounts.by_handle                     Query.getUserByHandle
accounts.by_identity                   server
accounts.by_nickname                   Query.getUserByNickname
accounts.by_username                   Query.getUserByUsername
accounts.caller_of                     server
accounts.change_email                  Mutation.changeEmail
accounts.change_email_to_proved        Mutation.changeEmail
accounts.change_password               Mutation.changePassword
accounts.check_credential              server
accounts.check_operator                Mutation.redriveDeadLetters
accounts.clear_sign_in_locks           server
accounts.confirm_password              Mutation.createApiKey
accounts.counts                        User.followersCount
accounts.create_key                    Mutation.createApiKey
accounts.credential_revoked            server
accounts.delete_account                Mutation.deleteAccount
accounts.grant                         server
accounts.identities                    server
accounts.invite                        Mutation.createInvitation
accounts.keys                          Query.listApiKeys
accounts.link_identity                 Mutation.linkIdentity
accounts.link_identity_as_operator     server
accounts.login                         =accounts.login_on
accounts.login_attempts                Query.listLoginAttempts
accounts.login_on                      Mutation.login
accounts.logout                        Mutation.logout
accounts.logout_everywhere             Mutation.logout
accounts.logout_session                Mutation.logout
accounts.me                            Query.me
accounts.people                        Query.getUser
accounts.refresh                       Mutation.refreshToken
accounts.register                      Mutation.register
accounts.revoke_key                    Mutation.revokeApiKey
accounts.set_roles                     Mutation.setUserRoles
accounts.set_tier                      Mutation.setUserTier
accounts.set_verified                  Mutation.setUserVerified
accounts.sign_in_locks                 server
accounts.suspend                       Mutation.suspendUser
accounts.unlink_identity_as_operator   server
accounts.unsuspend                     Mutation.unsuspendUser
accounts.update_profile                Mutation.updateProfile
accounts.user                          =accounts.people
activities.at                          Query.node
activities.of                          Query.listActivities
activities.post                        Mutation.postActivity
assistance.ask                         Mutation.createAssistThread
assistance.messages                    Query.listAssistMessages
assistance.messages_by_id              Query.node
assistance.mine                        Query.listAssistThreads
assistance.send                        Mutation.sendAssistMessage
assistance.thread                      Query.getAssistThread
assistance.threads                     Query.node
blocks.block                           Mutation.blockUser
blocks.list                            Query.listBlocked
blocks.unblock                         Mutation.unblockUser
comments.add                           Mutation.addComment
comments.by                            Query.listUserComments
comments.by_ids                        Query.getComment
comments.comment                       =comments.by_ids
comments.comments                      Query.node
comments.counters                      Comment.likeCounts
comments.delete                        Mutation.deleteComment
comments.engagement                    Comment.likesCount
comments.like                          Mutation.likeComment
comments.on                            Query.listPostComments
comments.replies                       Comment.replies
comments.unlike                        Mutation.unlikeComment
comments.update                        Mutation.updateComment
companies.companies                    Query.getCompany
companies.company                      =companies.companies
companies.create                       Mutation.createCompany
companies.mine                         Query.listMyCompanies
companies.update                       Mutation.updateCompany
dead_letters.discard                   Mutation.discardDeadLetter
feeds.at                               Query.node
feeds.home                             Query.getFeed
feeds.live                             Subscription.onFeedEntry
feeds.next                             =feeds.live
feeds.top                              Query.getFeed
follows.accept                         Mutation.acceptFollower
follows.activity_of                    Query.listFollowActivity
follows.among                          Query.node
follows.follow                         Mutation.followUser
follows.followed                       User.viewerFollows
follows.followed_by                    User.viewerIsFollowedBy
follows.followers                      Query.listFollowers
follows.following                      Query.listFollowing
follows.is_following                   Query.isFollowing
follows.reject                         Mutation.rejectFollower
follows.requests                       Query.listFollowRequests
follows.unfollow                       Mutation.unfollowUser
follows.update                         Mutation.updateFollow
goals.create                           Mutation.createGoal
goals.delete                           Mutation.deleteGoal
goals.get                              Query.getGoal
goals.goals                            Query.node
goals.list                             Query.listGoals
goals.update                           Mutation.updateGoal
groups.approve                         Mutation.approveMember
groups.archive_if_idle                 streams
groups.create                          Mutation.createGroup
groups.delete                          Mutation.deleteGroup
groups.disband                         streams
groups.get                             =groups.views
groups.invite                          Mutation.inviteToGroup
groups.join                            Mutation.joinGroup
groups.leave                           Mutation.leaveGroup
groups.leave_all                       streams
groups.members                         Query.listGroupMembers
groups.memberships                     Query.node
groups.mine                            Query.listMyGroups
groups.of                              User.groups
groups.remove                          Mutation.removeMember
groups.revive                          Mutation.reviveGroup
groups.set_role                        Mutation.setGroupRole
groups.update                          Mutation.updateGroup
groups.views                           Query.getGroup
likes.among                            Query.node
likes.by                               Query.listLikedPosts
likes.has_liked                        Query.hasLiked
likes.like                             Mutation.likePost
likes.of                               Query.listPostLikes
likes.toggle                           Mutation.toggleLike
likes.unlike                           Mutation.unlikePost
live.next                              =live.subscribe
live.subscribe                         Subscription.onCreatePost
media.awaiting_owner                   server
media.complete_upload                  Mutation.completeUpload
media.create_upload                    Mutation.createUpload
media.url                              =media.urls
media.urls                             Media.url
messages.list                          Query.listMessages
messages.live                          Subscription.onSendMessage
messages.messages                      Query.node
messages.next                          =messages.live
messages.send                          Mutation.sendMessage
milestones.achieve_reached             streams
milestones.create                      Mutation.createMilestone
milestones.delete                      Mutation.deleteMilestone
milestones.get                         Query.getMilestone
milestones.list                        Query.listMilestones
milestones.milestones                  Query.node
milestones.timeline                    Query.listMilestones
milestones.update                      Mutation.updateMilestone
moderation.audit                       Query.listAudit
moderation.audit_by                    Query.listAudit
moderation.audit_of                    Query.listAudit
moderation.case                        =moderation.cases
moderation.cases                       Query.getModerationCase
moderation.decide_automatically        streams
moderation.decide_case                 Mutation.decideCase
moderation.moderate_comment            Mutation.moderateComment
moderation.moderate_post               Mutation.moderatePost
moderation.queue                       Query.listModerationQueue
moderation.report_comment              Mutation.reportComment
moderation.report_post                 Mutation.reportPost
moderation.report_group                Mutation.reportGroup
moderation.report_message              Mutation.reportMessage
moderation.report_user                 Mutation.reportUser
moderation.reports                     Query.listReports
mutes.among                            Follow.muted
mutes.list                             Query.listMuted
mutes.mute                             Mutation.muteUser
mutes.unmute                           Mutation.unmuteUser
notifications.by_ids                   Query.node
notifications.latest_actor             streams
notifications.list                     Query.listNotifications
notifications.live                     Subscription.onNotification
notifications.mark_one_read            Mutation.markNotificationRead
notifications.mark_read                Mutation.markNotificationsRead
notifications.may_notify               streams
notifications.next                     =notifications.live
notifications.preferences              Query.notificationPreferences
notifications.unread                   Query.unreadNotificationCount
notifications.update_preferences       Mutation.updateNotificationPreferences
offers.close                           Mutation.closeOffer
offers.create                          Mutation.createOffer
offers.of                              Query.listOffers
offers.offer                           =offers.offers
offers.offers                          Query.getOffer
offers.tagged                          Query.listOffers
offers.update                          Mutation.updateOffer
posts.by                               Query.listUserPosts
posts.counters                         Post.likeCount
posts.create                           Mutation.createPost
posts.delete                           Mutation.deletePost
posts.global                           Query.listGlobalFeed
posts.on_day                           Query.listTimeline
posts.popular                          Query.listPopularPosts
posts.post                             =posts.posts
posts.posts                            Query.getPost
posts.set_author_private               streams
posts.stats                            Query.getPostSummaries
posts.tagged                           Query.listPostsByTag
posts.update                           Mutation.updatePost
posts.viewer_states                    Post.viewerHasLiked
promotions.promotions                  Query.getPromotion
promotions.rule_writes                 streams
promotions.set                         Mutation.setPromotion
promotions.set_as_operator             server
promotions.thresholds                  streams
quests.cancel                          Mutation.cancelQuest
quests.clear                           streams
quests.create                          Mutation.createQuest
quests.delete                          Mutation.deleteQuest
quests.expire                          streams
quests.get                             Query.getQuest
quests.list                            Query.listQuests
quests.quests                          Query.node
quests.recount                         streams
quests.recount_all                     streams
rooms.create                           Mutation.createRoom
rooms.mark_read                        Mutation.markRoomRead
rooms.member_ids                       Room.memberIds
rooms.members                          Room.members
rooms.mine                             Query.listMyRooms
rooms.room                             =rooms.rooms
rooms.rooms                            Query.getRoom
rooms.update                           Mutation.updateRoom
search.search                          Query.search
shares.share                           Mutation.sharePost
shares.unshare                         Mutation.unsharePost
statistics.totals                      Query.stats
tags.search                            Query.searchByTag
tasks.create                           Mutation.createTask
tasks.delete                           Mutation.deleteTask
tasks.due                              Query.listTasksDue
tasks.due_on                           Query.listTasksDue
tasks.get                              Query.getTask
tasks.list                             Query.listTasks
tasks.tasks                            Query.node
tasks.update                           Mutation.updateTask
timelines.of                           Query.listUserEntities
webhooks.create                        Mutation.createWebhook
webhooks.delete                        Mutation.deleteWebhook
webhooks.deliveries                    Query.listWebhookDeliveries
webhooks.disable                       =webhooks.disable_if_unchanged
webhooks.disable_if_unchanged          streams
webhooks.enable                        Mutation.enableWebhook
webhooks.list                          Query.listWebhooks
webhooks.replay                        Mutation.replayWebhook
";

/// Returns the source of a crate as one text.
fn source(name: &str) -> String {
    fn read(path: &Path) -> String {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries
            .map(|at| if at.is_dir() { read(&at) } else { fs::read_to_string(at).unwrap() })
            .collect()
    }
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src"))
}

#[test]
fn every_method_of_the_services_is_served() {
    let served: BTreeMap<&str, &str> = SERVED
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(a, b)| (a, b.trim()))
        .collect();
    let listed: BTreeSet<String> = served.keys().map(ToString::to_string).collect();
    assert_eq!(listed, service_operations());
    let contract = Schema::parse_and_validate(roundtable_graphql::SDL, "schema.graphql").unwrap();
    let sources = ["graphql", "server", "streams"].map(|name| (name, source(name)));
    for (operation, place) in &served {
        if let Some(other) = place.strip_prefix('=') {
            let served = served.get(other).is_some_and(|place| !place.starts_with('='));
            assert!(served, "{operation}: {other} is not served itself");
            continue;
        }
        let of_crate = sources.iter().find(|(name, _)| name == place);
        let (_, source) = of_crate.unwrap_or(&sources[0]);
        if of_crate.is_none() {
            let (kind, field) = place.split_once('.').unwrap();
            assert!(contract.type_field(kind, field).is_ok(), "{operation}: there is no {place}");
        }
        let (_, method) = operation.split_once('.').unwrap();
        let is_called = source.contains(&format!(".{method}("));
        assert!(is_called, "{operation}: {place} does not call it");
    }
}
