//! Rejects entities that cannot work.

use syn::{Error, Ident, Result};

use crate::ast::{ConditionAst, EntityAst, KeyAst, TableAst};
use crate::template::TemplateAst;

pub(super) fn check(table: &TableAst, entity: &EntityAst) -> Result<()> {
    let Some(main) = entity.keys.first().filter(|key| key.index.is_main()) else {
        let problem = format!("the first key of `{}` must be `main`", entity.name);
        return Err(Error::new(entity.name.span(), problem));
    };
    for (at, key) in entity.keys.iter().enumerate() {
        check_index(table, entity, key, entity.keys.get(..at).unwrap_or_default())?;
        for condition in &key.conditions {
            check_condition(entity, condition)?;
        }
        for template in [&key.partition, &key.sort] {
            check_parts(entity, key, template)?;
        }
    }
    check_primary_key(entity, main)?;
    for owner in &entity.owners {
        check_owner(table, entity, owner)?;
    }
    for part in &entity.parts {
        if !entity.keys.iter().any(|key| depends_on(key, &part.name)) {
            let problem = format!("no key of `{}` depends on `{}`", entity.name, part.name);
            return Err(Error::new(part.name.span(), problem));
        }
    }
    Ok(())
}

fn check_primary_key(entity: &EntityAst, main: &KeyAst) -> Result<()> {
    if main.otherwise || !main.conditions.is_empty() {
        let problem = "a primary key has no condition";
        return Err(Error::new(main.index.name.span(), problem));
    }
    for name in main.partition.parts().chain(main.sort.parts()) {
        match entity.part(name) {
            Some(part) if part.mutable => {
                let problem = format!(
                    "`{name}` may change, but a primary key cannot: remove it from the key, or its `mut`"
                );
                return Err(Error::new(name.span(), problem));
            }
            Some(_) => {
                let problem = format!(
                    "`{name}` identifies items of `{0}`: list it in `{0}(…)`, not in `+ (…)`",
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
                "`{}` is computed from `{field}`, which may change, but a primary key cannot",
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

/// Rejects an owner whose items a purge would not find: no query lists them, or the purge does not
/// read their table.
fn check_owner(table: &TableAst, entity: &EntityAst, owner: &Ident) -> Result<()> {
    if !table.streamed {
        let problem = format!("only items of a streamed table have owners: remove `of ({owner})`");
        return Err(Error::new(owner.span(), problem));
    }
    if !entity.keys_of_owner(owner).is_empty() {
        return Ok(());
    }
    let problem = format!(
        "no key lists the items of `{}` that belong to one `{owner}`: write a key with the \
        partition `…#{{{owner}}}`, or remove it from `of (…)`",
        entity.name
    );
    Err(Error::new(owner.span(), problem))
}

/// Rejects an index that the table lacks, or that the entity names again without `else`.
fn check_index(
    table: &TableAst,
    entity: &EntityAst,
    key: &KeyAst,
    before: &[KeyAst],
) -> Result<()> {
    let name = &key.index.name;
    let refuse = |problem: String| Err(Error::new(name.span(), problem));
    if !key.index.is_main() && !table.indexes.contains(&key.index) {
        return refuse(format!("table {:?} has no index `{name}`", table.name.value()));
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

fn check_condition(entity: &EntityAst, condition: &ConditionAst) -> Result<()> {
    match condition {
        ConditionAst::Present(name) => {
            if entity.part(name).is_some_and(|part| part.optional) {
                return Ok(());
            }
            let problem = format!(
                "`if {name}` tests whether the field is present: list `{name}?` in `+ (…)`, or name \
                the fields of a predicate, as in `{name}(status)`"
            );
            Err(Error::new(name.span(), problem))
        }
        ConditionAst::Predicate(predicate, fields) => {
            for field in fields {
                if entity.part(field).is_none() && entity.identity(field).is_none() {
                    let problem = format!(
                        "`{predicate}` reads `{field}`, so the key depends on it: list it in `+ (…)`"
                    );
                    return Err(Error::new(field.span(), problem));
                }
            }
            Ok(())
        }
    }
}

/// Rejects parts that are not declared, or that may be absent while the key is present.
fn check_parts(entity: &EntityAst, key: &KeyAst, template: &TemplateAst) -> Result<()> {
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
            |condition: &ConditionAst| matches!(condition, ConditionAst::Present(n) if n == name);
        if part.optional && !key.conditions.iter().any(present) {
            let problem =
                format!("`{name}` may be absent: write `{} if {name} => …`", key.index.name);
            return Err(Error::new(name.span(), problem));
        }
    }
    Ok(())
}

/// Returns whether `key`, or its presence, depends on the field.
fn depends_on(key: &KeyAst, name: &Ident) -> bool {
    key.mentions(name)
        || key.conditions.iter().any(|condition| match condition {
            ConditionAst::Present(field) => field == name,
            ConditionAst::Predicate(_, fields) => fields.contains(name),
        })
}
