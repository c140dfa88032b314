//! Telling of what one did.

use async_graphql::{Context, InputObject, Object};
use roundtable_domain::NewActivity;
use roundtable_model::{ActivityVerb, GroupId, ObjectType, SubjectId, Tag};

use crate::Refused;
use crate::request::{Asked, Once, once};
use crate::scalars::{Id, Text};
use crate::types::activities::Activity;
use crate::types::media::MediaInput;
use crate::words::Word;

/// Mutations of activities.
#[derive(Debug, Default)]
pub(super) struct Telling;

/// Something the caller did.
#[derive(Debug, InputObject)]
pub(crate) struct PostActivityInput {
    /// The group it was done in.
    group_id: Option<Id<GroupId>>,
    verb: Word<ActivityVerb>,
    object_type: Word<ObjectType>,
    object_id: Id<SubjectId>,
    /// A few words about it.
    preview_text: Option<String>,
    media: Option<MediaInput>,
    tags: Option<Vec<Text<Tag>>>,
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
impl Telling {
    /// Tells of something the caller did: with a goal, task, quest, post or comment of theirs, with a
    /// group they are in, or about themselves.
    async fn post_activity(
        &self,
        ctx: &Context<'_>,
        input: PostActivityInput,
        request_id: Once,
    ) -> Result<Activity, Refused> {
        let asked = Asked::of(ctx)?;
        let activities = asked.services().activities();
        Ok(activities.post(asked.caller()?, &input.into(), once(&request_id)).await?.into())
    }
}
