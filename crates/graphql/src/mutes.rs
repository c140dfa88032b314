//! Mutes: the type, its list and mutations.

use roundtable_graphql_macros::{fields, object};
use roundtable_interface::ApiError;
use roundtable_model::{RequestId, Time, UserId, entities};

use crate::connection::{Connection, PageArguments};
use crate::objects::objects;
use crate::request::RequestContext;
use crate::users::User;

objects! {
    Mute of entities::Mute;
}

#[object(of = self.0)]
impl Mute {
    fn user_id(&self) -> &UserId {
        &self.0.muted_id
    }

    fn user(&self) -> &UserId {
        &self.0.muted_id
    }
}

pub(crate) struct MuteQueries;

#[fields(Query)]
impl MuteQueries {
    async fn list_muted(
        context: &RequestContext,
        paging: PageArguments,
    ) -> Result<Connection<Mute>, ApiError> {
        let (caller, mutes) = (context.caller()?, context.services().mutes());
        paging.read(context, "muted", async |page| mutes.list(caller, page).await).await
    }
}

pub(crate) struct MuteMutations;

#[fields(Mutation)]
impl MuteMutations {
    async fn mute_user(
        context: &RequestContext,
        user_id: UserId,
        until: Option<Time>,
        request_id: Option<RequestId>,
    ) -> Result<Mute, ApiError> {
        let (mutes, caller) = (context.services().mutes(), context.caller()?);
        Ok(mutes.mute(caller, &user_id, until, request_id.as_ref()).await?.into())
    }

    async fn unmute_user(
        context: &RequestContext,
        user_id: UserId,
        request_id: Option<RequestId>,
    ) -> Result<Mute, ApiError> {
        let (mutes, caller) = (context.services().mutes(), context.caller()?);
        Ok(mutes.unmute(caller, &user_id, request_id.as_ref()).await?.into())
    }
}
