//! Mutations of activities.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewActivity;
use roundtable_model::{ActivityVerb, GroupId, ObjectType, SubjectId, Tag};

use crate::ApiError;
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::{ApiId, ApiText};
use crate::types::activities::Activity;
use crate::types::media::MediaInput;

#[derive(Debug, Default)]
pub(super) struct ActivityMutations;

/// A new activity of the caller.
#[derive(Debug, InputObject)]
pub(crate) struct PostActivityInput {
    /// The group in which it happened.
    group_id: Option<ApiId<GroupId>>,
    verb: EnumValue<ActivityVerb>,
    object_type: EnumValue<ObjectType>,
    object_id: ApiId<SubjectId>,
    /// A short description.
    preview_text: Option<String>,
    media: Option<MediaInput>,
    tags: Option<Vec<ApiText<Tag>>>,
}

impl From<PostActivityInput> for NewActivity {
    fn from(input: PostActivityInput) -> Self {
        Self {
            group_id: input.group_id.map(|id| id.0),
            verb: input.verb.0,
            object_type: input.object_type.0,
            object_id: input.object_id.0,
            preview_text: input.preview_text,
            media: input.media.map(Into::into),
            tags: input.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
        }
    }
}

#[Object]
impl ActivityMutations {
    /// Posts an activity about the caller, a group of theirs, or their own goal, task, quest, post or
    /// comment.
    async fn post_activity(
        &self,
        ctx: &Context<'_>,
        input: PostActivityInput,
        request_id: RequestIdArg,
    ) -> Result<Activity, ApiError> {
        let context = RequestContext::of(ctx)?;
        let activities = context.services().activities();
        Ok(activities.post(context.caller()?, &input.into(), id_ref(&request_id)).await?.into())
    }
}
