//! Schemas for tests, in the notation of the real one. They are leaked, which is fine in tests.

use roundtable_model::OwnerKind;
use roundtable_model::shape::{
    AcceptedFinding, CompositeShape, EntityShape, FieldShape, Index, KeyField, KeySegment,
    KeyShape, KeyTemplate, OwnerShape, PartShape, PatternFilter, PatternOperation, PatternShape,
    PatternSort, Predicate, SparseCondition, TableShape,
};

fn leak<T>(list: Vec<T>) -> &'static [T] {
    Vec::leak(list)
}

/// Parses a key template.
pub(crate) fn template(text: &'static str) -> KeyTemplate {
    let (keyed, shard) = match text.split_once("[#{") {
        Some((keyed, shard)) => (keyed, shard.strip_suffix("}]")),
        None => (text, None),
    };
    let keyed = keyed.strip_suffix('#').unwrap_or(keyed);
    let mut segments: Vec<KeySegment> = keyed
        .split('#')
        .map(|segment| match segment.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            None => KeySegment::Literal(segment),
            Some(part) => match part.split_once(':') {
                None => KeySegment::Part { name: part, method: None },
                Some((name, method)) => KeySegment::Part { name, method: Some(method) },
            },
        })
        .collect();
    segments.extend(shard.map(|name| KeySegment::Shard { name }));
    KeyTemplate { text, segments: leak(segments) }
}

/// Parses `name: Kind, name: Kind`.
fn parts(list: &'static str) -> &'static [PartShape] {
    let part = |part: &'static str| {
        let (name, kind) = part.split_once(": ").unwrap();
        PartShape { name, kind, computed_from: &[] }
    };
    leak(list.split(", ").filter(|part| !part.is_empty()).map(part).collect())
}

/// An entity under construction.
pub(crate) struct EntityDraft {
    name: &'static str,
    identity: &'static [PartShape],
    parts: Vec<KeyField>,
    owners: Vec<OwnerShape>,
    keys: Vec<KeyShape>,
    fields: Vec<FieldShape>,
}

/// Returns an entity with these parts of its primary key, and that key.
pub(crate) fn entity(
    name: &'static str,
    identity: &'static str,
    partition: &'static str,
    sort: &'static str,
) -> EntityDraft {
    let new = EntityDraft {
        name,
        identity: parts(identity),
        parts: vec![],
        owners: vec![],
        keys: vec![],
        fields: vec![],
    };
    new.key(Index::Main, partition, sort)
}

impl EntityDraft {
    /// Adds `name: Kind`, `mut name: Kind` or `name?: Kind` as a field that index keys depend on.
    pub(crate) fn part(mut self, part: &'static str) -> Self {
        let (name, kind) = part.split_once(": ").unwrap();
        let (mutable, name) = name.strip_prefix("mut ").map_or((false, name), |name| (true, name));
        let (optional, name) = name.strip_suffix('?').map_or((false, name), |name| (true, name));
        self.parts.push(KeyField { name, optional, mutable });
        self.fields.push(FieldShape { field: name, attribute: name, kind, optional, doc: "" });
        self
    }

    pub(crate) fn field(
        mut self,
        name: &'static str,
        kind: &'static str,
        doc: &'static str,
    ) -> Self {
        self.fields.push(FieldShape { field: name, attribute: name, kind, optional: false, doc });
        self
    }

    /// Adds an owner, whose items the keys at these positions list.
    pub(crate) fn owner(
        mut self,
        field: &'static str,
        kind: OwnerKind,
        keys: &'static [usize],
    ) -> Self {
        self.owners.push(OwnerShape { field, kind, keys });
        self
    }

    pub(crate) fn key(self, index: Index, partition: &'static str, sort: &'static str) -> Self {
        self.key_if(index, SparseCondition::ALWAYS, partition, sort)
    }

    pub(crate) fn key_if(
        mut self,
        index: Index,
        when: SparseCondition,
        partition: &'static str,
        sort: &'static str,
    ) -> Self {
        let (partition, sort) = (template(partition), template(sort));
        self.keys.push(KeyShape { index, when, partition, sort });
        self
    }

    fn shape(self) -> &'static EntityShape {
        Box::leak(Box::new(EntityShape {
            name: self.name,
            doc: "An entity.",
            identity: self.identity,
            parts: leak(self.parts),
            owners: leak(self.owners),
            keys: leak(self.keys),
            fields: leak(self.fields),
            upgrades: &[],
            rewrite: |item| Ok(item.clone()),
        }))
    }
}

/// Returns the condition `name(field)` of a key.
pub(crate) fn when(name: &'static str, field: &'static str) -> SparseCondition {
    let predicates = leak(vec![Predicate { name, fields: leak(vec![field]) }]);
    SparseCondition { predicates, ..SparseCondition::ALWAYS }
}

/// Returns the condition of a key that applies if the previous one does not.
pub(crate) fn otherwise() -> SparseCondition {
    SparseCondition { otherwise: true, ..SparseCondition::ALWAYS }
}

/// Returns a pattern that reads pages of a partition.
pub(crate) fn query(
    name: &'static str,
    arguments: &'static str,
    index: Index,
    partition: &'static str,
    begins: &'static str,
    entity: &'static str,
) -> PatternShape {
    let sort = match begins {
        "" => PatternSort::All,
        begins => PatternSort::Begins(template(begins)),
    };
    PatternShape {
        name,
        doc: "",
        arguments: parts(arguments),
        operation: PatternOperation::Query,
        index,
        partition: template(partition),
        sort,
        descending: true,
        strong: false,
        page: 20,
        filter: None,
        entity,
        view: None,
    }
}

/// Variants of an access pattern.
pub(crate) trait PatternDraft {
    fn about(self, doc: &'static str) -> Self;
    fn first(self) -> Self;
    fn get(self) -> Self;
    fn having(self, field: &'static str, with: &'static str) -> Self;
}

impl PatternDraft for PatternShape {
    fn about(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    fn first(self) -> Self {
        Self { operation: PatternOperation::First, ..self }
    }

    fn get(self) -> Self {
        let sort = match self.sort {
            PatternSort::Begins(template) => PatternSort::Equal(template),
            other => other,
        };
        Self { operation: PatternOperation::Get, sort, strong: true, ..self }
    }

    fn having(self, field: &'static str, with: &'static str) -> Self {
        Self { filter: Some(PatternFilter { field, contains: true, with }), ..self }
    }
}

/// A table under construction.
pub(crate) struct TableDraft {
    name: &'static str,
    entities: Vec<&'static EntityShape>,
    patterns: Vec<&'static PatternShape>,
    composites: Vec<CompositeShape>,
    accepted: Vec<AcceptedFinding>,
}

pub(crate) fn table(name: &'static str) -> TableDraft {
    TableDraft { name, entities: vec![], patterns: vec![], composites: vec![], accepted: vec![] }
}

impl TableDraft {
    pub(crate) fn entity(mut self, entity: EntityDraft) -> Self {
        self.entities.push(entity.shape());
        self
    }

    pub(crate) fn pattern(mut self, pattern: PatternShape) -> Self {
        self.patterns.push(Box::leak(Box::new(pattern)));
        self
    }

    pub(crate) fn composite(mut self, name: &'static str, of: &'static [&'static str]) -> Self {
        self.composites.push(CompositeShape { name, doc: "Both.", of });
        self
    }

    pub(crate) fn accepts(
        mut self,
        lint: &'static str,
        subject: &'static str,
        index: Index,
    ) -> Self {
        self.accepted.push(AcceptedFinding { lint, subject, index, reason: "It is so." });
        self
    }

    pub(crate) fn shape(self) -> &'static TableShape {
        Box::leak(Box::new(TableShape {
            name: self.name,
            doc: "All test entities.",
            indexes: &Index::SECONDARY,
            stream: true,
            ordered: None,
            entities: leak(self.entities),
            patterns: leak(self.patterns),
            composites: leak(self.composites),
            accepted: leak(self.accepted),
        }))
    }
}
