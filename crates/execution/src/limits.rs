//! Limits on the size of a document, checked before it is validated: validation and planning take time
//! that may double with every fragment that is used twice.

use std::collections::HashMap;

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document, Field, Selection};

use crate::error::{Location, RequestError};
use crate::plan::RequestCost;
use crate::tokens;

/// The limits of one request; a request beyond any of them is TOO_COMPLEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Nested fields.
    pub depth_max: usize,
    /// All fields; those in a list count once per item of a page.
    pub cost_max: u64,
    /// Table operations, as they are estimated before the first: 20 for each list. The largest pages of
    /// apps need about 4,400, such as a hundred posts, each with its first comments and likes.
    pub operations_max: u64,
    pub aliases_max: usize,
    pub tokens_max: usize,
    pub directives_max: usize,
    /// Requests in one HTTP body.
    pub batch_max: usize,
    /// Bytes of an answer.
    pub answer_bytes_max: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self {
            depth_max: 15,
            cost_max: 20_000,
            operations_max: 12_000,
            aliases_max: 50,
            tokens_max: 5_000,
            directives_max: 50,
            batch_max: 10,
            answer_bytes_max: 8 * 1024 * 1024,
        }
    }
}

/// Nested fields and fragments: more than any permitted depth needs.
const NESTED_MAX: usize = 32;
/// Rough numbers of types in a schema, and of fields, arguments or values of each.
const TYPES_ESTIMATE: u64 = 150;
const TYPE_PARTS_ESTIMATE: u64 = 10;
/// The cost of introspection, with the estimates above: twice that of common tools' queries.
const INTROSPECTION_COST_MAX: u64 = 1_500_000;
/// Nested lists of introspected types: each of them may hold all types.
const TYPE_LISTS_MAX: usize = 2;
/// Fields that ask for the schema. Tools send one; each may be answered with megabytes.
const INTROSPECTIONS_MAX: usize = 5;
/// Operations of one document. Each is validated with all fragments.
const OPERATIONS_MAX: usize = 20;

impl QueryLimits {
    pub fn check_batch(&self, requests: usize) -> Result<(), RequestError> {
        check_max("requests in one body", requests, self.batch_max)
    }

    /// Checks the text of a document before it is parsed.
    pub(crate) fn check_text(&self, document: &str) -> Result<(), RequestError> {
        let counts = tokens::count(document);
        check_max("tokens", counts.tokens, self.tokens_max)?;
        check_max("bytes in a name", counts.longest_name, tokens::NAME_BYTES_MAX)?;
        check_max("nested brackets", counts.nested, tokens::NESTED_MAX)
    }

    /// Checks a parsed document before it is validated, also its unused fragments. Validation must not see
    /// what is not measured here, so repeated and recursive fragments are refused.
    pub(crate) fn check_document(&self, document: &Document) -> Result<(), RequestError> {
        let mut measurer = Measurer::of(document)?;
        let operations = document.definitions.iter();
        let operations = operations.filter(|it| it.as_operation_definition().is_some()).count();
        check_max("operations", operations, OPERATIONS_MAX)?;
        for definition in &document.definitions {
            let measure = match definition {
                Definition::OperationDefinition(operation) => {
                    let mut measure = measurer.selections(&operation.selection_set, false);
                    measure.directives += operation.directives.len();
                    measure
                }
                Definition::FragmentDefinition(fragment) => {
                    measurer.fragment(&fragment.name, false)
                }
                _ => continue,
            };
            self.check_measure(&measure)?;
        }
        match measurer.recursive {
            Some(name) => Err(RequestError::new(format!("the fragment {name} contains itself"))),
            None => Ok(()),
        }
    }

    fn check_measure(&self, measure: &Measure) -> Result<(), RequestError> {
        check_max("nested fields", measure.depth, self.depth_max)?;
        check_max("nested fields and fragments", measure.nested, NESTED_MAX)?;
        check_max("nested introspection lists", measure.type_lists, TYPE_LISTS_MAX)?;
        check_max("introspection fields", measure.introspection, INTROSPECTION_COST_MAX)?;
        check_max("questions about the schema", measure.introspections, INTROSPECTIONS_MAX)?;
        check_max("aliases", measure.aliases, self.aliases_max)?;
        check_max("directives", measure.directives, self.directives_max)?;
        self.check_fields(measure.fields)
    }

    fn check_fields(&self, fields: u64) -> Result<(), RequestError> {
        check_max("fields (fields in lists count per item)", fields, self.cost_max)
    }

    /// Checks what a plan takes with its variables.
    pub(crate) fn check_cost(&self, cost: &RequestCost) -> Result<(), RequestError> {
        self.check_fields(cost.fields)?;
        check_max("table operations (ask for fewer lists)", cost.operations, self.operations_max)
    }
}

fn check_max<N: Copy + PartialOrd + std::fmt::Display>(
    what: &str,
    actual: N,
    max: N,
) -> Result<(), RequestError> {
    if actual <= max {
        return Ok(());
    }
    let message = format!("the request is too complex: expected at most {max} {what}");
    Err(RequestError { code: RequestError::TOO_COMPLEX, message, location: None::<Location> })
}

/// The size of a selection, with the fragments that it spreads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measure {
    fields: u64,
    introspection: u64,
    /// Fields that ask for the schema.
    introspections: usize,
    /// Nested fields.
    depth: usize,
    /// Nested fields and fragments.
    nested: usize,
    /// Nested lists of introspected types.
    type_lists: usize,
    aliases: usize,
    directives: usize,
}

impl Measure {
    /// Adds a sibling selection.
    fn add(&mut self, other: Self) {
        self.fields = self.fields.saturating_add(other.fields);
        self.introspection = self.introspection.saturating_add(other.introspection);
        self.introspections = self.introspections.saturating_add(other.introspections);
        self.depth = self.depth.max(other.depth);
        self.nested = self.nested.max(other.nested);
        self.type_lists = self.type_lists.max(other.type_lists);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.directives = self.directives.saturating_add(other.directives);
    }
}

struct Measurer<'a> {
    fragments: HashMap<&'a Name, &'a [Selection]>,
    /// Fragments measured so far, inside and outside of introspection; `None` while one is measured.
    measured: HashMap<(&'a Name, bool), Option<Measure>>,
    /// A fragment that contains itself.
    recursive: Option<&'a Name>,
}

impl<'a> Measurer<'a> {
    fn of(document: &'a Document) -> Result<Self, RequestError> {
        let mut fragments = HashMap::new();
        let definitions = document.definitions.iter();
        for fragment in definitions.filter_map(Definition::as_fragment_definition) {
            let name = &fragment.name;
            if fragments.insert(name, fragment.selection_set.as_slice()).is_some() {
                return Err(RequestError::new(format!("the fragment {name} is defined twice")));
            }
        }
        Ok(Self { fragments, measured: HashMap::new(), recursive: None })
    }

    fn selections(&mut self, selections: &'a [Selection], introspects: bool) -> Measure {
        let mut all = Measure::default();
        for selection in selections {
            let mut one = match selection {
                Selection::Field(field) => self.field(field, introspects),
                Selection::InlineFragment(inline) => {
                    let mut inside = self.selections(&inline.selection_set, introspects);
                    inside.directives += inline.directives.len();
                    inside
                }
                Selection::FragmentSpread(spread) => {
                    let mut inside = self.fragment(&spread.fragment_name, introspects);
                    inside.directives += spread.directives.len();
                    // Even an empty fragment costs something when it is spread often.
                    inside.fields = inside.fields.saturating_add(1);
                    inside
                }
            };
            one.nested += 1;
            all.add(one);
        }
        all
    }

    fn fragment(&mut self, name: &'a Name, introspects: bool) -> Measure {
        let key = (name, introspects);
        if let Some(measured) = self.measured.get(&key) {
            if measured.is_none() {
                self.recursive = Some(name);
            }
            return measured.unwrap_or_default();
        }
        self.measured.insert(key, None);
        let selections = self.fragments.get(name).copied().unwrap_or_default();
        let measure = self.selections(selections, introspects);
        self.measured.insert(key, Some(measure));
        measure
    }

    fn field(&mut self, field: &'a Field, introspects: bool) -> Measure {
        let name = field.name.as_str();
        let asks_for_schema = matches!(name, "__schema" | "__type");
        let introspects = introspects || asks_for_schema;
        let mut measure = self.selections(&field.selection_set, introspects);
        measure.introspections += usize::from(asks_for_schema);
        measure.fields = measure.fields.saturating_add(1);
        measure.depth += 1;
        measure.aliases += usize::from(field.alias.is_some());
        measure.directives += field.directives.len();
        if introspects {
            let times = match name {
                "types" => TYPES_ESTIMATE,
                "fields" | "inputFields" | "interfaces" | "possibleTypes" | "args"
                | "enumValues" | "directives" | "locations" => TYPE_PARTS_ESTIMATE,
                _ => 1,
            };
            measure.introspection = measure.introspection.saturating_mul(times).saturating_add(1);
            let lists_types = ["fields", "inputFields", "interfaces", "possibleTypes"];
            measure.type_lists += usize::from(lists_types.contains(&name));
        }
        measure
    }
}
