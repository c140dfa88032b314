//! Conditions: a tree of comparisons and functions, evaluated here and rendered by `dynamo`.

use std::cmp::Ordering;

use crate::{Item, Number, Path, Value, ValueKind, ValueRef};

/// An operand of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Path(Path),
    Value(Value),
    /// The size of the value at a path: UTF-16 units of text, bytes, or number of elements.
    Size(Path),
}

impl<T: Into<Value>> From<T> for Operand {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl From<Path> for Operand {
    fn from(path: Path) -> Self {
        Self::Path(path)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A condition on one item; an absent (or expired) item has no attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Values of different types are unequal and unordered.
    Compare(Operand, Comparison, Operand),
    /// The first operand lies between the others, bounds included.
    Between(Operand, Operand, Operand),
    /// The first operand equals one of the others.
    In(Operand, Vec<Operand>),
    Exists(Path),
    NotExists(Path),
    IsA(Path, ValueKind),
    /// The text or bytes at the path begin with the operand.
    BeginsWith(Path, Operand),
    /// The text at the path contains the operand, or the set or list has it as a member.
    Contains(Path, Operand),
    /// All hold; true for an empty list.
    All(Vec<Condition>),
    /// At least one holds; false for an empty list.
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// Holds if there is a value at `path`.
pub fn exists(path: impl Into<Path>) -> Condition {
    Condition::Exists(path.into())
}

/// Holds if there is no value at `path`.
pub fn not_exists(path: impl Into<Path>) -> Condition {
    Condition::NotExists(path.into())
}

/// Starts a comparison of the value at `path`.
pub fn attribute(path: impl Into<Path>) -> Operand {
    Operand::Path(path.into())
}

/// Starts a comparison of the size of the value at `path`.
pub fn size_of(path: impl Into<Path>) -> Operand {
    Operand::Size(path.into())
}

macro_rules! comparisons {
    ($($name:ident => $comparison:ident;)*) => {$(
        #[doc = concat!("Holds if this operand compares `", stringify!($comparison), "` to `other`.")]
        pub fn $name(self, other: impl Into<Operand>) -> Condition {
            Condition::Compare(self, Comparison::$comparison, other.into())
        }
    )*};
}

impl Operand {
    comparisons! {
        eq => Equal;
        ne => NotEqual;
        lt => Less;
        le => LessOrEqual;
        gt => Greater;
        ge => GreaterOrEqual;
    }

    /// Holds if this operand lies between the two, bounds included.
    pub fn between(self, low: impl Into<Operand>, high: impl Into<Operand>) -> Condition {
        Condition::Between(self, low.into(), high.into())
    }

    /// Holds if this operand equals one of the others.
    pub fn one_of<T: Into<Operand>>(self, others: impl IntoIterator<Item = T>) -> Condition {
        Condition::In(self, others.into_iter().map(Into::into).collect())
    }
}

impl Condition {
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            first => Self::All(vec![first, other]),
        }
    }

    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Any(mut any) => {
                any.push(other);
                Self::Any(any)
            }
            first => Self::Any(vec![first, other]),
        }
    }

    pub fn negate(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Returns whether the condition holds for `item`; `None` is an absent item.
    pub fn holds(&self, item: Option<&Item>) -> bool {
        match self {
            Self::Compare(left, comparison, right) => {
                compare(left.resolve(item), *comparison, right.resolve(item))
            }
            Self::Between(operand, low, high) => {
                let operand = operand.resolve(item);
                compare(low.resolve(item), Comparison::LessOrEqual, operand)
                    && compare(operand, Comparison::LessOrEqual, high.resolve(item))
            }
            Self::In(operand, others) => {
                let operand = operand.resolve(item);
                others.iter().any(|o| compare(operand, Comparison::Equal, o.resolve(item)))
            }
            Self::Exists(path) => at(item, path).is_some(),
            Self::NotExists(path) => at(item, path).is_none(),
            Self::IsA(path, kind) => at(item, path).is_some_and(|value| value.kind() == *kind),
            Self::BeginsWith(path, prefix) => {
                match (at(item, path), prefix.resolve(item).and_then(ResolvedOperand::scalar)) {
                    (Some(ValueRef::S(text)), Some(ValueRef::S(prefix))) => {
                        text.starts_with(prefix)
                    }
                    (Some(ValueRef::B(bytes)), Some(ValueRef::B(prefix))) => {
                        bytes.starts_with(prefix)
                    }
                    _ => false,
                }
            }
            Self::Contains(path, member) => match (at(item, path), member.resolve(item)) {
                (Some(container), Some(member)) => contains(container, member),
                _ => false,
            },
            Self::All(conditions) => conditions.iter().all(|condition| condition.holds(item)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.holds(item)),
            Self::Not(condition) => !condition.holds(item),
        }
    }

    /// Calls `visit` with every path of the tree.
    pub fn visit_paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        let mut operand = |operand: &'a Operand| match operand {
            Operand::Path(path) | Operand::Size(path) => visit(path),
            Operand::Value(_) => {}
        };
        match self {
            Self::Compare(left, _, right) => {
                operand(left);
                operand(right);
            }
            Self::Between(first, low, high) => [first, low, high].into_iter().for_each(operand),
            Self::In(first, others) => {
                operand(first);
                others.iter().for_each(operand);
            }
            Self::BeginsWith(path, other) | Self::Contains(path, other) => {
                operand(other);
                visit(path);
            }
            Self::Exists(path) | Self::NotExists(path) | Self::IsA(path, _) => visit(path),
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter().for_each(|condition| condition.visit_paths(visit));
            }
            Self::Not(condition) => condition.visit_paths(visit),
        }
    }

    /// Returns the number of operators and functions.
    pub fn operators(&self) -> usize {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.len() + conditions.iter().map(Self::operators).sum::<usize>()
            }
            Self::Not(condition) => 1 + condition.operators(),
            _ => 1,
        }
    }
}

fn at<'a>(item: Option<&'a Item>, path: &Path) -> Option<ValueRef<'a>> {
    item?.at(path)
}

/// The value of an operand: borrowed from the item, or a constant of the condition.
#[derive(Clone, Copy)]
pub(crate) enum ResolvedOperand<'a> {
    Stored(ValueRef<'a>),
    Constant(&'a Value),
}

impl<'a> ResolvedOperand<'a> {
    /// Returns text, numbers and bytes, which have an order; all other types are compared as a whole.
    fn scalar(self) -> Option<ValueRef<'a>> {
        match self {
            Self::Stored(value @ (ValueRef::S(_) | ValueRef::N(_) | ValueRef::B(_))) => Some(value),
            Self::Constant(Value::S(text)) => Some(ValueRef::S(text)),
            Self::Constant(Value::N(number)) => Some(ValueRef::N(*number)),
            Self::Constant(Value::B(bytes)) => Some(ValueRef::B(bytes)),
            _ => None,
        }
    }

    /// Returns the operand's value if it does not depend on an item.
    pub(crate) const fn constant(operand: &'a Operand) -> Option<Self> {
        match operand {
            Operand::Value(value) => Some(Self::Constant(value)),
            Operand::Path(_) | Operand::Size(_) => None,
        }
    }

    /// Compares two operands; `None` if their types differ or have no order.
    pub(crate) fn order(self, other: Self) -> Option<Ordering> {
        self.scalar().zip(other.scalar()).and_then(|(left, right)| order(left, right))
    }

    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Stored(value) => value.to_value(),
            Self::Constant(value) => value.clone(),
        }
    }

    fn equals(self, other: Self) -> bool {
        match (self.scalar(), other.scalar()) {
            (Some(left), Some(right)) => order(left, right) == Some(Ordering::Equal),
            (None, None) => self.to_value() == other.to_value(),
            _ => false,
        }
    }
}

impl Operand {
    fn resolve<'a>(&'a self, item: Option<&'a Item>) -> Option<ResolvedOperand<'a>> {
        match self {
            Self::Path(path) => at(item, path).map(ResolvedOperand::Stored),
            Self::Value(value) => Some(ResolvedOperand::Constant(value)),
            Self::Size(path) => {
                let size = size(at(item, path)?)?;
                Some(ResolvedOperand::Stored(ValueRef::N(Number::from(size as u64))))
            }
        }
    }
}

/// Returns the result of `size()`; `None` for types it is not defined for.
fn size(value: ValueRef<'_>) -> Option<usize> {
    Some(match value {
        ValueRef::S(text) => text.encode_utf16().count(),
        ValueRef::B(bytes) => bytes.len(),
        ValueRef::L(values) => values.count(),
        ValueRef::M(entries) => entries.count(),
        ValueRef::Ss(texts) => texts.count(),
        ValueRef::Ns(numbers) => numbers.count(),
        ValueRef::Bs(blobs) => blobs.count(),
        ValueRef::N(_) | ValueRef::Bool(_) | ValueRef::Null => return None,
    })
}

fn order(left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
    match (left, right) {
        (ValueRef::S(left), ValueRef::S(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (ValueRef::N(left), ValueRef::N(right)) => Some(left.cmp(&right)),
        (ValueRef::B(left), ValueRef::B(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn compare(
    left: Option<ResolvedOperand<'_>>,
    how: Comparison,
    right: Option<ResolvedOperand<'_>>,
) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        // An absent value is unequal to everything and below nothing, as in DynamoDB.
        return how == Comparison::NotEqual;
    };
    match how {
        Comparison::Equal => return left.equals(right),
        Comparison::NotEqual => return !left.equals(right),
        _ => {}
    }
    left.order(right).is_some_and(|ordering| match how {
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
        Comparison::Equal | Comparison::NotEqual => false,
    })
}

fn contains(container: ValueRef<'_>, member: ResolvedOperand<'_>) -> bool {
    match (container, member.scalar()) {
        (ValueRef::S(text), Some(ValueRef::S(part))) => text.contains(part),
        (ValueRef::B(bytes), Some(ValueRef::B(part))) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
        (ValueRef::Ss(mut texts), Some(ValueRef::S(member))) => texts.any(|text| text == member),
        (ValueRef::Ns(mut numbers), Some(ValueRef::N(member))) => numbers.any(|n| n == member),
        (ValueRef::Bs(mut blobs), Some(ValueRef::B(member))) => blobs.any(|blob| blob == member),
        (ValueRef::L(mut values), _) => {
            values.any(|value| ResolvedOperand::Stored(value).equals(member))
        }
        _ => false,
    }
}
