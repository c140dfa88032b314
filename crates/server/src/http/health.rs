//! Whether a process lives, whether it can be asked, what it counts, and what its tokens are checked with.

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use roundtable_model::entities::Checkpoint;
use roundtable_model::{Processor, Purpose, StreamShard};
use roundtable_table::Error;

use super::App;
use super::refusals::JSON;
use crate::configuration::Role;
use crate::meters::Page;

/// How long the store may take to answer, before it is said to be away.
const PATIENCE: Duration = Duration::from_secs(2);
/// Nobody's: it is written about and never written.
const NOBODY: Processor = Processor::named("readiness");
const NOTHING: Purpose = Purpose::named("readiness");
/// How long what others check tokens with may be kept.
const KEYS_KEPT: &str = "public, max-age=300";

/// It lives: it answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether it can be asked.
pub(super) async fn ready(State(app): State<App>) -> Response {
    let wrong = wrong(&app).await;
    let status = if wrong.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let said = serde_json::json!({ "ready": wrong.is_empty(), "problems": wrong }).to_string();
    let mut response = (status, said).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

async fn wrong(app: &App) -> Vec<String> {
    let mut wrong = Vec::new();
    if app.stopping.is_wished() {
        wrong.push(String::from("it is being stopped"));
    }
    let ended = app.process.background.parts().into_iter().filter(|(_, at_work)| !at_work);
    wrong.extend(ended.map(|(part, _)| format!("the part `{part}` has ended: restart it")));
    match tokio::time::timeout(PATIENCE, store(app)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::warn!(%error, "the store is not ready");
            wrong.push(String::from("the store cannot be reached, or takes no writes"));
        }
        Err(_) => wrong.push(String::from("the store does not answer in time")),
    }
    wrong
}

/// Asks the store for something, and the writer of an embedded one: it takes no more after a write that
/// failed. Nothing is written for this, so a disk that is full is noticed with the first write.
async fn store(app: &App) -> Result<(), roundtable_model::Error> {
    let ground = &app.process.services.ground;
    ground.ops().sealed_keys(&NOTHING).limit(1).page().await?;
    if !ground.store().capabilities().one_process {
        return Ok(());
    }
    let Ok(shard) = "none".parse::<StreamShard>() else { return Ok(()) };
    match ground.ops().table().delete(Checkpoint::at(&NOBODY, &shard).delete()).await {
        Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What it counts.
pub(super) async fn metrics(State(app): State<App>) -> Response {
    let mut page = Page::default();
    app.meters.show(&mut page);
    let taken = app.bodies.taken();
    page.gauge("roundtable_http_body_bytes", "Bytes of bodies of requests under way.", taken);
    page.parts(&app.process.background.parts());
    if let Some(engine) = &app.process.engine {
        page.engine(&engine.metrics());
    }
    if app.process.settings.role != Role::Api {
        page.streams(&app.process.runner.figures());
    }
    let matters = app.process.services.live.matters() as u64;
    page.gauge("roundtable_live_matters", "Things that somebody listens to.", matters);
    if let Some(hearing) = &app.process.hearing {
        page.gauge(
            "roundtable_live_complete",
            "Whether all workers are heard.",
            u64::from(hearing.is_complete()),
        );
    }
    page.feeds(&app.process.services.feeds.figures());
    let mut response = page.into_text().into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// What access tokens are checked with.
pub(super) async fn keys(State(app): State<App>) -> Response {
    let mut response = app.process.keys.published().to_string().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEYS_KEPT));
    response
}
