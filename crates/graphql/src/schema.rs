//! The schema and its execution.

use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use roundtable_domain::limits::POST_MEDIA_MAX;
use roundtable_domain::{Code, FEED_ITEMS, MESSAGE_ITEMS, PAGE_ITEMS, PAGE_ITEMS_MAX};
use roundtable_execution::{
    AllowedDocuments, Answer, Column, Documents, Events, FieldError, NextEvent, OperationType,
    PageSizes, PreparedRequest, QueryLimits, Request, RequestError, execute, execute_event,
    subscribed_field,
};
use roundtable_graphql_macros::root;
use roundtable_interface::ApiError;

use crate::request::RequestContext;

/// The contract, in GraphQL's schema definition language.
pub const SDL: &str = include_str!("../schema.graphql");

const SIZES: PageSizes = PageSizes {
    suffix: "Connection",
    default: PAGE_ITEMS as u64,
    others: &[
        ("FeedEntryConnection", FEED_ITEMS as u64),
        ("MessageConnection", MESSAGE_ITEMS as u64),
        ("AssistMessageConnection", MESSAGE_ITEMS as u64),
    ],
    max: PAGE_ITEMS_MAX as u64,
    arguments: &["first", "limit"],
    lists: &[("Post.media", POST_MEDIA_MAX as u64)],
};

root!(
    Query: crate::accounts::AccountQueries,
    crate::activities::ActivityQueries,
    crate::assistance::AssistanceQueries,
    crate::audit::AuditQueries,
    crate::comments::CommentQueries,
    crate::feeds::FeedQueries,
    crate::follows::FollowQueries,
    crate::goals::GoalQueries,
    crate::groups::GroupQueries,
    crate::moderation::ModerationQueries,
    crate::mutes::MuteQueries,
    crate::nodes::NodeQueries,
    crate::notifications::NotificationQueries,
    crate::operations::OperationQueries,
    crate::posts::PostQueries,
    crate::promotions::PromotionQueries,
    crate::quests::QuestQueries,
    crate::reactions::ReactionQueries,
    crate::rooms::RoomQueries,
    crate::search::SearchQueries,
    crate::timelines::TimelineQueries,
    crate::trade::TradeQueries,
    crate::users::UserQueries,
    crate::webhooks::WebhookQueries,
);

root!(
    Mutation: crate::accounts::AccountMutations,
    crate::activities::ActivityMutations,
    crate::assistance::AssistanceMutations,
    crate::comments::CommentMutations,
    crate::follows::FollowMutations,
    crate::goals::GoalMutations,
    crate::groups::GroupMutations,
    crate::media::UploadMutations,
    crate::moderation::ModerationMutations,
    crate::mutes::MuteMutations,
    crate::notifications::NotificationMutations,
    crate::operations::OperationMutations,
    crate::posts::PostMutations,
    crate::promotions::PromotionMutations,
    crate::quests::QuestMutations,
    crate::reactions::ReactionMutations,
    crate::rooms::RoomMutations,
    crate::trade::TradeMutations,
    crate::webhooks::WebhookMutations,
);

root!(
    Subscription: crate::activities::ActivitySubscriptions,
    crate::comments::CommentSubscriptions,
    crate::feeds::FeedSubscriptions,
    crate::follows::FollowSubscriptions,
    crate::groups::GroupSubscriptions,
    crate::notifications::NotificationSubscriptions,
    crate::posts::PostSubscriptions,
    crate::quests::QuestSubscriptions,
    crate::reactions::ReactionSubscriptions,
    crate::rooms::RoomSubscriptions,
);

/// The extension of an answer that says how many API keys were revoked: the mutations return booleans.
const REVOKED_API_KEYS: &str = "revokedApiKeys";

/// The schema with its limits and the plans of documents seen lately.
#[derive(Clone, Debug)]
pub struct Schema {
    documents: Arc<Documents>,
    permits_introspection: bool,
}

impl Schema {
    /// Returns an error if the contract is not valid, which tests rule out.
    pub fn new(limits: QueryLimits, permits_introspection: bool) -> Result<Self, String> {
        let schema = roundtable_execution::Schema::parse(SDL, SIZES)?;
        let documents = Arc::new(Documents::new(schema, limits));
        Ok(Self { documents, permits_introspection })
    }

    /// Returns a schema that answers only the documents of a list, which tools such as graphql-codegen
    /// write. The error says what is wrong with the list, or which document does not fit the schema.
    pub fn allowing_only(
        list: &[u8],
        limits: QueryLimits,
        permits_introspection: bool,
    ) -> Result<Self, String> {
        let schema = roundtable_execution::Schema::parse(SDL, SIZES)?;
        let documents =
            Documents::new(schema, limits).allow_only(AllowedDocuments::parse(list)?)?;
        Ok(Self { documents: Arc::new(documents), permits_introspection })
    }

    pub fn limits(&self) -> &QueryLimits {
        self.documents.limits()
    }

    /// Returns whether preparing a request takes no time: its document is planned, its variables are few.
    pub fn knows(&self, request: &Request) -> bool {
        self.documents.knows(request)
    }

    /// Checks and plans a request. The error is the complete answer.
    pub fn prepare(&self, request: Request) -> Result<PreparedRequest, Box<Answer>> {
        let refused = |error| Box::new(Answer::refused(&error));
        let prepared = self.documents.prepare(request).map_err(refused)?;
        if prepared.introspects() && !self.permits_introspection {
            let message = "introspection is turned off on this server";
            return Err(refused(ApiError::new(Code::Forbidden, message).into()));
        }
        Ok(prepared)
    }

    /// Executes a query or mutation. The future is boxed here: every crate that awaited it would
    /// otherwise compile all resolvers again.
    pub fn execute<'a>(
        &'a self,
        request: &'a PreparedRequest,
        context: &'a RequestContext,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let documents = &self.documents;
            match request.operation_type() {
                OperationType::Query => execute(documents, request, context, Query).await,
                OperationType::Mutation => {
                    let answer = execute(documents, request, context, Mutation).await;
                    match context.revoked_api_keys.count() {
                        Some(count) => answer.with_extension(REVOKED_API_KEYS, &count),
                        None => answer,
                    }
                }
                OperationType::Subscription => Answer::refused(&not_a_stream()),
            }
        })
    }

    /// Executes any operation, without scheduling; a subscription has an answer for each event.
    pub fn execute_stream(
        &self,
        request: PreparedRequest,
        context: Arc<RequestContext>,
    ) -> BoxStream<'static, Answer> {
        let schema = self.clone();
        if !request.is_subscription() {
            return Box::pin(stream::once(async move { schema.execute(&request, &context).await }));
        }
        let answers = async move {
            let events = match schema.subscribe(&request, &context).await {
                Ok(events) => events,
                Err(failed) => return stream::iter([*failed]).boxed(),
            };
            let answers = stream::unfold(Some(events), move |events| {
                let (schema, request, context) =
                    (schema.clone(), request.clone(), Arc::clone(&context));
                async move {
                    let mut events = events?;
                    let (event, is_last) = loop {
                        match events.read().await {
                            NextEvent::Later => events.changed().await,
                            NextEvent::Event(event) => break (event, false),
                            NextEvent::Last(event) => break (event, true),
                        }
                    };
                    let answer = schema.execute_event(&request, &context, event).await;
                    Some((answer, (!is_last).then_some(events)))
                }
            });
            answers.boxed()
        };
        Box::pin(stream::once(answers).flatten())
    }

    /// Sets up a subscription. The error is its only answer.
    pub fn subscribe<'a>(
        &'a self,
        request: &'a PreparedRequest,
        context: &'a RequestContext,
    ) -> BoxFuture<'a, Result<SubscriptionEvents, Box<Answer>>> {
        Box::pin(async move {
            let subscribed = match subscribed_field(request) {
                Some((field, arguments)) => match subscribe(context, field, &arguments) {
                    Some(subscribing) => subscribing.await,
                    None => Err(unknown_field()),
                },
                None => Err(unknown_field()),
            };
            let events = subscribed.map_err(|error| Box::new(request.failed(&error)))?;
            Ok(SubscriptionEvents(events))
        })
    }

    /// Answers an event of a subscription.
    pub fn execute_event<'a>(
        &'a self,
        request: &'a PreparedRequest,
        context: &'a RequestContext,
        Event(column): Event,
    ) -> BoxFuture<'a, Answer> {
        Box::pin(execute_event(&self.documents, request, context, column))
    }
}

/// An event of a subscription, before its fields are read.
#[derive(Debug)]
pub struct Event(Column<RequestContext>);

/// The events of a subscription.
pub struct SubscriptionEvents(Events<RequestContext>);

impl SubscriptionEvents {
    /// Reads the next event, without waiting for one.
    pub async fn read(&mut self) -> NextEvent<Event> {
        self.0.read().await.map(Event)
    }

    /// Waits, after a read without an event, until there may be one.
    pub async fn changed(&mut self) {
        self.0.changed().await;
    }
}

fn not_a_stream() -> RequestError {
    ApiError::bad_request("subscriptions need a WebSocket, or `accept: text/event-stream`").into()
}

fn unknown_field() -> FieldError {
    FieldError::internal("a field of Subscription has no resolver")
}
