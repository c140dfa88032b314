//! The constant texts of all keys of the schema. A packed cursor names its skeleton and holds only
//! the parts that differ between items.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::part::stable_hash;
use crate::shape::{EntityShape, KeySegment, KeyTemplate};
use crate::{Day, KeyPart, SCHEMA};

/// Changes with the way in which parts are packed.
const PACKING_FORMAT: u8 = 1;

/// The skeletons of the schema.
pub(super) static SKELETONS: LazyLock<Skeletons> = LazyLock::new(Skeletons::of_schema);

/// The keys of one entity in the table, or in the table and one index.
#[derive(Debug)]
pub(super) struct Skeleton {
    /// The segments of the two texts of the primary key, then of those of the index key.
    texts: Vec<Vec<SkeletonSegment>>,
    variables: usize,
    /// An earlier skeleton may fit the same cursor, and must be tried first.
    is_ambiguous: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SkeletonSegment {
    Literal(&'static str),
    /// The variable part with this number, which may occur several times.
    Variable(usize),
    /// The first characters of a time: its day.
    DayOf(usize),
    /// The same without dashes.
    CompactDayOf(usize),
}

/// All skeletons, each identified by its position.
#[derive(Debug)]
pub(super) struct Skeletons {
    all: Vec<Skeleton>,
    /// The skeletons that fit a cursor whose first text begins with this segment, in order.
    by_first_segment: HashMap<&'static str, Vec<usize>>,
    /// The skeletons that begin with a variable part, in order.
    others: Vec<usize>,
    version: u64,
}

impl Skeletons {
    fn of_schema() -> Self {
        let entities = SCHEMA.iter().flat_map(|table| table.entities);
        let mut all: Vec<Skeleton> = Vec::new();
        for mut skeleton in entities.flat_map(|entity| of_entity(entity)) {
            if all.iter().all(|earlier| earlier.texts != skeleton.texts) {
                skeleton.is_ambiguous = all.iter().any(|earlier| earlier.may_equal(&skeleton));
                all.push(skeleton);
            }
        }
        let fitting = |literal| {
            let fits = move |skeleton: &Skeleton| match skeleton.first_segment() {
                Some(SkeletonSegment::Literal(first)) => Some(first) == literal,
                _ => true,
            };
            let numbered = all.iter().enumerate().filter(move |(_, skeleton)| fits(skeleton));
            numbered.map(|(number, _)| number).collect::<Vec<usize>>()
        };
        let literals = all.iter().filter_map(|skeleton| match skeleton.first_segment()? {
            SkeletonSegment::Literal(literal) => Some(literal),
            _ => None,
        });
        let by_first_segment = literals.map(|literal| (literal, fitting(Some(literal)))).collect();
        let others = fitting(None);
        let texts: Vec<_> = all.iter().map(|skeleton| &skeleton.texts).collect();
        let version = stable_hash(&format!("{PACKING_FORMAT} {texts:?}"));
        Self { all, by_first_segment, others, version }
    }

    /// Returns a hash of all skeletons and of the way in which parts are packed.
    pub(super) const fn version(&self) -> u64 {
        self.version
    }

    #[cfg(test)]
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Skeleton> {
        self.all.get(number)
    }

    /// Returns the first skeleton that fits, and the variable parts. The cursors of a list usually
    /// have the same skeleton, so the `latest` one is tried first where this cannot change the
    /// result.
    pub(super) fn find<'t>(
        &self,
        texts: &[&'t str],
        latest: &AtomicUsize,
    ) -> Option<(usize, Vec<&'t str>)> {
        let number = latest.load(Ordering::Relaxed);
        let hinted = self.get(number).filter(|skeleton| !skeleton.is_ambiguous);
        if let Some(parts) = hinted.and_then(|skeleton| skeleton.parts_of(texts)) {
            return Some((number, parts));
        }
        let first = texts.first()?.split('#').next()?;
        let fitting = self.by_first_segment.get(first).unwrap_or(&self.others);
        let (number, parts) = fitting
            .iter()
            .find_map(|number| Some((*number, self.get(*number)?.parts_of(texts)?)))?;
        latest.store(number, Ordering::Relaxed);
        Some((number, parts))
    }
}

impl Skeleton {
    pub(super) const fn variables(&self) -> usize {
        self.variables
    }

    fn first_segment(&self) -> Option<SkeletonSegment> {
        self.texts.first()?.first().copied()
    }

    /// Returns whether a cursor may fit both.
    fn may_equal(&self, other: &Self) -> bool {
        let segments =
            |texts: &[Vec<SkeletonSegment>]| texts.iter().map(Vec::len).collect::<Vec<_>>();
        let mut pairs = self.texts.iter().flatten().zip(other.texts.iter().flatten());
        segments(&self.texts) == segments(&other.texts)
            && !pairs.any(|pair| match pair {
                (SkeletonSegment::Literal(one), SkeletonSegment::Literal(other)) => one != other,
                _ => false,
            })
    }

    /// Returns the variable parts of texts that fit.
    fn parts_of<'t>(&self, texts: &[&'t str]) -> Option<Vec<&'t str>> {
        if texts.len() != self.texts.len() {
            return None;
        }
        let mut parts: Vec<Option<&str>> = vec![None; self.variables];
        for (segments, text) in self.texts.iter().zip(texts) {
            let mut found = text.split('#');
            for segment in segments {
                let found = found.next()?;
                match segment {
                    SkeletonSegment::Literal(literal) if found != *literal => return None,
                    SkeletonSegment::Variable(number) => {
                        let earlier = parts.get_mut(*number)?.get_or_insert(found);
                        if *earlier != found {
                            return None;
                        }
                    }
                    // Days are compared below, when the times are known.
                    _ => {}
                }
            }
            if found.next().is_some() {
                return None;
            }
        }
        let parts: Vec<&str> = parts.into_iter().collect::<Option<_>>()?;
        self.has_days(texts, &parts).then_some(parts)
    }

    /// Returns whether the days are those of the times.
    fn has_days(&self, texts: &[&str], parts: &[&str]) -> bool {
        let fits = |segment: &SkeletonSegment, found: &str| match segment {
            SkeletonSegment::Literal(_) | SkeletonSegment::Variable(_) => true,
            SkeletonSegment::DayOf(number) => {
                parts.get(*number).and_then(|time| day(time)) == Some(found)
            }
            SkeletonSegment::CompactDayOf(number) => {
                let day = parts.get(*number).and_then(|time| day(time));
                day.is_some_and(|day| compact(day).eq(found.chars()))
            }
        };
        self.texts.iter().zip(texts).all(|(segments, text)| {
            segments.iter().zip(text.split('#')).all(|(segment, found)| fits(segment, found))
        })
    }

    /// Returns the texts with these variable parts.
    pub(super) fn texts_with(&self, parts: &[String]) -> Option<Vec<String>> {
        let part = |number: &usize| parts.get(*number).map(String::as_str);
        let text = |segments: &Vec<SkeletonSegment>| {
            let mut text = String::new();
            for (position, segment) in segments.iter().enumerate() {
                if position > 0 {
                    text.push('#');
                }
                match segment {
                    SkeletonSegment::Literal(literal) => text.push_str(literal),
                    SkeletonSegment::Variable(number) => text.push_str(part(number)?),
                    SkeletonSegment::DayOf(number) => text.push_str(day(part(number)?)?),
                    SkeletonSegment::CompactDayOf(number) => {
                        text.extend(compact(day(part(number)?)?));
                    }
                }
            }
            Some(text)
        };
        self.texts.iter().map(text).collect()
    }
}

/// Returns the day of a time as it is written in keys.
fn day(time: &str) -> Option<&str> {
    time.get(..Day::BYTES_MAX)
}

fn compact(day: &str) -> impl Iterator<Item = char> {
    day.chars().filter(|char| *char != '-')
}

/// Returns the skeletons of an entity: its primary key alone, and with each of its index keys; each
/// with and without the suffix of a shard.
fn of_entity(entity: &EntityShape) -> Vec<Skeleton> {
    let main = entity.main();
    let base = [&main.partition, &main.sort];
    let indexed = entity.keys.iter().skip(1).map(|key| {
        let [partition, sort] = base;
        vec![partition, sort, &key.partition, &key.sort]
    });
    let mut skeletons = Vec::new();
    for templates in std::iter::once(base.to_vec()).chain(indexed) {
        let mut shards: Vec<&str> = Vec::new();
        for segment in templates.iter().flat_map(|template| template.segments) {
            if let KeySegment::Shard { name } = segment
                && !shards.contains(name)
            {
                shards.push(name);
            }
        }
        let mut written = vec![Vec::new()];
        for shard in shards {
            let with =
                written.iter().map(|names: &Vec<&str>| [names.as_slice(), &[shard]].concat());
            written = with.collect::<Vec<_>>().into_iter().chain(written).collect();
        }
        skeletons.extend(written.iter().map(|shards| of_templates(&templates, shards)));
    }
    skeletons
}

/// Returns the skeleton of keys in which the suffixes of these shards are written.
fn of_templates(templates: &[&KeyTemplate], shards: &[&str]) -> Skeleton {
    let segments = || templates.iter().flat_map(|template| template.segments);
    let is_time = |time: &str| {
        segments().any(|it| matches!(it, KeySegment::Part { name, method: None } if *name == time))
    };
    let mut variables: Vec<(&str, Option<&str>)> = Vec::new();
    let mut number = |name: &'static str, method: Option<&'static str>| {
        let known = variables.iter().position(|variable| *variable == (name, method));
        known.unwrap_or_else(|| {
            variables.push((name, method));
            variables.len() - 1
        })
    };
    let mut segment = |segment: &KeySegment| match *segment {
        KeySegment::Literal(literal) => Some(SkeletonSegment::Literal(literal)),
        KeySegment::Part { name, method: Some("day") } if is_time(name) => {
            Some(SkeletonSegment::DayOf(number(name, None)))
        }
        KeySegment::Part { name, method: Some("compact_day") } if is_time(name) => {
            Some(SkeletonSegment::CompactDayOf(number(name, None)))
        }
        KeySegment::Part { name, method } => Some(SkeletonSegment::Variable(number(name, method))),
        KeySegment::Shard { name } => {
            shards.contains(&name).then(|| SkeletonSegment::Variable(number(name, None)))
        }
    };
    let texts: Vec<Vec<SkeletonSegment>> = templates
        .iter()
        .map(|template| template.segments.iter().filter_map(&mut segment).collect())
        .collect();
    Skeleton { texts, variables: variables.len(), is_ambiguous: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_schema_has_a_skeleton_that_one_byte_can_name() {
        let keys = SCHEMA.iter().flat_map(|table| table.entities).map(|entity| entity.keys.len());
        let skeletons = SKELETONS.all.len();
        assert!((keys.sum::<usize>()..240).contains(&skeletons), "{skeletons} skeletons");
    }
}
