//! Generates documents and learns from their answers: later documents use the ids, and turn the pages.

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::places::{self, CursorPlace};
use super::replay::{OracleEntry, cursor_name};
use crate::choices::ByteChoices;
use crate::document_writer::{DocumentStyle, PagedList, document};
use crate::documents::corrupt;
use crate::grammar::Grammar;
use crate::populated_town::VIEWERS;
use crate::value_pool::ValuePool;

/// The choices of one document.
const INPUT_BYTES_MAX: usize = 700;
/// Documents before the writable town is replaced, so that a difference has a short history.
const SESSION_MAX: usize = 40;
/// Documents of the writable town between two runs of the processors.
const SETTLE_EVERY: usize = 8;
/// Cursors of one answer that later documents use.
const CURSORS_KEPT: usize = 4;

/// What users do, and subscriptions to it: random arguments rarely change anything. `POST` is a post that
/// was created before.
const ACTIONS: [(&str, &str); 16] = [
    (
        "ana",
        r#"mutation { createPost(input: { content: "hello @bo #running", contentType: text }) { id content hashtags mentions author { nickname postsCount } } }"#,
    ),
    (
        "bo",
        r#"mutation { createPost(input: { content: "bread", contentType: text, visibility: followers }) { id visibility author { nickname } } }"#,
    ),
    (
        "bo",
        r#"mutation { addComment(input: { postId: "POST", content: "well done @ana" }) { id content user { nickname } post { content } } }"#,
    ),
    (
        "mo",
        r#"mutation { a: toggleLike(postId: "POST") { liked post { viewerHasLiked } } b: sharePost(postId: "POST") { shared } }"#,
    ),
    (
        "dee",
        r#"mutation { followUser(followeeId: "bo") { status followee { nickname viewerFollows } } }"#,
    ),
    ("dee", r#"mutation { unfollowUser(followeeId: "bo") { status } }"#),
    (
        "ana",
        r#"mutation { updateProfile(input: { bio: "runs", tags: ["running"] }) { bio tags displayName } }"#,
    ),
    ("ana", r#"mutation { deletePost(id: "POST") { id } }"#),
    (
        "bo",
        "{ getFeed(first: 5) { items { verb previewText post { id content likeCount author { nickname } } } nextToken } }",
    ),
    (
        "bo",
        "subscription { onFeedEntry { activityId verb previewText post { content author { nickname } } } }",
    ),
    (
        "ana",
        "subscription { onNotification { kind nodeId actors { nickname } object { __typename } } }",
    ),
    ("", "subscription { onCreatePost { id content author { nickname viewerFollows } } }"),
    (
        "dee",
        r#"subscription { onToggleLike(postId: "POST") { liked post { likeCount viewerHasLiked } } }"#,
    ),
    (
        "ana",
        r#"subscription { onAddComment(postId: "POST") { id content user { nickname } post { id } } }"#,
    ),
    ("bo", r#"subscription { onFollowUser(followeeId: "bo") { status follower { nickname } } }"#),
    (
        "",
        "subscription { onPostActivity { activityId verb actor { nickname } object { __typename } } }",
    ),
];

pub(crate) struct OracleGenerator {
    grammar: Grammar,
    random: SmallRng,
    /// The ids and cursors of a new town, of the read-only town, and of the writable one.
    new_town: ValuePool,
    read_only: ValuePool,
    writable: ValuePool,
    cursors: usize,
    /// The post that was created last in the writable town.
    post: String,
    /// The documents of the writable town since it is new.
    session: usize,
    /// The next page of the document before.
    next_page: Option<(OracleEntry, Vec<PagedList>)>,
}

impl OracleGenerator {
    pub(crate) fn new(seed: u64, new_town: ValuePool) -> Self {
        Self {
            grammar: Grammar::parse(roundtable_graphql::SDL),
            random: SmallRng::seed_from_u64(seed),
            read_only: new_town.clone(),
            writable: new_town.clone(),
            new_town,
            cursors: 0,
            post: String::new(),
            session: 0,
            next_page: None,
        }
    }

    /// Returns a document without an answer, and its lists that can be paged.
    pub(crate) fn generate(&mut self) -> (OracleEntry, Vec<PagedList>) {
        if let Some(page) = self.next_page.take() {
            return page;
        }
        let writes = self.random.random_ratio(1, 4);
        let renews = writes && self.session >= SESSION_MAX;
        if renews {
            self.session = 0;
            self.post.clear();
            self.writable = self.new_town.clone();
        }
        self.session += usize::from(writes);
        let settles = writes && self.session.is_multiple_of(SETTLE_EVERY);
        let entry = OracleEntry { writes, renews, settles, ..OracleEntry::default() };
        if writes && self.random.random_ratio(1, 3) {
            return (self.action(entry), Vec::new());
        }
        let length = self.random.random_range(10..INPUT_BYTES_MAX);
        let bytes: Vec<u8> = (0..length).map(|_| self.random.random()).collect();
        let mut choices = ByteChoices(&bytes);
        let viewer = *choices.choose(&VIEWERS);
        let style =
            DocumentStyle { only_queries: !writes, mistakes: self.random.random_ratio(1, 3) };
        let value_pool = if writes { &self.writable } else { &self.read_only };
        let mut document = document(&mut choices, &self.grammar, value_pool, style);
        if style.mistakes && self.random.random_ratio(1, 20) {
            corrupt(&mut ByteChoices(&self.random.random::<[u8; 8]>()), &mut document.text);
        }
        let entry = OracleEntry {
            viewer: viewer.to_owned(),
            query: document.text,
            variables: document.variables,
            operation_name: document.operation,
            ..entry
        };
        (entry, document.lists)
    }

    fn action(&mut self, entry: OracleEntry) -> OracleEntry {
        let (viewer, text) = ACTIONS[self.random.random_range(0..ACTIONS.len())];
        let query = text.replace("POST", &self.post);
        OracleEntry { viewer: viewer.to_owned(), query, variables: Value::default(), ..entry }
    }

    /// Names cursors of an answered document, and learns its ids and cursors.
    pub(crate) fn learn(&mut self, entry: &mut OracleEntry, lists: Vec<PagedList>) {
        let named = self.name_cursors(entry);
        let value_pool = if entry.writes { &mut self.writable } else { &mut self.read_only };
        value_pool.learn(&named);
        if let Some(Value::String(post)) = entry.answer.pointer("/data/createPost/id") {
            self.post.clone_from(post);
        }
        let is_query = !entry.query.starts_with("mutation") && !entry.query.starts_with("sub");
        if !is_query || lists.is_empty() || !self.random.random_ratio(2, 3) {
            return;
        }
        let list = &lists[self.random.random_range(0..lists.len())];
        let Some(at) = places::end_of_list(&entry.answer, &list.path) else { return };
        let name = self.name(entry, at);
        let mut next = entry.clone();
        next.variables[&list.variable] = name.into();
        next.cursors.clear();
        (next.answer, next.events) = (Value::Null, Vec::new());
        (next.renews, next.settles) = (false, false);
        self.next_page = Some((next, lists));
    }

    /// Names some cursors of an answer. Returns the answer with the names of these, without any others.
    fn name_cursors(&mut self, entry: &mut OracleEntry) -> Value {
        let mut found = places::cursors(&entry.answer);
        while found.len() > CURSORS_KEPT {
            found.swap_remove(self.random.random_range(0..found.len()));
        }
        for at in found {
            self.name(entry, at);
        }
        let mut named = entry.answer.clone();
        places::replace_cursors(&mut named, &|_| Value::Null);
        for (name, at) in &entry.cursors {
            if let Some(value) = named.pointer_mut(at) {
                *value = name.clone().into();
            }
        }
        named
    }

    fn name(&mut self, entry: &mut OracleEntry, at: CursorPlace) -> String {
        let known = entry.cursors.iter().find(|(_, place)| **place == at);
        if let Some((name, _)) = known {
            return name.clone();
        }
        self.cursors += 1;
        let name = cursor_name(self.cursors);
        entry.cursors.insert(name.clone(), at);
        name
    }
}
