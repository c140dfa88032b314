//! Doing what a document asks for, whichever way it came: checked, limited in time, counted, and with its
//! cost if that was asked for.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Response};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use roundtable_domain::Code;
use roundtable_graphql::{Asked, Client, Limits, Prepared, Refused, Schema, code_of};
use roundtable_table::Recorder;

use crate::gate::Allows;
use crate::meters::Meters;
use crate::turns::{OutOfTime, Turns};
use crate::wiring::Process;
use crate::xray;

/// What requests are executed with.
#[derive(Clone)]
pub(crate) struct Execution {
    process: Arc<Process>,
    schema: Schema,
    limits: Limits,
    meters: Arc<Meters>,
    turns: Turns,
}

/// Not the schema: that is long.
impl std::fmt::Debug for Execution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Execution").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Execution {
    pub(crate) fn new(process: Arc<Process>, meters: Arc<Meters>) -> Self {
        let (settings, http) = (&process.settings.graphql, &process.settings.http);
        let limits = Limits {
            depth_max: settings.depth_max,
            cost_max: settings.cost_max,
            aliases_max: settings.aliases_max,
            tokens_max: settings.tokens_max,
            directives_max: settings.directives_max,
            batch_max: http.batch_max,
        };
        let mut schema = roundtable_graphql::schema();
        if !settings.introspection {
            schema = schema.disable_introspection();
        }
        let turns = Turns::of(process.services.ground.store());
        Self { schema: limits.on(schema), process, limits, meters, turns }
    }

    /// How much may be asked for.
    pub(crate) const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Answers one request.
    pub(crate) async fn once(
        &self,
        request: Request,
        client: &Client,
        allows: Allows,
        costs: bool,
    ) -> Response {
        let wanted = costs && self.process.settings.graphql.xray;
        let recorder = wanted.then(|| Arc::new(Recorder::default()));
        let response = match self.prepared(request, client, allows, recorder.as_ref()) {
            Ok(prepared) => self.answered(prepared).await,
            Err(refused) => *refused,
        };
        self.count(&response);
        match recorder {
            Some(recorder) => response.extension("xray", xray::shown(&recorder.take())),
            None => response,
        }
    }

    /// Waits for a turn, and does it, both in the time that a request may take.
    async fn answered(&self, prepared: Prepared) -> Response {
        let (limit, kind) = (self.patience(), prepared.kind);
        let answer = self.turns.within(limit, kind, self.schema.answer(prepared)).await;
        answer.unwrap_or_else(|at| out_of_time(at, limit, kind))
    }

    /// Answers one request as often as there is something to tell.
    pub(crate) fn stream(
        &self,
        request: Request,
        client: &Client,
        allows: Allows,
    ) -> BoxStream<'static, Response> {
        let prepared = match self.prepared(request, client, allows, None) {
            Ok(prepared) => prepared,
            Err(refused) => {
                self.count(&refused);
                return futures::stream::iter([*refused]).boxed();
            }
        };
        let kind = prepared.kind;
        let (execution, stream) = (self.clone(), self.schema.answers(prepared));
        let answers = futures::stream::unfold(Some(stream), move |stream| {
            let execution = execution.clone();
            async move {
                let mut stream = stream?;
                let limit = execution.patience();
                loop {
                    // Not while it is told: whoever hears slowly would keep others waiting.
                    let next = execution.turns.within(limit, kind, stream.next()).await;
                    let (answer, rest) = match next {
                        Ok(answer) => (answer?, Some(stream)),
                        // Whoever listens may wait for as long as nothing happens.
                        Err(_) if kind == Some(OperationType::Subscription) => continue,
                        Err(at) => (out_of_time(at, limit, kind), None),
                    };
                    execution.count(&answer);
                    return Some((answer, rest));
                }
            }
        });
        answers.boxed()
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.process.settings.http.request_seconds.max(1))
    }

    /// Reads what is asked, and lets it through if that may be asked in this way.
    fn prepared(
        &self,
        request: Request,
        client: &Client,
        allows: Allows,
        recorder: Option<&Arc<Recorder>>,
    ) -> Result<Prepared, Box<Response>> {
        let services = &self.process.services;
        let services = match recorder {
            Some(recorder) => {
                services.on(&services.ground.observed(Arc::clone(recorder) as Arc<_>))
            }
            None => services.clone(),
        };
        let request = request.data(Arc::new(Asked::new(client.clone(), services)));
        let prepared = self.schema.prepare(request)?;
        if let Some(kind) = prepared.kind {
            allows
                .pass(client.caller.as_ref(), kind)
                .map_err(|refused| Box::new(refused.into()))?;
        }
        Ok(prepared)
    }

    /// Counts what was answered, and what went wrong by its code.
    fn count(&self, response: &Response) {
        self.meters.answered();
        response.errors.iter().for_each(|error| self.meters.refused(code_of(error)));
    }
}

/// The answer to what ran out of time. What never had its turn was not begun. Of the rest, a change may have
/// been written: it is told so, and that its `requestId` makes it safe to ask again.
fn out_of_time(at: OutOfTime, limit: Duration, kind: Option<OperationType>) -> Response {
    if at == OutOfTime::Waiting {
        return Refused::new(Code::RateLimited, "too much is asked here; try again later").into();
    }
    let given_up = format!("this took longer than {} seconds and was given up", limit.as_secs());
    let refused = if kind == Some(OperationType::Mutation) {
        let sentence = "it may have been done or not; look, or ask again with the same requestId";
        Refused::new(Code::Internal, format!("{given_up}: {sentence}"))
    } else {
        Refused::new(Code::TooComplex, given_up)
    };
    refused.unfinished()
}

#[cfg(test)]
mod tests {
    use roundtable_graphql::is_unasked;
    use roundtable_table::SystemClock;
    use tempfile::TempDir;

    use super::*;
    use crate::configuration::Configuration;

    async fn execution() -> (Execution, TempDir) {
        let data = tempfile::tempdir().unwrap();
        let mut configuration = Configuration::default();
        data.path().clone_into(&mut configuration.process.store.data);
        let process = Process::open(configuration, Arc::new(SystemClock), "http://localhost");
        let process = Arc::new(process.await.unwrap());
        (Execution::new(process, Arc::new(Meters::new())), data)
    }

    /// However a query comes, it waits for its turn; one that gets none in time was not begun, and whoever
    /// sent it is told to come again.
    #[tokio::test]
    async fn a_query_without_a_turn_is_told_to_try_again() {
        let (execution, _data) = execution().await;
        let (client, query) = (Client::default(), "{ __typename }");
        let called = || execution.once(query.into(), &client, Allows::Calls, false);
        let streamed = || async {
            let stream = execution.stream(query.into(), &client, Allows::Everything);
            stream.collect::<Vec<_>>().await
        };
        let others = execution.turns.all().await;
        tokio::time::pause();
        let [told] = streamed().await.try_into().unwrap();
        for refused in [called().await, told] {
            let [error] = refused.errors.as_slice() else { panic!("{refused:?}") };
            assert_eq!(code_of(error), "RATE_LIMITED");
            assert!(is_unasked(&refused));
        }

        let release = async { drop(others) };
        let (called, streamed, ()) = futures::join!(called(), streamed(), release);
        let [told] = streamed.try_into().unwrap();
        for answer in [called, told] {
            assert!(answer.is_ok(), "{answer:?}");
        }
    }

    /// R33: nobody is told that a change was refused which may have been written.
    #[test]
    fn a_change_that_took_too_long_may_have_been_done() {
        let limit = Duration::from_secs(30);
        let code = |kind: OperationType| {
            let answer = out_of_time(OutOfTime::Working, limit, Some(kind));
            assert!(!is_unasked(&answer));
            let [error] = answer.errors.as_slice() else { panic!("{answer:?}") };
            let tells = error.message.contains("ask again with the same requestId");
            (code_of(error).to_owned(), tells)
        };
        assert_eq!(code(OperationType::Mutation), ("INTERNAL".to_owned(), true));
        assert_eq!(code(OperationType::Query), ("TOO_COMPLEX".to_owned(), false));
    }
}
