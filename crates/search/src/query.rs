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

type Clauses = Vec<Box<dyn Query>>;

/// Documents that are wanted, except others. The index could exclude the latter itself, but only those that
/// its scorers seek backwards for, which phrases do not support.
pub(crate) struct FilteredQuery {
    pub(crate) wanted: Box<dyn Query>,
    pub(crate) unwanted: Option<Box<dyn Query>>,
}

impl FilteredQuery {
    fn new(wanted: Clauses, unwanted: Clauses) -> Self {
        let unwanted = (!unwanted.is_empty()).then(|| any(unwanted));
        Self { wanted: all(wanted), unwanted }
    }
}

impl Fields {
    /// Returns the query of a class of hits.
    pub(crate) fn hit_query(&self, request: &HitRequest) -> FilteredQuery {
        let (mut wanted, mut unwanted) = self.class_clauses(request);
        if request.types.len() < SearchType::ALL.len() - 1 {
            wanted.push(any(request.types.iter().map(|it| term(self.kind, it.as_str())).collect()));
        }
        unwanted.extend(self.restricted(&request.sees, &request.types));
        FilteredQuery::new(wanted, unwanted)
    }

    pub(crate) fn tagged_query(&self, request: &TaggedRequest) -> FilteredQuery {
        let wanted = vec![term(self.tag, &request.tag.fold())];
        FilteredQuery::new(wanted, self.restricted(&request.sees, &[SearchType::Tag]))
    }

    /// Returns queries of the documents that only others may see.
    fn restricted(&self, sees: &RestrictedAccess, types: &[SearchType]) -> Clauses {
        let has = |kinds: [SearchType; 2]| types.iter().any(|it| kinds.contains(it));
        let hidden = [
            (RESTRICTED_GOALS, !sees.goals && has([SearchType::Goal, SearchType::Tag])),
            (RESTRICTED_CONTENT, !sees.content && has([SearchType::Post, SearchType::Comment])),
        ];
        let hidden = hidden.into_iter().filter(|(_, is_hidden)| *is_hidden);
        let others = hidden.map(|(restricted, _)| {
            let restricted = term(self.restricted, restricted);
            let Some(own) = &sees.own else { return restricted };
            let own = term(self.owner, &own.to_string());
            Box::new(BooleanQuery::new(vec![(Occur::Must, restricted), (Occur::MustNot, own)]))
        });
        others.collect()
    }

    /// Returns what matches in this way, and what matches in a better one.
    fn class_clauses(&self, request: &HitRequest) -> (Clauses, Clauses) {
        let HitRequest { query, class, types, .. } = request;
        let has_names = types.iter().any(|it| it.has_names());
        // Most of what is found by its name, which comes first.
        let named = || has_names.then(|| self.name_words(query)).into_iter();
        match class {
            MatchClass::WholeName => (vec![term(self.whole_names, query.joined())], Vec::new()),
            MatchClass::NameWords => {
                let better = term(self.whole_names, query.joined());
                (vec![self.name_words(query)], vec![better])
            }
            MatchClass::NamePrefixes => {
                (vec![self.name_prefixes(query)], vec![self.name_words(query)])
            }
            MatchClass::WholePhrase => {
                let whole = query.whole_phrase().map(|phrase| self.phrase(phrase));
                (whole.into_iter().collect(), named().collect())
            }
            MatchClass::Words => {
                let whole = query.whole_phrase().filter(|phrase| is_exact(phrase));
                let whole = whole.map(|phrase| self.phrase(phrase));
                (vec![self.phrases(query)], whole.into_iter().chain(named()).collect())
            }
            MatchClass::NameTypos => {
                let each = query.all_words().map(|word| self.name_typos(&word.text));
                let in_text = query.phrases().iter().all(is_exact).then(|| self.phrases(query));
                let better = std::iter::once(self.name_prefixes(query)).chain(in_text);
                (each.collect(), better.collect())
            }
        }
    }

    fn name_words(&self, query: &SearchQuery) -> Box<dyn Query> {
        all(query.all_words().map(|word| term(self.names, &word.text)).collect())
    }

    fn name_prefixes(&self, query: &SearchQuery) -> Box<dyn Query> {
        all(query.all_words().map(|word| prefix(self.names, &word.text)).collect())
    }

    fn name_typos(&self, word: &str) -> Box<dyn Query> {
        let (chars, begins) = (word.chars().count(), prefix(self.names, word));
        let typos = typos_max(chars);
        if typos == 0 || chars > TYPO_CHARS_MAX {
            return begins;
        }
        let term = Term::from_field_text(self.names, word);
        let similar = Box::new(FuzzyTermQuery::new(term, typos, true));
        any(vec![begins, similar])
    }

    fn phrases(&self, query: &SearchQuery) -> Box<dyn Query> {
        all(query.phrases().iter().map(|phrase| self.phrase(phrase)).collect())
    }

    fn phrase(&self, phrase: &Phrase) -> Box<dyn Query> {
        let (begins, words): (Vec<_>, Vec<_>) = phrase.iter().partition(|word| word.is_prefix);
        let begins = begins.into_iter().map(|word| prefix(self.text, &word.text));
        let mut clauses: Clauses = begins.collect();
        let place = |offset: u32| offset as usize;
        match words.as_slice() {
            [] => {}
            [word] => clauses.push(term(self.text, &word.text)),
            words => {
                let terms = words
                    .iter()
                    .map(|word| (place(word.offset), Term::from_field_text(self.text, &word.text)));
                clauses.push(Box::new(PhraseQuery::new_with_offset(terms.collect())));
            }
        }
        all(clauses)
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

fn all(clauses: Clauses) -> Box<dyn Query> {
    boolean(Occur::Must, clauses)
}

fn any(clauses: Clauses) -> Box<dyn Query> {
    boolean(Occur::Should, clauses)
}

/// Spares a query around a single clause.
fn boolean(occur: Occur, mut clauses: Clauses) -> Box<dyn Query> {
    if clauses.len() == 1
        && let Some(only) = clauses.pop()
    {
        return only;
    }
    Box::new(BooleanQuery::new(clauses.into_iter().map(|clause| (occur, clause)).collect()))
}
