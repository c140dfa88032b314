//! The members of the campaign: each searches in its own way, and takes the seeds it is given.

mod attack_run;
mod histories;

use std::ops::Range;

use crate::cargo_runs::{CargoTest, FuzzTargetRun};
use crate::simulation::simulate;
use crate::totals::Counts;

/// A way to search for faults.
#[derive(Debug)]
pub struct Member {
    pub name: &'static str,
    pub about: &'static str,
    /// Seeds that one call takes: a few seconds, or as many as make a start worthwhile.
    pub seeds_at_once: u64,
    search: Search,
}

/// All members.
#[derive(Debug)]
pub struct Members(Vec<Member>);

#[derive(Debug)]
enum Search {
    /// In this process.
    Here(fn(u64) -> Result<Counts, String>),
    /// A test of the workspace that takes its seeds from the environment.
    Test(CargoTest),
    Fuzz(FuzzTargetRun),
}

impl Member {
    /// Searches with these seeds. A finding says how to repeat it.
    pub fn search(&self, seeds: Range<u64>) -> Result<Counts, String> {
        match &self.search {
            Search::Here(search) => {
                let mut all = Counts::new();
                for seed in seeds {
                    let counts = search(seed).map_err(|finding| self.finding(seed, &finding))?;
                    for (name, count) in counts {
                        *all.entry(name).or_default() += count;
                    }
                }
                Ok(all)
            }
            Search::Test(test) => test.run(seeds),
            Search::Fuzz(target) => target.run(seeds.start),
        }
    }

    fn finding(&self, seed: u64, finding: &str) -> String {
        let name = self.name;
        let repeat = format!("cargo run -p roundtable-campaign -- --only {name} --seed {seed}");
        format!("{name}, seed {seed}: {finding}\nTo repeat it: {repeat}")
    }
}

impl Members {
    pub fn all(&self) -> impl Iterator<Item = &Member> {
        self.0.iter()
    }

    pub fn named(&self, name: &str) -> Option<&Member> {
        self.0.iter().find(|member| member.name == name)
    }
}

fn simulation(seed: u64) -> Result<Counts, String> {
    let report = simulate(seed)?;
    let counts = [
        ("actions", report.actions),
        ("disk steps", report.disk_steps),
        ("interrupted starts", report.failed_starts),
        ("kills", report.kills),
        ("power cuts", report.power_cuts),
    ];
    Ok(counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect())
}

/// Returns all members, in the order in which they take turns.
pub fn members() -> Members {
    Members(own_members().chain(test_members()).chain(fuzz_members()).collect())
}

/// Those that search in this process.
fn own_members() -> impl Iterator<Item = Member> {
    let here = |name, about, search| Member {
        name,
        about,
        seeds_at_once: 1,
        search: Search::Here(search),
    };
    let about_simulation =
        "whole towns on a simulated disk: power cuts, failed syncs, full disks, clock jumps";
    let about_attacks =
        "attacks over the network on a server with few descriptors, beside a signed-in reader";
    let about_histories = "concurrent calls to the engine: linearizable items, serializable transactions, exact pages";
    [
        here("simulation", about_simulation, simulation as fn(u64) -> Result<Counts, String>),
        here("histories", about_histories, histories::check),
        here("attacks", about_attacks, attack_run::run),
    ]
    .into_iter()
}

fn test_members() -> impl Iterator<Item = Member> {
    let member = |name, about, seeds_at_once, test| Member {
        name,
        about,
        seeds_at_once,
        search: Search::Test(test),
    };
    [
        member(
            "model",
            "random scripts on the engine, compared with a reference",
            500,
            CargoTest {
                package: "roundtable-engine",
                target: "model",
                filter: "the_engine_responds_as_the_model_does",
                seed: Some("ROUNDTABLE_MODEL_SEED"),
                count: "ROUNDTABLE_MODEL_SEQUENCES",
                unit: "scripts",
            },
        ),
        member(
            "kills",
            "processes with the engine, killed under load",
            50,
            CargoTest {
                package: "roundtable-engine",
                target: "kill",
                filter: "a_killed_process_loses_nothing_it_acknowledged",
                seed: Some("ROUNDTABLE_KILL_SEED"),
                count: "ROUNDTABLE_KILL_CYCLES",
                unit: "kills",
            },
        ),
        member(
            "server-kills",
            "a server, killed while clients write over HTTP",
            10,
            CargoTest {
                package: "roundtable",
                target: "suite",
                filter: "a_server_that_is_killed_under_load_loses_nothing_it_acknowledged",
                // The threads of a real server decide.
                seed: None,
                count: "ROUNDTABLE_SERVER_KILLS",
                unit: "kills",
            },
        ),
        member(
            "processes",
            "storms over processes that share the in-process DynamoDB server: throttling, conflicts, lost answers",
            2,
            CargoTest {
                package: "roundtable-testkit",
                target: "storm",
                filter: "storms_over_processes_and_an_unreliable_network",
                seed: Some("ROUNDTABLE_STORM_SEED"),
                count: "ROUNDTABLE_STORMS",
                unit: "storms",
            },
        ),
        member(
            "feeds",
            "random histories of home feeds, compared with pages computed from the whole table",
            200,
            CargoTest {
                package: "roundtable-testkit",
                target: "feed",
                filter: "feeds_are_exact_in_random_histories",
                seed: Some("ROUNDTABLE_FEED_SEED"),
                count: "ROUNDTABLE_FEED_HISTORIES",
                unit: "histories",
            },
        ),
        member(
            "quests",
            "random histories of quests, compared with their definition",
            200,
            CargoTest {
                package: "roundtable-testkit",
                target: "quests",
                filter: "progress_and_experience_are_as_defined",
                seed: Some("ROUNDTABLE_QUEST_SEED"),
                count: "ROUNDTABLE_QUEST_HISTORIES",
                unit: "histories",
            },
        ),
    ]
    .into_iter()
}

fn fuzz_members() -> impl Iterator<Item = Member> {
    let targets: [(&str, &str, &[&str]); 7] = [
        ("fuzz-documents", "GraphQL documents, by all kinds of viewers", &["documents"]),
        ("fuzz-bodies", "HTTP requests to a server", &["bodies"]),
        (
            "fuzz-records",
            "changed log records, which recovery must refuse",
            &["formats", "records"],
        ),
        (
            "fuzz-values",
            "changed values of the tree, which must not be served",
            &["formats", "values"],
        ),
        ("fuzz-cursors", "forged cursors", &["formats", "cursors"]),
        ("fuzz-tokens", "forged access tokens", &["formats", "tokens"]),
        ("fuzz-exports", "lines of an export, read back the same", &["formats", "exports"]),
    ];
    targets.into_iter().map(|(name, about, program)| Member {
        name,
        about,
        seeds_at_once: 1,
        search: Search::Fuzz(FuzzTargetRun { program }),
    })
}
