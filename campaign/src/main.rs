//! Searches for faults: `cargo run --release -p roundtable-campaign -- --hours 2`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it reports what it finds")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Parser;
use roundtable_campaign::{
    CampaignTotals, FaultFinding, FaultSearch, Member, Members, TOTALS, members, planted_faults,
    workspace, write_document,
};

/// The longest time of one turn of a member.
const TURN: Duration = Duration::from_mins(2);
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Parser)]
#[command(name = "roundtable-campaign", about = "Searches for faults of Roundtable, for hours")]
struct Arguments {
    /// Hours to run; 0.1 is six minutes. Without it, the member given by --only runs once
    #[arg(long, value_name = "H")]
    hours: Option<f64>,
    /// Only this member; --list names them
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Repeats one seed of the member given by --only, and counts nothing
    #[arg(long, value_name = "N", requires = "only", conflicts_with = "hours")]
    seed: Option<u64>,
    /// Plants each fault of campaign/faults in a copy of the workspace, and reports what finds it
    #[arg(long, conflicts_with_all = ["hours", "seed"])]
    planted: bool,
    /// Shows the totals in docs/RELIABILITY.md
    #[arg(long)]
    write_document: bool,
    /// Names the members
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    run(&arguments).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let all = members();
    if arguments.list {
        for member in all.all() {
            println!("{:14} {}", member.name, member.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.planted {
        return search_planted(arguments.only.as_deref());
    }
    if arguments.write_document {
        write_document(&workspace(), &CampaignTotals::read(&workspace().join(TOTALS))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = chosen(&all, arguments.only.as_deref())?;
    if let (Some(seed), [member]) = (arguments.seed, chosen.as_slice()) {
        return Ok(repeat(member, seed));
    }
    let time = match (arguments.hours, &arguments.only) {
        (Some(hours), _) => Duration::try_from_secs_f64(hours * 3_600.0),
        (None, Some(_)) => Ok(Duration::ZERO),
        (None, None) => bail!("say how long: --hours 1"),
    };
    let time = time.context("--hours must be positive")?;
    let findings = search(&chosen, Instant::now() + time)?;
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chosen<'a>(all: &'a Members, only: Option<&str>) -> anyhow::Result<Vec<&'a Member>> {
    match only {
        None => Ok(all.all().collect()),
        Some(name) => {
            let member = all.named(name);
            Ok(vec![member.with_context(|| format!("there is no member {name:?}; see --list"))?])
        }
    }
}

fn repeat(member: &Member, seed: u64) -> ExitCode {
    match member.search(seed..seed + 1) {
        Ok(counts) => {
            println!("{}, seed {seed}: nothing found, {counts:?}", member.name);
            ExitCode::SUCCESS
        }
        Err(finding) => {
            println!("{finding}");
            ExitCode::FAILURE
        }
    }
}

/// Lets the members take turns until the time is over. Totals are written after each call, so that a
/// run can be stopped at any time and the next one goes on.
fn search(members: &[&Member], end: Instant) -> anyhow::Result<u64> {
    let path = workspace().join(TOTALS);
    let mut findings = 0;
    // Without hours, one call is all.
    let mut is_first = true;
    while is_first || Instant::now() < end {
        for member in members {
            let turn_end = end.min(Instant::now() + TURN);
            let mut shown_at = Instant::now();
            while is_first || Instant::now() < turn_end {
                is_first = false;
                let mut totals = CampaignTotals::read(&path)?;
                let known = totals.member(member.name);
                let seeds = known.next_seed..known.next_seed + member.seeds_at_once;
                let started = Instant::now();
                known.next_seed = seeds.end;
                match member.search(seeds) {
                    Ok(counts) => known.add(counts),
                    Err(finding) => {
                        findings += 1;
                        known.findings += 1;
                        println!("FOUND {finding}\n");
                    }
                }
                known.milliseconds += u64::try_from(started.elapsed().as_millis())?;
                if shown_at.elapsed() >= PROGRESS_EVERY {
                    shown_at = Instant::now();
                    let left = end.saturating_duration_since(shown_at).as_secs();
                    eprintln!(
                        "{}: {} seeds in all, {findings} findings, {left} s left",
                        member.name, known.next_seed
                    );
                }
                totals.write(&path)?;
            }
        }
    }
    write_document(&workspace(), &CampaignTotals::read(&path)?)?;
    println!("{findings} findings");
    Ok(findings)
}

/// Plants the faults one after the other. Results are written after each, so that one fault can be
/// searched again.
fn search_planted(only: Option<&str>) -> anyhow::Result<ExitCode> {
    let path = workspace().join(TOTALS);
    let mut faults = planted_faults(&workspace())?;
    faults.retain(|fault| only.is_none_or(|only| only == fault.name));
    ensure!(!faults.is_empty(), "there is no such fault");
    let search = FaultSearch::prepare(&workspace())?;
    let problems = search.check_unplanted(&faults)?;
    problems.iter().for_each(|problem| println!("{problem}"));
    let mut missed = problems.len();
    for fault in faults {
        let trial = search.find(&fault)?;
        missed += trial.misses.len();
        for FaultFinding { test, milliseconds } in &trial.findings {
            println!("{}: found by {test} in {milliseconds} ms", fault.name);
        }
        trial.misses.iter().for_each(|miss| println!("{}: NOT FOUND: {miss}", fault.name));
        let mut totals = CampaignTotals::read(&path)?;
        totals.planted.insert(fault.name, trial.findings);
        totals.write(&path)?;
    }
    write_document(&workspace(), &CampaignTotals::read(&path)?)?;
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
