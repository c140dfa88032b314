//! A table's definition in words, and the differences of two.

use std::io::{self, Write};

use roundtable_table::{IndexProjection, KeyDefinition, TableDefinition};

pub(super) fn write_description(out: &mut impl Write, table: &TableDefinition) -> io::Result<()> {
    for (name, fact) in facts(table) {
        writeln!(out, "  {name:<8} {fact}")?;
    }
    Ok(())
}

pub(crate) fn differences(found: &TableDefinition, wanted: &TableDefinition) -> String {
    let (found, wanted) = (facts(found), facts(wanted));
    let fact = |facts: &[(String, String)], name: &str| {
        let found = facts.iter().find(|(known, _)| known == name);
        found.map_or_else(|| String::from("nothing"), |(_, fact)| fact.clone())
    };
    let mut names: Vec<&String> = wanted.iter().chain(&found).map(|(name, _)| name).collect();
    let mut seen: Vec<&String> = Vec::new();
    names.retain(|name| {
        let new = !seen.contains(name);
        seen.push(name);
        new
    });
    let differing = names.into_iter().filter_map(|name| {
        let (is, should) = (fact(&found, name), fact(&wanted, name));
        (is != should).then(|| format!("{name} is {is} and should be {should}"))
    });
    differing.collect::<Vec<_>>().join("; ")
}

fn facts(table: &TableDefinition) -> Vec<(String, String)> {
    let mut facts = vec![(String::from("key"), key(&table.key))];
    for index in &table.indexes {
        let carries = match &index.projection {
            IndexProjection::All => String::from("everything"),
            IndexProjection::KeysOnly => String::from("keys"),
            IndexProjection::Include(names) => format!("keys and {}", names.join(", ")),
        };
        facts.push((index.name.clone(), format!("{}, with {carries}", key(&index.key))));
    }
    let ttl = table.ttl.clone().unwrap_or_else(|| String::from("none"));
    facts.push((String::from("ttl"), ttl));
    let stream = if table.stream { "old and new images" } else { "none" };
    facts.push((String::from("stream"), String::from(stream)));
    facts
}

fn key(key: &KeyDefinition) -> String {
    let attributes: Vec<String> = key
        .attributes()
        .map(|attribute| format!("{} ({})", attribute.name, attribute.kind.kind()))
        .collect();
    attributes.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TableDefinition {
        TableDefinition::new("gg_core", KeyDefinition::texts("PK", "SK"))
            .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
            .with_ttl("ttl")
            .with_stream()
    }

    #[test]
    fn a_description_lists_every_fact() {
        let mut out = Vec::new();
        write_description(&mut out, &table()).unwrap();
        let expected = "  key      PK (S), SK (S)\n  \
                        GSI1     GSI1PK (S), GSI1SK (S), with everything\n  \
                        ttl      ttl\n  stream   old and new images\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn differences_name_what_is_and_what_should_be() {
        let other = TableDefinition::new("gg_core", KeyDefinition::partition("PK"))
            .with_index("old", KeyDefinition::partition("x"))
            .with_ttl("ttl")
            .with_stream();
        assert_eq!(
            differences(&other, &table()),
            "key is PK (S) and should be PK (S), SK (S); \
             GSI1 is nothing and should be GSI1PK (S), GSI1SK (S), with everything; \
             old is x (S), with everything and should be nothing"
        );
        assert_eq!(differences(&table(), &table()), "");
    }
}
