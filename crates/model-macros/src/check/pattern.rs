//! What an access pattern must not say.

use syn::{Error, Ident, Result};

use super::answers;
use crate::grammar::{ArgumentKind, Entity, Key, Page, Pattern, Sort};
use crate::template::{Segment, Template};

/// The entity a pattern answers with.
pub(crate) fn entity_of<'a>(page: &'a Page, pattern: &Pattern) -> Result<&'a Entity> {
    page.entities.iter().find(|entity| entity.name == pattern.entity).ok_or_else(|| {
        let problem = format!("there is no entity `{}` in this table", pattern.entity);
        Error::new(pattern.entity.span(), problem)
    })
}

/// The key of the entity that a pattern reads.
pub(crate) fn served_by<'a>(entity: &'a Entity, pattern: &Pattern) -> Result<&'a Key> {
    let fits = |key: &&Key| {
        answers(key, pattern) && is_sharded(&key.partition) == is_sharded(&pattern.partition)
    };
    entity.keys.iter().find(fits).ok_or_else(|| {
        let problem = format!(
            "no key of `{}` in `{}` serves `{}`",
            entity.name, pattern.index.name, pattern.name
        );
        Error::new(pattern.partition.span(), problem)
    })
}

pub(super) fn check(page: &Page, pattern: &Pattern) -> Result<()> {
    let entity = entity_of(page, pattern)?;
    let key = served_by(entity, pattern)?;
    arguments(pattern)?;
    strength(pattern)?;
    order(pattern)?;
    days(pattern, key)?;
    span(pattern, key)?;
    filter(pattern, key)?;
    alone(page, entity, pattern)
}

/// Every part of the pattern's keys is asked for, and everything asked for is used.
fn arguments(pattern: &Pattern) -> Result<()> {
    let sort = pattern.sort.template();
    let templates = || std::iter::once(&pattern.partition).chain(sort);
    for name in templates().flat_map(Template::parts) {
        if pattern.argument(name).is_none() {
            let problem = format!("`{}` has no argument `{name}`", pattern.name);
            return Err(Error::new(name.span(), problem));
        }
    }
    for argument in &pattern.arguments {
        let filtered = pattern.filter.as_ref().is_some_and(|filter| filter.with == argument.name);
        if !filtered && !templates().flat_map(Template::parts).any(|name| *name == argument.name) {
            let problem = format!("`{}` does not use `{}`", pattern.name, argument.name);
            return Err(Error::new(argument.name.span(), problem));
        }
    }
    for segment in templates().flat_map(|template| &template.segments) {
        let (name, sharded) = match segment {
            Segment::Literal(_) => continue,
            Segment::Part { name, .. } => (name, false),
            Segment::Shard { name } => (name, true),
        };
        let shards = pattern
            .argument(name)
            .is_some_and(|argument| matches!(argument.kind, ArgumentKind::Shards(_)));
        if shards != sharded {
            let problem = "`[#{…}]` takes the argument of type `Shards`, and nothing else does";
            return Err(Error::new(name.span(), problem));
        }
    }
    Ok(())
}

fn strength(pattern: &Pattern) -> Result<()> {
    let Some(strong) = &pattern.strong else { return Ok(()) };
    if !pattern.index.is_main() {
        let problem = format!("`{}` cannot be read strongly: it is an index", pattern.index.name);
        return Err(Error::new(strong.span(), problem));
    }
    let spread =
        |kind: &ArgumentKind| !matches!(kind, ArgumentKind::One(_) | ArgumentKind::Span(_));
    if !matches!(pattern.sort, Sort::Equal(_)) && pattern.has(spread) {
        return Err(Error::new(strong.span(), "a read across partitions cannot be strong"));
    }
    Ok(())
}

/// Lists have an order; single items have none, and only they have views.
fn order(pattern: &Pattern) -> Result<()> {
    let refuse = |problem: String| Err(Error::new(pattern.name.span(), problem));
    let get = matches!(pattern.sort, Sort::Equal(_));
    let single = get || pattern.first;
    if get && pattern.first && pattern.index.is_main() {
        return refuse(String::from("`first` is for an index or a range; a whole key needs none"));
    }
    if get && !pattern.first && !pattern.index.is_main() {
        let index = &pattern.index.name;
        return refuse(format!("there is no get on an index: use `{index}, …, first …`"));
    }
    if let Sort::Begins(template) = &pattern.sort
        && !template.open
    {
        // Else `LIKE` would also find `LIKELY`, and `EDGE#a` what belongs to `ab`.
        return Err(Error::new(template.span(), "a `begins` ends in `#`"));
    }
    if single && (pattern.descending.is_some() || pattern.page.is_some()) {
        return refuse(format!("`{}` finds single items: no order, no page", pattern.name));
    }
    if !single && pattern.descending.is_none() {
        return refuse(format!("`{}` is a list: say `asc` or `desc`", pattern.name));
    }
    if pattern.view.is_some() && (!get || pattern.first) {
        return refuse(String::from("only a get has a view: a list's cursor needs the keys"));
    }
    if pattern.filter.is_some() && single {
        return refuse(String::from("a single item has no filter"));
    }
    Ok(())
}

/// Days can only be walked when the sort key begins with the time whose day it is: then the newest
/// items of several days are the newest of all.
fn days(pattern: &Pattern, key: &Key) -> Result<()> {
    let walked =
        |argument: &&crate::grammar::Argument| matches!(argument.kind, ArgumentKind::Days(_));
    let Some(days) = pattern.arguments.iter().find(walked) else { return Ok(()) };
    let at =
        pattern.partition.segments.iter().position(
            |segment| matches!(segment, Segment::Part { name, .. } if *name == days.name),
        );
    let time = at.and_then(|at| match key.partition.segments.get(at) {
        Some(Segment::Part { name, through: Some(through) }) if through == "day" => Some(name),
        _ => None,
    });
    let first = key.sort.segments.first();
    let ordered = match (time, first) {
        (Some(time), Some(Segment::Part { name, through: None })) => time == name,
        _ => false,
    };
    if ordered && matches!(pattern.sort, Sort::All) {
        return Ok(());
    }
    let problem = "days can be walked only where the sort key begins with the time of that day";
    Err(Error::new(days.name.span(), problem))
}

/// A span is of the last part of a `within`, and something follows it in the key, so that its end can
/// be left out.
fn span(pattern: &Pattern, key: &Key) -> Result<()> {
    let is_span = |name: &Ident| {
        pattern
            .argument(name)
            .is_some_and(|argument| matches!(argument.kind, ArgumentKind::Span(_)))
    };
    let Sort::Within(template) = &pattern.sort else {
        let mut parts = pattern
            .partition
            .parts()
            .chain(pattern.sort.template().into_iter().flat_map(Template::parts));
        return match parts.find(|name| is_span(name)) {
            Some(name) => Err(Error::new(name.span(), "a span belongs into a `within`")),
            None => Ok(()),
        };
    };
    let last = template.parts().last().filter(|_| !template.open);
    let ends_in_span =
        matches!(template.segments.last(), Some(Segment::Part { .. })) && last.is_some_and(is_span);
    if !ends_in_span {
        return Err(Error::new(template.span(), "a `within` ends in the part that the span is of"));
    }
    if key.sort.segments.len() <= template.segments.len() {
        let problem = "something must follow the span's part in the key, so that its end stays out";
        return Err(Error::new(template.span(), problem));
    }
    Ok(())
}

fn filter(pattern: &Pattern, key: &Key) -> Result<()> {
    let Some(filter) = &pattern.filter else { return Ok(()) };
    if key.mentions(&filter.field) {
        let problem = format!(
            "`{}` is in the key of `{}`: ask for it in the key condition, not in a filter",
            filter.field, pattern.index.name
        );
        return Err(Error::new(filter.field.span(), problem));
    }
    Ok(())
}

/// Items of other entities must not be among the answers.
fn alone(page: &Page, entity: &Entity, pattern: &Pattern) -> Result<()> {
    for other in page.entities.iter().filter(|other| other.name != entity.name) {
        if other.keys.iter().any(|key| answers(key, pattern)) {
            let problem = format!(
                "items of `{}` could be among the answers of `{}`: narrow the sort key",
                other.name, pattern.name
            );
            return Err(Error::new(pattern.partition.span(), problem));
        }
    }
    Ok(())
}

fn is_sharded(template: &Template) -> bool {
    matches!(template.segments.last(), Some(Segment::Shard { .. }))
}
