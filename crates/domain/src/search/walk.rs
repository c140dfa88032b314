//! A page of results: the walk through the ways to match, each newest first, past what the viewer may not
//! see.

use std::sync::Arc;

use roundtable_model::entities::{Comment, Goal, Group, Post, TagRef, User};
use roundtable_model::{Cursor, EntityKind, InvalidValue, Shard, SubjectId, Tag};

use super::document::{DocumentKey, SearchType};
use super::index::{HitPosition, HitRequest, IndexHit, SearchIndex, TagClass};
use super::matching::MatchClass;
use super::query::SearchQuery;
use super::shown::SearchViewer;
use super::{SearchError, SearchResult};
use crate::{Page, PageInput, ServiceError};

/// The name of this list in cursors.
const LIST: &str = "search";
/// Hits read for one page. At this limit the page ends, full or not.
pub(super) const HITS_MAX: usize = 2_000;
/// Hits read at once.
const READ_HITS_MAX: usize = 200;

/// A part of the results, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Hits(MatchClass),
    Tags(TagClass),
}

const STAGES: [Stage; 9] = [
    Stage::Tags(TagClass::Whole),
    Stage::Hits(MatchClass::WholeName),
    Stage::Hits(MatchClass::NameWords),
    Stage::Hits(MatchClass::NamePrefixes),
    Stage::Tags(TagClass::Prefix),
    Stage::Hits(MatchClass::WholePhrase),
    Stage::Hits(MatchClass::Words),
    Stage::Hits(MatchClass::NameTypos),
    Stage::Tags(TagClass::Typos),
];

/// The position after a result within its stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StagePosition {
    Hit(HitPosition),
    Tag(Tag),
}

/// A walk that fills one page.
pub(super) struct SearchWalk<'a> {
    pub(super) index: &'a dyn SearchIndex,
    pub(super) viewer: &'a SearchViewer<'a>,
    pub(super) query: Arc<SearchQuery>,
    /// Without tags, which have stages of their own.
    types: Arc<[SearchType]>,
    with_tags: bool,
    /// The stage to continue in, and the position there.
    start: usize,
    after: Option<StagePosition>,
    pub(super) found: Vec<(SearchResult, Cursor)>,
    /// The number of hits read.
    pub(super) walked: usize,
}

/// The end of a stage.
pub(super) enum StageEnd {
    /// All of it was read.
    Done,
    /// The page has more than enough, or has read enough hits; it continues after the last one.
    Enough(Option<Box<Cursor>>),
}

impl<'a> SearchWalk<'a> {
    pub(super) fn new(
        index: &'a dyn SearchIndex,
        viewer: &'a SearchViewer<'a>,
        query: Arc<SearchQuery>,
        types: Option<&[SearchType]>,
        page: &PageInput,
    ) -> Result<Self, SearchError> {
        let types = types.unwrap_or(&SearchType::ALL);
        let is_visible = |it: &&SearchType| **it != SearchType::Goal || viewer.sees.own.is_some();
        let objects = types.iter().filter(|it| **it != SearchType::Tag).filter(is_visible);
        let (start, after) = match &page.after {
            Some(cursor) => parse_position(cursor).ok_or_else(|| {
                let invalid = InvalidValue::new("a cursor of this search", "another");
                ServiceError::bad_input("after", invalid)
            })?,
            None => (0, None),
        };
        Ok(Self {
            index,
            viewer,
            query,
            types: objects.copied().collect(),
            with_tags: types.contains(&SearchType::Tag),
            start,
            after,
            found: Vec::new(),
            walked: 0,
        })
    }

    pub(super) async fn page(mut self, wanted: usize) -> Result<Page<SearchResult>, SearchError> {
        for (at, stage) in STAGES.iter().enumerate().skip(self.start) {
            let after = self.after.take();
            if !self.applies(*stage) {
                continue;
            }
            let end = match (stage, after) {
                (Stage::Hits(class), Some(StagePosition::Hit(after))) => {
                    self.hits(at, *class, Some(after), wanted).await?
                }
                (Stage::Hits(class), _) => self.hits(at, *class, None, wanted).await?,
                (Stage::Tags(class), Some(StagePosition::Tag(after))) => {
                    self.tags(at, *class, Some(after), wanted).await?
                }
                (Stage::Tags(class), _) => self.tags(at, *class, None, wanted).await?,
            };
            if let StageEnd::Enough(next) = end {
                if self.found.len() > wanted {
                    self.found.truncate(wanted);
                    let next = self.found.last().map(|(_, cursor)| cursor.clone());
                    return Ok(Page { items: self.found, next });
                }
                return Ok(Page { items: self.found, next: next.map(|next| *next) });
            }
        }
        Ok(Page { items: self.found, next: None })
    }

    fn applies(&self, stage: Stage) -> bool {
        match stage {
            Stage::Tags(_) => self.with_tags && self.query.tag().is_some(),
            Stage::Hits(MatchClass::WholePhrase) if self.query.whole_phrase().is_none() => false,
            Stage::Hits(class) => {
                let named = !class.is_of_names() || self.types.iter().any(|it| it.has_names());
                self.query.has_words() && named && !self.types.is_empty()
            }
        }
    }

    /// Reads hits of one class until the page is full.
    async fn hits(
        &mut self,
        stage: usize,
        class: MatchClass,
        mut after: Option<HitPosition>,
        wanted: usize,
    ) -> Result<StageEnd, SearchError> {
        // One more than a page, to know whether another one follows.
        let mut limit = wanted + 1 - self.found.len();
        loop {
            let request = HitRequest {
                query: Arc::clone(&self.query),
                class,
                types: Arc::clone(&self.types),
                sees: self.viewer.sees.clone(),
                after,
                limit,
            };
            let hits = self.index.hits(request).await?;
            self.walked += hits.len();
            let shown = self.viewer.shown(&self.query, class, &hits).await?;
            for (hit, shown) in hits.iter().zip(shown) {
                self.found.extend(shown.map(|result| (result, cursor_after(stage, hit))));
            }
            let last = hits.last();
            if self.found.len() > wanted || self.walked >= HITS_MAX {
                let next = last.map(|hit| Box::new(cursor_after(stage, hit)));
                return Ok(StageEnd::Enough(next));
            }
            let Some(last) = last.filter(|_| hits.len() >= limit) else {
                return Ok(StageEnd::Done);
            };
            after = Some(last.position);
            limit = (limit * 2).min(READ_HITS_MAX).max(wanted + 1 - self.found.len());
        }
    }
}

/// Returns the cursor after a hit. The key is that of the object; the note has the position.
fn cursor_after(stage: usize, hit: &IndexHit) -> Cursor {
    let HitPosition { created_ms, key_hash } = hit.position;
    let cursor = match &hit.key {
        DocumentKey::User(id) => Cursor::at(LIST, User::at(id)),
        DocumentKey::Group(id) => Cursor::at(LIST, Group::at(id)),
        DocumentKey::Post(id) => Cursor::at(LIST, Post::at(id)),
        DocumentKey::Comment(post, id) => Cursor::at(LIST, Comment::at(post, id)),
        DocumentKey::Goal(owner, id) => Cursor::at(LIST, Goal::at(owner, id)),
        DocumentKey::Tagged(it) => {
            Cursor::at(LIST, TagRef::at(&it.tag, &Shard::ZERO, &it.entity, &it.id))
        }
    };
    cursor.with_note(format!("{stage} {created_ms} {key_hash}"))
}

/// Returns the cursor after a tag. Its key is that of no object; the note has the tag.
pub(super) fn cursor_after_tag(stage: usize, tag: &Tag) -> Cursor {
    #[expect(clippy::expect_used, reason = "it is an id, as a test knows")]
    let nothing: SubjectId = "-".parse().expect("an id");
    let key = TagRef::at(tag, &Shard::ZERO, &EntityKind::Post, &nothing);
    Cursor::at(LIST, key).with_note(format!("{stage} #{}", tag.fold()))
}

/// Returns the stage of a cursor and the position in it.
fn parse_position(cursor: &Cursor) -> Option<(usize, Option<StagePosition>)> {
    cursor.key_for(LIST)?;
    let (stage, position) = cursor.note()?.split_once(' ')?;
    let stage = stage.parse().ok().filter(|stage| *stage < STAGES.len())?;
    if let Some(tag) = position.strip_prefix('#') {
        return Some((stage, Some(StagePosition::Tag(tag.parse().ok()?))));
    }
    let (created_ms, key_hash) = position.split_once(' ')?;
    let (created_ms, key_hash) = (created_ms.parse().ok()?, key_hash.parse().ok()?);
    let position = HitPosition { created_ms, key_hash };
    Some((stage, Some(StagePosition::Hit(position))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_the_stage_and_the_position_in_it() {
        let position = HitPosition { created_ms: 7, key_hash: u64::MAX };
        let hit = IndexHit { key: "Post#a".parse().unwrap(), position };
        let read = parse_position(&cursor_after(3, &hit));
        assert_eq!(read, Some((3, Some(StagePosition::Hit(position)))));
        let tag: Tag = "Rust".parse().unwrap();
        let read = parse_position(&cursor_after_tag(4, &tag));
        assert_eq!(read, Some((4, Some(StagePosition::Tag("rust".parse().unwrap())))));
        for note in ["", "3", "9 1 2", "x 1 2", "1 1", "1 #"] {
            let cursor = Cursor::at(LIST, Post::at(&"a".parse().unwrap())).with_note(note);
            assert_eq!(parse_position(&cursor), None, "{note}");
        }
    }
}
