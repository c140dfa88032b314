//! What a read asks DynamoDB for and what of the answer it shows: expiry and order need attributes
//! that the caller's projection may leave out.

use roundtable_table::{IndexProjection, Item, KeyDefinition, Path, TableDefinition};

/// The parts of items a read fetches and shows.
#[derive(Debug)]
pub(crate) struct View {
    /// What to ask for; empty for everything.
    pub(crate) asked: Vec<Path>,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    /// All that was fetched.
    All,
    /// The attributes of these names.
    Names(Vec<String>),
    /// The values at these paths.
    Paths(Vec<Path>),
}

impl View {
    /// A view of the table or an index; `keyed` when keys must be fetched, too.
    pub(crate) fn new(
        table: &TableDefinition,
        index: Option<&str>,
        projection: &[Path],
        keyed: bool,
    ) -> Self {
        let index = index.and_then(|name| table.index(name).ok());
        if let Some(index) = index.filter(|index| index.projection != IndexProjection::All) {
            // It may or may not carry the ttl beyond what it is defined to (ours do), and DynamoDB
            // refuses to project onto what is not carried: fetch what there is.
            let shown = if projection.is_empty() {
                Shown::Names(table.projected(index).unwrap_or_default())
            } else {
                Shown::Paths(projection.to_vec())
            };
            return Self { asked: Vec::new(), shown };
        }
        if projection.is_empty() {
            return Self { asked: Vec::new(), shown: Shown::All };
        }
        let index_key = index.map(|index| &index.key);
        let keys = std::iter::once(&table.key).chain(index_key).flat_map(KeyDefinition::attributes);
        let keys = keys.map(|attribute| attribute.name.as_str()).filter(|_| keyed);
        let mut asked = projection.to_vec();
        for needed in keys.chain(table.ttl.as_deref()) {
            let Some(path) = asked.iter().find(|path| path.name() == needed) else {
                asked.push(Path::new(needed));
                continue;
            };
            if !path.steps().is_empty() {
                // Both the part and the whole cannot be asked for: fetch all and project here.
                return Self { asked: Vec::new(), shown: Shown::Paths(projection.to_vec()) };
            }
        }
        let shown = if asked.len() == projection.len() {
            Shown::All
        } else {
            Shown::Names(projection.iter().map(|path| path.name().to_owned()).collect())
        };
        Self { asked, shown }
    }

    /// What the caller gets of an item fetched.
    pub(crate) fn show(&self, item: Item) -> Item {
        match &self.shown {
            Shown::All => item,
            Shown::Paths(paths) => item.project(paths),
            Shown::Names(names) => item
                .iter()
                .filter(|(name, _)| names.iter().any(|shown| shown == name))
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
    fn what_expiry_needs_is_fetched_and_not_shown() {
        let view = View::new(&table(), None, &["a".into()], false);
        assert_eq!(view.asked, ["a".into(), Path::new("ttl")]);
        assert_eq!(view.show(item! { "a" => 1, "ttl" => 5 }), item! { "a" => 1 });
        let keyed = View::new(&table(), None, &["a".into(), "s".into()], true);
        assert_eq!(keyed.asked.len(), 4);
    }

    #[test]
    fn a_part_of_what_is_needed_whole_is_cut_out_here() {
        let path = Path::new("ttl").field("x");
        let view = View::new(&table(), None, &[path], false);
        assert!(view.asked.is_empty());
        assert_eq!(view.show(item! { "ttl" => 5, "a" => 1 }), item! {});
    }

    #[test]
    fn an_index_shows_what_it_is_defined_to_carry() {
        let view = View::new(&table(), Some("keys"), &[], false);
        assert!(view.asked.is_empty());
        let shown = view.show(item! { "p" => "p", "s" => "s", "g" => "g", "ttl" => 5 });
        assert_eq!(shown, item! { "p" => "p", "s" => "s", "g" => "g" });
    }
}
