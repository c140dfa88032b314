//! Rejects schemas that cannot work. Every error names the item and what to do instead.

mod entity;
mod pattern;

use syn::{Error, Ident, Result};

use crate::ast::{EntityAst, KeyAst, PatternAst, SortAst, TableAst};

pub(crate) use pattern::{entity_of, served_by};

/// Rejects a table that cannot work, with all errors rather than only the first.
pub(crate) fn check(table: &TableAst) -> Result<()> {
    let mut errors = CheckErrors(None);
    for entity in &table.entities {
        errors.add(entity::check(table, entity));
    }
    for (at, entity) in table.entities.iter().enumerate() {
        for other in table.entities.iter().skip(at + 1) {
            errors.add(check_distinct(entity, other));
        }
    }
    for pattern in &table.patterns {
        errors.add(pattern::check(table, pattern));
    }
    errors.add(check_unique(table.entities.iter().map(|entity| &entity.name), "entity"));
    errors.add(check_unique(table.patterns.iter().map(|pattern| &pattern.name), "access pattern"));
    errors.add(check_names(table));
    errors.add(check_ordered(table));
    errors.0.map_or(Ok(()), Err)
}

/// The errors found so far.
struct CheckErrors(Option<Error>);

impl CheckErrors {
    fn add(&mut self, result: Result<()>) {
        let Err(error) = result else { return };
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }
}

/// Rejects an order of items that the table does not have.
fn check_ordered(table: &TableAst) -> Result<()> {
    let Some(ordered) = &table.ordered else { return Ok(()) };
    if table.entities.iter().any(|entity| entity.name == *ordered) {
        return Ok(());
    }
    let problem = format!("the table has no entity `{ordered}`: name one whose items are walked");
    Err(Error::new(ordered.span(), problem))
}

/// Rejects two entities whose items could have the same primary key.
fn check_distinct(entity: &EntityAst, other: &EntityAst) -> Result<()> {
    let (Some(mine), Some(theirs)) = (entity.keys.first(), other.keys.first()) else {
        return Ok(());
    };
    if mine.partition.overlaps(&theirs.partition) && mine.sort.overlaps(&theirs.sort) {
        let problem = format!(
            "an item of `{}` could have the primary key of one of `{}`: add a literal that differs",
            other.name, entity.name
        );
        return Err(Error::new(theirs.sort.span(), problem));
    }
    Ok(())
}

fn check_unique<'a>(names: impl Iterator<Item = &'a Ident>, what: &str) -> Result<()> {
    let mut seen: Vec<&Ident> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Err(Error::new(name.span(), format!("{what} `{name}` is already defined")));
        }
        seen.push(name);
    }
    Ok(())
}

/// Rejects composites and accepted errors that refer to undefined names.
fn check_names(table: &TableAst) -> Result<()> {
    let pattern = |name: &Ident| table.patterns.iter().any(|pattern| pattern.name == *name);
    let entity = |name: &Ident| table.entities.iter().any(|entity| entity.name == *name);
    for composite in &table.composites {
        for of in &composite.of {
            if !pattern(of) {
                return Err(Error::new(of.span(), format!("there is no access pattern `{of}`")));
            }
        }
    }
    for (subject, _) in table.accepted.iter().flat_map(|accepted| &accepted.subjects) {
        if !pattern(subject) && !entity(subject) {
            let problem = format!("`{subject}` is neither an entity nor an access pattern");
            return Err(Error::new(subject.span(), problem));
        }
    }
    Ok(())
}

/// Returns whether `pattern` could return items stored under `key`.
fn may_return(key: &KeyAst, pattern: &PatternAst) -> bool {
    key.index == pattern.index
        && key.partition.overlaps(&pattern.partition)
        && match &pattern.sort {
            SortAst::All => true,
            SortAst::Equal(template) => key.sort.overlaps(template),
            SortAst::Begins(template) | SortAst::Within(template) => {
                key.sort.may_begin_with(template)
            }
        }
}
