//! Nothing is left out: every method of every service is a mutation that is stopped, or a read, and
//! every processor is stopped somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use roundtable_testkit::Act;

use crate::deeds::{Deed, among_people, with_accounts, with_content};
use crate::goals::with_goals;
use crate::media::with_files;
use crate::notifications::with_notifications;
use crate::processors::Case;
use crate::quests::with_quests;
use crate::rooms::with_rooms;
use crate::stage::Stage;
use crate::trade::with_trade;
use crate::webhooks::with_webhooks;

/// What changes nothing.
const READS: &str = "
    accounts.authenticate accounts.by_email accounts.by_handle accounts.by_nickname
    accounts.by_username accounts.check_operator accounts.counts accounts.keys
    accounts.login_attempts accounts.me accounts.people accounts.user activities.at
    activities.of assistance.messages assistance.mine assistance.said assistance.thread
    assistance.threads blocks.list census.totals comments.by comments.by_ids comments.comment comments.comments
    comments.marks comments.on comments.replies companies.companies companies.company feeds.at
    feeds.catch_up feeds.follow feeds.home feeds.live feeds.next feeds.warm_up
    follows.activity_of follows.among follows.followed follows.followed_by follows.followers
    follows.following follows.is_following follows.requests goals.get goals.goals goals.list
    groups.get groups.members groups.memberships groups.mine groups.of groups.views likes.among
    likes.by likes.has_liked likes.of live.catch_up live.follow live.listen live.next media.url
    media.urls messages.list messages.live messages.messages messages.next milestones.get
    milestones.list milestones.milestones milestones.timeline moderation.audit moderation.case moderation.cases
    moderation.queue moderation.reports notifications.catch_up notifications.follow
    notifications.list notifications.live notifications.next notifications.notices
    notifications.unread offers.of offers.offer offers.offers offers.tagged posts.by
    posts.counters posts.global posts.marks posts.on_day posts.popular posts.post posts.posts
    posts.stats posts.tagged promotions.promotions quests.get quests.list quests.quests
    rooms.member_ids rooms.members rooms.mine rooms.room rooms.rooms tags.search
    tasks.due tasks.due_on tasks.get tasks.list tasks.tasks timelines.of webhooks.list
";

/// What processors do, which are stopped as such, and what whoever runs the place may do instead of
/// one of them.
const OF_PROCESSORS: &str = "
    follows.grow_shards groups.disband groups.leave_all moderation.decide_automatically
    quests.clear quests.expire quests.weigh quests.weigh_all
    milestones.achieve_reached notifications.admits notifications.latest posts.set_author_private promotions.decide
    webhooks.give_up webhooks.give_up_as_read
";

/// What no service is.
const NO_SERVICES: &[&str] = &["commit", "ground", "sight"];

/// The processors with a file of their own for it.
const STOPPED_ELSEWHERE: &[&str] = &["EventWatch", "FanOut", "Files"];

/// R32, R33: a mutation without a stop fails here.
#[tokio::test]
async fn every_mutation_is_stopped() {
    let stage = Stage::set().await;
    let town = stage.place.town(1).await;
    let deeds = [
        among_people,
        with_trade,
        with_content,
        with_accounts,
        with_files,
        with_goals,
        with_quests,
        with_rooms,
        with_notifications,
        with_webhooks,
    ]
    .map(|deeds| deeds(&stage, &town));
    let deeds = deeds.concat();
    let acts = deeds.iter().filter_map(|deed| match deed {
        Deed::Act(_, act) => Some(act.name()),
        _ => None,
    });
    let acts: BTreeSet<&str> = acts.collect();
    assert_eq!(acts, Act::NAMES.iter().copied().collect(), "everything that people do");
    let stopped: BTreeSet<String> = deeds.iter().map(|deed| deed.operation().into()).collect();
    let mut there = operations();
    for name in READS.split_whitespace().chain(OF_PROCESSORS.split_whitespace()) {
        assert!(there.remove(name), "{name} is not there any more");
    }
    assert_eq!(stopped, there);
}

/// R32, R33: a processor without a stop fails here.
#[test]
fn every_processor_is_stopped() {
    let mut there = BTreeSet::new();
    for source in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../streams/src")) {
        let text = fs::read_to_string(source).unwrap();
        let named = text.lines().filter_map(|line| line.strip_prefix("impl Processor for "));
        there.extend(named.filter_map(|rest| rest.split_whitespace().next().map(String::from)));
    }
    let stopped = Case::ALL.iter().map(|case| case.processor());
    let stopped = stopped.chain(STOPPED_ELSEWHERE.iter().copied()).map(String::from);
    assert_eq!(stopped.collect::<BTreeSet<_>>(), there);
}

/// Every method of every service.
fn operations() -> BTreeSet<String> {
    let domain = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/src");
    let mut there = BTreeSet::new();
    for source in files(&domain) {
        let within = source.strip_prefix(&domain).unwrap().with_extension("");
        let module = within.iter().next().unwrap().to_str().unwrap();
        if NO_SERVICES.contains(&module) {
            continue;
        }
        let text = fs::read_to_string(&source).unwrap();
        let methods = text.lines().filter_map(|line| line.strip_prefix("    pub async fn "));
        let names = methods.filter_map(|method| method.split(['(', '<']).next());
        there.extend(names.map(|name| format!("{module}.{name}")));
    }
    there
}

/// The files in a directory, and in those below it.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
