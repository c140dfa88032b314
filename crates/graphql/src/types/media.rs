//! GraphQL types of the files of posts, activities and profiles.

use async_graphql::{Context, InputObject, Object};
use futures::future::try_join_all;
use roundtable_domain::NewMedia;
use roundtable_model::{MediaKey, entities};

use crate::ApiError;
use crate::loaders::MediaUrlKey;
use crate::request::RequestContext;
use crate::scalars::{ApiText, Url};

#[derive(Clone, Debug)]
pub(crate) struct Media(pub(crate) entities::Media);

impl From<entities::Media> for Media {
    fn from(media: entities::Media) -> Self {
        Self(media)
    }
}

#[Object]
impl Media {
    /// The key of the file.
    async fn s3_key(&self) -> &str {
        self.0.s3_key.as_str()
    }

    /// The MIME type.
    async fn content_type(&self) -> &str {
        &self.0.content_type
    }

    /// In pixels, if known.
    async fn width(&self) -> Option<u32> {
        self.0.width
    }

    /// In pixels, if known.
    async fn height(&self) -> Option<u32> {
        self.0.height
    }

    /// A temporary address of the file, for any client that knows it.
    async fn url(&self, ctx: &Context<'_>) -> Result<Url, ApiError> {
        let url = url_for(ctx, &self.0.s3_key).await?;
        url.ok_or_else(|| roundtable_domain::MediaError::NoSuchMedia.into())
    }
}

/// Returns the URL of a file, if the viewer may see what it belongs to.
pub(crate) async fn url_for(ctx: &Context<'_>, key: &MediaKey) -> Result<Option<Url>, ApiError> {
    let media_url = RequestContext::of(ctx)?.loaders.load(MediaUrlKey(key.clone())).await?;
    Ok(media_url.map(|media_url| Url(media_url.url)))
}

/// Returns the files that can be fetched. They are checked only if the query selects their URLs, because a
/// missing file would then be an error that nulls the objects around it.
pub(crate) async fn fetchable(
    ctx: &Context<'_>,
    media: impl IntoIterator<Item = &entities::Media>,
) -> Result<Vec<Media>, ApiError> {
    let selects_url = ctx.look_ahead().field("url").exists();
    let each = media.into_iter().map(async |media| {
        if selects_url && url_for(ctx, &media.s3_key).await?.is_none() {
            return Ok(None);
        }
        Ok::<_, ApiError>(Some(Media(media.clone())))
    });
    Ok(try_join_all(each).await?.into_iter().flatten().collect())
}

/// A file that the caller has uploaded.
#[derive(Debug, InputObject)]
pub(crate) struct MediaInput {
    /// The key of the file, from createUpload.
    s3_key: ApiText<MediaKey>,
    /// The MIME type.
    content_type: String,
    width: Option<u32>,
    height: Option<u32>,
}

impl From<MediaInput> for NewMedia {
    fn from(input: MediaInput) -> Self {
        let MediaInput { s3_key, content_type, width, height } = input;
        Self { s3_key: s3_key.0, content_type, width, height }
    }
}
