//! The context of one request: its client, the services it may call, and what it has read so far.

use std::sync::{Mutex, PoisonError};

use roundtable_domain::Caller;
use roundtable_execution::Context;
use roundtable_interface::{ApiError, ClientInfo, CursorCipher, Services};
use roundtable_model::entities::PostCounter;
use roundtable_model::{GroupId, PostId, UserId};

use crate::groups::Group;
use crate::memo::Memo;
use crate::posts::Post;
use crate::users::User;

/// State shared by the resolvers of one request.
#[derive(Debug)]
pub struct RequestContext {
    client: ClientInfo,
    services: Services,
    traces_fields: bool,
    pub(crate) revoked_api_keys: RevokedApiKeys,
    pub(crate) users: Memo<UserId, User>,
    pub(crate) groups: Memo<GroupId, Group>,
    pub(crate) posts: Memo<PostId, Post>,
    pub(crate) counters: Memo<PostId, PostCounter>,
}

/// The number of API keys that a request has revoked by signing out or changing the password; `None` if
/// it did neither.
#[derive(Debug, Default)]
pub(crate) struct RevokedApiKeys(Mutex<Option<usize>>);

impl RevokedApiKeys {
    pub(crate) fn add(&self, count: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(0) += count;
    }

    pub(crate) fn count(&self) -> Option<usize> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestContext {
    pub fn new(client: ClientInfo, services: Services) -> Self {
        Self {
            client,
            services,
            traces_fields: false,
            revoked_api_keys: RevokedApiKeys::default(),
            users: Memo::default(),
            groups: Memo::default(),
            posts: Memo::default(),
            counters: Memo::default(),
        }
    }

    /// Lets observers of the services ask for the [`current_field`](crate::current_field).
    #[must_use]
    pub fn tracing_fields(self, traces_fields: bool) -> Self {
        Self { traces_fields, ..self }
    }

    /// Returns the caller, or `None` for anonymous clients.
    pub(crate) const fn viewer(&self) -> Option<&Caller> {
        self.client.caller.as_ref()
    }

    /// Returns the caller, or an error for anonymous clients.
    pub(crate) fn caller(&self) -> Result<&Caller, ApiError> {
        self.viewer().ok_or_else(ApiError::unauthenticated)
    }

    pub(crate) fn user_or_caller(&self, user: Option<UserId>) -> Result<UserId, ApiError> {
        user.map_or_else(|| Ok(self.caller()?.user_id.clone()), Ok)
    }

    pub(crate) const fn client(&self) -> &ClientInfo {
        &self.client
    }

    pub(crate) const fn services(&self) -> &Services {
        &self.services
    }

    pub(crate) fn cursors(&self) -> &CursorCipher {
        &self.services.cursors
    }
}

impl Context for RequestContext {
    /// A mutation, or an event, may have changed what was read before.
    fn start_step(&self) {
        self.users.clear();
        self.groups.clear();
        self.posts.clear();
        self.counters.clear();
    }

    fn traces_fields(&self) -> bool {
        self.traces_fields
    }
}
