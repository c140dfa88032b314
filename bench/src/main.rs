//! Side-by-side benchmarks. Each runs ours and its peers on the same disk, prints the figures with
//! ratios, then one line per bar, and fails if a bar is missed.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing figures is the purpose")]

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
mod search;
mod social;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The same as in the `roundtable` binary.
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
    /// The embedded engine compared with bare LMDB and SQLite
    Engine(engine::Options),
    /// Conversion between structs and stored items, compared with maps of values
    Codec(codec::Options),
    /// Time and memory of `roundtable verify` over a town
    Verify(verify::Options),
    /// Follows, likes, posts and comments per second, compared with Postgres
    Social(social::Options),
    /// Home feeds: pages and fan-out, compared with Postgres and Redis
    Feed(feed::Options),
    /// Messages per second, in one busy room and in a thousand rooms
    Chat(chat::Options),
    /// Notifications per second through their processor, and the count of unread ones
    Notifications(notifications::Options),
    /// Search over a million posts, compared with Postgres' full-text search
    Search(search::Options),
    /// Home feeds over HTTP: pages per second compared with an empty handler, and memory under load
    Load(load::Options),
    /// A part of a benchmark that needs a separate process
    #[command(hide = true)]
    Child(engine::child::ChildArgs),
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
        Benchmark::Search(options) => search::run(&options),
        Benchmark::Load(options) => load::run(&options),
        Benchmark::Child(task) => engine::child::run(&task).map(|()| ExitCode::SUCCESS),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
