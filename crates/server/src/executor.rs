//! Execution of GraphQL requests from every transport: checked, limited in time, counted, and with
//! their cost on request.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Response};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use roundtable_domain::Code;
use roundtable_graphql::{
    ApiError, ClientInfo, PreparedRequest, QueryLimits, RequestContext, Schema, error_code,
};
use roundtable_table::Recorder;

use crate::metrics::ServerMetrics;
use crate::query_limiter::{QueryLimiter, TimeoutPhase};
use crate::request_policy::AllowedOperations;
use crate::wiring::Process;
use crate::xray;

#[derive(Clone)]
pub(crate) struct Executor {
    process: Arc<Process>,
    schema: Schema,
    limits: QueryLimits,
    metrics: Arc<ServerMetrics>,
    limiter: QueryLimiter,
}

/// Omits the schema, which is too long to print.
impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Executor {
    pub(crate) fn new(process: Arc<Process>, metrics: Arc<ServerMetrics>) -> Self {
        let (settings, http) = (&process.settings.graphql, &process.settings.http);
        let limits = QueryLimits {
            depth_max: settings.depth_max,
            cost_max: settings.cost_max,
            aliases_max: settings.aliases_max,
            tokens_max: settings.tokens_max,
            directives_max: settings.directives_max,
            batch_max: http.batch_max,
        };
        let mut schema = roundtable_graphql::schema_builder();
        if !settings.introspection {
            schema = schema.disable_introspection();
        }
        let limiter = QueryLimiter::new(process.services.context.store());
        Self { schema: limits.apply(schema), process, limits, metrics, limiter }
    }

    pub(crate) const fn limits(&self) -> &QueryLimits {
        &self.limits
    }

    /// Executes one query or mutation.
    pub(crate) async fn execute(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
        wants_cost: bool,
    ) -> Response {
        let records = wants_cost && self.process.settings.graphql.xray;
        let recorder = records.then(|| Arc::new(Recorder::default()));
        let response = match self.prepare(request, client, allowed, recorder.as_ref()) {
            Ok(prepared) => self.run_limited(prepared).await,
            Err(error) => *error,
        };
        self.record(&response);
        match recorder {
            Some(recorder) => response.extension("xray", xray::report(&recorder.take())),
            None => response,
        }
    }

    /// Waits for a permit and executes, both within the request's time limit.
    async fn run_limited(&self, prepared: PreparedRequest) -> Response {
        let (limit, operation) = (self.request_timeout(), prepared.operation_type);
        let response =
            self.limiter.run(limit, operation, self.schema.execute_prepared(prepared)).await;
        response.unwrap_or_else(|at| timed_out(at, limit, operation))
    }

    /// Executes a request with any number of responses.
    pub(crate) fn execute_stream(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
    ) -> BoxStream<'static, Response> {
        let prepared = match self.prepare(request, client, allowed, None) {
            Ok(prepared) => prepared,
            Err(error) => {
                self.record(&error);
                return futures::stream::iter([*error]).boxed();
            }
        };
        let operation = prepared.operation_type;
        let (executor, stream) = (self.clone(), self.schema.stream_prepared(prepared));
        let responses = futures::stream::unfold(Some(stream), move |stream| {
            let executor = executor.clone();
            async move {
                let mut stream = stream?;
                let limit = executor.request_timeout();
                loop {
                    // The permit covers one response, not its delivery: a slow client must not block
                    // others.
                    let next = executor.limiter.run(limit, operation, stream.next()).await;
                    let (response, rest) = match next {
                        Ok(response) => (response?, Some(stream)),
                        // A subscription may stay silent for any time.
                        Err(_) if operation == Some(OperationType::Subscription) => continue,
                        Err(at) => (timed_out(at, limit, operation), None),
                    };
                    executor.record(&response);
                    return Some((response, rest));
                }
            }
        });
        responses.boxed()
    }

    fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.process.settings.http.request_seconds.max(1))
    }

    /// Parses and checks a request, and the transport's policy for it.
    fn prepare(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
        recorder: Option<&Arc<Recorder>>,
    ) -> Result<PreparedRequest, Box<Response>> {
        let services = &self.process.services;
        let services = match recorder {
            Some(recorder) => {
                services.with_context(&services.context.observed(Arc::clone(recorder) as Arc<_>))
            }
            None => services.clone(),
        };
        let request = request.data(Arc::new(RequestContext::new(client.clone(), services)));
        let prepared = self.schema.prepare(request)?;
        if let Some(operation) = prepared.operation_type {
            allowed
                .check(client.caller.as_ref(), operation)
                .map_err(|error| Box::new(error.into()))?;
        }
        Ok(prepared)
    }

    /// Counts the response, and its errors by code.
    fn record(&self, response: &Response) {
        self.metrics.record_response();
        response.errors.iter().for_each(|error| self.metrics.record_error(error_code(error)));
    }
}

/// The response to a request that ran out of time. A queued one was never started. A mutation may have
/// been written: its message says so, and that retrying with the same `requestId` is safe.
fn timed_out(at: TimeoutPhase, limit: Duration, operation: Option<OperationType>) -> Response {
    if at == TimeoutPhase::Queued {
        return ApiError::new(Code::RateLimited, "the server is overloaded; try again later")
            .into();
    }
    let problem = format!("this took longer than {} seconds and was stopped", limit.as_secs());
    let error = if operation == Some(OperationType::Mutation) {
        let advice =
            "the change may or may not have been made; check, or retry with the same requestId";
        ApiError::new(Code::Internal, format!("{problem}: {advice}"))
    } else {
        ApiError::new(Code::TooComplex, problem)
    };
    error.into_unknown_outcome()
}

#[cfg(test)]
mod tests {
    use roundtable_graphql::is_request_error;
    use roundtable_table::SystemClock;
    use tempfile::TempDir;

    use super::*;
    use crate::configuration::Configuration;

    async fn executor() -> (Executor, TempDir) {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = Configuration::default();
        data.path().clone_into(&mut configuration.process.store.data);
        let process = Process::open(configuration, Arc::new(SystemClock), "http://localhost");
        let process = Arc::new(process.await.unwrap());
        (Executor::new(process, Arc::new(ServerMetrics::new())), data)
    }

    /// Every transport waits for a permit; a query that gets none in time was not started, and its
    /// client may retry.
    #[tokio::test]
    async fn a_query_without_a_permit_is_told_to_retry() {
        let (executor, _data) = executor().await;
        let (client, query) = (ClientInfo::default(), "{ __typename }");
        let called = || {
            executor.execute(query.into(), &client, AllowedOperations::QueriesAndMutations, false)
        };
        let streamed = || async {
            let stream = executor.execute_stream(query.into(), &client, AllowedOperations::All);
            stream.collect::<Vec<_>>().await
        };
        let permits = executor.limiter.acquire_all().await;
        tokio::time::pause();
        let [streamed_response] = streamed().await.try_into().unwrap();
        for response in [called().await, streamed_response] {
            let [error] = response.errors.as_slice() else { panic!("{response:?}") };
            assert_eq!(error_code(error), "RATE_LIMITED");
            assert!(is_request_error(&response));
        }

        let release = async { drop(permits) };
        let (called, streamed, ()) = futures::join!(called(), streamed(), release);
        let [streamed_response] = streamed.try_into().unwrap();
        for response in [called, streamed_response] {
            assert!(response.is_ok(), "{response:?}");
        }
    }

    /// R33: a mutation that may have been written is never reported as refused.
    #[test]
    fn a_mutation_that_timed_out_may_have_been_written() {
        let limit = Duration::from_secs(30);
        let code = |operation: OperationType| {
            let response = timed_out(TimeoutPhase::Running, limit, Some(operation));
            assert!(!is_request_error(&response));
            let [error] = response.errors.as_slice() else { panic!("{response:?}") };
            let gives_advice = error.message.contains("retry with the same requestId");
            (error_code(error).to_owned(), gives_advice)
        };
        assert_eq!(code(OperationType::Mutation), ("INTERNAL".to_owned(), true));
        assert_eq!(code(OperationType::Query), ("TOO_COMPLEX".to_owned(), false));
    }
}
