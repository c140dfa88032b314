//! Completeness: every method of every service is a mutation that is stopped, or a read, and every
//! processor is stopped.

use std::collections::BTreeSet;

use roundtable_testkit::{UserAction, processor_types, service_operations};

use crate::goals::goal_mutations;
use crate::media::media_mutations;
use crate::mutations::{Mutation, account_mutations, content_mutations, user_mutations};
use crate::notifications::notification_mutations;
use crate::processors::Case;
use crate::quests::quest_mutations;
use crate::rooms::room_mutations;
use crate::stage::Stage;
use crate::trade::trade_mutations;
use crate::webhooks::webhook_mutations;

/// Methods that only read.
const READS: &str = "
    accounts.authenticate accounts.by_email accounts.by_handle accounts.by_identity accounts.by_nickname
    accounts.by_username accounts.caller_of accounts.check_credential accounts.check_operator
    accounts.credential_revoked accounts.counts accounts.identities accounts.keys
    accounts.login_attempts accounts.me accounts.people accounts.sign_in_locks accounts.user activities.at
    activities.of assistance.messages assistance.mine assistance.messages_by_id assistance.thread
    assistance.threads blocks.list statistics.totals comments.by comments.by_ids comments.comment comments.comments
    comments.counters comments.engagement comments.on comments.replies companies.companies companies.company companies.mine
    feeds.at
    feeds.home feeds.live feeds.next feeds.top
    follows.activity_of follows.among follows.followed follows.followed_by follows.followers
    follows.following follows.is_following follows.requests goals.get goals.goals goals.list
    groups.get groups.members groups.memberships groups.mine groups.of groups.views likes.among
    likes.by likes.has_liked likes.of live.subscribe live.next media.awaiting_owner media.url
    media.urls messages.list messages.live messages.messages messages.next milestones.get
    milestones.list milestones.milestones milestones.timeline moderation.audit moderation.audit_by
    moderation.audit_of moderation.case moderation.cases
    moderation.queue moderation.reports mutes.among mutes.list
    notifications.list notifications.live notifications.next notifications.by_ids
    notifications.preferences notifications.unread offers.of offers.offer offers.offers offers.tagged posts.by
    posts.counters posts.global posts.viewer_states posts.on_day posts.popular posts.post posts.posts
    posts.stats posts.tagged promotions.promotions quests.get quests.list quests.quests
    rooms.member_ids rooms.members rooms.mine rooms.room rooms.rooms search.search tags.search
    tasks.due tasks.due_on tasks.get tasks.list tasks.tasks timelines.of webhooks.deliveries
    webhooks.list
";

/// Methods of processors, which are stopped as such, and of operators who stand in for them.
const OF_PROCESSORS: &str = "
    groups.archive_if_idle groups.disband groups.leave_all moderation.decide_automatically
    quests.clear quests.expire quests.recount quests.recount_all
    milestones.achieve_reached notifications.may_notify notifications.latest_actor posts.set_author_private promotions.rule_writes promotions.thresholds
    webhooks.disable webhooks.disable_if_unchanged
";

/// Processors stopped in files of their own.
const STOPPED_ELSEWHERE: &[&str] = &["EventDetector", "FanOut", "UnusedFileDetector"];

/// A mutation that is never stopped fails here (R32, R33).
#[tokio::test]
async fn every_mutation_is_stopped() {
    let stage = Stage::set().await;
    let town = stage.town_store.town(1).await;
    let mutations = [
        user_mutations,
        trade_mutations,
        content_mutations,
        account_mutations,
        media_mutations,
        goal_mutations,
        quest_mutations,
        room_mutations,
        notification_mutations,
        webhook_mutations,
    ]
    .map(|mutations| mutations(&stage, &town));
    let mutations = mutations.concat();
    let acts = mutations.iter().filter_map(|mutation| match mutation {
        Mutation::Act(_, act) => Some(act.name()),
        _ => None,
    });
    let acts: BTreeSet<&str> = acts.collect();
    assert_eq!(acts, UserAction::NAMES.iter().copied().collect(), "every user action is stopped");
    let stopped: BTreeSet<String> =
        mutations.iter().map(|mutation| mutation.operation().into()).collect();
    let mut there = service_operations();
    for name in READS.split_whitespace().chain(OF_PROCESSORS.split_whitespace()) {
        assert!(there.remove(name), "{name} does not exist any more");
    }
    assert_eq!(stopped, there);
}

/// A processor that is never stopped fails here (R32, R33).
#[test]
fn every_processor_is_stopped() {
    let stopped = Case::ALL.iter().map(|case| case.processor());
    let stopped = stopped.chain(STOPPED_ELSEWHERE.iter().copied()).map(String::from);
    assert_eq!(stopped.collect::<BTreeSet<_>>(), processor_types());
}
