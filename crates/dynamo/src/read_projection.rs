//! The attributes that a read requests, and those it returns: expiry and order need attributes that the
//! caller's projection may leave out.

use roundtable_table::{IndexProjection, Item, KeyDefinition, Path, TableDefinition};

/// The parts of items that a read requests and returns.
#[derive(Debug)]
pub(crate) struct ReadProjection {
    /// Paths to request; empty for whole items.
    pub(crate) requested: Vec<Path>,
    visible: VisibleParts,
}

#[derive(Debug)]
enum VisibleParts {
    All,
    Names(Vec<String>),
    Paths(Vec<Path>),
}

impl ReadProjection {
    /// A projection of the table or an index; `keyed` if keys must be fetched, too.
    pub(crate) fn new(
        table: &TableDefinition,
        index: Option<&str>,
        projection: &[Path],
        keyed: bool,
    ) -> Self {
        let index = index.and_then(|name| table.index(name).ok());
        if let Some(index) = index.filter(|index| index.projection != IndexProjection::All) {
            // The index may or may not have the ttl (ours do), and DynamoDB rejects a projection onto
            // attributes it does not have: fetch everything in it.
            let visible = if projection.is_empty() {
                VisibleParts::Names(table.projected_attributes(index).unwrap_or_default())
            } else {
                VisibleParts::Paths(projection.to_vec())
            };
            return Self { requested: Vec::new(), visible };
        }
        if projection.is_empty() {
            return Self { requested: Vec::new(), visible: VisibleParts::All };
        }
        let index_key = index.map(|index| &index.key);
        let keys = std::iter::once(&table.key).chain(index_key).flat_map(KeyDefinition::attributes);
        let keys = keys.map(|attribute| attribute.name.as_str()).filter(|_| keyed);
        let mut requested = projection.to_vec();
        for needed in keys.chain(table.ttl.as_deref()) {
            let Some(path) = requested.iter().find(|path| path.name() == needed) else {
                requested.push(Path::new(needed));
                continue;
            };
            if !path.steps().is_empty() {
                // A part and the whole cannot be requested together: fetch all and project here.
                return Self {
                    requested: Vec::new(),
                    visible: VisibleParts::Paths(projection.to_vec()),
                };
            }
        }
        let visible = if requested.len() == projection.len() {
            VisibleParts::All
        } else {
            VisibleParts::Names(projection.iter().map(|path| path.name().to_owned()).collect())
        };
        Self { requested, visible }
    }

    /// Reduces a fetched item to the parts that the caller requested.
    pub(crate) fn apply(&self, item: Item) -> Item {
        match &self.visible {
            VisibleParts::All => item,
            VisibleParts::Paths(paths) => item.project(paths),
            VisibleParts::Names(names) => item
                .iter()
                .filter(|(name, _)| names.iter().any(|visible| visible == name))
                .map(|(name, value)| (name, value.to_value()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtable_table::item;

    fn table() -> TableDefinition {
        TableDefinition::new("t", KeyDefinition::texts("p", "s")).with_ttl("ttl").with_index_of(
            "keys",
            KeyDefinition::partition("g"),
            IndexProjection::KeysOnly,
        )
    }

    #[test]
    fn attributes_for_expiry_are_fetched_but_not_returned() {
        let projection = ReadProjection::new(&table(), None, &["a".into()], false);
        assert_eq!(projection.requested, ["a".into(), Path::new("ttl")]);
        assert_eq!(projection.apply(item! { "a" => 1, "ttl" => 5 }), item! { "a" => 1 });
        let keyed = ReadProjection::new(&table(), None, &["a".into(), "s".into()], true);
        assert_eq!(keyed.requested.len(), 4);
    }

    #[test]
    fn a_part_of_an_attribute_needed_whole_is_projected_here() {
        let path = Path::new("ttl").field("x");
        let projection = ReadProjection::new(&table(), None, &[path], false);
        assert!(projection.requested.is_empty());
        assert_eq!(projection.apply(item! { "ttl" => 5, "a" => 1 }), item! {});
    }

    #[test]
    fn an_index_returns_only_its_projected_attributes() {
        let projection = ReadProjection::new(&table(), Some("keys"), &[], false);
        assert!(projection.requested.is_empty());
        let visible = projection.apply(item! { "p" => "p", "s" => "s", "g" => "g", "ttl" => 5 });
        assert_eq!(visible, item! { "p" => "p", "s" => "s", "g" => "g" });
    }
}
