//! The domain's queries as queries of the index. What they cannot express exactly, they find too much of: the
//! domain matches every hit again.

use roundtable_domain::{
    HitRequest, MatchClass, Phrase, RestrictedAccess, SearchQuery, SearchType, TaggedRequest,
    typos_max,
};
use tantivy::Term;
use tantivy::query::{BooleanQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use crate::fields::{Fields, RESTRICTED_CONTENT, RESTRICTED_GOALS};

/// Longer words are found by prefixes, and without typos: the automaton of typos grows with the word.
const TYPO_CHARS_MAX: usize = 32;

type Clauses = Vec<(Occur, Box<dyn Query>)>;

impl Fields {
    /// Returns the query of a class of hits.
    pub(crate) fn hit_query(&self, request: &HitRequest) -> Box<dyn Query> {
        let mut clauses = self.class_clauses(request);
        if request.types.len() < SearchType::ALL.len() - 1 {
            let types = request.types.iter();
            let kinds = types.map(|it| (Occur::Should, term(self.kind, it.as_str()))).collect();
            clauses.push((Occur::Must, boolean(kinds)));
        }
        self.restrict(&mut clauses, &request.sees, &request.types);
        boolean(clauses)
    }

    pub(crate) fn tagged_query(&self, request: &TaggedRequest) -> Box<dyn Query> {
        let mut clauses = vec![(Occur::Must, term(self.tag, &request.tag.fold()))];
        self.restrict(&mut clauses, &request.sees, &[SearchType::Tag]);
        boolean(clauses)
    }

    /// Excludes documents that only others may see.
    fn restrict(&self, clauses: &mut Clauses, sees: &RestrictedAccess, types: &[SearchType]) {
        let has = |kinds: [SearchType; 2]| types.iter().any(|it| kinds.contains(it));
        let hidden = [
            (RESTRICTED_GOALS, !sees.goals && has([SearchType::Goal, SearchType::Tag])),
            (RESTRICTED_CONTENT, !sees.content && has([SearchType::Post, SearchType::Comment])),
        ];
        for (restricted, _) in hidden.into_iter().filter(|(_, is_hidden)| *is_hidden) {
            let mut others = vec![(Occur::Must, term(self.restricted, restricted))];
            if let Some(own) = &sees.own {
                others.push((Occur::MustNot, term(self.owner, &own.to_string())));
            }
            clauses.push((Occur::MustNot, boolean(others)));
        }
    }

    fn class_clauses(&self, request: &HitRequest) -> Clauses {
        let HitRequest { query, class, types, .. } = request;
        let has_names = types.iter().any(|it| it.has_names());
        let must = |query| (Occur::Must, query);
        match class {
            MatchClass::WholeName => vec![must(term(self.whole_names, query.joined()))],
            MatchClass::NameWords => {
                let better = term(self.whole_names, query.joined());
                vec![must(self.name_words(query)), (Occur::MustNot, better)]
            }
            MatchClass::NamePrefixes => {
                vec![must(self.name_prefixes(query)), (Occur::MustNot, self.name_words(query))]
            }
            MatchClass::WholePhrase => {
                let whole = query.whole_phrase().map(|phrase| must(self.phrase(phrase)));
                whole.into_iter().chain(self.unless_named(query, has_names)).collect()
            }
            MatchClass::Words => {
                let mut clauses: Clauses = vec![must(self.phrases(query))];
                let whole = query.whole_phrase().filter(|phrase| is_exact(phrase));
                clauses.extend(whole.map(|phrase| (Occur::MustNot, self.phrase(phrase))));
                clauses.extend(self.unless_named(query, has_names));
                clauses
            }
            MatchClass::NameTypos => {
                let each = query.all_words().map(|word| must(self.name_typos(&word.text)));
                let mut clauses: Clauses = each.collect();
                clauses.push((Occur::MustNot, self.name_prefixes(query)));
                if query.phrases().iter().all(is_exact) {
                    clauses.push((Occur::MustNot, self.phrases(query)));
                }
                clauses
            }
        }
    }

    /// Excludes most of what was found by its name, which comes first.
    fn unless_named(
        &self,
        query: &SearchQuery,
        has_names: bool,
    ) -> Option<(Occur, Box<dyn Query>)> {
        has_names.then(|| (Occur::MustNot, self.name_words(query)))
    }

    fn name_words(&self, query: &SearchQuery) -> Box<dyn Query> {
        let each = query.all_words().map(|word| (Occur::Must, term(self.names, &word.text)));
        boolean(each.collect())
    }

    fn name_prefixes(&self, query: &SearchQuery) -> Box<dyn Query> {
        let each = query.all_words().map(|word| (Occur::Must, prefix(self.names, &word.text)));
        boolean(each.collect())
    }

    fn name_typos(&self, word: &str) -> Box<dyn Query> {
        let (chars, begins) = (word.chars().count(), prefix(self.names, word));
        let typos = typos_max(chars);
        if typos == 0 || chars > TYPO_CHARS_MAX {
            return begins;
        }
        let term = Term::from_field_text(self.names, word);
        let similar = Box::new(FuzzyTermQuery::new(term, typos, true));
        boolean(vec![(Occur::Should, begins), (Occur::Should, similar)])
    }

    fn phrases(&self, query: &SearchQuery) -> Box<dyn Query> {
        let each = query.phrases().iter().map(|phrase| (Occur::Must, self.phrase(phrase)));
        boolean(each.collect())
    }

    fn phrase(&self, phrase: &Phrase) -> Box<dyn Query> {
        let (begins, words): (Vec<_>, Vec<_>) = phrase.iter().partition(|word| word.is_prefix);
        let mut clauses: Clauses =
            begins.into_iter().map(|word| (Occur::Must, prefix(self.text, &word.text))).collect();
        let place = |offset: u32| offset as usize;
        match words.as_slice() {
            [] => {}
            [word] => clauses.push((Occur::Must, term(self.text, &word.text))),
            words => {
                let terms = words
                    .iter()
                    .map(|word| (place(word.offset), Term::from_field_text(self.text, &word.text)));
                let phrase = PhraseQuery::new_with_offset(terms.collect());
                clauses.push((Occur::Must, Box::new(phrase)));
            }
        }
        boolean(clauses)
    }
}

/// Returns whether the index finds exactly the texts with this phrase.
fn is_exact(phrase: &Phrase) -> bool {
    phrase.len() == 1 || phrase.iter().all(|word| !word.is_prefix)
}

fn term(field: Field, text: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
}

fn prefix(field: Field, text: &str) -> Box<dyn Query> {
    Box::new(FuzzyTermQuery::new_prefix(Term::from_field_text(field, text), 0, false))
}

/// Spares a query around a single clause.
fn boolean(mut clauses: Clauses) -> Box<dyn Query> {
    if matches!(clauses.as_slice(), [(Occur::Must | Occur::Should, _)])
        && let Some((_, only)) = clauses.pop()
    {
        return only;
    }
    Box::new(BooleanQuery::new(clauses))
}
