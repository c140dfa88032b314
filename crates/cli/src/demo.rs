//! `roundtable demo`: serves a fresh sample town.

mod acts;
mod hours;
mod names;
mod people;
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
use crate::Outcome;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::serve::{log, to_the_end, told_to_stop};

/// What every embedded store has in its directory.
const LOCK: &str = "lock";
/// The smallest town, and the largest that makes sense.
const PEOPLE: std::ops::RangeInclusive<i64> = 10..=100_000;

/// Which town.
#[derive(Args, Debug)]
#[command(after_help = "\
The town is made through the services, as people would have made it, over three weeks that end now:
names, posts, comments, groups, goals, quests and chats. It is the same town every time, and it is
forgotten when the server stops, unless --data says where it shall stay.

Three logins are printed, with three queries to try. Nobody knows the password of anybody else.

Examples:
  roundtable demo
  roundtable demo --people 200 --listen 127.0.0.1:4001
  roundtable demo --data town && roundtable serve --data town")]
pub(crate) struct Demo {
    /// How many people live there
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(PEOPLE))]
    people: u32,
    /// Where it shall stay: a directory that is empty, or is not there yet [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT")]
    #[arg(default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)))]
    listen: SocketAddr,
}

impl Demo {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let mut configuration = Configuration::default();
        // Those who write at the same time try again, and say so.
        configuration.process.log.level = String::from("warn,roundtable_streams=error");
        configuration.process.graphql.xray = true;
        configuration.process.http.listen = self.listen;
        log(&configuration.process.log)?;
        // Better now than after the town is built.
        let (address, free) = (self.listen, TcpListener::bind(self.listen));
        free.map_err(|error| StartError::Listen { address, error })?;
        let temporary = match &self.data {
            Some(data) => return self.serve(data, configuration, out),
            None => tempfile::tempdir().map_err(Failure::Start)?,
        };
        self.serve(temporary.path(), configuration, out)
    }

    fn serve(
        &self,
        data: &Path,
        mut configuration: Configuration,
        out: &mut impl Write,
    ) -> Result<Outcome, Failure> {
        let was_there = vacant(data)?;
        data.clone_into(&mut configuration.process.store.data);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::Start)?;
        let mut enough = pin!(told_to_stop()?);
        let (started, progress) = (Instant::now(), Shown::new());
        let built = runtime.block_on(async {
            tokio::select! {
                built = town::build(data, self.people as usize, &progress) => built,
                () = &mut enough => Err(Failure::Stopped),
            }
        });
        progress.finish();
        if let Err(failure) = built {
            // Whoever is still at work on it goes first.
            drop(runtime);
            clear(data, was_there);
            return Err(failure);
        }
        let (people, seconds) = (self.people, started.elapsed().as_secs_f64());
        to_the_end(runtime, async {
            let server = Box::pin(Server::open(configuration)).await?;
            writeln!(out, "A town of {people} people, built in {seconds:.1} seconds.\n")?;
            welcome(out, server.url())?;
            out.flush()?;
            server.run(enough).await;
            Ok(Outcome::Well)
        })
    }
}

/// Whether the directory for a town is there; it must be empty then.
fn vacant(data: &Path) -> Result<bool, Failure> {
    let entries = match fs::read_dir(data) {
        Ok(entries) => entries.count(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Failure::file(data)(error)),
    };
    if entries == 0 {
        return Ok(true);
    }
    let path = data.to_owned();
    let is_store = data.join(LOCK).exists();
    Err(if is_store { Failure::Inhabited { path } } else { Failure::NotEmpty { path } })
}

/// Of a town that was not finished nothing is left.
fn clear(data: &Path, was_there: bool) {
    let mut made: Vec<PathBuf> = vec![data.to_owned()];
    if was_there {
        made = fs::read_dir(data).into_iter().flatten().flatten().map(|made| made.path()).collect();
    }
    for path in made {
        // Whatever cannot be taken away is in the way of the next one, which says so.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
}

/// Where everything is, and what to try first.
fn welcome(out: &mut impl Write, url: &str) -> Result<(), Failure> {
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

/// What to try first.
const QUERIES: [&str; 3] = [
    r#"mutation { login(email: "wren@example.com", password: "wren at the table") { accessToken } }"#,
    "{ listPopularPosts(limit: 5) { items { content author { nickname } likeCount commentCount } } }",
    "{ getFeed(limit: 10) { items { activity { verb previewText } } } }",
];
