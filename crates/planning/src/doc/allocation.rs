//! The keys of each index, with the entities and access patterns that use them.

use roundtable_model::shape::TableShape;
use std::fmt::Write as _;

use super::entities::{condition, link_to};
use super::markdown::{MarkdownTable, code};
use crate::key_patterns;

pub(super) fn write(out: &mut String, table: &TableShape) {
    for index in table.indexes {
        let mut grid = MarkdownTable::new(&["partition", "sort", "entity", "condition", "read by"]);
        let mut uses = 0_usize;
        for entity in table.entities {
            for key in entity.keys.iter().filter(|key| key.index == *index) {
                uses += 1;
                let patterns: Vec<String> = key_patterns::patterns_reading(table, entity, key)
                    .map(|pattern| code(pattern.name))
                    .collect();
                grid.row([
                    code(key.partition.text),
                    code(key.sort.text),
                    link_to(entity),
                    condition(&key.when),
                    patterns.join(", "),
                ]);
            }
        }
        let _ = writeln!(out, "\n### {index} of {}\n", table.name);
        if uses == 0 {
            out.push_str("Unused.\n");
        } else {
            grid.write(out);
        }
    }
}
