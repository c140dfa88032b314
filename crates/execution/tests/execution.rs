//! Answers to documents on a small schema, whose resolvers are written by hand.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use roundtable_execution::{
    Added, Arguments, BoxFuture, Column, Context, Documents, FieldError, Input, InputError,
    JsonMap, JsonValue, Leaf, List, Nullable, Object, Output, PageSizes, QueryLimits, Request,
    Schema, SharedValue, SharedValues, Writer, execute, join, join_all, read_shared_value, ready,
    shared_value, unknown_edge, unknown_leaf, write_leaf,
};

const SDL: &str = "
    type Query { person(name: String!): Person  people: [Person!]!  maybe: [Person]!  add(a: Int! b: Int = 2): Int!  broken: Person  any: [Any!]! }
    type Mutation { rename(name: String!): Person! }
    interface Named { name: String! }
    union Any = Person | Pet
    type Person implements Named { name: String!  age: Int  friends: [Person!]!  best: Person  pet: Pet!  likes: Int! secret: String  strict: String! }
    type Pet implements Named { name: String! owner: Person }
";

/// The types of the schema.
enum Text {}
enum Int {}
enum PersonType {}
enum PetType {}
enum AnyType {}

impl Leaf<Text> for str {
    fn write(&self, out: &mut Writer) {
        out.text(self);
    }
}

impl Leaf<Int> for u32 {
    fn write(&self, out: &mut Writer) {
        out.value(self);
    }
}

impl Input<Text> for String {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        value.as_str().map(Into::into).ok_or_else(|| InputError::new("expected a text"))
    }
}

impl Input<Int> for u32 {
    fn read(value: &JsonValue) -> Result<Self, InputError> {
        let number = value.as_u64().and_then(|number| Self::try_from(number).ok());
        number.ok_or_else(|| InputError::new("expected a small number"))
    }
}

impl Context for Reads {}

/// Counts reads, which must not grow with the number of items.
#[derive(Default)]
struct Reads {
    best: AtomicUsize,
    likes: AtomicUsize,
    renamed: AtomicUsize,
}

#[derive(Clone)]
struct Person(&'static str);

struct Pet(&'static str);

enum Any {
    Person(Person),
    Pet(Pet),
}

impl Output<PersonType, Reads> for Person {
    fn add_to(self, column: &mut Column<Reads>) -> Added {
        column.add_object("Person", self)
    }
}

impl Output<PetType, Reads> for Pet {
    fn add_to(self, column: &mut Column<Reads>) -> Added {
        column.add_object("Pet", self)
    }
}

impl Output<AnyType, Reads> for Any {
    fn add_to(self, column: &mut Column<Reads>) -> Added {
        match self {
            Self::Person(person) => person.add_to(column),
            Self::Pet(pet) => pet.add_to(column),
        }
    }
}

struct Likes(u32);

impl SharedValue<Person> for Likes {
    async fn read(people: &[Person], reads: &Reads) -> Result<Vec<Self>, FieldError> {
        reads.likes.fetch_add(1, Ordering::Relaxed);
        Ok(people.iter().map(|person| Self(u32::try_from(person.0.len()).unwrap())).collect())
    }
}

fn refused(message: &str) -> FieldError {
    FieldError { code: "FORBIDDEN", message: message.into() }
}

impl Object for Person {
    type Context = Reads;
    type SharedValues = (SharedValues<Likes>,);

    fn read_shared_values<'a>(
        people: &'a [Self],
        reads: &'a Reads,
        fields: &'a [u16],
    ) -> BoxFuture<'a, Self::SharedValues> {
        Box::pin(async move {
            let needed_by = fields.contains(&5).then_some(5);
            join!(read_shared_value::<Self, Likes>(people, reads, needed_by),)
        })
    }

    fn read_edge<'a>(
        people: &'a [Self],
        reads: &'a Reads,
        field: u16,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Column<Reads>> {
        match field {
            2 => {
                let friends = people.iter().map(|_| vec![Self("bo"), Self("cy")]);
                ready(Column::of::<List<PersonType>, _>(friends))
            }
            3 => {
                reads.best.fetch_add(1, Ordering::Relaxed);
                let best = people.iter().map(|person| (person.0 == "ana").then_some(Self("bo")));
                ready(Column::of_batch::<Nullable<PersonType>, _>(people.len(), Ok(best.collect())))
            }
            4 => {
                let pet = |person: &Self| match person.0 {
                    "cy" => Err(refused("cy shows no pet")),
                    _ => Ok(Pet("rex")),
                };
                ready(Column::of::<PetType, _>(people.iter().map(pet)))
            }
            _ => unknown_edge(people.len()),
        }
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
            0 => write_leaf::<Text, _>(&self.0, out),
            1 => write_leaf::<Nullable<Int>, Option<u32>>(&None, out),
            5 => write_leaf::<Int, _>(&shared_value(&shared_values.0, row)?.0, out),
            6 | 7 => Err(refused("that is a secret")),
            _ => Err(unknown_leaf()),
        }
    }
}

impl Object for Pet {
    type Context = Reads;
    type SharedValues = ();

    fn read_shared_values<'a>(_: &'a [Self], _: &'a Reads, _: &'a [u16]) -> BoxFuture<'a, ()> {
        ready(())
    }

    fn read_edge<'a>(
        pets: &'a [Self],
        _: &'a Reads,
        _: u16,
        _: &'a Arguments,
    ) -> BoxFuture<'a, Column<Reads>> {
        ready(Column::of::<Nullable<PersonType>, _>(pets.iter().map(|_| Some(Person("ana")))))
    }

    fn write_leaf(
        &self,
        _: usize,
        (): &(),
        _: &Reads,
        _: u16,
        out: &mut Writer,
    ) -> Result<(), FieldError> {
        write_leaf::<Text, _>(&self.0, out)
    }
}

struct Root;

impl Object for Root {
    type Context = Reads;
    type SharedValues = ();

    fn read_shared_values<'a>(_: &'a [Self], _: &'a Reads, _: &'a [u16]) -> BoxFuture<'a, ()> {
        ready(())
    }

    fn read_edge<'a>(
        _: &'a [Self],
        reads: &'a Reads,
        field: u16,
        arguments: &'a Arguments,
    ) -> BoxFuture<'a, Column<Reads>> {
        match field {
            // Of the mutation, it is `rename`.
            0 => Box::pin(async move {
                let read = async {
                    let name: String = arguments.read::<Text, _>(0, "name")?;
                    reads.renamed.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, FieldError>((name != "nobody").then_some(Person("ana")))
                };
                Column::of::<Nullable<PersonType>, _>(join_all([read]).await)
            }),
            1 => ready(Column::of::<List<PersonType>, _>([vec![Person("ana"), Person("cy")]])),
            2 => {
                let people = vec![Ok(Some(Person("ana"))), Ok(None), Err(refused("not you"))];
                ready(Column::of::<List<Nullable<PersonType>>, _>([people]))
            }
            3 => {
                let sum = || {
                    let a = arguments.read::<Int, u32>(0, "a")?;
                    Ok(a + arguments.read::<Nullable<Int>, Option<u32>>(1, "b")?.unwrap_or(100))
                };
                ready(Column::of_leaves::<Int, u32>([sum()]))
            }
            4 => ready(Column::failed(1, &refused("broken"))),
            5 => {
                let any = vec![Any::Pet(Pet("rex")), Any::Person(Person("ana"))];
                ready(Column::of::<List<AnyType>, _>([any]))
            }
            _ => unknown_edge(1),
        }
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

fn answer_with(document: &str, variables: &str, reads: &Reads) -> String {
    let documents = documents(QueryLimits::default());
    let variables: JsonMap = serde_json::from_str(variables).unwrap();
    let request = Request { variables, ..Request::from(document) };
    let prepared = documents.prepare(request).unwrap();
    let answer = block_on(execute(&documents, &prepared, reads, Root));
    String::from_utf8(answer.into_json()).unwrap()
}

fn documents(limits: QueryLimits) -> Documents {
    Documents::new(Schema::parse(SDL, PageSizes::default()).unwrap(), limits)
}

fn answer(document: &str) -> String {
    answer_with(document, "{}", &Reads::default())
}

/// Keys are in the order of the document, and equal ones are merged.
#[test]
fn keys_are_in_the_order_of_the_document() {
    let document =
        "{ people { likes ...A age __typename } } fragment A on Person { name likes: likes }";
    let expected = r#"{"data":{"people":[{"likes":3,"name":"ana","age":null,"__typename":"Person"},{"likes":2,"name":"cy","age":null,"__typename":"Person"}]}}"#;
    assert_eq!(answer(document), expected);
}

#[test]
fn a_read_serves_all_objects_and_all_aliases() {
    let reads = Reads::default();
    let document = "{ people { a: best { name } b: best { likes } likes l: likes } }";
    let expected = r#"{"data":{"people":[{"a":{"name":"bo"},"b":{"likes":2},"likes":3,"l":3},{"a":null,"b":null,"likes":2,"l":2}]}}"#;
    assert_eq!(answer_with(document, "{}", &reads), expected);
    assert_eq!(reads.best.into_inner(), 1);
    // Of the people, and of the best friends.
    assert_eq!(reads.likes.into_inner(), 2);
}

/// A null takes the nearest object that may be null (6.4.4).
#[test]
fn nulls_propagate_to_the_nearest_nullable_parent() {
    let secret = r#"{"message":"that is a secret","errorType":"FORBIDDEN","locations":[{"line":1,"column":39}],"path":["person","secret"],"extensions":{"code":"FORBIDDEN"}}"#;
    assert_eq!(
        answer(r#"{ person(name: "ana") { best { name } secret } }"#),
        format!(
            r#"{{"data":{{"person":{{"best":{{"name":"bo"}},"secret":null}}}},"errors":[{secret}]}}"#
        ),
    );
    let strict = answer(r#"{ person(name: "ana") { name best { strict } } }"#);
    assert!(
        strict.starts_with(r#"{"data":{"person":{"name":"ana","best":null}},"errors":"#),
        "{strict}"
    );
    let root = answer("{ people { name strict } }");
    assert!(root.starts_with(r#"{"data":null,"errors":"#), "{root}");
    let pets = answer("{ maybe { name pet { name } } }");
    let expected = r#"{"data":{"maybe":[{"name":"ana","pet":{"name":"rex"}},null,null]},"errors":[{"message":"not you""#;
    assert!(pets.starts_with(expected), "{pets}");
    assert!(pets.contains(r#""path":["maybe",2]"#), "{pets}");
}

#[test]
fn skipped_fields_are_neither_read_nor_written() {
    let document = "query($x: Boolean!) { people { name best @include(if: $x) { name } likes @skip(if: $x) } }";
    let reads = Reads::default();
    let without = r#"{"data":{"people":[{"name":"ana","likes":3},{"name":"cy","likes":2}]}}"#;
    assert_eq!(answer_with(document, r#"{"x":false}"#, &reads), without);
    assert_eq!(reads.best.load(Ordering::Relaxed), 0);
    let with =
        r#"{"data":{"people":[{"name":"ana","best":{"name":"bo"}},{"name":"cy","best":null}]}}"#;
    assert_eq!(answer_with(document, r#"{"x":true}"#, &reads), with);
    assert_eq!(reads.likes.load(Ordering::Relaxed), 1);
    // A field that is selected twice is there if either condition holds, with what that one selects.
    let document = "query($x: Boolean!) { person(name: \"a\") { best @skip(if: $x) { likes } best { name } } }";
    assert_eq!(
        answer_with(document, r#"{"x":true}"#, &reads),
        r#"{"data":{"person":{"best":{"name":"bo"}}}}"#
    );
    assert_eq!(
        answer_with(document, r#"{"x":false}"#, &reads),
        r#"{"data":{"person":{"best":{"likes":2,"name":"bo"}}}}"#,
    );
}

/// Both aliases share one edge, whose objects are read for one of them.
#[test]
fn what_a_skipped_alias_selects_is_not_read_for_another() {
    let document = "query($x: Boolean!) { person(name: \"a\") { \
        a: best @skip(if: $x) { likes best { name } } b: best { name } } }";
    let reads = Reads::default();
    let without = r#"{"data":{"person":{"b":{"name":"bo"}}}}"#;
    assert_eq!(answer_with(document, r#"{"x":true}"#, &reads), without);
    assert_eq!(reads.best.load(Ordering::Relaxed), 1);
    assert_eq!(reads.likes.load(Ordering::Relaxed), 0);
    let with = answer_with(document, r#"{"x":false}"#, &reads);
    assert!(with.contains(r#""a":{"likes":2,"best":"#), "{with}");
    assert_eq!(reads.likes.load(Ordering::Relaxed), 1);
}

#[test]
fn unions_and_interfaces_select_by_type() {
    let document = "{ any { __typename ... on Named { name } ... on Pet { owner { name } } ... on Person { likes } } }";
    let expected = r#"{"data":{"any":[{"__typename":"Pet","name":"rex","owner":{"name":"ana"}},{"__typename":"Person","name":"ana","likes":3}]}}"#;
    assert_eq!(answer(document), expected);
}

#[test]
fn arguments_are_constants_variables_or_defaults() {
    assert_eq!(answer("{ add(a: 1) }"), r#"{"data":{"add":3}}"#);
    assert_eq!(answer("{ add(a: 1, b: null) }"), r#"{"data":{"add":101}}"#);
    let reads = Reads::default();
    let document = "query($a: Int!, $b: Int) { add(a: $a, b: $b) }";
    assert_eq!(answer_with(document, r#"{"a":5,"b":6}"#, &reads), r#"{"data":{"add":11}}"#);
    assert_eq!(answer_with(document, r#"{"a":5}"#, &reads), r#"{"data":{"add":7}}"#);
    let negative = answer("{ add(a: -1) }");
    assert!(
        negative.contains("a: expected a small number") && negative.contains("BAD_REQUEST"),
        "{negative}"
    );
}

/// Mutations are executed one after the other, even equal ones under two names.
#[test]
fn every_mutation_is_executed() {
    let reads = Reads::default();
    let document = r#"mutation { a: rename(name: "x") { name } b: rename(name: "x") { name } }"#;
    let expected = r#"{"data":{"a":{"name":"ana"},"b":{"name":"ana"}}}"#;
    assert_eq!(answer_with(document, "{}", &reads), expected);
    assert_eq!(reads.renamed.into_inner(), 2);
}

#[test]
fn the_schema_describes_itself() {
    let found = answer(r#"{ n: __typename __type(name: "Pet") { fields { name } } add(a: 1) }"#);
    let expected =
        r#"{"data":{"n":"Query","__type":{"fields":[{"name":"name"},{"name":"owner"}]},"add":3}}"#;
    assert_eq!(found, expected);
}

#[test]
fn wrong_documents_and_variables_are_refused() {
    let documents = documents(QueryLimits::default());
    let error = documents.prepare("{ nobody }".into()).unwrap_err();
    assert!(error.message.contains("nobody"), "{error:?}");
    assert_eq!(error.location.map(|at| (at.line, at.column)), Some((1, 3)));
    let error = documents.prepare("{ people { nam } }".into()).unwrap_err();
    assert!(error.message.contains("nam"), "{error:?}");
    for variables in ["{}", r#"{"a":null}"#, r#"{"a":"1"}"#] {
        let variables: JsonMap = serde_json::from_str(variables).unwrap();
        let request = Request { variables, ..Request::from("query($a: Int!) { add(a: $a) }") };
        let error = documents.prepare(request).unwrap_err();
        assert!(error.message.contains('a'), "{error:?}");
        assert_eq!(error.code, "BAD_REQUEST");
    }
}

fn refusal(document: &str) -> (&'static str, String) {
    let error = documents(QueryLimits::default()).prepare(document.into()).unwrap_err();
    (error.code, error.message)
}

/// Validation must see nothing that was not measured: it takes exponential time on such documents.
#[test]
fn fragments_that_hide_their_size_are_refused() {
    let person = |name: &str, inside: &str| {
        format!("fragment {name} on Person {{ friends {{ {inside} }} best {{ {inside} }} }}")
    };
    let chain = (0..40).map(|n| person(&format!("F{n}"), &format!("...F{}", n + 1)));
    let chain: Vec<String> = chain.collect();
    let decoys = (0..=40).map(|n| format!("fragment F{n} on Person {{ name }}"));
    let decoys: Vec<String> = decoys.collect();
    let twice = format!("{{ people {{ ...F0 }} }} {} {}", chain.join(" "), decoys.join(" "));
    assert_eq!(refusal(&twice), ("BAD_REQUEST", "the fragment F0 is defined twice".into()));
    let recursive = format!("{{ people {{ ...A }} }} {}", person("A", "...A"));
    assert_eq!(refusal(&recursive), ("BAD_REQUEST", "the fragment A contains itself".into()));
    let long = format!("{{ people {{ ...F0 }} }} {} {}", chain.join(" "), decoys[40]);
    assert_eq!(refusal(&long).0, "TOO_COMPLEX");
}

/// The parser and our count disagree about strings that contain a line break.
#[test]
fn tokens_hidden_in_strings_are_counted() {
    let hidden = format!("{{ person(name:\"\n\") {} }}", "id ".repeat(300_000));
    let documents = documents(QueryLimits::default());
    assert!(documents.prepare(hidden.as_str().into()).is_err());
}

#[test]
fn the_schema_is_described_a_few_times_at_most() {
    let ask = |times: usize| {
        let fields = (0..times).map(|n| format!("a{n}: __schema {{ queryType {{ name }} }}"));
        format!("{{ {} }}", fields.collect::<Vec<_>>().join(" "))
    };
    assert!(documents(QueryLimits::default()).prepare(ask(5).as_str().into()).is_ok());
    assert_eq!(refusal(&ask(6)).0, "TOO_COMPLEX");
}

/// A field has a node for each of its types, so that a short document can have a large plan.
#[test]
fn a_plan_with_too_many_parts_is_refused() {
    let chain = (0..14).map(|n| {
        let next = format!("...F{}", n + 1);
        format!("fragment F{n} on Person {{ friends {{ {next} }} best {{ {next} }} }}")
    });
    let chain = chain.collect::<Vec<_>>().join(" ");
    let document = format!("{{ people {{ ...F0 }} }} {chain} fragment F14 on Person {{ name }}");
    let limits = QueryLimits { cost_max: u64::MAX, depth_max: 100, ..QueryLimits::default() };
    let error = documents(limits).prepare(document.as_str().into()).unwrap_err();
    assert!(error.message.contains("counted for each type"), "{error:?}");
}

#[test]
fn a_long_answer_is_refused() {
    let limits = QueryLimits { answer_bytes_max: 100, ..QueryLimits::default() };
    let documents = documents(limits);
    let answer = |document: &str| {
        let prepared = documents.prepare(document.into()).unwrap();
        let answer = block_on(execute(&documents, &prepared, &Reads::default(), Root));
        String::from_utf8(answer.into_json()).unwrap()
    };
    assert_eq!(answer("{ add(a: 1) }"), r#"{"data":{"add":3}}"#);
    let long = answer("{ people { friends { friends { friends { name } } } } }");
    let expected = r#"{"data":null,"errors":[{"message":"the answer is longer than 100 bytes"#;
    assert!(long.starts_with(expected) && long.contains("TOO_COMPLEX"), "{long}");
}

/// A field may fail often, and each error has its whole path.
#[test]
fn errors_count_as_part_of_the_answer() {
    let limits = QueryLimits { answer_bytes_max: 2_000, ..QueryLimits::default() };
    let documents = documents(limits);
    let answer = |fields: usize| {
        let fields = (0..fields).map(|number| format!("a{number}: secret "));
        let document = format!("{{ people {{ {} }} }}", fields.collect::<String>());
        let prepared = documents.prepare(document.as_str().into()).unwrap();
        block_on(execute(&documents, &prepared, &Reads::default(), Root))
    };
    assert_eq!(answer(5).error_codes(), ["FORBIDDEN"; 10]);
    let long = answer(40);
    assert_eq!(long.error_codes(), ["TOO_COMPLEX"]);
    assert!(long.json().len() < 500, "{} bytes", long.json().len());
}

/// What waits for its client counts with the memory that it takes.
#[test]
fn an_answer_has_no_more_room_than_twice_its_length() {
    let default = QueryLimits::default().answer_bytes_max;
    let answer = |bytes_max: usize, document: &str| {
        let limits =
            QueryLimits { answer_bytes_max: bytes_max, aliases_max: 600, ..QueryLimits::default() };
        let documents = documents(limits);
        let prepared = documents.prepare(document.into()).unwrap();
        block_on(execute(&documents, &prepared, &Reads::default(), Root))
    };
    // A hundred thousand bytes for each person.
    let fields = (0..600).map(|number| format!("a{number}{}: name ", "x".repeat(180)));
    let fields = fields.collect::<String>();
    let people = format!("{{ people {{ {fields} }} }}");
    let long = answer(default, &people);
    assert!(long.json().len() > 200_000 && long.error_codes().is_empty());
    assert_eq!(long.buffer_bytes(), long.json().len());

    let short = answer(default, "{ people { name } }");
    assert!(short.json().len() < 100 && short.error_codes().is_empty());
    let too_long = answer(150_000, &people);
    assert_eq!(too_long.error_codes(), ["TOO_COMPLEX"]);
    let nulled = answer(default, &format!("{{ person(name: \"ana\") {{ {fields} strict }} }}"));
    assert!(nulled.json().starts_with(br#"{"data":{"person":null}"#));
    for answer in [short, too_long, nulled] {
        let (length, room) = (answer.json().len(), answer.buffer_bytes());
        assert!(room <= 2 * length, "{room} for {length} bytes");
    }
}
