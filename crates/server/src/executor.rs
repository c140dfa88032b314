//! Execution of GraphQL requests from every transport: checked, limited in time, counted, and with
//! their cost on request.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use roundtable_domain::Code;
use roundtable_graphql::{
    Answer, ApiError, ClientInfo, OperationType, PreparedRequest, QueryLimits, Request,
    RequestContext, Schema,
};

use crate::documents;
use crate::metrics::ServerMetrics;
use crate::query_limiter::{QueryLimiter, TimeoutPhase};
use crate::request_policy::AllowedOperations;
use crate::wiring::{Process, StartError};
use crate::xray::FieldRecorder;

#[derive(Clone, Debug)]
pub(crate) struct Executor {
    process: Arc<Process>,
    schema: Schema,
    metrics: Arc<ServerMetrics>,
    limiter: QueryLimiter,
}

impl Executor {
    pub(crate) fn new(
        process: Arc<Process>,
        metrics: Arc<ServerMetrics>,
    ) -> Result<Self, StartError> {
        let (settings, http) = (&process.settings.graphql, &process.settings.http);
        let limits = QueryLimits {
            depth_max: settings.depth_max,
            cost_max: settings.cost_max,
            aliases_max: settings.aliases_max,
            tokens_max: settings.tokens_max,
            directives_max: settings.directives_max,
            batch_max: http.batch_max,
            answer_bytes_max: settings.answer_bytes_max,
        };
        let schema = documents::open_schema(settings, limits)?;
        let limiter = QueryLimiter::new(process.services.context.store());
        Ok(Self { process, schema, metrics, limiter })
    }

    pub(crate) fn limits(&self) -> &QueryLimits {
        self.schema.limits()
    }

    /// Executes one query or mutation.
    pub(crate) async fn execute(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
        wants_cost: bool,
    ) -> Answer {
        let records = wants_cost && self.process.settings.graphql.xray;
        let recorder = records.then(|| Arc::new(FieldRecorder::default()));
        let answer = match self.prepare(request, client, allowed) {
            Ok(prepared) => {
                let context = self.request_context(client, recorder.as_ref());
                self.run_limited(&prepared, &context).await
            }
            Err(refused) => *refused,
        };
        self.record(&answer);
        match recorder {
            Some(recorder) => answer.with_extension("xray", &recorder.report()),
            None => answer,
        }
    }

    /// Waits for a permit and executes, both within the request's time limit.
    async fn run_limited(&self, prepared: &PreparedRequest, context: &RequestContext) -> Answer {
        let (limit, operation) = (self.request_timeout(), prepared.operation_type());
        let execution = self.schema.execute(prepared, context);
        let answer = self.limiter.run(limit, operation, execution).await;
        answer.unwrap_or_else(|at| timed_out(at, limit, operation))
    }

    /// Executes a request with any number of responses.
    pub(crate) fn execute_stream(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
    ) -> BoxStream<'static, Answer> {
        let prepared = match self.prepare(request, client, allowed) {
            Ok(prepared) => prepared,
            Err(refused) => {
                self.record(&refused);
                return futures::stream::iter([*refused]).boxed();
            }
        };
        let operation = prepared.operation_type();
        let context = Arc::new(self.request_context(client, None));
        let (executor, stream) = (self.clone(), self.schema.execute_stream(prepared, context));
        let answers = futures::stream::unfold(Some(stream), move |stream| {
            let executor = executor.clone();
            async move {
                let mut stream = stream?;
                let limit = executor.request_timeout();
                loop {
                    // The permit covers one answer, not its delivery: a slow client must not block
                    // others.
                    let next = executor.limiter.run(limit, operation, stream.next()).await;
                    let (answer, rest) = match next {
                        Ok(answer) => (answer?, Some(stream)),
                        // A subscription may stay silent for any time.
                        Err(_) if operation == OperationType::Subscription => continue,
                        Err(at) => (timed_out(at, limit, operation), None),
                    };
                    executor.record(&answer);
                    return Some((answer, rest));
                }
            }
        });
        answers.boxed()
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
    ) -> Result<PreparedRequest, Box<Answer>> {
        let prepared = self.schema.prepare(request)?;
        let permitted = allowed.check(client.caller.as_ref(), prepared.operation_type());
        permitted.map_err(|error| Box::new(Answer::refused(&error.into())))?;
        Ok(prepared)
    }

    fn request_context(
        &self,
        client: &ClientInfo,
        recorder: Option<&Arc<FieldRecorder>>,
    ) -> RequestContext {
        let services = &self.process.services;
        let services = match recorder {
            Some(recorder) => {
                services.with_context(&services.context.observed(Arc::clone(recorder) as Arc<_>))
            }
            None => services.clone(),
        };
        RequestContext::new(client.clone(), services).tracing_fields(recorder.is_some())
    }

    /// Counts the answer, and its errors by code.
    fn record(&self, answer: &Answer) {
        self.metrics.record_response();
        answer.error_codes().iter().for_each(|code| self.metrics.record_error(code));
    }
}

/// The answer to a request that ran out of time. A queued one was never started. A mutation may have
/// been written: its message says so, and that retrying with the same `requestId` is safe.
fn timed_out(at: TimeoutPhase, limit: Duration, operation: OperationType) -> Answer {
    if at == TimeoutPhase::Queued {
        let problem = "the server is overloaded; try again later";
        return Answer::refused(&ApiError::new(Code::RateLimited, problem).into());
    }
    let problem = format!("this took longer than {} seconds and was stopped", limit.as_secs());
    let error = if operation == OperationType::Mutation {
        let advice =
            "the change may or may not have been made; check, or retry with the same requestId";
        ApiError::new(Code::Internal, format!("{problem}: {advice}"))
    } else {
        ApiError::new(Code::TooComplex, problem)
    };
    Answer::abandoned(&error.into())
}

#[cfg(test)]
mod tests {
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
        (Executor::new(process, Arc::new(ServerMetrics::new())).unwrap(), data)
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
        let [streamed_answer] = streamed().await.try_into().unwrap();
        for answer in [called().await, streamed_answer] {
            assert_eq!(answer.error_codes(), ["RATE_LIMITED"]);
            assert!(answer.is_refused());
        }

        let release = async { drop(permits) };
        let (called, streamed, ()) = futures::join!(called(), streamed(), release);
        let [streamed_answer] = streamed.try_into().unwrap();
        for answer in [called, streamed_answer] {
            assert!(answer.error_codes().is_empty(), "{answer:?}");
        }
    }

    /// R33: a mutation that may have been written is never reported as refused.
    #[test]
    fn a_mutation_that_timed_out_may_have_been_written() {
        let limit = Duration::from_secs(30);
        let code = |operation: OperationType| {
            let answer = timed_out(TimeoutPhase::Running, limit, operation);
            assert!(!answer.is_refused());
            let text = String::from_utf8_lossy(answer.json()).into_owned();
            (answer.error_codes().to_vec(), text.contains("retry with the same requestId"))
        };
        assert_eq!(code(OperationType::Mutation), (vec!["INTERNAL"], true));
        assert_eq!(code(OperationType::Query), (vec!["TOO_COMPLEX"], false));
    }
}
