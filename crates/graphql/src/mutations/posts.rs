//! Writing, changing and deleting posts.

use async_graphql::{Context, InputObject, MaybeUndefined, Object};
use roundtable_domain::{NewPost, PostChange};
use roundtable_model::{ContentType, FeedName, GroupId, PostId, Visibility};

use crate::Refused;
use crate::edits::{cleared, kept};
use crate::request::{Asked, Once, once};
use crate::scalars::Id;
use crate::types::media::MediaInput;
use crate::types::posts::Post;
use crate::words::Word;

/// Mutations of posts.
#[derive(Debug, Default)]
pub(super) struct Posting;

/// A post to be written.
#[derive(Debug, InputObject)]
pub(crate) struct CreatePostInput {
    /// The group it is for.
    group_id: Option<Id<GroupId>>,
    content: String,
    content_type: Word<ContentType>,
    media: Option<Vec<MediaInput>>,
    /// Everybody's, unless said otherwise.
    visibility: Option<Word<Visibility>>,
    /// The feed it goes to; everybody's, unless said otherwise.
    feed_id: Option<Id<FeedName>>,
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

/// What is to change about a post; what is not mentioned stays.
#[derive(Debug, InputObject)]
pub(crate) struct UpdatePostInput {
    post_id: Id<PostId>,
    content: MaybeUndefined<String>,
    visibility: MaybeUndefined<Word<Visibility>>,
}

#[Object]
impl Posting {
    async fn create_post(
        &self,
        ctx: &Context<'_>,
        input: CreatePostInput,
        request_id: Once,
    ) -> Result<Post, Refused> {
        let asked = Asked::of(ctx)?;
        let posts = asked.services().posts();
        Ok(posts.create(asked.caller()?, &input.into(), once(&request_id)).await?.into())
    }

    async fn update_post(
        &self,
        ctx: &Context<'_>,
        input: UpdatePostInput,
        request_id: Once,
    ) -> Result<Post, Refused> {
        let asked = Asked::of(ctx)?;
        let visibility = kept("visibility", input.visibility)?.map(|word| word.0);
        let change = PostChange { content: cleared(input.content), visibility };
        let (posts, request) = (asked.services().posts(), once(&request_id));
        Ok(posts.update(asked.caller()?, &input.post_id.0, &change, request).await?.into())
    }

    /// Deletes a post; answers with what is left of it.
    async fn delete_post(
        &self,
        ctx: &Context<'_>,
        post_id: Id<PostId>,
        request_id: Once,
    ) -> Result<Post, Refused> {
        let asked = Asked::of(ctx)?;
        let posts = asked.services().posts();
        Ok(posts.delete(asked.caller()?, &post_id.0, once(&request_id)).await?.into())
    }
}
