//! The authorization matrix: every operation of the social core, on every kind of thing, by every kind
//! of viewer. No cell is untested: an operation of a service or an act without a row fails here, too.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

#[path = "matrix/acts.rs"]
mod acts;
#[path = "matrix/asks.rs"]
mod asks;
#[path = "matrix/feeds.rs"]
mod feeds;
#[path = "matrix/goals.rs"]
mod goals;
#[path = "matrix/live.rs"]
mod live;
#[path = "matrix/media.rs"]
mod media;
#[path = "matrix/notifications.rs"]
mod notifications;
#[path = "matrix/quests.rs"]
mod quests;
#[path = "matrix/rooms.rs"]
mod rooms;
#[path = "matrix/stage.rs"]
mod stage;
#[path = "matrix/table.rs"]
mod table;
#[path = "matrix/trade.rs"]
mod trade;
#[path = "matrix/webhooks.rs"]
mod webhooks;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use acts::VARIANTS;
use asks::answer;
use roundtable_domain::Caller;
use roundtable_model::Role;
use stage::{Stage, Viewer};
use table::rows;

/// What is no operation of people: it is called by the processors, by whoever runs the place, or about
/// what a viewer has been shown already.
const NOBODYS: &[&str] = &[
    "accounts.grant",
    "feeds.catch_up",
    "feeds.follow",
    "feeds.warm_up",
    "follows.grow_shards",
    "groups.disband",
    "groups.leave_all",
    "live.catch_up",
    "live.follow",
    "milestones.achieve_reached",
    "moderation.decide_automatically",
    "notifications.admits",
    "notifications.catch_up",
    "notifications.follow",
    "notifications.latest",
    "posts.counters",
    "posts.set_author_private",
    "promotions.decide",
    "promotions.order",
    "webhooks.give_up",
    "webhooks.give_up_as_read",
    "quests.clear",
    "quests.expire",
    "quests.weigh",
    "quests.weigh_all",
];

/// What could ask the profile for roles, and believes its caller. The server has asked just before
/// (`identity.rs`), so no token outlives a role. Whoever mends one takes it away.
const STILL_OPEN: &str = "
    accounts.by_email accounts.by_handle accounts.by_nickname accounts.by_username accounts.counts
    accounts.people accounts.user activities.at activities.of comments.add comments.by
    comments.by_ids comments.comment comments.comments comments.delete comments.like comments.on
    comments.replies comments.unlike comments.update companies.companies companies.company
    follows.activity_of follows.among follows.followers follows.following follows.is_following
    groups.delete groups.members groups.memberships groups.of groups.remove groups.update
    likes.among likes.by likes.has_liked likes.like likes.of likes.toggle likes.unlike live.listen
    live.next media.url media.urls moderation.audit moderation.case moderation.cases
    moderation.moderate_comment moderation.moderate_post moderation.queue
    moderation.report_comment moderation.report_post moderation.reports offers.close offers.create
    offers.of offers.offer offers.offers offers.tagged posts.by posts.delete posts.global
    posts.on_day posts.popular posts.post posts.posts posts.stats posts.tagged posts.update
    shares.share shares.unshare tags.search
";

const SERVICES: &[&str] = &[
    "assistance",
    "companies",
    "offers",
    "tags",
    "accounts",
    "activities",
    "blocks",
    "census",
    "comments",
    "feeds",
    "follows",
    "goals",
    "groups",
    "likes",
    "live",
    "media",
    "messages",
    "milestones",
    "moderation",
    "notifications",
    "posts",
    "promotions",
    "quests",
    "rooms",
    "shares",
    "tasks",
    "timelines",
    "webhooks",
];

/// The first of the threats: deny by default, one policy, no untested cell.
#[tokio::test]
async fn everybody_gets_the_answer_of_the_table() {
    let stage = Stage::set().await;
    let (mut wrong, mut acted) = (Vec::new(), BTreeSet::new());
    let rows = rows();
    let mut cells = 0;
    for row in &rows {
        for (viewer, cell) in Viewer::ALL.into_iter().zip(&row.cells) {
            let caller = viewer.caller(row.object);
            let (found, act) = answer(&stage, row.operation, row.object, caller).await;
            acted.extend(act);
            cells += 1;
            if found != cell.found {
                let table::Row { object, operation, .. } = row;
                let right = cell.right;
                let mended = if found == right { " (mended: take the mark away)" } else { "" };
                let what = format!("{operation} of {object} by {viewer:?}");
                wrong.push(format!("{what}: {right}, not {found}{mended}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cells, rows.len() * Viewer::ALL.len());
    assert_eq!(acted, VARIANTS.iter().copied().collect(), "everything that people do");
}

/// Whoever has lost a role gets the answers of a stranger, whatever their token still says.
#[tokio::test]
async fn a_role_that_was_taken_away_opens_nothing() {
    let stage = Stage::set().await;
    let mut wrong = BTreeSet::new();
    for row in rows() {
        let stranger = Viewer::ALL.iter().position(|viewer| *viewer == Viewer::Stranger).unwrap();
        for role in [Role::Moderator, Role::Admin] {
            let sam = Caller::with_roles("sam".parse().unwrap(), &[Role::User, role]);
            let (found, _) = answer(&stage, row.operation, row.object, Some(sam)).await;
            if found != row.cells[stranger].found {
                wrong.insert(row.operation);
            }
        }
    }
    assert_eq!(wrong, STILL_OPEN.split_whitespace().collect());
}

/// No row twice, none for what is not there, and one for every operation of every service.
#[test]
fn every_operation_has_a_row() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        let is_new = seen.insert((row.operation, row.object));
        assert!(is_new, "{} of {} twice", row.operation, row.object);
    }
    let asked: BTreeSet<String> = seen.iter().map(|(operation, _)| (*operation).into()).collect();
    let mut there = BTreeSet::new();
    let domain = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/src");
    for service in SERVICES {
        let mut sources = vec![domain.join(format!("{service}.rs"))];
        sources.extend(files(&domain.join(service)));
        for source in sources {
            let text = fs::read_to_string(source).unwrap();
            let methods = text.lines().filter_map(|line| line.strip_prefix("    pub async fn "));
            let names = methods.filter_map(|method| method.split(['(', '<']).next());
            there.extend(names.map(|name| format!("{service}.{name}")));
        }
    }
    for name in NOBODYS {
        assert!(there.remove(*name), "{name} is not there any more");
    }
    assert_eq!(asked, there);
}

/// The files in a directory, and in those below it.
fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
