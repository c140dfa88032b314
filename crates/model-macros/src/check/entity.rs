//! What an entity must not say.

use syn::{Error, Ident, Result};

use crate::grammar::{Condition, Entity, Key, Page};
use crate::template::Template;

pub(super) fn check(page: &Page, entity: &Entity) -> Result<()> {
    let Some(main) = entity.keys.first().filter(|key| key.index.is_main()) else {
        let problem = format!("the first key of `{}` must be `main`", entity.name);
        return Err(Error::new(entity.name.span(), problem));
    };
    for (at, key) in entity.keys.iter().enumerate() {
        index_use(page, entity, key, entity.keys.get(..at).unwrap_or_default())?;
        for condition in &key.conditions {
            self::condition(entity, condition)?;
        }
        for template in [&key.partition, &key.sort] {
            parts(entity, key, template)?;
        }
    }
    primary_key(entity, main)?;
    for part in &entity.parts {
        if !entity.keys.iter().any(|key| depends(key, &part.name)) {
            let problem = format!("no key of `{}` depends on `{}`", entity.name, part.name);
            return Err(Error::new(part.name.span(), problem));
        }
    }
    Ok(())
}

fn primary_key(entity: &Entity, main: &Key) -> Result<()> {
    if main.otherwise || !main.conditions.is_empty() {
        let problem = "a primary key has no condition";
        return Err(Error::new(main.index.name.span(), problem));
    }
    for name in main.partition.parts().chain(main.sort.parts()) {
        match entity.part(name) {
            Some(part) if part.mutable => {
                let problem = format!(
                    "`{name}` may change, and a primary key cannot: an item would have to move"
                );
                return Err(Error::new(name.span(), problem));
            }
            Some(_) => {
                let problem = format!(
                    "`{name}` tells items of `{0}` apart: list it in `{0}(…)`, not in `+ (…)`",
                    entity.name
                );
                return Err(Error::new(name.span(), problem));
            }
            None => {}
        }
    }
    for argument in &entity.identity {
        let moving = |field: &&Ident| entity.part(field).is_some_and(|part| part.mutable);
        if let Some(field) = argument.computed_from.iter().flatten().find(moving) {
            let problem = format!(
                "`{}` is computed from `{field}`, which may change, and a primary key cannot",
                argument.name
            );
            return Err(Error::new(field.span(), problem));
        }
        if !main.mentions(&argument.name) {
            let problem = format!(
                "`{}` is listed in `{}(…)`, but the primary key lacks it",
                argument.name, entity.name
            );
            return Err(Error::new(argument.name.span(), problem));
        }
    }
    Ok(())
}

/// An index is there, and named once; again only as `else`.
fn index_use(page: &Page, entity: &Entity, key: &Key, before: &[Key]) -> Result<()> {
    let name = &key.index.name;
    let refuse = |problem: String| Err(Error::new(name.span(), problem));
    if !key.index.is_main() && !page.indexes.contains(&key.index) {
        return refuse(format!("table {:?} has no index `{name}`", page.name.value()));
    }
    let earlier = before.iter().rfind(|other| other.index == key.index);
    match (earlier, key.otherwise) {
        (None, true) => refuse(format!("`{name} else` needs a `{name} if …` before it")),
        (Some(_), false) => refuse(format!(
            "`{}` names `{name}` twice: an item has one key in an index; use `{name} else`",
            entity.name
        )),
        (Some(earlier), true) if earlier.conditions.is_empty() => {
            refuse(format!("this `{name} else` can never apply: the one before it always does"))
        }
        _ => Ok(()),
    }
}

fn condition(entity: &Entity, condition: &Condition) -> Result<()> {
    match condition {
        Condition::Present(name) => {
            if entity.part(name).is_some_and(|part| part.optional) {
                return Ok(());
            }
            let problem = format!(
                "`if {name}` asks whether it is there: list `{name}?` in `+ (…)`, or name the \
                 fields of a predicate, as in `{name}(status)`"
            );
            Err(Error::new(name.span(), problem))
        }
        Condition::Predicate(predicate, fields) => {
            for field in fields {
                if entity.part(field).is_none() && entity.identity(field).is_none() {
                    let problem = format!(
                        "`{predicate}` sees `{field}`, so the key depends on it: list it in `+ (…)`"
                    );
                    return Err(Error::new(field.span(), problem));
                }
            }
            Ok(())
        }
    }
}

/// Every part is known, and there when the key is.
fn parts(entity: &Entity, key: &Key, template: &Template) -> Result<()> {
    if template.open {
        return Err(Error::new(template.span(), "a key does not end in `#`"));
    }
    for name in template.parts() {
        let Some(part) = entity.part(name) else {
            if entity.identity(name).is_some() {
                continue;
            }
            let problem = format!(
                "`{0}` has no part `{name}`: neither `{0}(…)` nor `+ (…)` lists it",
                entity.name
            );
            return Err(Error::new(name.span(), problem));
        };
        let present =
            |condition: &Condition| matches!(condition, Condition::Present(n) if n == name);
        if part.optional && !key.conditions.iter().any(present) {
            let problem =
                format!("`{name}` may be absent: write `{} if {name} => …`", key.index.name);
            return Err(Error::new(name.span(), problem));
        }
    }
    Ok(())
}

/// Whether `key`, or whether it is there, depends on the field.
fn depends(key: &Key, name: &Ident) -> bool {
    key.mentions(name)
        || key.conditions.iter().any(|condition| match condition {
            Condition::Present(field) => field == name,
            Condition::Predicate(_, fields) => fields.contains(name),
        })
}
