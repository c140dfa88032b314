//! What fields do is known by their names, and so are errors about the schema.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::future::poll_fn;
use std::sync::Mutex;
use std::task::Poll;

use futures::executor::block_on;
use roundtable_execution::{
    Added, Arguments, BoxFuture, Column, Context, Documents, FieldError, Leaf, List, Object,
    Output, PageSizes, QueryLimits, Request, Schema, SharedValue, SharedValues, Writer,
    current_field, execute, join, read_shared_value, shared_value, unknown_edge, unknown_leaf,
    write_leaf,
};
use serde_json::{Value, json};

const SDL: &str = "
    type Query { people: [Person!]!  others: [Person!]! }
    type Person { name: String!  best: Person!  worst: Person!  likes: Int!  shares: Int! }
";

enum Int {}
enum PersonType {}

impl Leaf<Int> for u32 {
    fn write(&self, out: &mut Writer) {
        out.value(self);
    }
}

/// Records every read with the field that is running then.
#[derive(Default)]
struct Reads {
    traces_fields: bool,
    fields: Mutex<Vec<(&'static str, Option<String>)>>,
}

impl Context for Reads {
    fn traces_fields(&self) -> bool {
        self.traces_fields
    }
}

impl Reads {
    /// Reads something, after others have had a turn.
    async fn read(&self, what: &'static str) {
        let mut turns = 0;
        poll_fn(|context| {
            turns += 1;
            if turns > 3 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        let field = current_field().map(|field| format!("{} {}", field.path, field.field));
        self.fields.lock().unwrap().push((what, field));
    }
}

#[derive(Clone)]
struct Person;

impl Output<PersonType, Reads> for Person {
    fn add_to(self, column: &mut Column<Reads>) -> Added {
        column.add_object("Person", self)
    }
}

struct Likes(u32);
struct Shares(u32);

impl SharedValue<Person> for Likes {
    async fn read(people: &[Person], reads: &Reads) -> Result<Vec<Self>, FieldError> {
        reads.read("likes").await;
        Ok(people.iter().map(|_| Self(1)).collect())
    }
}

impl SharedValue<Person> for Shares {
    async fn read(people: &[Person], reads: &Reads) -> Result<Vec<Self>, FieldError> {
        reads.read("shares").await;
        Ok(people.iter().map(|_| Self(2)).collect())
    }
}

impl Object for Person {
    type Context = Reads;
    type SharedValues = (SharedValues<Likes>, SharedValues<Shares>);

    fn read_shared_values<'a>(
        people: &'a [Self],
        reads: &'a Reads,
        fields: &'a [u16],
    ) -> BoxFuture<'a, Self::SharedValues> {
        let field = |wanted| fields.iter().copied().find(|field| *field == wanted);
        Box::pin(async move {
            join!(
                read_shared_value::<Self, Likes>(people, reads, field(3)),
                read_shared_value::<Self, Shares>(people, reads, field(4)),
            )
        })
    }

    fn read_edge<'a>(
        people: &'a [Self],
        reads: &'a Reads,
        field: u16,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Column<Reads>> {
        Box::pin(async move {
            reads.read(if field == 1 { "best" } else { "worst" }).await;
            Column::of::<PersonType, _>(people.iter().cloned())
        })
    }

    fn write_leaf(
        &self,
        row: usize,
        shared_values: &Self::SharedValues,
        _: &Reads,
        field: u16,
        out: &mut Writer,
    ) -> Result<(), FieldError> {
        match field {
            3 => write_leaf::<Int, _>(&shared_value(&shared_values.0, row)?.0, out),
            4 => write_leaf::<Int, _>(&shared_value(&shared_values.1, row)?.0, out),
            _ => Err(unknown_leaf()),
        }
    }
}

struct Root;

impl Object for Root {
    type Context = Reads;
    type SharedValues = ();

    fn read_shared_values<'a>(_: &'a [Self], _: &'a Reads, _: &'a [u16]) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    fn read_edge<'a>(
        _: &'a [Self],
        reads: &'a Reads,
        field: u16,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Column<Reads>> {
        if field > 1 {
            return unknown_edge(1);
        }
        Box::pin(async move {
            reads.read("people").await;
            Column::of::<List<PersonType>, _>([vec![Person, Person]])
        })
    }

    fn write_leaf(
        &self,
        _: usize,
        (): &(),
        _: &Reads,
        _: u16,
        _: &mut Writer,
    ) -> Result<(), FieldError> {
        Err(unknown_leaf())
    }
}

fn answer(reads: &Reads, query: &str, variables: &Value) -> Value {
    let schema = Schema::parse(SDL, PageSizes::default()).unwrap();
    let documents = Documents::new(schema, QueryLimits::default());
    let body = json!({ "query": query, "variables": variables });
    let request: Request = serde_json::from_value(body).unwrap();
    let prepared = documents.prepare(request).unwrap();
    let answer = block_on(execute(&documents, &prepared, reads, Root));
    serde_json::from_slice(answer.json()).unwrap()
}

/// Sibling edges and shared values take turns: each read still has the name of its own field.
#[test]
fn reads_have_the_names_of_their_fields() {
    let reads = Reads { traces_fields: true, ..Reads::default() };
    let query = "query($no: Boolean!) {
        people { best { likes worst { shares } } worst { n: likes } a: likes shares }
        mine: others { x: best @skip(if: $no) { likes } y: best { likes } }
    }";
    let answer = answer(&reads, query, &json!({ "no": true }));
    assert_eq!(answer["errors"], Value::Null, "{answer}");
    assert_eq!(current_field(), None);
    let mut fields = reads.fields.into_inner().unwrap();
    fields.sort();
    let named = |what: &'static str, field: &str| (what, Some(field.to_owned()));
    let expected = [
        named("best", "mine.y Person.best"),
        named("best", "people.best Person.best"),
        named("likes", "mine.y.likes Person.likes"),
        named("likes", "people.a Person.likes"),
        named("likes", "people.best.likes Person.likes"),
        named("likes", "people.worst.n Person.likes"),
        named("people", "mine Query.others"),
        named("people", "people Query.people"),
        named("shares", "people.best.worst.shares Person.shares"),
        named("shares", "people.shares Person.shares"),
        named("worst", "people.best.worst Person.worst"),
        named("worst", "people.worst Person.worst"),
    ];
    let mut expected = expected.to_vec();
    expected.sort();
    // `x` and `y` share a read, which has the name of the one that is asked for.
    assert_eq!(fields, expected);
}

#[test]
fn nothing_is_named_unless_the_context_asks_for_it() {
    let reads = Reads::default();
    answer(&reads, "{ people { best { likes } } }", &json!({}));
    let fields = reads.fields.into_inner().unwrap();
    assert_eq!(fields, [("people", None), ("best", None), ("likes", None)]);
}

/// An error below `__schema` or `__type` is listed like that of any other field.
#[test]
fn errors_about_the_schema_are_listed() {
    let query =
        "query($name: String = \"Person\") { __type(name: $name) { name } people { likes } }";
    let found = answer(&Reads::default(), query, &json!({}));
    assert_eq!(found["data"]["__type"]["name"], "Person");
    assert_eq!(found["errors"], Value::Null);
    let failed = answer(&Reads::default(), query, &json!({ "name": null }));
    assert_eq!(failed["data"]["__type"], Value::Null);
    assert_eq!(failed["data"]["people"].as_array().map(Vec::len), Some(2), "{failed}");
    let error = &failed["errors"][0];
    assert_eq!(error["path"], json!(["__type"]), "{failed}");
    assert_eq!(error["errorType"], "BAD_REQUEST", "{failed}");
    assert_eq!(failed["errors"].as_array().map(Vec::len), Some(1), "{failed}");
}
