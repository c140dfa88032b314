//! The fields of documents in the index, and their conversion.

use roundtable_domain::{DocumentKey, SearchDocument, SearchType, Word, joined_name, words};
use tantivy::TantivyDocument;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use xxhash_rust::xxh3::xxh3_64;

/// Raise it whenever documents of the same objects would differ: an index of another version is rebuilt.
pub(crate) const VERSION: u32 = 1;

/// The name of the field by which documents are sorted.
pub(crate) const CREATED: &str = "created";
pub(crate) const KEY_HASH: &str = "key_hash";
pub(crate) const DIGEST: &str = "digest";

const WORDS: &str = "words";
const RAW: &str = "raw";
/// Values of the field `restricted`.
pub(crate) const RESTRICTED_GOALS: &str = "goals";
pub(crate) const RESTRICTED_CONTENT: &str = "content";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The text form of the document's key.
    pub(crate) key: Field,
    pub(crate) kind: Field,
    pub(crate) owner: Field,
    /// Present if only the owner, and staff, may see the object.
    pub(crate) restricted: Field,
    /// The words of names.
    pub(crate) names: Field,
    /// Whole names.
    pub(crate) whole_names: Field,
    /// All words, with positions.
    pub(crate) text: Field,
    pub(crate) tag: Field,
    created: Field,
    key_hash: Field,
    digest: Field,
}

impl Fields {
    pub(crate) fn schema() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let indexed = |tokenizer: &str, record| {
            let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer);
            let indexing = indexing.set_index_option(record).set_fieldnorms(false);
            TextOptions::default().set_indexing_options(indexing)
        };
        let (basic, positions) =
            (IndexRecordOption::Basic, IndexRecordOption::WithFreqsAndPositions);
        let fields = Self {
            key: schema.add_text_field("key", indexed(RAW, basic) | STORED),
            kind: schema.add_text_field("kind", indexed(RAW, basic)),
            owner: schema.add_text_field("owner", indexed(RAW, basic)),
            restricted: schema.add_text_field("restricted", indexed(RAW, basic)),
            names: schema.add_text_field("names", indexed(WORDS, basic)),
            whole_names: schema.add_text_field("whole_names", indexed(RAW, basic)),
            text: schema.add_text_field("text", indexed(WORDS, positions)),
            tag: schema.add_text_field("tag", indexed(RAW, basic)),
            created: schema.add_u64_field(CREATED, FAST),
            key_hash: schema.add_u64_field(KEY_HASH, FAST),
            digest: schema.add_u64_field(DIGEST, FAST),
        };
        (schema.build(), fields)
    }

    pub(crate) fn tokenizers() -> TokenizerManager {
        let tokenizers = TokenizerManager::default();
        tokenizers.register(WORDS, TextAnalyzer::from(WordTokenizer));
        tokenizers
    }

    pub(crate) fn document(&self, document: &SearchDocument) -> TantivyDocument {
        let key = document.key.to_string();
        let mut fields = TantivyDocument::new();
        fields.add_u64(self.key_hash, key_hash(&key));
        fields.add_u64(self.digest, digest(document));
        fields.add_text(self.key, key);
        fields.add_text(self.kind, document.key.search_type().as_str());
        fields.add_u64(self.created, document.created_at.ms());
        if let Some(owner) = &document.owner {
            fields.add_text(self.owner, owner.to_string());
        }
        if document.is_restricted {
            let of_goals = matches!(document.key.search_type(), SearchType::Goal | SearchType::Tag);
            let restricted = if of_goals { RESTRICTED_GOALS } else { RESTRICTED_CONTENT };
            fields.add_text(self.restricted, restricted);
        }
        for name in &document.names {
            fields.add_text(self.names, name);
            fields.add_text(self.whole_names, joined_name(name));
        }
        if !document.text.is_empty() {
            fields.add_text(self.text, &document.text);
        }
        if let DocumentKey::Tagged(tagged) = &document.key {
            fields.add_text(self.tag, tagged.tag.fold());
        }
        fields
    }
}

/// The hash that orders documents of the same time, the same in every process.
pub(crate) fn key_hash(key: &str) -> u64 {
    xxh3_64(key.as_bytes())
}

/// A hash of everything that the index has of a document, to compare it with the table.
pub(crate) fn digest(document: &SearchDocument) -> u64 {
    let SearchDocument { key, created_at, names, text, owner, is_restricted } = document;
    let owner = owner.as_ref().map(ToString::to_string);
    let content =
        format!("{key}\n{}\n{names:?}\n{owner:?}\n{is_restricted}\n{text}", created_at.ms());
    xxh3_64(content.as_bytes())
}

/// Divides texts as the domain does.
#[derive(Clone)]
struct WordTokenizer;

struct WordStream {
    words: std::vec::IntoIter<Word>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        WordStream { words: words(text).into_iter(), token: Token::default() }
    }
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        self.token.position = word.position as usize;
        self.token.text = word.text;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
