//! `roundtable demo`: builds and serves a sample town.

mod clock;
mod names;
mod people;
mod steps;
mod story;
mod talk;
mod topics;
mod town;

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Instant;

use clap::Args;
use roundtable_server::{Configuration, Server, StartError};

use self::people::LOGINS;
use crate::CommandOutcome;
use crate::error::CommandError;
use crate::progress::ProgressDisplay;
use crate::serve::{run_to_end, start_logging, stop_requested};

/// A file in the directory of every embedded store.
const LOCK_FILE: &str = "lock";
const PEOPLE_RANGE: std::ops::RangeInclusive<i64> = 10..=100_000;

#[derive(Args, Debug)]
#[command(after_help = "\
The town is built through the services, as users would have, over three weeks that end now: names,
posts, comments, groups, goals, quests and chats. It is the same town every time, and it is deleted
when the server stops, unless --data is given.

Three logins are printed, with three queries to try. All other passwords are random.

Examples:
  roundtable demo
  roundtable demo --people 200 --listen 127.0.0.1:4001
  roundtable demo --data town && roundtable serve --data town")]
pub(crate) struct DemoArgs {
    /// The number of users
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(PEOPLE_RANGE))]
    people: u32,
    /// Keeps the town in this directory, empty or missing [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS:PORT")]
    #[arg(default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)))]
    listen: SocketAddr,
}

impl DemoArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let mut configuration = Configuration::default();
        // Concurrent writers retry, which is logged as warnings.
        configuration.process.log.level = String::from("warn,roundtable_streams=error");
        configuration.process.graphql.xray = true;
        configuration.process.http.listen = self.listen;
        start_logging(&configuration.process.log)?;
        // Fails now rather than after the town is built.
        let (address, free) = (self.listen, TcpListener::bind(self.listen));
        free.map_err(|error| StartError::Listen { address, error })?;
        let temporary = match &self.data {
            Some(data) => return self.serve(data, configuration, out),
            None => tempfile::tempdir().map_err(CommandError::Start)?,
        };
        self.serve(temporary.path(), configuration, out)
    }

    fn serve(
        &self,
        data: &Path,
        mut configuration: Configuration,
        out: &mut impl Write,
    ) -> Result<CommandOutcome, CommandError> {
        let existed = check_empty(data)?;
        data.clone_into(&mut configuration.process.store.data);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(CommandError::Start)?;
        let mut stop = pin!(stop_requested()?);
        let (started, progress) = (Instant::now(), ProgressDisplay::new());
        let result = runtime.block_on(async {
            tokio::select! {
                built = town::build(data, self.people as usize, &progress) => built,
                () = &mut stop => Err(CommandError::Interrupted),
            }
        });
        progress.finish();
        if let Err(error) = result {
            // Stops all tasks that still write to the directory.
            drop(runtime);
            remove_unfinished(data, existed);
            return Err(error);
        }
        let (people, seconds) = (self.people, started.elapsed().as_secs_f64());
        run_to_end(runtime, async {
            let server = Box::pin(Server::open(configuration)).await?;
            writeln!(out, "A town of {people} people, built in {seconds:.1} seconds.\n")?;
            print_welcome(out, server.url())?;
            out.flush()?;
            server.run(stop).await;
            Ok(CommandOutcome::Success)
        })
    }
}

/// Returns whether the directory exists; it must be empty then.
fn check_empty(data: &Path) -> Result<bool, CommandError> {
    let entries = match fs::read_dir(data) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(CommandError::file(data)(error)),
    };
    if entries == 0 {
        return Ok(true);
    }
    let path = data.to_owned();
    let is_store = data.join(LOCK_FILE).exists();
    Err(if is_store { CommandError::StoreExists { path } } else { CommandError::NotEmpty { path } })
}

/// Removes an unfinished town.
fn remove_unfinished(data: &Path, existed: bool) {
    let mut created: Vec<PathBuf> = vec![data.to_owned()];
    if existed {
        created = fs::read_dir(data)
            .into_iter()
            .flatten()
            .flatten()
            .map(|created| created.path())
            .collect();
    }
    for path in created {
        // A file that cannot be removed makes the next run fail with its own message.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

/// Prints the addresses, logins and sample queries.
fn print_welcome(out: &mut impl Write, url: &str) -> Result<(), CommandError> {
    writeln!(out, "  console  {url}/\n  GraphQL  {url}/graphql\n")?;
    writeln!(out, "Sign in as")?;
    for login in &LOGINS {
        let (email, role, password) = (login.email, login.role.to_string(), login.password);
        writeln!(out, "  {role:<9}  {email:<18}  password: {password}")?;
    }
    writeln!(out, "\nTry (the first one gives a token for the header `authorization: Bearer …`):")?;
    for query in QUERIES {
        writeln!(out, "  {query}")?;
    }
    writeln!(out, "\nCtrl-C stops it.")?;
    Ok(())
}

const QUERIES: [&str; 3] = [
    r#"mutation { login(email: "wren@example.com", password: "wren at the table") { accessToken } }"#,
    "{ listPopularPosts(limit: 5) { items { content author { nickname } likeCount commentCount } } }",
    "{ getFeed(limit: 10) { items { activity { verb previewText } } } }",
];
