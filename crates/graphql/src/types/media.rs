//! Files that belong to posts, activities and profiles, as the API shows and takes them.

use async_graphql::{Context, InputObject, Object};
use futures::future::try_join_all;
use roundtable_domain::NewMedia;
use roundtable_model::{MediaKey, entities};

use crate::Refused;
use crate::loaders::AddressOf;
use crate::request::Asked;
use crate::scalars::{Text, Url};

/// A picture or a video.
#[derive(Clone, Debug)]
pub(crate) struct Media(pub(crate) entities::Media);

impl From<entities::Media> for Media {
    fn from(media: entities::Media) -> Self {
        Self(media)
    }
}

#[Object]
impl Media {
    /// What the file is known by.
    async fn s3_key(&self) -> &str {
        self.0.s3_key.as_str()
    }

    /// What it is, as a MIME type.
    async fn content_type(&self) -> &str {
        &self.0.content_type
    }

    /// In pixels, where that is known.
    async fn width(&self) -> Option<u32> {
        self.0.width
    }

    /// In pixels, where that is known.
    async fn height(&self) -> Option<u32> {
        self.0.height
    }

    /// Where it can be fetched for a while, by whoever knows this address.
    async fn url(&self, ctx: &Context<'_>) -> Result<Url, Refused> {
        let address = address(ctx, &self.0.s3_key).await?;
        address.ok_or_else(|| roundtable_domain::MediaError::NoSuchMedia.into())
    }
}

/// Where a file can be fetched, if the viewer may see what it belongs to.
pub(crate) async fn address(ctx: &Context<'_>, key: &MediaKey) -> Result<Option<Url>, Refused> {
    let found = Asked::of(ctx)?.load.one(AddressOf(key.clone())).await?;
    Ok(found.map(|found| Url(found.url)))
}

/// Those of the files that can be fetched. Whether they can is looked at only where their addresses are
/// asked for: a file that is gone would otherwise take everything around it along.
pub(crate) async fn shown(
    ctx: &Context<'_>,
    media: impl IntoIterator<Item = &entities::Media>,
) -> Result<Vec<Media>, Refused> {
    let is_fetched = ctx.look_ahead().field("url").exists();
    let each = media.into_iter().map(async |media| {
        if is_fetched && address(ctx, &media.s3_key).await?.is_none() {
            return Ok(None);
        }
        Ok::<_, Refused>(Some(Media(media.clone())))
    });
    Ok(try_join_all(each).await?.into_iter().flatten().collect())
}

/// A file that the caller has sent.
#[derive(Debug, InputObject)]
pub(crate) struct MediaInput {
    /// What the file is known by, from createUpload.
    s3_key: Text<MediaKey>,
    /// What it is, as a MIME type.
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
