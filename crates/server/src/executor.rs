//! Execution of GraphQL requests from every transport: checked, scheduled, limited in time and memory,
//! counted, and with their cost on request.

mod subscription;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use roundtable_domain::{Code, OUTCOME_UNKNOWN};
use roundtable_graphql::{
    Answer, OperationType, PreparedRequest, QueryLimits, Request, RequestContext, Schema,
};
use roundtable_interface::{ApiError, ClientInfo};
use roundtable_table::ReadBudget;
use tokio::time::sleep;

use crate::answer_budget::{AnswerBudget, ReservedAnswer, TooManyAnswers};
use crate::client_key::{ClientKey, ClientShares};
use crate::client_limits::{ClientGuard, ClientLimitReached, ClientLimits, ClientMaxima};
use crate::documents;
use crate::metrics::ServerMetrics;
use crate::read_shares::ReadShares;
use crate::request_log::RequestLog;
use crate::request_policy::AllowedOperations;
use crate::scheduler::{Overloaded, Scheduler, WorkClass, is_small};
use crate::shutdown::ShutdownSignal;
use crate::wiring::{Process, StartError};
use crate::xray::FieldRecorder;

/// Time before the end of a shutdown in which the answers to requests that were given up are sent.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

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
    log: Arc<RequestLog>,
    shutdown: ShutdownSignal,
}

/// An operation that is ready to be executed.
#[derive(Debug)]
struct Operation {
    prepared: PreparedRequest,
    context: Arc<RequestContext>,
    /// What the services of the context may read.
    read_budget: Arc<ReadBudget>,
    client: ClientKey,
    /// The clients that its reads and its answer are charged to.
    shares: ClientShares,
    class: WorkClass,
}

impl Executor {
    pub(crate) fn new(
        process: Arc<Process>,
        metrics: Arc<ServerMetrics>,
        shutdown: ShutdownSignal,
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
        let log = Arc::new(RequestLog::new(process.settings.log.request_sample));
        Ok(Self {
            process,
            schema,
            metrics,
            scheduler,
            operations,
            subscriptions,
            reads,
            answers,
            log,
            shutdown,
        })
    }

    pub(crate) fn request_log(&self) -> &RequestLog {
        &self.log
    }

    pub(crate) fn limits(&self) -> &QueryLimits {
        self.schema.limits()
    }

    /// Returns the budget of what waits for clients to read it.
    pub(crate) const fn answers(&self) -> &AnswerBudget {
        &self.answers
    }

    /// Executes one query or mutation.
    pub(crate) async fn execute(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
        wants_cost: bool,
    ) -> ReservedAnswer {
        let started = Instant::now();
        let records = wants_cost && self.process.settings.graphql.xray;
        let recorder = records.then(|| Arc::new(FieldRecorder::default()));
        let (prepared, answer) = match self.prepare(request, client, allowed).await {
            Ok((prepared, _guard)) => {
                let operation = self.operation(prepared.clone(), client, recorder.as_ref());
                (Some(prepared), self.run(operation, recorder).await)
            }
            Err(refused) => (None, (*refused).into()),
        };
        self.record(&answer.answer);
        self.log.operation(prepared.as_ref(), answer.answer.error_codes(), started.elapsed());
        answer
    }

    /// Executes an operation when it has a permit, within the request's time limit and that of a
    /// shutdown.
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
        let work = async {
            if is_scheduled {
                self.scheduler.run(class, &client, work).await
            } else {
                Ok(work.await)
            }
        };
        let done = tokio::select! {
            biased;
            done = work => done,
            () = sleep(limit) => return timed_out(limit, kind).into(),
            () = self.last_answers() => return shut_down(kind).into(),
        };
        match done {
            Ok(done) => done.unwrap_or_else(|too_many| too_many.answer(kind).into()),
            Err(Overloaded) => overloaded().into(),
        }
    }

    /// Executes a request with any number of responses.
    pub(crate) fn execute_stream(
        &self,
        request: Request,
        client: &ClientInfo,
        allowed: AllowedOperations,
    ) -> BoxStream<'static, ReservedAnswer> {
        let (executor, client, started) = (self.clone(), client.clone(), Instant::now());
        let answers = async move {
            let (prepared, answer) = match executor.prepare(request, &client, allowed).await {
                Ok((prepared, guard)) if prepared.is_subscription() => {
                    return subscription::answers(executor, prepared, client, guard);
                }
                Ok((prepared, _guard)) => {
                    let operation = executor.operation(prepared.clone(), &client, None);
                    (Some(prepared), executor.run(operation, None).await)
                }
                Err(refused) => (None, (*refused).into()),
            };
            executor.record(&answer.answer);
            let codes = answer.answer.error_codes();
            executor.log.operation(prepared.as_ref(), codes, started.elapsed());
            stream::iter([answer]).boxed()
        };
        stream::once(answers).flatten().boxed()
    }

    fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.process.settings.http.request_seconds.max(1))
    }

    /// Waits until a shutdown has just the time left to send answers.
    async fn last_answers(&self) {
        self.shutdown.clone().triggered().await;
        let drain = Duration::from_secs(self.process.settings.http.drain_seconds);
        sleep(drain.saturating_sub(LAST_ANSWERS.min(drain / 4))).await;
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

/// The answer to a request that ran out of time.
fn timed_out(limit: Duration, operation: OperationType) -> Answer {
    let problem = format!("this took longer than {} seconds and was stopped", limit.as_secs());
    if operation == OperationType::Mutation {
        return unknown(&problem);
    }
    Answer::abandoned(&ApiError::new(Code::TooComplex, problem).into())
}

/// The answer to a request that a shutdown left no time for.
fn shut_down(operation: OperationType) -> Answer {
    let problem = "the server is shutting down";
    if operation == OperationType::Mutation {
        return unknown(problem);
    }
    refused(ApiError::new(Code::RateLimited, format!("{problem}; try again in a second")))
}

/// The answer to a mutation that was given up: it may have been written.
fn unknown(problem: &str) -> Answer {
    let problem = format!("{problem}: {OUTCOME_UNKNOWN}");
    Answer::abandoned(&ApiError::new(Code::OutcomeUnknown, problem).into())
}

#[cfg(test)]
mod tests {
    use roundtable_domain::Caller;
    use roundtable_model::entities::User;
    use roundtable_model::{Entity as _, samples};
    use roundtable_table::SystemClock;
    use tempfile::TempDir;

    use super::*;
    use crate::configuration::Configuration;
    use crate::shutdown::ShutdownTrigger;

    async fn executor() -> (Executor, ShutdownTrigger, TempDir) {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = Configuration::default();
        data.path().clone_into(&mut configuration.process.store.data);
        let process = Process::open(configuration, Arc::new(SystemClock), "http://localhost");
        let process = Arc::new(process.await.unwrap());
        // Without a trigger, this is a shutdown from the start.
        let (trigger, shutdown) = ShutdownTrigger::new();
        let executor = Executor::new(process, Arc::new(ServerMetrics::new()), shutdown).unwrap();
        (executor, trigger, data)
    }

    /// Every transport waits for a permit; a query that gets none in time was not started, and its
    /// client may retry.
    #[tokio::test]
    async fn a_query_without_a_permit_is_told_to_retry() {
        let (executor, _trigger, _data) = executor().await;
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
        let (mut executor, _trigger, _data) = executor().await;
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
    fn a_mutation_that_was_given_up_may_have_been_written() {
        let code = |answer: Answer| {
            let text = String::from_utf8_lossy(answer.json()).into_owned();
            let is_unknown = text.contains(r#""outcome":"UNKNOWN""#);
            (answer.error_codes().to_vec(), answer.is_refused(), is_unknown)
        };
        let timed_out = |operation| code(timed_out(Duration::from_secs(30), operation));
        let shut_down = |operation| code(shut_down(operation));
        let unknown = (vec!["OUTCOME_UNKNOWN"], false, true);
        assert_eq!(timed_out(OperationType::Mutation), unknown);
        assert_eq!(shut_down(OperationType::Mutation), unknown);
        assert_eq!(timed_out(OperationType::Query), (vec!["TOO_COMPLEX"], false, true));
        assert_eq!(shut_down(OperationType::Query), (vec!["RATE_LIMITED"], true, false));
    }
}
