//! Tags as results: those that at least one object has that the viewer may see.

use std::sync::Arc;

use roundtable_model::entities::TagRef;
use roundtable_model::{Shard, Tag, Time};

use super::document::DocumentKey;
use super::index::{HitPosition, TagClass, TagRequest, TaggedRequest};
use super::walk::{HITS_MAX, SearchWalk, StageEnd, cursor_after_tag};
use super::{SearchError, SearchResult};
use crate::Tags;

/// References of one tag read at once, to find one that the viewer may see.
const REFERENCES: usize = 20;

impl SearchWalk<'_> {
    /// Reads tags of one class until the page is full.
    pub(super) async fn tags(
        &mut self,
        stage: usize,
        class: TagClass,
        mut after: Option<Tag>,
        wanted: usize,
    ) -> Result<StageEnd, SearchError> {
        loop {
            let limit = wanted + 1 - self.found.len();
            let query = Arc::clone(&self.query);
            let request = TagRequest { query, class, after: after.take(), limit };
            let tags = self.index.tags(request).await?;
            for tag in &tags {
                let cursor = cursor_after_tag(stage, tag);
                if let Some(spelling) = self.visible_spelling(tag).await? {
                    self.found.push((SearchResult::Tag(spelling), cursor.clone()));
                }
                if self.found.len() > wanted || self.walked >= HITS_MAX {
                    return Ok(StageEnd::Enough(Some(Box::new(cursor))));
                }
            }
            let Some(last) = tags.last().filter(|_| tags.len() >= limit) else {
                return Ok(StageEnd::Done);
            };
            after = Some(last.clone());
        }
    }

    /// Returns the tag as the newest object spells it that has it now and that the viewer may see.
    async fn visible_spelling(&mut self, tag: &Tag) -> Result<Option<Tag>, SearchError> {
        let tags = Tags::new(self.viewer.context.clone());
        let mut after: Option<HitPosition> = None;
        loop {
            let sees = self.viewer.sees.clone();
            let request = TaggedRequest { tag: tag.clone(), sees, after, limit: REFERENCES };
            let hits = self.index.tagged(request).await?;
            self.walked += hits.len().max(1);
            let references: Vec<TagRef> = hits.iter().filter_map(|it| reference(&it.key)).collect();
            let spelling = tags.newest_spelling(self.viewer.caller, tag, &references).await?;
            let is_end = hits.len() < REFERENCES || self.walked >= HITS_MAX;
            if spelling.is_some() || is_end {
                return Ok(spelling);
            }
            after = hits.last().map(|hit| hit.position);
        }
    }
}

fn reference(key: &DocumentKey) -> Option<TagRef> {
    let DocumentKey::Tagged(tagged) = key else { return None };
    Some(TagRef {
        tag: tagged.tag.clone(),
        shard: Shard::ZERO,
        entity: tagged.entity,
        id: tagged.id.clone(),
        user_id: tagged.owner.clone(),
        within: tagged.within.clone(),
        title: String::new(),
        created_at: Time::from_ms(0),
    })
}
