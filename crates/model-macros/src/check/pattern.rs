//! Rejects access patterns that cannot work.

use syn::{Error, Ident, Result};

use super::may_return;
use crate::ast::{ArgumentKind, EntityAst, KeyAst, PatternAst, SortAst, TableAst};
use crate::template::{SegmentAst, TemplateAst};

/// Returns the entity that a pattern returns.
pub(crate) fn entity_of<'a>(table: &'a TableAst, pattern: &PatternAst) -> Result<&'a EntityAst> {
    table.entities.iter().find(|entity| entity.name == pattern.entity).ok_or_else(|| {
        let problem = format!("there is no entity `{}` in this table", pattern.entity);
        Error::new(pattern.entity.span(), problem)
    })
}

/// Returns the key of the entity that a pattern reads.
pub(crate) fn served_by<'a>(entity: &'a EntityAst, pattern: &PatternAst) -> Result<&'a KeyAst> {
    let fits = |key: &&KeyAst| {
        may_return(key, pattern) && is_sharded(&key.partition) == is_sharded(&pattern.partition)
    };
    entity.keys.iter().find(fits).ok_or_else(|| {
        let problem = format!(
            "no key of `{}` in `{}` serves `{}`",
            entity.name, pattern.index.name, pattern.name
        );
        Error::new(pattern.partition.span(), problem)
    })
}

pub(super) fn check(table: &TableAst, pattern: &PatternAst) -> Result<()> {
    let entity = entity_of(table, pattern)?;
    let key = served_by(entity, pattern)?;
    check_arguments(pattern)?;
    check_strength(pattern)?;
    check_order(pattern)?;
    check_days(pattern, key)?;
    check_span(pattern, key)?;
    check_filter(pattern, key)?;
    check_exclusive(table, entity, pattern)
}

/// Rejects key parts without an argument, and arguments that no key uses.
fn check_arguments(pattern: &PatternAst) -> Result<()> {
    let sort = pattern.sort.template();
    let templates = || std::iter::once(&pattern.partition).chain(sort);
    for name in templates().flat_map(TemplateAst::parts) {
        if pattern.argument(name).is_none() {
            let problem = format!("`{}` has no argument `{name}`", pattern.name);
            return Err(Error::new(name.span(), problem));
        }
    }
    for argument in &pattern.arguments {
        let filtered = pattern.filter.as_ref().is_some_and(|filter| filter.with == argument.name);
        if !filtered && !templates().flat_map(TemplateAst::parts).any(|name| *name == argument.name)
        {
            let problem = format!("`{}` does not use `{}`", pattern.name, argument.name);
            return Err(Error::new(argument.name.span(), problem));
        }
    }
    for segment in templates().flat_map(|template| &template.segments) {
        let (name, sharded) = match segment {
            SegmentAst::Literal(_) => continue,
            SegmentAst::Part { name, .. } => (name, false),
            SegmentAst::Shard { name } => (name, true),
        };
        let is_shard = pattern.argument(name).is_some_and(|argument| argument.kind.is_shard());
        if is_shard != sharded {
            let problem =
                "`[#{…}]` takes an argument of type `Shard` or `Shards`, which go nowhere else";
            return Err(Error::new(name.span(), problem));
        }
    }
    Ok(())
}

fn check_strength(pattern: &PatternAst) -> Result<()> {
    let Some(strong) = &pattern.strong else { return Ok(()) };
    if !pattern.index.is_main() {
        let problem = format!(
            "`{}` is an index and cannot be read strongly: remove `strong`",
            pattern.index.name
        );
        return Err(Error::new(strong.span(), problem));
    }
    let spread =
        |kind: &ArgumentKind| !matches!(kind, ArgumentKind::One(_) | ArgumentKind::Span(_));
    if !matches!(pattern.sort, SortAst::Equal(_)) && pattern.has(spread) {
        let problem = "a read across partitions cannot be strong: remove `strong`";
        return Err(Error::new(strong.span(), problem));
    }
    Ok(())
}

/// Requires an order of lists and rejects one of single items; only gets have views.
fn check_order(pattern: &PatternAst) -> Result<()> {
    let refuse = |problem: String| Err(Error::new(pattern.name.span(), problem));
    let get = matches!(pattern.sort, SortAst::Equal(_));
    let single = get || pattern.first;
    if get && pattern.first && pattern.index.is_main() {
        return refuse(String::from("remove `first`: a whole primary key has one item at most"));
    }
    if get && !pattern.first && !pattern.index.is_main() {
        let index = &pattern.index.name;
        return refuse(format!("an index has no get: use `{index}, …, first …`"));
    }
    if let SortAst::Begins(template) = &pattern.sort
        && !template.open
    {
        // Otherwise `LIKE` would also match `LIKELY`, and `EDGE#a` keys of `ab`.
        return Err(Error::new(template.span(), "a `begins` prefix must end in `#`"));
    }
    if single && (pattern.descending.is_some() || pattern.page.is_some()) {
        return refuse(format!(
            "`{}` returns single items: remove the order and page",
            pattern.name
        ));
    }
    if !single && pattern.descending.is_none() {
        return refuse(format!("`{}` is a list: add `asc` or `desc`", pattern.name));
    }
    if pattern.view.is_some() && (!get || pattern.first) {
        return refuse(String::from("only a get can have a view: a list's cursor needs the keys"));
    }
    if pattern.filter.is_some() && single {
        return refuse(String::from("a single item cannot be filtered: remove `where`"));
    }
    Ok(())
}

/// Rejects a walk over days unless the sort key begins with the time whose day it is: only then are
/// the newest items of several days the newest of all.
fn check_days(pattern: &PatternAst, key: &KeyAst) -> Result<()> {
    let walked =
        |argument: &&crate::ast::ArgumentAst| matches!(argument.kind, ArgumentKind::Days(_));
    let Some(days) = pattern.arguments.iter().find(walked) else { return Ok(()) };
    let at =
        pattern.partition.segments.iter().position(
            |segment| matches!(segment, SegmentAst::Part { name, .. } if *name == days.name),
        );
    let time = at.and_then(|at| match key.partition.segments.get(at) {
        Some(SegmentAst::Part { name, method: Some(method) }) if method == "day" => Some(name),
        _ => None,
    });
    let first = key.sort.segments.first();
    let ordered = match (time, first) {
        (Some(time), Some(SegmentAst::Part { name, method: None })) => time == name,
        _ => false,
    };
    if ordered && matches!(pattern.sort, SortAst::All) {
        return Ok(());
    }
    let problem = "a walk over days needs a sort key that begins with the time of that day";
    Err(Error::new(days.name.span(), problem))
}

/// Requires that a span is the last part of a `within` and that the key goes on after it, so that
/// the end of the span can be excluded.
fn check_span(pattern: &PatternAst, key: &KeyAst) -> Result<()> {
    let is_span = |name: &Ident| {
        pattern
            .argument(name)
            .is_some_and(|argument| matches!(argument.kind, ArgumentKind::Span(_)))
    };
    let SortAst::Within(template) = &pattern.sort else {
        let mut parts = pattern
            .partition
            .parts()
            .chain(pattern.sort.template().into_iter().flat_map(TemplateAst::parts));
        return match parts.find(|name| is_span(name)) {
            Some(name) => Err(Error::new(name.span(), "a `Span` is only allowed in a `within`")),
            None => Ok(()),
        };
    };
    let last = template.parts().last().filter(|_| !template.open);
    let ends_in_span = matches!(template.segments.last(), Some(SegmentAst::Part { .. }))
        && last.is_some_and(is_span);
    if !ends_in_span {
        return Err(Error::new(template.span(), "a `within` must end in its `Span` argument"));
    }
    if key.sort.segments.len() <= template.segments.len() {
        let problem = "the sort key must have another part after the span, to exclude its end";
        return Err(Error::new(template.span(), problem));
    }
    Ok(())
}

fn check_filter(pattern: &PatternAst, key: &KeyAst) -> Result<()> {
    let Some(filter) = &pattern.filter else { return Ok(()) };
    if key.mentions(&filter.field) {
        let problem = format!(
            "`{}` is in the key of `{}`: put it into the key condition, not into a filter",
            filter.field, pattern.index.name
        );
        return Err(Error::new(filter.field.span(), problem));
    }
    Ok(())
}

/// Rejects a pattern that could return items of other entities.
fn check_exclusive(table: &TableAst, entity: &EntityAst, pattern: &PatternAst) -> Result<()> {
    for other in table.entities.iter().filter(|other| other.name != entity.name) {
        if other.keys.iter().any(|key| may_return(key, pattern)) {
            let problem = format!(
                "`{1}` could return items of `{0}`: narrow the sort key",
                other.name, pattern.name
            );
            return Err(Error::new(pattern.partition.span(), problem));
        }
    }
    Ok(())
}

fn is_sharded(template: &TemplateAst) -> bool {
    matches!(template.segments.last(), Some(SegmentAst::Shard { .. }))
}
