//! Who uses which index, and for what.

use std::fmt::Write as _;

use super::entities::{condition, link_to};
use super::markdown::{Grid, code};
use crate::derived::asked;
use crate::shape::TableShape;

pub(super) fn write(out: &mut String, table: &TableShape) {
    for index in table.indexes {
        let mut grid = Grid::new(&["partition", "sort", "entity", "only", "asked by"]);
        let mut uses = 0_usize;
        for entity in table.entities {
            for key in entity.keys.iter().filter(|key| key.index == *index) {
                uses += 1;
                let questions: Vec<String> =
                    asked::questions_of(table, entity, key).map(|asks| code(asks.name)).collect();
                grid.row([
                    code(key.partition.text),
                    code(key.sort.text),
                    link_to(entity),
                    condition(&key.when),
                    questions.join(", "),
                ]);
            }
        }
        let _ = writeln!(out, "\n### {index} of {}\n", table.name);
        if uses == 0 {
            out.push_str("Free.\n");
        } else {
            grid.write(out);
        }
    }
}
