//! Execution of GraphQL requests from every transport: checked, scheduled, limited in time and memory,
//! counted, and with their cost on request.

mod subscription;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use roundtable_domain::Code;
use roundtable_graphql::{
    Answer, OperationType, PreparedRequest, QueryLimits, Request, RequestContext, Schema,
};
use roundtable_interface::{ApiError, ClientInfo};
use roundtable_table::ReadBudget;
use tokio::time::timeout;

use crate::answer_budget::{AnswerBudget, ReservedAnswer, TooManyAnswers};
use crate::client_key::{ClientKey, ClientShares};
use crate::client_limits::{ClientGuard, ClientLimitReached, ClientLimits, ClientMaxima};
use crate::documents;
use crate::metrics::ServerMetrics;
use crate::read_shares::ReadShares;
use crate::request_policy::AllowedOperations;
use crate::scheduler::{Overloaded, Scheduler, WorkClass, is_small};
use crate::wiring::{Process, StartError};
use crate::xray::FieldRecorder;

#[derive(Clone, Debug)]
pub(crate) struct Executor {
    process: Arc<Process>,
    schema: Schema,
    metrics: Arc<ServerMetrics>,
    scheduler: Scheduler,
    /// Queries and mutations under way.
    operations: ClientLimits,
    subscriptions: ClientLimits,
    reads: ReadShares,
    answers: AnswerBudget,
}

/// An operation that is ready to be executed.
#[derive(Debug)]
struct Operation {
    prepared: PreparedRequest,
    context: Arc<RequestContext>,
    /// What the services of the context may read.
    read_budget: Arc<ReadBudget>,
    client: ClientKey,
    /// What its reads and its answer are charged to.
    shares: ClientShares,
    class: WorkClass,
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
            operations_max: settings.operations_max,
            aliases_max: settings.aliases_max,
            tokens_max: settings.tokens_max,
            directives_max: settings.directives_max,
            batch_max: http.batch_max,
            answer_bytes_max: settings.answer_bytes_max,
        };
        let schema = documents::open_schema(settings, limits)?;
        let scheduler = Scheduler::new(process.services.context.store(), Arc::clone(&metrics));
        let scheduler = scheduler.map_err(StartError::Threads)?;
        let (account, network) = (settings.account_operations_max, settings.network_operations_max);
        let operations = ClientLimits::new(ClientMaxima { account, network });
        let live = &process.settings.live;
        let (account, network) = (live.account_subscriptions_max, live.network_subscriptions_max);
        let subscriptions = ClientLimits::new(ClientMaxima { account, network });
        let answers = AnswerBudget::new(settings.answers_bytes_max);
        let reads = ReadShares::new(settings.reads_bytes_max, settings.read_bytes_max);
        Ok(Self { process, schema, metrics, scheduler, operations, subscriptions, reads, answers })
    }

    pub(crate) fn limits(&self) -> &QueryLimits {
        self.schema.limits()
    }

    /// Returns the bytes of all answers that wait for their clients.
    pub(crate) fn unread_bytes(&self) -> usize {
        self.answers.used()
    }

    /// Executes one query or mutation.
    pub(crate) async fn execute(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
        wants_cost: bool,
    ) -> ReservedAnswer {
        let records = wants_cost && self.process.settings.graphql.xray;
        let recorder = records.then(|| Arc::new(FieldRecorder::default()));
        let answer = match self.prepare(request, client, allowed).await {
            Ok((prepared, _guard)) => {
                let operation = self.operation(prepared, client, recorder.as_ref());
                self.run(operation, recorder).await
            }
            Err(refused) => (*refused).into(),
        };
        self.record(&answer.answer);
        answer
    }

    /// Executes an operation when it has a permit, within the request's time limit.
    async fn run(
        &self,
        operation: Operation,
        recorder: Option<Arc<FieldRecorder>>,
    ) -> ReservedAnswer {
        let Operation { prepared, context, client, shares, class, .. } = operation;
        let (limit, kind) = (self.request_timeout(), prepared.operation_type());
        let is_scheduled = kind == OperationType::Query || !is_small(prepared.cost());
        let (schema, budget) = (self.schema.clone(), self.answers.clone());
        let work = async move {
            let answer = schema.execute(&prepared, &context).await;
            let answer = match recorder {
                Some(recorder) => answer.with_extension("xray", &recorder.report()),
                None => answer,
            };
            reserve(&budget, &shares, answer)
        };
        let done = if is_scheduled {
            timeout(limit, self.scheduler.run(class, &client, work)).await
        } else {
            timeout(limit, work).await.map(Ok)
        };
        let done = match done {
            Ok(Ok(done)) => done,
            Ok(Err(Overloaded)) => return overloaded().into(),
            Err(_) => return timed_out(limit, kind).into(),
        };
        done.unwrap_or_else(|too_many| too_many.answer(kind).into())
    }

    /// Executes a request with any number of responses.
    pub(crate) fn execute_stream(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
    ) -> BoxStream<'static, ReservedAnswer> {
        let (executor, client) = (self.clone(), client.clone());
        let answers = async move {
            match executor.prepare(request, &client, allowed).await {
                Ok((prepared, guard)) if prepared.is_subscription() => {
                    subscription::answers(executor, prepared, client, guard)
                }
                Ok((prepared, _guard)) => {
                    let operation = executor.operation(prepared, &client, None);
                    let answer = executor.run(operation, None).await;
                    executor.record(&answer.answer);
                    stream::iter([answer]).boxed()
                }
                Err(refused) => {
                    executor.record(&refused);
                    stream::iter([ReservedAnswer::from(*refused)]).boxed()
                }
            }
        };
        stream::once(answers).flatten().boxed()
    }

    fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.process.settings.http.request_seconds.max(1))
    }

    /// Counts a request, parses and checks it, and the transport's policy for it. A document that is new
    /// waits for a permit: planning takes time.
    async fn prepare(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
    ) -> Result<(PreparedRequest, ClientGuard), Box<Answer>> {
        let guard = self.operations.enter(client);
        let guard =
            guard.map_err(|limit| Box::new(refused(too_many("requests under way", limit))))?;
        let prepared = if self.schema.knows(&request) {
            self.schema.prepare(request)?
        } else {
            let (schema, key) = (self.schema.clone(), ClientKey::of(client));
            let plan = async move { schema.prepare(request) };
            let planned = self.scheduler.run(WorkClass::of_planning(client), &key, plan).await;
            planned.unwrap_or_else(|Overloaded| Err(Box::new(overloaded())))?
        };
        let permitted = allowed.check(client.caller.as_ref(), prepared.operation_type());
        permitted.map_err(|error| Box::new(refused(error)))?;
        if !prepared.is_subscription() {
            return Ok((prepared, guard));
        }
        let guard = self.subscriptions.enter(client);
        let guard = guard.map_err(|limit| Box::new(refused(too_many("subscriptions", limit))))?;
        Ok((prepared, guard))
    }

    fn operation(
        &self,
        prepared: PreparedRequest,
        client: &ClientInfo,
        recorder: Option<&Arc<FieldRecorder>>,
    ) -> Operation {
        let services = &self.process.services;
        let shares = ClientShares::of(client);
        let read_budget = Arc::new(self.reads.budget(&shares));
        let mut context = services.context.with_read_budget(Arc::clone(&read_budget));
        if let Some(recorder) = recorder {
            context = context.observed(Arc::clone(recorder) as Arc<_>);
        }
        let class = WorkClass::of(client, &prepared);
        let context = RequestContext::new(client.clone(), services.with_context(&context));
        let context = Arc::new(context.tracing_fields(recorder.is_some()));
        Operation { prepared, context, read_budget, client: ClientKey::of(client), shares, class }
    }

    /// Counts the answer, and its errors by code.
    fn record(&self, answer: &Answer) {
        self.metrics.record_response(answer.times());
        answer.error_codes().iter().for_each(|code| self.metrics.record_error(code));
    }
}

/// Reserves the bytes of an answer while its work still has its permit, so that few answers exist
/// outside the budget.
fn reserve(
    budget: &AnswerBudget,
    client: &ClientShares,
    answer: Answer,
) -> Result<ReservedAnswer, TooManyAnswers> {
    let reservation = Some(budget.reserve(client, answer.buffer_bytes())?);
    Ok(ReservedAnswer { answer, reservation })
}

fn refused(error: ApiError) -> Answer {
    Answer::refused(&error.into())
}

/// The answer to a request that was never started.
fn overloaded() -> Answer {
    let problem = "the server is overloaded; try again in a second";
    refused(ApiError::new(Code::RateLimited, problem))
}

fn too_many(what: &str, limit: ClientLimitReached) -> ApiError {
    let client = match limit {
        ClientLimitReached::Account => "this account",
        ClientLimitReached::Network => "this network",
    };
    let problem = format!("{client} has too many {what}; wait until one has ended");
    ApiError::new(Code::RateLimited, problem)
}

/// The answer to a request that ran out of time. A mutation may have been written: its message says so,
/// and that retrying with the same `requestId` is safe.
fn timed_out(limit: Duration, operation: OperationType) -> Answer {
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
    use roundtable_domain::Caller;
    use roundtable_model::entities::User;
    use roundtable_model::samples;
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
        let ana = Caller::user("ana".parse().unwrap());
        let client = ClientInfo { caller: Some(ana), ..ClientInfo::default() };
        let query = "{ __typename }";
        let called = || {
            executor.execute(query.into(), &client, AllowedOperations::QueriesAndMutations, false)
        };
        let streamed = || async {
            let stream = executor.execute_stream(query.into(), &client, AllowedOperations::All);
            stream.collect::<Vec<_>>().await
        };
        assert!(
            called().await.answer.error_codes().is_empty(),
            "the document is known from now on"
        );
        let permits = executor.scheduler.acquire_all(WorkClass::Interactive).await;
        tokio::time::pause();
        let [streamed_answer] = streamed().await.try_into().unwrap();
        for ReservedAnswer { answer, .. } in [called().await, streamed_answer] {
            assert_eq!(answer.error_codes(), ["RATE_LIMITED"]);
            assert!(answer.is_refused());
        }

        let release = async { drop(permits) };
        let (called, streamed, ()) = futures::join!(called(), streamed(), release);
        let [streamed_answer] = streamed.try_into().unwrap();
        for ReservedAnswer { answer, .. } in [called, streamed_answer] {
            assert!(answer.error_codes().is_empty(), "{answer:?}");
        }
    }

    /// The first is under way until its budget is dropped.
    #[tokio::test]
    async fn a_request_is_refused_while_another_of_its_client_has_read_the_share_of_both() {
        let (mut executor, _data) = executor().await;
        executor.reads = ReadShares::new(40_000, 10_000);
        let core = executor.process.services.context.core().table();
        let user = User { handle: None, profile_image: None, ..samples::user() };
        core.put(user.put()).await.unwrap();
        let stranger = ClientInfo::default();
        let caller = Some(Caller::user(user.id.clone()));
        let ana = ClientInfo { caller, ..ClientInfo::default() };
        let query = format!("{{ getUser(id: \"{}\") {{ nickname }} }}", user.id);
        let allowed = AllowedOperations::QueriesOnly;
        let ask = async |client: &ClientInfo| {
            executor.execute(query.as_str().into(), client, allowed, false).await.answer
        };

        let (prepared, _guard) =
            executor.prepare(query.as_str().into(), &ana, allowed).await.unwrap();
        let operation = executor.operation(prepared, &ana, None);
        let first = executor.schema.execute(&operation.prepared, &operation.context).await;
        assert!(first.error_codes().is_empty(), "{first:?}");
        assert_eq!(ask(&ana).await.error_codes(), ["RATE_LIMITED"]);
        assert!(ask(&stranger).await.error_codes().is_empty());
        drop(operation);
        assert!(ask(&ana).await.error_codes().is_empty());
    }

    /// R33: a mutation that may have been written is never reported as refused.
    #[test]
    fn a_mutation_that_timed_out_may_have_been_written() {
        let limit = Duration::from_secs(30);
        let code = |operation: OperationType| {
            let answer = timed_out(limit, operation);
            assert!(!answer.is_refused());
            let text = String::from_utf8_lossy(answer.json()).into_owned();
            (answer.error_codes().to_vec(), text.contains("retry with the same requestId"))
        };
        assert_eq!(code(OperationType::Mutation), (vec!["INTERNAL"], true));
        assert_eq!(code(OperationType::Query), (vec!["TOO_COMPLEX"], false));
    }
}
