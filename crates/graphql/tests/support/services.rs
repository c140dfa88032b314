//! The services of a town, with stand-ins for those parts that a server provides.

use std::sync::Arc;

use async_trait::async_trait;
use roundtable_domain::{ExternalIdentity, Feeds, Page, PageInput, SignedInUser};
use roundtable_graphql::Answer;
use roundtable_interface::{
    ApiError, CursorCipher, IdentityVerifier, Services, StreamBacklog, StreamControl, TokenIssuer,
};
use roundtable_model::entities::DeadLetter;
use roundtable_streams::DeadLetters;
use roundtable_testkit::Town;
use serde_json::Value;

/// Issues tokens that contain the user's name.
#[derive(Debug)]
struct PlainTokens;

#[async_trait]
impl TokenIssuer for PlainTokens {
    async fn access_token(&self, signed_in: &SignedInUser) -> Result<(String, u32), ApiError> {
        Ok((format!("token of {}", signed_in.user.nickname), 900))
    }
}

/// Accepts tokens of the form `SUBJECT ADDRESS`, of an issuer that has verified the address.
#[derive(Debug)]
struct PlainIdentities;

#[async_trait]
impl IdentityVerifier for PlainIdentities {
    async fn identify(&self, token: &str) -> Result<ExternalIdentity, ApiError> {
        let identity = token.split_once(' ').and_then(|(subject, email)| {
            Some(ExternalIdentity {
                issuer: "https://login.example.org".parse().ok()?,
                subject: subject.parse().ok()?,
                email: Some(email.parse().ok()?),
            })
        });
        identity.ok_or_else(ApiError::unauthenticated)
    }
}

/// Says that there are three dead letters, and lists those of the town.
#[derive(Debug)]
struct ThreeDeadLetters(DeadLetters);

#[async_trait]
impl StreamControl for ThreeDeadLetters {
    async fn redrive(&self, max: usize) -> Result<usize, ApiError> {
        Ok(max.min(3))
    }

    async fn backlog(&self) -> Result<StreamBacklog, ApiError> {
        Ok(StreamBacklog { dlq_depth: 3, ..StreamBacklog::default() })
    }

    async fn dead_letters(&self, page: &PageInput) -> Result<Page<DeadLetter>, ApiError> {
        let (items, next) = self.0.page(page.size()?, page.after.clone()).await.unwrap();
        Ok(Page { items, next })
    }
}

/// Returns the services of a new process.
pub(crate) fn services(town: &Town) -> Services {
    let bus = town.new_bus();
    let context = town.context().with_memory_of(&bus);
    Services {
        feeds: Feeds::new(context.clone(), &bus),
        bus,
        media: town.media(),
        search: town.search().with_context(context.clone()),
        issuer: Arc::new(PlainTokens),
        identities: Arc::new(PlainIdentities),
        streams: Arc::new(ThreeDeadLetters(town.runner().dead_letters())),
        cursors: Arc::new(CursorCipher::new(&[4; 32]).unwrap()),
        context,
    }
}

/// Returns an answer as clients read it.
pub(crate) fn to_json(answer: &Answer) -> Value {
    serde_json::from_slice(answer.json()).unwrap()
}
