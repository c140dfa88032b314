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
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use roundtable_server::{Configuration, Server, StartError};

use self::people::LOGINS;
use crate::Outcome;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::serve::{log, told_to_stop};

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
        if fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::NotEmpty { path: data.to_owned() });
        }
        data.clone_into(&mut configuration.process.store.data);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(Failure::Start)?.block_on(async {
            let (started, progress) = (Instant::now(), Shown::new());
            let built = town::build(data, self.people as usize, &progress).await;
            progress.finish();
            built?;
            let seconds = started.elapsed().as_secs_f64();
            let server = Box::pin(Server::open(configuration)).await?;
            let people = self.people;
            writeln!(out, "A town of {people} people, built in {seconds:.1} seconds.\n")?;
            welcome(out, server.url())?;
            out.flush()?;
            server.run(told_to_stop()?).await;
            Ok(Outcome::Well)
        })
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
