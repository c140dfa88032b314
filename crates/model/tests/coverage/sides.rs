//! A document's own table beside ours, with the same facts in both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use roundtable_conformance::Reference;
use roundtable_model::Core;
use roundtable_table::{
    Condition, Error, Get, Item, ItemPage, ManualClock, Operand, Put, Query, Scan, SortRange,
    Store, Table, Value, ValueRef, attribute,
};

use crate::documents::{
    Document, DocumentFilter, DocumentOperation, DocumentQuestion, DocumentSort,
};

/// Noon of the day after the documents' examples.
pub(crate) const NOW_MS: u64 = 1_738_065_600_000;

/// The arguments of a query: names and values.
pub(crate) type With<'a> = &'a [(&'a str, &'a str)];

pub(crate) struct Sides {
    document: &'static Document,
    pub(crate) own: Table,
    pub(crate) core: Core,
    asked: Mutex<BTreeSet<&'static str>>,
}

impl Sides {
    /// Creates both tables, each in its own store, because two documents use our table's name.
    pub(crate) async fn of(
        document: &'static Document,
        own_items: Vec<Item>,
        our_items: Vec<Item>,
    ) -> Self {
        let store = || Store::new(Reference::new(Arc::new(ManualClock::at_ms(NOW_MS))));
        let own = store().create_table(document.definition()).await.unwrap();
        let ours = Core::SHAPE.definition(Core::SHAPE.name);
        let core = Core::on(store().create_table(ours).await.unwrap());
        put(&own, own_items).await;
        put(core.table(), our_items).await;
        Self { document, own, core, asked: Mutex::default() }
    }

    /// Returns the first page of the document's table, as the document queries it.
    pub(crate) async fn ask(&self, name: &str, with: With<'_>) -> Vec<Item> {
        let question = self.question(name);
        assert_eq!(question.rejected, None, "{name} is refused as it is written");
        match question.operation {
            DocumentOperation::QueryEach => self.merged(question, with).await,
            DocumentOperation::Get | DocumentOperation::Query | DocumentOperation::Scan => {
                self.page(question, with, None).await.unwrap().items
            }
            DocumentOperation::Put | DocumentOperation::Update | DocumentOperation::Transact => {
                panic!("{name} is a write: do it, and then look")
            }
        }
    }

    /// Returns all pages of the document's table.
    pub(crate) async fn ask_all(&self, name: &str, with: With<'_>) -> Vec<Item> {
        let (question, mut items, mut start) = (self.question(name), Vec::new(), None);
        loop {
            let page = self.page(question, with, start).await.unwrap();
            items.extend(page.items);
            start = page.next;
            if start.is_none() {
                return items;
            }
        }
    }

    /// Returns the error for a query that DynamoDB refuses.
    pub(crate) async fn refusal(&self, name: &str, with: With<'_>) -> Error {
        let question = self.question(name);
        assert!(question.rejected.is_some(), "{name} should be answered");
        self.page(question, with, None).await.unwrap_err()
    }

    /// Returns the query as documented, and records it as exercised.
    pub(crate) fn question(&self, name: &str) -> &'static DocumentQuestion {
        let question = self.document.question(name);
        let question = question.unwrap_or_else(|| panic!("{} asks no {name}", self.document.name));
        self.asked.lock().unwrap().insert(question.name);
        question
    }

    /// Fails unless exactly these queries were exercised.
    pub(crate) fn must_have_asked(&self, names: &[&'static str]) {
        let expected: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(*self.asked.lock().unwrap(), expected, "{}", self.document.name);
    }

    async fn page(
        &self,
        question: &DocumentQuestion,
        with: With<'_>,
        start: Option<roundtable_table::Position>,
    ) -> Result<ItemPage, Error> {
        let filter = question.filter.iter().map(|filter| condition(*filter, with));
        let filter = filter.reduce(Condition::and);
        let projection = question.projection.iter().copied().map(Into::into).collect();
        let index = question.index.map(str::to_owned);
        match question.operation {
            DocumentOperation::Get => {
                let DocumentSort::Is(sort) = question.sort else { panic!("a get has a whole key") };
                let key = (render(question.partition, with), render(sort, with));
                let found = self.own.get(Get { projection, ..Get::new(key) }).await?;
                let items: Vec<Item> = found.item.into_iter().collect();
                let evaluated = items.len();
                Ok(ItemPage { items, next: None, evaluated, capacity: found.capacity })
            }
            DocumentOperation::Scan => {
                let limit = question.limit;
                self.own
                    .scan(Scan {
                        index,
                        limit,
                        start,
                        filter,
                        projection,
                        segment: None,
                        strong: false,
                    })
                    .await
            }
            _ => {
                let sort = match question.sort {
                    DocumentSort::All => SortRange::All,
                    DocumentSort::Is(sort) => SortRange::Equal(render(sort, with).into()),
                    DocumentSort::Begins(prefix) => {
                        SortRange::BeginsWith(render(prefix, with).into())
                    }
                };
                let mut query = Query::new(render(question.partition, with)).sort(sort);
                if question.descending {
                    query = query.descending();
                }
                let limit = question.limit;
                self.own.query(Query { index, limit, start, filter, projection, ..query }).await
            }
        }
    }

    /// Runs one query for each value of a repeated argument, and merges the results as the
    /// document's reader does.
    async fn merged(&self, question: &DocumentQuestion, with: With<'_>) -> Vec<Item> {
        let varies = |name| with.iter().filter(|(other, _)| other == name).count() > 1;
        let (each, fixed): (Vec<_>, Vec<_>) = with.iter().partition(|(name, _)| varies(name));
        let mut items = Vec::new();
        for one in each {
            let with: Vec<_> = fixed.iter().chain([&one]).copied().copied().collect();
            items.extend(self.page(question, &with, None).await.unwrap().items);
        }
        let sort = question.index.map_or_else(|| "SK".to_owned(), |index| format!("{index}SK"));
        items.sort_by_key(|item| item.text(&sort).unwrap().to_owned());
        if question.descending {
            items.reverse();
        }
        items.truncate(question.limit.unwrap_or(usize::MAX));
        items
    }
}

async fn put(table: &Table, items: Vec<Item>) {
    for item in items {
        table.put(Put::new(item)).await.unwrap();
    }
}

/// Returns an item of a document's entity, with the keys of its shape.
pub(crate) fn item_of(document: &Document, entity: &str, given: &Item) -> Item {
    let shape = document.shape(entity);
    let shape = shape.unwrap_or_else(|| panic!("{} has no {entity}", document.name));
    let known = |list: &[crate::documents::DocumentAttribute], name: &str| {
        list.iter().any(|attribute| attribute.name == name)
    };
    let texts: BTreeMap<String, String> =
        given.iter().filter_map(|(name, value)| Some((name.to_owned(), text_of(value)?))).collect();
    let with: Vec<(&str, &str)> = texts.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let mut item = roundtable_table::Attributes::new();
    for key in shape.keys {
        let index = key.index.unwrap_or("");
        let (partition, sort) = (format!("{index}PK"), format!("{index}SK"));
        let values = try_render(key.partition, &with).zip(try_render(key.sort, &with));
        assert!(values.is_some() || key.optional || item.contains_key(&partition), "{entity}");
        if let (Some((p, s)), false) = (values, item.contains_key(&partition)) {
            item.extend([(partition, p.into()), (sort, s.into())]);
        }
    }
    for (name, value) in given {
        if known(shape.attributes, name) || matches!(name, "PK" | "SK" | "type") {
            item.insert(name.to_owned(), value.to_value());
        } else {
            assert!(known(shape.parts, name), "{} knows no {entity}.{name}", document.name);
        }
    }
    if document.typed {
        item.entry("type".to_owned()).or_insert_with(|| entity.into());
    }
    item.into()
}

fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::S(text) => Some(text.to_owned()),
        ValueRef::N(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Fills in a template; `None` if a value is missing.
fn try_render(template: &str, with: With<'_>) -> Option<String> {
    let mut pieces = template.split('{');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let (hole, rest) = piece.split_once('}')?;
        text.push_str(with.iter().find(|(name, _)| *name == hole)?.1);
        text.push_str(rest);
    }
    Some(text)
}

fn render(template: &str, with: With<'_>) -> String {
    try_render(template, with).unwrap_or_else(|| panic!("{template} needs more than {with:?}"))
}

fn condition(filter: DocumentFilter, with: With<'_>) -> Condition {
    let value = |template: &str| Operand::Value(Value::from(render(template, with)));
    match filter {
        DocumentFilter::Is(name, is) => attribute(name).eq(value(is)),
        DocumentFilter::Begins(name, prefix) => Condition::BeginsWith(name.into(), value(prefix)),
        DocumentFilter::Contains(name, member) => Condition::Contains(name.into(), value(member)),
    }
}

/// Returns an attribute of each item.
pub(crate) fn each(items: &[Item], name: &str) -> Vec<String> {
    items.iter().map(|item| item.text(name).unwrap().to_owned()).collect()
}

/// Returns the text after the last `#` of each key, which is the id in the documents' keys.
pub(crate) fn ends(items: &[Item], key: &str) -> Vec<String> {
    let end = |text: String| text.rsplit('#').next().unwrap().to_owned();
    each(items, key).into_iter().map(end).collect()
}

/// Returns the type and id of each item, unordered.
pub(crate) fn kinds_and_ids(items: &[Item]) -> BTreeSet<String> {
    let which = |item: &Item| item.text("id").or(item.text("groupId")).unwrap().to_owned();
    items.iter().map(|item| format!("{} {}", item.text("type").unwrap(), which(item))).collect()
}

pub(crate) fn reversed<T>(mut list: Vec<T>) -> Vec<T> {
    list.reverse();
    list
}

/// An item of a document's entity: `own! { S0, "Goal", "userId" => user, … }`.
macro_rules! own {
    ($document:expr, $entity:literal, $($given:tt)*) => {
        $crate::sides::item_of(&$document, $entity, &::roundtable_table::item! { $($given)* })
    };
}

/// Lists the tests of a document with exactly the queries that each exercises.
macro_rules! covers {
    ($($test:ident: $($question:literal),+;)*) => {
        pub(crate) const COVERED: &[&str] = &[$($($question),+),*];

        mod asks {
            $(#[tokio::test]
            async fn $test() {
                let sides = super::sides().await;
                super::$test(&sides).await;
                sides.must_have_asked(&[$($question),+]);
            })*
        }
    };
}

pub(crate) use {covers, own};
