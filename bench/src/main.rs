//! Side-by-side benchmarks: each runs ours and its peers in one run on one disk, prints the
//! figures with ratios, then one line per bar, and fails when a bar is missed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing figures is the job")]

mod chat;
mod codec;
mod engine;
mod feed;
mod load;
mod machine;
mod notifications;
mod postgres;
mod progress;
mod report;
mod samples;
mod social;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// As in the product's own binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "roundtable-bench", about = "Side-by-side benchmarks of Roundtable")]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// The embedded engine beside bare LMDB and SQLite
    Engine(engine::Options),
    /// Between structs and stored items, beside maps of values
    Codec(codec::Options),
    /// `roundtable verify` over a town: how long, and how much memory
    Verify(verify::Options),
    /// Follows, likes, posts and comments a second, beside Postgres
    Social(social::Options),
    /// Home feeds: pages and fan-out, beside Postgres and Redis
    Feed(feed::Options),
    /// Messages a second, in one busy room and in a thousand rooms
    Chat(chat::Options),
    /// Notifications a second through their processor, and the count of unread ones
    Notifications(notifications::Options),
    /// Home feeds over HTTP: pages a second beside a handler that does nothing, and memory under load
    Load(load::Options),
    /// A part of a benchmark that needs a process of its own
    #[command(hide = true)]
    Child(engine::child::Task),
}

fn main() -> ExitCode {
    roundtable_server::keep_freed_memory();
    let done = match Arguments::parse().benchmark {
        Benchmark::Engine(options) => engine::run(&options),
        Benchmark::Codec(options) => codec::run(&options),
        Benchmark::Verify(options) => verify::run(&options),
        Benchmark::Social(options) => social::run(&options),
        Benchmark::Feed(options) => feed::run(&options),
        Benchmark::Chat(options) => chat::run(&options),
        Benchmark::Notifications(options) => notifications::run(&options),
        Benchmark::Load(options) => load::run(&options),
        Benchmark::Child(task) => engine::child::run(&task).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
