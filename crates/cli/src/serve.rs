//! `roundtable serve`: runs the server until it is told to stop.

use std::io::{self, IsTerminal as _};
use std::pin::pin;

use clap::{Args, ValueEnum};
use roundtable_server::{Configuration, LogFormat, LogSettings, Server};
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::Outcome;
use crate::failure::Failure;
use crate::place::Place;
use crate::settings::{Configured, named};

/// How to serve.
#[derive(Args, Debug)]
#[command(after_help = "\
Flags are over the environment, that over the file, that over the defaults. Every key of the file has a
variable: ROUNDTABLE_ and the key, with __ for each dot and _ for each dash.

  http.listen           --listen, ROUNDTABLE_HTTP__LISTEN
  sign-in.secret        ROUNDTABLE_SIGN_IN__SECRET, or ROUNDTABLE_SIGN_IN__SECRET_FILE

docs/roundtable.toml has all of them, with what they are for and their defaults.

Examples:
  roundtable serve
  roundtable serve --data /var/lib/roundtable --listen 0.0.0.0:4000
  roundtable serve --store dynamodb --endpoint http://127.0.0.1:8000 --config roundtable.toml
  roundtable serve --store dynamodb --role worker --config roundtable.toml")]
pub(crate) struct Serve {
    #[command(flatten)]
    place: Place,
    /// Where to listen [default: 127.0.0.1:4000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// What this process does; other than all needs --store dynamodb [default: all]
    #[arg(long, value_enum)]
    role: Option<Role>,
    #[command(flatten)]
    configured: Configured,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// Everything
    All,
    /// Answers requests
    Api,
    /// Works on what follows from changes
    Worker,
}

impl Serve {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let configuration = self.configuration()?;
        log(&configuration.process.log)?;
        let enough = told_to_stop()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::Start)?;
        to_the_end(runtime, async {
            let mut enough = pin!(enough);
            // A long log takes its time, and who wants to stop need not wait for its end.
            let server = tokio::select! {
                server = Server::open(configuration) => server?,
                () = &mut enough => return Ok(Outcome::Well),
            };
            server.run(enough).await;
            Ok(Outcome::Well)
        })
    }

    fn configuration(self) -> Result<Configuration, Failure> {
        let layers = self.place.over(self.configured.layers()?)?;
        let layers = layers.flag("--listen", "http.listen", self.listen)?.flag(
            "--role",
            "role",
            self.role.map(named),
        )?;
        Ok(Configuration::read(layers)?)
    }
}

/// Runs to the end. Whatever goes on beyond it cannot be interrupted, such as a copy of the store, and has
/// had its time: nobody waits for it.
pub(crate) fn to_the_end<T>(runtime: Runtime, work: impl Future<Output = T>) -> T {
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    done
}

/// Comes when the process is asked to stop. Asked once more, it stops at once: a thread of its own hears
/// that, whatever the others are at.
pub(crate) fn told_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::Start)?;
    let listening = runtime.enter();
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::Start)?;
    drop(listening);
    let (told, heard) = oneshot::channel();
    let hear = async move {
        let mut next = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        next().await;
        let _ = told.send(());
        next().await;
        // Whatever is acknowledged is in the log.
        std::process::exit(1);
    };
    let thread = std::thread::Builder::new().name(String::from("signals"));
    thread.spawn(move || runtime.block_on(hear)).map_err(Failure::Start)?;
    Ok(async move {
        // Nobody left to tell is a wish, too.
        let _ = heard.await;
    })
}

/// Writes down what happens, on standard error.
pub(crate) fn log(settings: &LogSettings) -> Result<(), Failure> {
    let filter = filter(&settings.level)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match settings.format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).init(),
    }
    Ok(())
}

/// What is written down, by level or by part of the program and level.
fn filter(level: &str) -> Result<EnvFilter, Failure> {
    let unknown = || Failure::LogLevel { level: level.to_owned() };
    // A word that is no level would be taken for a part of the program, and everything else be silent.
    let is_level = |word: &str| !word.is_empty() && word.parse::<LevelFilter>().is_ok();
    if !level.split(',').map(str::trim).all(|word| word.contains('=') || is_level(word)) {
        return Err(unknown());
    }
    EnvFilter::try_new(level).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_interrupted_is_not_waited_for() {
        let runtime = Runtime::new().unwrap();
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        to_the_end(runtime, async {
            tokio::task::spawn_blocking(move || waits.recv());
        });
        drop(go_on);
    }
}
