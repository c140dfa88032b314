//! The cost of encoding structs to items and decoding them, compared with maps of owned values, which a
//! program without the model would use.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use roundtable_model::entities::{Job, Post, PostSummary};
use roundtable_model::table::Item;
use roundtable_model::{Entity, FromItem, Json, Nickname, rekey, samples};

use crate::progress::log_step;
use crate::report::{Better, Report};

const PAGE: usize = 50;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// A tenth of the data: a functional test, not a measurement
    #[arg(long)]
    quick: bool,
}

/// Runs the benchmark; the exit code says whether all bars are met.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let turns = if options.quick { 500 } else { 5_000 };
    let mut report = Report::new(vec!["ours", "map"]);
    log_step("decode");
    decode(turns, &mut report)?;
    log_step("encode");
    encode(turns, &mut report)?;
    log_step("names and JSON");
    parts(turns, &mut report)?;
    Ok(report.print())
}

fn decode(turns: u32, report: &mut Report) -> Result<()> {
    let item = samples::post().item();
    report.note(format!("a post of {} attributes and {} bytes", item.len(), item.size()));
    let page = vec![item.clone(); PAGE];
    let ours =
        nanos(turns / 50, || black_box(&page).iter().map(Post::from_item).collect::<Vec<_>>());
    let map =
        nanos(turns / 50, || black_box(&page).iter().map(Item::to_attributes).collect::<Vec<_>>());
    report.figure("decode 50 posts, ns", Better::Lower, [ours, map]);
    report.at_least("decode", map / ours, 2.0);
    let ours = nanos(turns, || Post::from_item(black_box(&item)));
    let map = nanos(turns, || black_box(&item).to_attributes());
    report.figure("decode a post, ns", Better::Lower, [ours, map]);
    let abroad = Post {
        author_nickname: "Zoë Müller".parse()?,
        hashtags: vec!["läufe".parse()?, "日の出".parse()?],
        ..samples::post()
    };
    let abroad = abroad.item();
    let ours = nanos(turns, || Post::from_item(black_box(&abroad)));
    let map = nanos(turns, || black_box(&abroad).to_attributes());
    report.figure("decode a post with names beyond ASCII, ns", Better::Lower, [ours, map]);
    let ours = nanos(turns, || PostSummary::from_item(black_box(&item)));
    report.figure("decode a post's summary, ns", Better::Lower, [ours]);
    Ok(())
}

fn encode(turns: u32, report: &mut Report) -> Result<()> {
    let post = samples::post();
    let attributes = post.item().to_attributes();
    let ours = nanos(turns, || black_box(&post).item());
    // A map owns its values, so the peer clones them.
    let map = nanos(turns, || Item::from(black_box(&attributes).clone()));
    report.figure("encode a post, ns", Better::Lower, [ours, map]);
    report.at_least("encode", map / ours, 1.3);
    let liked = Post { score: Some(samples::scores().0), ..post.clone() };
    rekey(&post, &liked).context("a score may change")?;
    let ours = nanos(turns, || rekey(black_box(&post), black_box(&liked)));
    report.figure("rekey a post, ns", Better::Lower, [ours]);
    Ok(())
}

fn parts(turns: u32, report: &mut Report) -> Result<()> {
    let ours = nanos(turns, || black_box("ana_runs").parse::<Nickname>());
    report.figure("parse a nickname, ns", Better::Lower, [ours]);
    let ours = nanos(turns, || black_box("Zoë Müller").parse::<Nickname>());
    report.figure("parse a nickname beyond ASCII, ns", Better::Lower, [ours]);
    let steps: Vec<_> = (0..250).map(|at| (at, "a step of the plan", [0.5, 1.25])).collect();
    let payload = Json::encode(&steps)?;
    report.note(format!("a payload of {} bytes", payload.as_str().len()));
    let job = Job { payload, ..samples::job() }.item();
    let ours = nanos(turns, || Job::from_item(black_box(&job)));
    report.figure("decode a job with a large payload, ns", Better::Lower, [ours]);
    Ok(())
}

/// Returns the time of one call in nanoseconds, in the fastest of many rounds: the work never waits, so
/// a slower round is due to other processes.
#[expect(clippy::cast_precision_loss, reason = "times far below 2^52")]
fn nanos<T>(turns: u32, mut work: impl FnMut() -> T) -> f64 {
    const ROUNDS: usize = 50;
    let round = |_| {
        let started = Instant::now();
        (0..turns).for_each(|_| drop(black_box(work())));
        started.elapsed().as_nanos() as f64 / f64::from(turns)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}
