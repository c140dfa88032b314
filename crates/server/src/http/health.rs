//! Liveness, readiness, metrics, and the public keys of access tokens.

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use roundtable_engine::Engine;
use roundtable_model::entities::Checkpoint;
use roundtable_model::{ProcessorName, Purpose, StreamShard};
use roundtable_table::Error;

use super::AppState;
use super::responses::JSON;
use crate::configuration::ProcessRole;
use crate::metrics::MetricsPage;
use crate::stream_holds::unknown_hold_warnings;

/// Time that the store may take to answer.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);
/// Names of probes that no item is ever stored under.
const PROBE_PROCESSOR: ProcessorName = ProcessorName::from_static("readiness");
const PROBE_PURPOSE: Purpose = Purpose::from_static("readiness");
const JWKS_CACHE_CONTROL: &str = "public, max-age=300";

pub(super) async fn alive() -> &'static str {
    "ok\n"
}

pub(super) async fn ready(State(app): State<AppState>) -> Response {
    let (problems, warnings) = (problems(&app).await, warnings(&app));
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let is_ready = problems.is_empty();
    let body = serde_json::json!({ "ready": is_ready, "problems": problems, "warnings": warnings });
    let mut response = (status, body.to_string()).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

async fn problems(app: &AppState) -> Vec<String> {
    let mut problems = Vec::new();
    if app.shutdown.is_triggered() {
        problems.push(String::from("the server is shutting down"));
    }
    let ended = app.process.background.running().into_iter().filter(|(_, is_running)| !is_running);
    let restart = |(task, _)| format!("background task `{task}` has ended: restart this process");
    problems.extend(ended.map(restart));
    let engine = app.process.engine.as_ref().map(Engine::health).unwrap_or_default();
    let is_explained = !engine.problems.is_empty();
    problems.extend(engine.problems);
    match tokio::time::timeout(STORE_TIMEOUT, check_store(app)).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) if is_explained => {}
        Ok(Err(error)) => {
            tracing::warn!(%error, "readiness check failed: the store returned an error");
            problems.push(String::from("the store cannot be reached, or accepts no writes"));
        }
        Err(_) => problems.push(String::from("the store does not answer in time")),
    }
    problems.extend(app.process.readiness.problems().await);
    problems
}

/// Returns what needs an operator, although requests are served. A load balancer would only make it worse.
fn warnings(app: &AppState) -> Vec<String> {
    let Some(engine) = &app.process.engine else { return Vec::new() };
    let mut warnings = engine.health().warnings;
    warnings.extend(unknown_hold_warnings(engine, &app.process.runner.processor_names()));
    warnings
}

/// Reads from the store and, if it is embedded, probes its writer, which stops after a failed write.
/// Nothing is written: the engine knows of a full disk.
async fn check_store(app: &AppState) -> Result<(), roundtable_model::Error> {
    let context = &app.process.services.context;
    context.ops().sealed_keys(&PROBE_PURPOSE).limit(1).page().await?;
    if !context.store().capabilities().single_process {
        return Ok(());
    }
    let Ok(shard) = "none".parse::<StreamShard>() else { return Ok(()) };
    match context.ops().table().delete(Checkpoint::at(&PROBE_PROCESSOR, &shard).delete()).await {
        Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn metrics(State(app): State<AppState>) -> Response {
    let mut page = MetricsPage::default();
    app.metrics.write_to(&mut page);
    page.gauge(
        "roundtable_http_connections_max",
        "Connections that may be open at the same time.",
        app.connections_max,
    );
    let unfinished = &app.receive_budget;
    page.gauge(
        "roundtable_http_unfinished_request_bytes",
        "Bytes of unfinished requests, without the first of each connection.",
        unfinished.used(),
    );
    page.counter(
        "roundtable_http_unfinished_requests_refused_total",
        "Requests that were not received, because unfinished ones have all room.",
        unfinished.refused(),
    );
    let used = app.body_budget.used();
    page.gauge("roundtable_http_request_body_bytes", "Bytes of request bodies in memory.", used);
    page.gauge(
        "roundtable_graphql_unread_answer_bytes",
        "Bytes of answers, pages and files that wait for their clients.",
        app.executor.answers().used(),
    );
    if let Some(files) = &app.process.files {
        let transfers = files.transfer_count() as u64;
        page.gauge("roundtable_media_transfers", "Uploads of files under way.", transfers);
        if let Ok(free) = files.free_bytes().await {
            let help = "Free bytes of the volume of files.";
            page.gauge("roundtable_media_free_bytes", help, free);
        }
    }
    page.background_tasks(&app.process.background.running());
    if let Some(engine) = &app.process.engine {
        page.engine(&engine.metrics());
        page.engine_health(&engine.health());
    }
    if app.process.settings.role != ProcessRole::Api {
        page.streams(&app.process.runner.metrics());
    }
    let topics = app.process.services.bus.topic_count() as u64;
    page.gauge("roundtable_live_topics", "Topics with a subscriber.", topics);
    if let Some(relay_client) = &app.process.relay_client {
        page.gauge(
            "roundtable_live_all_workers_connected",
            "Whether the changes of all workers are received.",
            u64::from(relay_client.is_complete()),
        );
        page.gauge(
            "roundtable_live_connected_workers",
            "Workers whose changes are received.",
            relay_client.connected_workers() as u64,
        );
    }
    page.feeds(&app.process.services.feeds.stats());
    if let Some(search) = &app.process.search {
        page.search(&search.status());
    }
    let mut response = page.into_text().into_response();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The public keys that verify access tokens.
pub(super) async fn jwks(State(app): State<AppState>) -> Response {
    let mut response = app.process.keys.jwks().to_string().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(JWKS_CACHE_CONTROL));
    response
}
