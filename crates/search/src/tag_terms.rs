//! Finds tags in the dictionary of terms.

use std::collections::BTreeSet;

use roundtable_domain::{TagClass, TagRequest, typos_max};
use roundtable_model::Tag;
use tantivy::Term;
use tantivy::query::FuzzyTermQuery;
use tantivy::termdict::TermDictionary;

use crate::error::IndexError;
use crate::find::Finder;

impl Finder {
    pub(crate) fn tags(&self, request: &TagRequest) -> Result<Vec<Tag>, IndexError> {
        let Some(wanted) = request.query.tag() else { return Ok(Vec::new()) };
        let mut found = BTreeSet::new();
        for segment in self.reader.searcher().segment_readers() {
            let index = segment.inverted_index(self.fields.tag)?;
            self.tags_in(index.terms(), wanted, request, &mut found)?;
        }
        let tags = found.iter().filter_map(|tag| tag.parse().ok());
        Ok(tags.take(request.limit).collect())
    }

    /// Adds the first tags of a segment.
    fn tags_in(
        &self,
        terms: &TermDictionary,
        wanted: &str,
        request: &TagRequest,
        found: &mut BTreeSet<String>,
    ) -> Result<(), IndexError> {
        let after = request.after.as_ref().map(Tag::fold);
        let after =
            after.as_deref().filter(|after| *after >= wanted || request.class == TagClass::Typos);
        let mut left = request.limit;
        let mut add = |tag: &[u8], is_wanted: &dyn Fn(&str) -> bool| {
            let tag = std::str::from_utf8(tag).unwrap_or_default();
            if is_wanted(tag) {
                found.insert(tag.to_owned());
                left = left.saturating_sub(1);
            }
            left > 0
        };
        match request.class {
            TagClass::Whole => {
                if request.after.is_none() && terms.get(wanted)?.is_some() {
                    add(wanted.as_bytes(), &|_| true);
                }
            }
            TagClass::Prefix => {
                let mut tags = terms.range().gt(after.unwrap_or(wanted)).into_stream()?;
                while tags.advance() && tags.key().starts_with(wanted.as_bytes()) {
                    if !add(tags.key(), &|_| true) {
                        break;
                    }
                }
            }
            TagClass::Typos => {
                let typos = typos_max(wanted.chars().count());
                if typos == 0 {
                    return Ok(());
                }
                let term = Term::from_field_text(self.fields.tag, wanted);
                let similar = FuzzyTermQuery::new(term, typos, true).automaton()?;
                let search = terms.search(similar);
                let search = match after {
                    Some(after) => search.gt(after),
                    None => search,
                };
                let mut tags = search.into_stream()?;
                while tags.advance() {
                    if !add(tags.key(), &|tag| !tag.starts_with(wanted)) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}
