//! The server process: a server like the product's, on any port, with long-lived tokens
//! and without limits on the rate of writes.

use std::io::stdin;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use roundtable_domain::{Caller, PageInput, SignedInUser};
use roundtable_graphql::{QueryLimits, RequestContext, Schema};
use roundtable_interface::{ClientInfo, Services};
use roundtable_model::entities::Session;
use roundtable_model::{Entity as _, Expiry, Secret, SessionId, UserId, samples};
use roundtable_server::{Configuration, Server};
use roundtable_test_client::Samples;
use tokio::runtime::Builder;

use super::PAGE;
use super::requests::{FEED, TYPENAME};

/// The lifetime of tokens: longer than any run.
const TOKEN_SECONDS: u32 = 24 * 60 * 60;
const TRIES: usize = 1_000;

/// Serves a town until the parent closes our input.
pub(super) fn serve(data: &Path) -> Result<()> {
    // Like the product: checking the log level costs time even if nothing is logged.
    tracing_subscriber::fmt().with_env_filter("info").with_writer(std::io::stderr).init();
    let readers = stdin().lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let readers = readers.map(|line| Ok(line.parse()?)).collect::<Result<Vec<UserId>>>()?;
    let mut configuration = Configuration::default();
    configuration.process.http.listen = ([127, 0, 0, 1], 0).into();
    data.clone_into(&mut configuration.process.store.data);
    configuration.process.sign_in.token_seconds = TOKEN_SECONDS;
    // A few readers write for many.
    configuration.settings.rates.writes_burst = u32::MAX;
    configuration.settings.rates.writes_per_minute = u32::MAX;
    Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let server = Server::open(configuration).await?;
        let handle = server.handle();
        let services = handle.services();
        services.bus.warm_up().await?;
        measure(services, &readers).await?;
        let address = server.url().strip_prefix("http://").context("an address without http://")?;
        println!("address {address}");
        for reader in readers {
            let token = services.issuer.access_token(&signed_in(services, reader).await?).await;
            let (token, _) = token.map_err(|error| anyhow!("no token: {}", error.code()))?;
            println!("token {token}");
        }
        println!("ready");
        drop(handle);
        let input_closed = tokio::task::spawn_blocking(|| stdin().lines().count());
        server.run(async { drop(input_closed.await) }).await;
        Ok(())
    })
}

/// Opens a session for a user who never logged in: requests read it.
async fn signed_in(services: &Services, reader: UserId) -> Result<SignedInUser> {
    let (session_id, refresh_token) = (SessionId::from_str("bench")?, Secret::new(""));
    let end = services.context.now().plus_ms(u64::from(TOKEN_SECONDS) * 1_000);
    let (user_id, id, ttl) = (reader.clone(), session_id.clone(), Expiry::at(end));
    let session = Session { user_id, id, ttl, ..samples::session() };
    services.context.core().table().put(session.put()).await?;
    let caller = Caller::user(reader);
    Ok(SignedInUser {
        user: samples::user(),
        caller,
        session_id,
        refresh_token,
        device_token: None,
    })
}

/// Measures pages before there is any load: by the service alone, and through the API.
async fn measure(services: &Services, readers: &[UserId]) -> Result<()> {
    let schema = Schema::new(QueryLimits::default(), true).map_err(|error| anyhow!(error))?;
    let page = PageInput { limit: Some(PAGE), after: None };
    let mut service = Samples::with_capacity(TRIES);
    for reader in readers.iter().cycle().take(TRIES) {
        let caller = Caller::user(reader.clone());
        let started = Instant::now();
        let entries = services.feeds.home(&caller, &page).await?;
        service.add_since(started);
        ensure!(entries.items.len() == PAGE, "a page of {} entries", entries.items.len());
    }
    println!("service {}", service.quantile_us(0.5));
    for (name, document) in [("graphql", FEED), ("typename", TYPENAME)] {
        let mut samples = Samples::with_capacity(TRIES);
        for reader in readers.iter().cycle().take(TRIES) {
            let caller = Some(Caller::user(reader.clone()));
            let started = Instant::now();
            let context = RequestContext::new(
                ClientInfo { caller, ..ClientInfo::default() },
                services.clone(),
            );
            let answer = match schema.prepare(document.into()) {
                Ok(prepared) => schema.execute(&prepared, &context).await,
                Err(refused) => *refused,
            };
            samples.add_since(started);
            let text = String::from_utf8_lossy(answer.json());
            ensure!(answer.error_codes().is_empty(), "{text}");
        }
        println!("{name} {}", samples.quantile_us(0.5));
    }
    Ok(())
}
