//! What a page must not say. Every refusal names the thing and what to do instead.

mod entity;
mod pattern;

use syn::{Error, Ident, Result};

use crate::grammar::{Entity, Key, Page, Pattern, Sort};

pub(crate) use pattern::{entity_of, served_by};

/// Refuses a page that could not work. All findings are reported, not only the first.
pub(crate) fn check(page: &Page) -> Result<()> {
    let mut findings = Findings(None);
    for entity in &page.entities {
        findings.add(entity::check(page, entity));
    }
    for (at, entity) in page.entities.iter().enumerate() {
        for other in page.entities.iter().skip(at + 1) {
            findings.add(distinct(entity, other));
        }
    }
    for pattern in &page.patterns {
        findings.add(pattern::check(page, pattern));
    }
    findings.add(once(page.entities.iter().map(|entity| &entity.name), "entity"));
    findings.add(once(page.patterns.iter().map(|pattern| &pattern.name), "access pattern"));
    findings.add(names(page));
    findings.0.map_or(Ok(()), Err)
}

/// All that was found so far.
struct Findings(Option<Error>);

impl Findings {
    fn add(&mut self, result: Result<()>) {
        let Err(error) = result else { return };
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }
}

/// Two entities whose items could have the same primary key.
fn distinct(entity: &Entity, other: &Entity) -> Result<()> {
    let (Some(mine), Some(theirs)) = (entity.keys.first(), other.keys.first()) else {
        return Ok(());
    };
    if mine.partition.meets(&theirs.partition) && mine.sort.meets(&theirs.sort) {
        let problem = format!(
            "an item of `{}` could have the primary key of one of `{}`: let a literal tell them apart",
            other.name, entity.name
        );
        return Err(Error::new(theirs.sort.span(), problem));
    }
    Ok(())
}

fn once<'a>(names: impl Iterator<Item = &'a Ident>, what: &str) -> Result<()> {
    let mut seen: Vec<&Ident> = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Err(Error::new(name.span(), format!("{what} `{name}` is on the page already")));
        }
        seen.push(name);
    }
    Ok(())
}

/// What composites and acceptances refer to.
fn names(page: &Page) -> Result<()> {
    let pattern = |name: &Ident| page.patterns.iter().any(|pattern| pattern.name == *name);
    let entity = |name: &Ident| page.entities.iter().any(|entity| entity.name == *name);
    for composite in &page.composites {
        for of in &composite.of {
            if !pattern(of) {
                return Err(Error::new(of.span(), format!("there is no access pattern `{of}`")));
            }
        }
    }
    for (subject, _) in page.accepted.iter().flat_map(|accepted| &accepted.subjects) {
        if !pattern(subject) && !entity(subject) {
            let problem = format!("`{subject}` is neither an entity nor an access pattern");
            return Err(Error::new(subject.span(), problem));
        }
    }
    Ok(())
}

/// Whether items standing at `key` could be among the answers to `pattern`.
fn answers(key: &Key, pattern: &Pattern) -> bool {
    key.index == pattern.index
        && key.partition.meets(&pattern.partition)
        && match &pattern.sort {
            Sort::All => true,
            Sort::Equal(template) => key.sort.meets(template),
            Sort::Begins(template) | Sort::Within(template) => key.sort.may_begin_with(template),
        }
}
