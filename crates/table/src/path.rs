//! Document paths: which attribute, and where inside it.

use std::fmt;

/// One element of a path after the attribute's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An entry of a map.
    Field(String),
    /// An element of a list.
    Index(usize),
}

/// A path to a value: a top-level attribute, then fields and list elements.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Path {
    name: String,
    steps: Vec<Step>,
}

impl Path {
    /// The top-level attribute `name`, taken literally: dots are part of the name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), steps: Vec::new() }
    }

    /// This path, one map entry deeper.
    pub fn field(mut self, name: impl Into<String>) -> Self {
        self.steps.push(Step::Field(name.into()));
        self
    }

    /// This path, one list element deeper.
    pub fn index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self
    }

    /// The top-level attribute.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What follows the attribute's name.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether one of the two lies within the other (or they are equal), or they cannot both lead
    /// somewhere because one sees a map where the other sees a list.
    pub fn overlaps(&self, other: &Self) -> bool {
        let fork = self.steps.iter().zip(&other.steps).find(|(a, b)| a != b);
        let possible = fork.is_some_and(|pair| {
            matches!(pair, (Step::Field(_), Step::Field(_)) | (Step::Index(_), Step::Index(_)))
        });
        self.name == other.name && !possible
    }
}

impl From<&str> for Path {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Path {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// With names quoted, so that `"a.b"` and `"a"."b"` are told apart.
impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Field(name) => write!(f, ".{name:?}"),
            Step::Index(index) => write!(f, "[{index}]"),
        })
    }
}
