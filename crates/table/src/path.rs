//! Document paths: an attribute, and a position inside it.

use std::fmt;

/// One element of a path after the attribute's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    Field(String),
    Index(usize),
}

/// A path to a value: a top-level attribute, then fields and list elements.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Path {
    name: String,
    steps: Vec<PathStep>,
}

impl Path {
    /// A path to the top-level attribute `name`, taken literally: dots are part of the name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), steps: Vec::new() }
    }

    /// Appends a map entry.
    pub fn field(mut self, name: impl Into<String>) -> Self {
        self.steps.push(PathStep::Field(name.into()));
        self
    }

    /// Appends a list element.
    pub fn index(mut self, index: usize) -> Self {
        self.steps.push(PathStep::Index(index));
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn steps(&self) -> &[PathStep] {
        &self.steps
    }

    /// Returns whether the paths are equal, one contains the other, or they cannot both exist because
    /// one expects a map where the other expects a list.
    pub fn overlaps(&self, other: &Self) -> bool {
        let fork = self.steps.iter().zip(&other.steps).find(|(a, b)| a != b);
        let possible = fork.is_some_and(|pair| {
            matches!(
                pair,
                (PathStep::Field(_), PathStep::Field(_)) | (PathStep::Index(_), PathStep::Index(_))
            )
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
            PathStep::Field(name) => write!(f, ".{name}"),
            PathStep::Index(index) => write!(f, "[{index}]"),
        })
    }
}

/// Quotes names, to distinguish `"a.b"` from `"a"."b"`.
impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)?;
        self.steps.iter().try_for_each(|step| match step {
            PathStep::Field(name) => write!(f, ".{name:?}"),
            PathStep::Index(index) => write!(f, "[{index}]"),
        })
    }
}
