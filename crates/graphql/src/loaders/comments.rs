//! Comments, what is counted of them, and what the viewer has done with them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use roundtable_domain::CommentMarks;
use roundtable_model::{CommentId, PostId, entities};

use super::{Look, found, shared};
use crate::Refused;

/// A comment by its id alone, which costs more than with its post.
impl Loader<CommentId> for Look {
    type Value = entities::Comment;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        ids: &[CommentId],
    ) -> Result<HashMap<CommentId, entities::Comment>, Arc<Refused>> {
        let comments = self.services.comments().by_ids(self.viewer.as_ref(), ids).await;
        Ok(found(ids, comments.map_err(shared)?))
    }
}

/// A comment on a post.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommentOn(pub(crate) PostId, pub(crate) CommentId);

impl CommentOn {
    fn places(of: &[Self]) -> Vec<(PostId, CommentId)> {
        of.iter().map(|of| (of.0.clone(), of.1.clone())).collect()
    }
}

impl Loader<CommentOn> for Look {
    type Value = entities::Comment;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[CommentOn],
    ) -> Result<HashMap<CommentOn, entities::Comment>, Arc<Refused>> {
        let places = CommentOn::places(of);
        let comments = self.services.comments().comments(self.viewer.as_ref(), &places).await;
        Ok(found(of, comments.map_err(shared)?))
    }
}

/// What people, and the viewer, did with a comment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommentMarksOf(pub(crate) CommentOn);

impl Loader<CommentMarksOf> for Look {
    type Value = CommentMarks;
    type Error = Arc<Refused>;

    async fn load(
        &self,
        of: &[CommentMarksOf],
    ) -> Result<HashMap<CommentMarksOf, CommentMarks>, Arc<Refused>> {
        let places: Vec<_> = of.iter().map(|of| of.0.clone()).collect();
        let places = CommentOn::places(&places);
        let marks = self.services.comments().marks(self.viewer.as_ref(), &places).await;
        Ok(found(of, marks.map_err(shared)?.into_iter().map(Some)))
    }
}
