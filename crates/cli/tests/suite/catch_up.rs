//! `verify` on stores whose server was stopped before it had derived everything.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use roundtable_domain::{ScoreSettings, Settings, TableNames};
use roundtable_engine::{Engine, Options};
use roundtable_model::PostId;
use roundtable_model::entities::{PostCounter, UserCounter};
use roundtable_model::{Shard, UserCount};
use roundtable_table::{Get, ManualClock, Store, Update};
use roundtable_testkit::Town;
use serde_json::Value;

use crate::binary::{Run, command, finish};
use crate::create::address;
use crate::verify::{on, served, wait};

async fn town(store: Store, settings: Settings) -> Town {
    let clock = Arc::new(ManualClock::at_ms(1_737_991_800_000));
    let town = Town::on(store, clock, settings, 0).await;
    for name in ["ana", "bo", "cleo"] {
        town.add_user(name, |_| {}).await;
    }
    town
}

/// Bo's post, liked by the others, and one that he deleted.
async fn posts(town: &Town) -> PostId {
    let (kept, deleted) = (town.post("bo", "hello").await.id, town.post("bo", "nothing").await.id);
    town.like("ana", &kept).await;
    town.like("cleo", &deleted).await;
    town.posts().delete(&town.caller("bo"), &deleted, None).await.unwrap();
    kept
}

/// A town on an embedded store whose server is stopped after `life`.
pub(crate) fn stopped(data: &Path, settings: Settings, life: impl AsyncFnOnce(&Town)) {
    // By the store's clock much of this town has expired: nothing is swept before the check.
    let engine = Engine::open(data, Options { cleans_up: false, ..Options::default() }).unwrap();
    wait(async {
        let town = town(Store::new(engine.clone()), settings).await;
        life(&town).await;
    });
    engine.abandon();
}

fn report(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap()
}

/// I1, I6
#[test]
fn pending_changes_are_processed_before_the_check() {
    let directory = tempfile::tempdir().unwrap();
    stopped(directory.path(), Town::settings(), async |town| {
        posts(town).await;
    });
    for _ in 0..2 {
        let look = on(directory.path(), "verify --no-drain --json");
        let report = report(&look);
        assert_eq!((look.status, &report["applied"]), (1, &Value::Null), "{}", look.out);
        assert!(look.out.contains("no processor has read the stream yet"), "{}", look.out);
    }
    let first = on(directory.path(), "verify");
    assert_eq!((first.status, first.err.as_str()), (0, ""), "{}", first.out);
    let (applied, rest) = first.out.split_once(" changes applied first\n").unwrap();
    assert!(applied.parse::<u64>().unwrap() > 0, "{}", first.out);
    assert!(rest.contains(": nothing found\n") && !rest.contains("note: "), "{rest}");
    for (line, applied) in
        [("verify --json", Value::from(0)), ("verify --no-drain --json", Value::Null)]
    {
        let again = on(directory.path(), line);
        let report = report(&again);
        assert_eq!((again.status, &report["applied"]), (0, &applied), "{}", again.out);
        assert_eq!(
            (&report["lag"], &report["notes"]),
            (&Value::from([0; 0]), &Value::from([0; 0]))
        );
    }
}

#[test]
fn a_server_that_was_stopped_half_way_leaves_no_lag() {
    let directory = tempfile::tempdir().unwrap();
    stopped(directory.path(), Town::settings(), async |town| {
        let post = posts(town).await;
        town.settle().await;
        town.like("cleo", &post).await;
    });
    let look = on(directory.path(), "verify --no-drain");
    assert_eq!(look.status, 1, "{}", look.out);
    assert!(look.out.contains("expected likes 2, the likes\n     found    1\n"), "{}", look.out);
    assert!(look.out.contains("note: processor counters is 1 change behind"), "{}", look.out);
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains(" applied first\n") && !run.out.contains("behind"), "{}", run.out);
}

/// R38: expired items are hidden, but counted until a sweep, which a check does first.
#[test]
fn expired_items_are_removed_before_the_check() {
    let directory = tempfile::tempdir().unwrap();
    // By the store's clock, all notifications of this town have expired.
    stopped(directory.path(), Town::settings(), async |town| {
        town.follow("ana", "bo").await;
        town.settle().await;
        let core = town.context().core().table();
        let bo = UserCounter::at(&town.id("bo"), &UserCount::Unread, &Shard::ZERO);
        let query = core.get(Get::new(bo)).await.unwrap().item.unwrap();
        assert_eq!(query.number("count").unwrap().to_u64(), Some(1));
    });
    let look = on(directory.path(), "verify --no-drain");
    assert_eq!(look.status, 0, "{}", look.out);
    assert!(look.out.contains("note: 1 counters include expired notifications"), "{}", look.out);
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(!run.out.contains("unread") && !run.out.starts_with("0 changes"), "{}", run.out);
}

/// Damage remains after everything has been derived, and is repaired on demand.
#[test]
fn a_fault_beside_pending_changes_is_found_and_repaired() {
    let directory = tempfile::tempdir().unwrap();
    stopped(directory.path(), Town::settings(), async |town| {
        let post = posts(town).await;
        town.settle().await;
        town.like("cleo", &post).await;
        let core = town.context().core().table();
        let likes = Update::new(PostCounter::at(&post)).set("likes", 7);
        core.update(likes).await.unwrap();
        let bo = town.id("bo");
        let posts = UserCounter::at(&bo, &UserCount::Posts, &Shard::ZERO);
        core.update(Update::new(posts).set("count", 5)).await.unwrap();
    });
    let run = on(directory.path(), "verify");
    assert_eq!((run.status, run.err.as_str()), (1, ""), "{}", run.out);
    // One more than was planted: the last like is counted.
    assert!(run.out.contains("expected likes 2, the likes\n     found    8\n"), "{}", run.out);
    assert!(run.out.contains("USER#bo / COUNTER#POSTS\n     expected count 1"), "{}", run.out);
    let repaired = on(directory.path(), "verify --repair");
    assert_eq!((repaired.status, repaired.err.as_str()), (0, ""), "{}", repaired.out);
    assert!(repaired.out.starts_with("2 repaired\n"), "{}", repaired.out);
    let again = on(directory.path(), "verify");
    assert_eq!(again.status, 0, "{}", again.out);
    assert!(again.out.starts_with("0 changes applied first\n"), "{}", again.out);
}

/// R26: the installation's settings define popularity.
#[test]
fn scores_follow_the_configuration() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let score = ScoreSettings { like: 10, ..ScoreSettings::default() };
    let settings = Settings { score, ..Town::settings() };
    stopped(&data, settings, async |town| {
        posts(town).await;
    });
    let with = |config: &str, text: &str| {
        let path = directory.path().join(config);
        fs::write(&path, text).unwrap();
        let mut verify = command(["verify", "--config"]);
        verify.arg(path).arg("--data").arg(&data);
        finish(verify)
    };
    let own = with("own.toml", "[score]\nlike = 10\n");
    assert_eq!((own.status, own.err.as_str()), (0, ""), "{}", own.out);
    let defaults = on(&data, "verify");
    assert_eq!((defaults.status, defaults.err.as_str()), (1, ""));
    let output = "expected the score of what it counts, 1\n     found    10\n";
    assert!(defaults.out.contains(output), "{}", defaults.out);
    let wrong = with("wrong.toml", "[score]\nlikes = 10\n");
    assert_eq!((wrong.status, wrong.out.as_str()), (1, ""));
    assert!(wrong.err.contains("wrong.toml)") && wrong.err.contains("`likes`"), "{}", wrong.err);
    let missing = on(&data, "verify --config nowhere.toml");
    assert_eq!((missing.status, missing.out.as_str()), (1, ""));
    assert!(missing.err.contains("nowhere.toml: No such file"), "{}", missing.err);
}

#[test]
fn the_stream_of_a_server_is_read_to_its_end_too() {
    let config = roundtable_dynamo::Config::local(address());
    let store = Store::new(roundtable_dynamo::Dynamo::connect(config));
    let named = |table: &str| format!("late_{table}");
    let TableNames { core, logins, ops } = TableNames::default();
    let tables = TableNames { core: named(&core), logins: named(&logins), ops: named(&ops) };
    wait(async {
        let town = town(store, Settings { tables, ..Town::settings() }).await;
        posts(&town).await;
    });
    let look = served("late_", "verify --no-drain");
    assert_eq!((look.status, look.err.as_str()), (1, ""), "{}", look.out);
    let run = served("late_", "verify");
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.contains(" applied first\n") && !run.out.contains("note: "), "{}", run.out);
    assert_eq!(served("late_", "verify --no-drain").status, 0);
}
