//! `roundtable serve`: runs the server until it is told to stop.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use roundtable_server::{Configuration, LogFormat, LogSettings, Server};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::Outcome;
use crate::failure::Failure;
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
    /// The directory of the embedded store [default: data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:4000]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Where the tables live [default: embedded]
    #[arg(long, value_enum)]
    store: Option<Kind>,
    /// The server, for --store dynamodb; without it, whatever the AWS environment says
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// What this process does; other than all needs --store dynamodb [default: all]
    #[arg(long, value_enum)]
    role: Option<Role>,
    #[command(flatten)]
    configured: Configured,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// In a directory, in this process
    Embedded,
    /// In Amazon DynamoDB, or a server that speaks its API
    Dynamodb,
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
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(Failure::Start)?.block_on(async {
            let server = Server::open(configuration).await?;
            server.run(told_to_stop()?).await;
            Ok(Outcome::Well)
        })
    }

    fn configuration(self) -> Result<Configuration, Failure> {
        let data = self.data.map(|data| data.display().to_string());
        let layers = self.configured.layers()?;
        let layers = layers
            .flag("--data", "store.data", data)?
            .flag("--listen", "http.listen", self.listen)?
            .flag("--store", "store.kind", self.store.map(named))?
            .flag("--endpoint", "store.endpoint", self.endpoint)?
            .flag("--role", "role", self.role.map(named))?;
        Ok(Configuration::read(layers)?)
    }
}

/// Comes when the process is asked to stop. Asked once more, it stops at once.
pub(crate) fn told_to_stop() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(Failure::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Failure::Start)?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            // Whatever is under way is whole or absent.
            std::process::exit(1);
        });
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
