//! Mutations of posts.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{NewPost, PostChange};
use roundtable_model::{ContentType, FeedName, GroupId, PostId, Visibility};

use crate::ApiError;
use crate::edits::{edit_non_null, edit_or_default};
use crate::enums::EnumValue;
use crate::request::{RequestContext, RequestIdArg, id_ref};
use crate::scalars::ApiId;
use crate::types::media::MediaInput;
use crate::types::posts::Post;

#[derive(Debug, Default)]
pub(super) struct PostMutations;

/// A new post.
#[derive(Debug, InputObject)]
pub(crate) struct CreatePostInput {
    /// The group to post in.
    group_id: Option<ApiId<GroupId>>,
    content: String,
    content_type: EnumValue<ContentType>,
    media: Option<Vec<MediaInput>>,
    /// Public by default.
    visibility: Option<EnumValue<Visibility>>,
    /// The feed to post to, by default the global one.
    feed_id: Option<ApiId<FeedName>>,
}

impl From<CreatePostInput> for NewPost {
    fn from(input: CreatePostInput) -> Self {
        Self {
            group_id: input.group_id.map(|id| id.0),
            content: input.content,
            content_type: input.content_type.0,
            media: input.media.unwrap_or_default().into_iter().map(Into::into).collect(),
            visibility: input.visibility.map(|word| word.0),
            feed_id: input.feed_id.map(|id| id.0),
        }
    }
}

/// Changes to a post. An absent field keeps its value.
#[derive(Debug, InputObject)]
pub(crate) struct UpdatePostInput {
    post_id: ApiId<PostId>,
    content: MaybeUndefined<String>,
    visibility: MaybeUndefined<EnumValue<Visibility>>,
}

#[Object]
impl PostMutations {
    async fn create_post(
        &self,
        ctx: &Context<'_>,
        input: CreatePostInput,
        request_id: RequestIdArg,
    ) -> Result<Post, ApiError> {
        let context = RequestContext::of(ctx)?;
        let posts = context.services().posts();
        Ok(posts.create(context.caller()?, &input.into(), id_ref(&request_id)).await?.into())
    }

    async fn update_post(
        &self,
        ctx: &Context<'_>,
        input: UpdatePostInput,
        request_id: RequestIdArg,
    ) -> Result<Post, ApiError> {
        let context = RequestContext::of(ctx)?;
        let visibility = edit_non_null("visibility", input.visibility)?.map(|word| word.0);
        let change = PostChange { content: edit_or_default(input.content), visibility };
        let (posts, request) = (context.services().posts(), id_ref(&request_id));
        Ok(posts.update(context.caller()?, &input.post_id.0, &change, request).await?.into())
    }

    /// Deletes a post and returns what is left of it.
    async fn delete_post(
        &self,
        ctx: &Context<'_>,
        post_id: ApiId<PostId>,
        request_id: RequestIdArg,
    ) -> Result<Post, ApiError> {
        let context = RequestContext::of(ctx)?;
        let posts = context.services().posts();
        Ok(posts.delete(context.caller()?, &post_id.0, id_ref(&request_id)).await?.into())
    }
}
