//! Renders conditions, updates and projections as DynamoDB expressions. Every name and value becomes a
//! placeholder, shared by its occurrences.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use roundtable_table::{
    Comparison, Condition, KeyDefinition, Operand, Path, PathStep, Scalar, SortRange, Term,
    UpdateAction, Value,
};

use crate::values::{scalar_to_value, value_to_wire};

/// An attribute that no item has, for expressions that must name one.
const ABSENT: &str = "roundtable:nothing";

/// The names and values of one request's expressions.
#[derive(Debug, Default)]
pub(crate) struct Expressions {
    names: Vec<String>,
    values: Vec<Value>,
}

/// A rendered condition, by the precedence of its outermost operator.
#[derive(Debug, PartialEq, Eq)]
enum Rendered {
    /// A comparison, function or negation.
    Tight(String),
    And(String),
    Or(String),
}

impl Rendered {
    fn text(self) -> String {
        match self {
            Self::Tight(text) | Self::And(text) | Self::Or(text) => text,
        }
    }
}

impl Expressions {
    /// Renders a condition; `None` if it always holds.
    pub(crate) fn condition(&mut self, condition: &Condition) -> Option<String> {
        match constant_result(condition) {
            None => Some(self.render(condition).text()),
            Some(true) => None,
            Some(false) => {
                let absent = self.name(ABSENT);
                Some(format!("attribute_exists({absent}) AND attribute_not_exists({absent})"))
            }
        }
    }

    /// Renders a condition, even one that always holds.
    pub(crate) fn required_condition(&mut self, condition: &Condition) -> String {
        self.condition(condition).unwrap_or_else(|| {
            let absent = self.name(ABSENT);
            format!("attribute_not_exists({absent})")
        })
    }

    /// Renders the actions of an update; without any, one without effect, which a transaction needs.
    pub(crate) fn update(&mut self, actions: &[UpdateAction]) -> String {
        let mut clauses: [(&str, Vec<String>); 4] =
            [("SET", vec![]), ("REMOVE", vec![]), ("ADD", vec![]), ("DELETE", vec![])];
        for action in actions {
            let path = self.path(action.path());
            let (clause, text) = match action {
                UpdateAction::Set(_, term) => ("SET", format!("{path} = {}", self.term(term))),
                UpdateAction::Remove(_) => ("REMOVE", path),
                UpdateAction::Add(_, value) => {
                    ("ADD", format!("{path} {}", self.value(value.clone())))
                }
                UpdateAction::Subtract(_, value) => {
                    ("DELETE", format!("{path} {}", self.value(value.clone())))
                }
            };
            if let Some((_, texts)) = clauses.iter_mut().find(|(name, _)| *name == clause) {
                texts.push(text);
            }
        }
        let written: Vec<String> = clauses
            .into_iter()
            .filter(|(_, texts)| !texts.is_empty())
            .map(|(clause, texts)| format!("{clause} {}", texts.join(", ")))
            .collect();
        if written.is_empty() {
            return format!("REMOVE {}", self.name(ABSENT));
        }
        written.join(" ")
    }

    /// Renders the paths to return; `None` for whole items.
    pub(crate) fn projection(&mut self, paths: &[Path]) -> Option<String> {
        let rendered: Vec<String> = paths.iter().map(|path| self.path(path)).collect();
        (!rendered.is_empty()).then(|| rendered.join(", "))
    }

    /// Renders the key condition of a query.
    pub(crate) fn key_condition(
        &mut self,
        key: &KeyDefinition,
        partition: &Scalar,
        range: &SortRange,
    ) -> String {
        let name = self.name(&key.partition.name);
        let equal = format!("{name} = {}", self.scalar(partition));
        let Some(sort) = &key.sort else { return equal };
        if *range == SortRange::All {
            return equal;
        }
        let name = self.name(&sort.name);
        let within = match range {
            SortRange::All => String::new(),
            SortRange::Equal(value) => format!("{name} = {}", self.scalar(value)),
            SortRange::Less(value) => format!("{name} < {}", self.scalar(value)),
            SortRange::LessOrEqual(value) => format!("{name} <= {}", self.scalar(value)),
            SortRange::Greater(value) => format!("{name} > {}", self.scalar(value)),
            SortRange::GreaterOrEqual(value) => format!("{name} >= {}", self.scalar(value)),
            SortRange::Between(low, high) => {
                format!("{name} BETWEEN {} AND {}", self.scalar(low), self.scalar(high))
            }
            SortRange::BeginsWith(prefix) => {
                format!("begins_with({name}, {})", self.scalar(prefix))
            }
        };
        format!("{equal} AND {within}")
    }

    /// Returns the names of the placeholders; `None` if empty, because DynamoDB rejects an empty map.
    pub(crate) fn names(&self) -> Option<HashMap<String, String>> {
        let names = self.names.iter().enumerate();
        (!self.names.is_empty())
            .then(|| names.map(|(at, name)| (format!("#{at}"), name.clone())).collect())
    }

    pub(crate) fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        let values = self.values.iter().enumerate();
        (!self.values.is_empty())
            .then(|| values.map(|(at, value)| (format!(":{at}"), value_to_wire(value))).collect())
    }

    fn name(&mut self, name: &str) -> String {
        let at = self.names.iter().position(|existing| existing == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("#{at}")
    }

    fn value(&mut self, value: Value) -> String {
        let at = self.values.iter().position(|existing| *existing == value).unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        });
        format!(":{at}")
    }

    fn scalar(&mut self, scalar: &Scalar) -> String {
        self.value(scalar_to_value(scalar))
    }

    fn path(&mut self, path: &Path) -> String {
        let start = self.name(path.name());
        path.steps().iter().fold(start, |text, step| match step {
            PathStep::Field(name) => format!("{text}.{}", self.name(name)),
            PathStep::Index(index) => format!("{text}[{index}]"),
        })
    }

    fn operand(&mut self, operand: &Operand) -> String {
        match operand {
            Operand::Path(path) => self.path(path),
            Operand::Value(value) => self.value(value.clone()),
            Operand::Size(path) => format!("size({})", self.path(path)),
        }
    }

    fn term(&mut self, term: &Term) -> String {
        match term {
            Term::Value(value) => self.value(value.clone()),
            Term::Path(path) => self.path(path),
            Term::IfNotExists(path, other) => {
                format!("if_not_exists({}, {})", self.path(path), self.term(other))
            }
            Term::ListAppend(first, second) => {
                format!("list_append({}, {})", self.term(first), self.term(second))
            }
            Term::Plus(left, right) => format!("{} + {}", self.term(left), self.term(right)),
            Term::Minus(left, right) => format!("{} - {}", self.term(left), self.term(right)),
        }
    }

    fn render(&mut self, condition: &Condition) -> Rendered {
        Rendered::Tight(match condition {
            Condition::Compare(left, how, right) => {
                format!("{} {} {}", self.operand(left), sign(*how), self.operand(right))
            }
            Condition::Between(operand, low, high) => format!(
                "{} BETWEEN {} AND {}",
                self.operand(operand),
                self.operand(low),
                self.operand(high)
            ),
            Condition::In(operand, others) => {
                let first = self.operand(operand);
                let others: Vec<String> = others.iter().map(|other| self.operand(other)).collect();
                format!("{first} IN ({})", others.join(", "))
            }
            Condition::Exists(path) => format!("attribute_exists({})", self.path(path)),
            Condition::NotExists(path) => format!("attribute_not_exists({})", self.path(path)),
            Condition::IsA(path, kind) => {
                let path = self.path(path);
                format!("attribute_type({path}, {})", self.value(Value::from(kind.name())))
            }
            Condition::BeginsWith(path, prefix) => {
                format!("begins_with({}, {})", self.path(path), self.operand(prefix))
            }
            Condition::Contains(path, member) => {
                format!("contains({}, {})", self.path(path), self.operand(member))
            }
            Condition::All(conditions) => return self.join(conditions, true),
            Condition::Any(conditions) => return self.join(conditions, false),
            Condition::Not(inner) => format!("NOT ({})", self.render(inner).text()),
        })
    }

    /// Joins by AND or OR. Adds parentheses only where needed: DynamoDB rejects redundant ones.
    fn join(&mut self, conditions: &[Condition], all: bool) -> Rendered {
        let open = conditions.iter().filter(|condition| constant_result(condition).is_none());
        let parts: Vec<Rendered> = open.map(|condition| self.render(condition)).collect();
        let parts = match <[Rendered; 1]>::try_from(parts) {
            Ok([only]) => return only,
            Err(parts) => parts,
        };
        let texts: Vec<String> = parts
            .into_iter()
            .map(|part| match part {
                Rendered::Or(text) if all => format!("({text})"),
                other => other.text(),
            })
            .collect();
        if all { Rendered::And(texts.join(" AND ")) } else { Rendered::Or(texts.join(" OR ")) }
    }
}

const fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

/// Returns the result of a condition that is the same for every item. Evaluated before rendering:
/// DynamoDB rejects unused names and values, and comparisons of constants only.
fn constant_result(condition: &Condition) -> Option<bool> {
    let constant = |operand: &Operand| matches!(operand, Operand::Value(_));
    let constants = match condition {
        Condition::Compare(left, _, right) => constant(left) && constant(right),
        Condition::Between(operand, low, high) => [operand, low, high].into_iter().all(constant),
        Condition::In(operand, others) => constant(operand) && others.iter().all(constant),
        Condition::Not(inner) => return constant_result(inner).map(|result| !result),
        Condition::All(inner) => return joined_constant_result(inner, true),
        Condition::Any(inner) => return joined_constant_result(inner, false),
        _ => false,
    };
    constants.then(|| condition.holds(None))
}

/// Same as [`constant_result`] for joined conditions: one that is not `neutral` decides all of them.
fn joined_constant_result(conditions: &[Condition], neutral: bool) -> Option<bool> {
    let results: Vec<Option<bool>> = conditions.iter().map(constant_result).collect();
    if results.contains(&Some(!neutral)) {
        return Some(!neutral);
    }
    results.iter().all(|result| *result == Some(neutral)).then_some(neutral)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::{Update, ValueKind, attribute, exists, not_exists, size_of};

    fn rendered(condition: &Condition) -> (Option<String>, Expressions) {
        let mut expressions = Expressions::default();
        (expressions.condition(condition), expressions)
    }

    fn text(condition: &Condition) -> String {
        rendered(condition).0.unwrap()
    }

    #[test]
    fn equal_names_and_values_share_a_placeholder() {
        let condition = attribute("a").eq(1).and(attribute("b").ne(1)).and(exists("a"));
        let (text, expressions) = rendered(&condition);
        assert_eq!(text.unwrap(), "#0 = :0 AND #1 <> :0 AND attribute_exists(#0)");
        let names = expressions.names().unwrap();
        assert_eq!((names["#0"].as_str(), names["#1"].as_str(), names.len()), ("a", "b", 2));
        let values = expressions.values().unwrap();
        assert_eq!(values[":0"], AttributeValue::N(String::from("1")));
        assert_eq!(values.len(), 1);
    }

    #[test]
    fn expressions_without_placeholders_have_no_maps() {
        let expressions = Expressions::default();
        assert!(expressions.names().is_none() && expressions.values().is_none());
    }

    #[test]
    fn parentheses_are_added_only_where_needed() {
        let either = attribute("a").eq(1).or(attribute("b").eq(2));
        let both = either.clone().and(exists("c"));
        // `and` on an Any makes a pair; a condition of one part is that part.
        assert_eq!(text(&both), "(#0 = :0 OR #1 = :1) AND attribute_exists(#2)");
        assert_eq!(
            text(&both.clone().or(exists("d"))),
            format!("{} OR attribute_exists(#3)", text(&both))
        );
        assert_eq!(text(&Condition::All(vec![either.clone()])), "#0 = :0 OR #1 = :1");
        assert_eq!(text(&either.negate()), "NOT (#0 = :0 OR #1 = :1)");
    }

    #[test]
    fn paths_functions_and_ranges_are_rendered() {
        let path = Path::new("a.b").field("c").index(3);
        assert_eq!(text(&not_exists(path.clone())), "attribute_not_exists(#0.#1[3])");
        assert_eq!(text(&size_of("a").gt(3)), "size(#0) > :0");
        assert_eq!(text(&attribute("a").between(1, 2)), "#0 BETWEEN :0 AND :1");
        assert_eq!(text(&attribute("a").one_of([1, 2])), "#0 IN (:0, :1)");
        let is_a = Condition::IsA("a".into(), ValueKind::Ns);
        assert_eq!(text(&is_a), "attribute_type(#0, :0)");
        let begins = Condition::BeginsWith("a".into(), "x".into());
        assert_eq!(text(&begins), "begins_with(#0, :0)");
        let contains = Condition::Contains("a".into(), "x".into());
        assert_eq!(text(&contains), "contains(#0, :0)");
    }

    #[test]
    fn conditions_that_do_not_depend_on_the_item_are_evaluated_here() {
        let always = [
            Condition::All(vec![]),
            Condition::Any(vec![]).negate(),
            Operand::from(1).eq(1),
            Condition::Any(vec![exists("a"), Condition::All(vec![])]),
        ];
        for condition in &always {
            let (text, expressions) = rendered(condition);
            assert_eq!((text, expressions.names()), (None, None), "{condition:?}");
        }
        let never = [
            Condition::Any(vec![]),
            Operand::from(1).one_of([2, 3]),
            Operand::from(1).between(2, 3),
            Condition::All(vec![Condition::Any(vec![]), exists("a")]),
        ];
        for condition in &never {
            assert_eq!(text(condition), "attribute_exists(#0) AND attribute_not_exists(#0)");
        }
    }

    #[test]
    fn actions_are_grouped_into_clauses() {
        let update = Update::new(("p", "s"))
            .set("a", Term::if_not_exists("a", 0).plus(1))
            .add("n", 5)
            .remove(Path::new("l").index(2))
            .set("c", Term::from(Path::new("d")).append(Value::list([1])))
            .subtract("s", Value::texts(["x"]));
        let mut expressions = Expressions::default();
        assert_eq!(
            expressions.update(&update.actions),
            "SET #0 = if_not_exists(#0, :0) + :1, #3 = list_append(#4, :3) REMOVE #2[2] ADD #1 :2 \
             DELETE #5 :4"
        );
        assert_eq!(Expressions::default().update(&[]), "REMOVE #0");
    }

    #[test]
    fn key_conditions_and_projections_are_rendered() {
        let key = KeyDefinition::texts("PK", "SK");
        let render = |range| Expressions::default().key_condition(&key, &"p".into(), &range);
        assert_eq!(render(SortRange::All), "#0 = :0");
        assert_eq!(render(SortRange::Equal("p".into())), "#0 = :0 AND #1 = :0");
        assert_eq!(render(SortRange::BeginsWith("x".into())), "#0 = :0 AND begins_with(#1, :1)");
        let between = SortRange::Between("a".into(), "b".into());
        assert_eq!(render(between), "#0 = :0 AND #1 BETWEEN :1 AND :2");
        let mut expressions = Expressions::default();
        let paths = [Path::new("a"), Path::new("b").field("a")];
        assert_eq!(expressions.projection(&paths).unwrap(), "#0, #1.#0");
        assert_eq!(expressions.projection(&[]), None);
    }
}
