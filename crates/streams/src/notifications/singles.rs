//! Notifications that stand for themselves: each is there while its fact wants it to be.

use std::collections::{BTreeMap, HashMap};

use futures::future::try_join_all;
use roundtable_domain::Cause;
use roundtable_model::entities::{
    Comment, Follow, GroupMember, ModerationCase, Notification, Post, Quest, Task,
};
use roundtable_model::table::{Change, Key};
use roundtable_model::{At, Entity, NotificationKind, UserId};

use super::whom::People;
use super::wishes::{Fact, Wish};
use super::{Notices, Place, at, place_of};
use crate::Failure;
use crate::processor::{Effects, Images, entity};
use crate::reads::read_all;

/// Something that somebody is to be told, or not to be told any more.
#[derive(Debug)]
struct Candidate {
    note: Notification,
    cause: Cause,
    is_wanted: bool,
}

impl Notices {
    pub(super) async fn singles(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let mut wishes = Vec::new();
        self.wishes::<Follow>(changes, &mut wishes).await?;
        self.wishes::<Comment>(changes, &mut wishes).await?;
        self.wishes::<Post>(changes, &mut wishes).await?;
        self.wishes::<GroupMember>(changes, &mut wishes).await?;
        self.wishes::<Quest>(changes, &mut wishes).await?;
        self.wishes::<ModerationCase>(changes, &mut wishes).await?;
        self.wishes::<Task>(changes, &mut wishes).await?;
        if wishes.is_empty() {
            return Ok(());
        }
        let people = People::of(&self.ground, changes, wishes.iter().map(|(wish, _)| wish)).await?;
        let mut places: BTreeMap<Place, Candidate> = BTreeMap::new();
        for (wish, is_wanted) in &wishes {
            let Some(cause) = people.cause(wish, *is_wanted) else { continue };
            let note = cause.notification(&self.ground)?;
            let candidate = Candidate { cause, is_wanted: *is_wanted, note };
            let known = places.entry(place_of(&candidate.note)).or_insert(candidate);
            known.is_wanted |= *is_wanted;
        }
        let core = self.ground.core().table();
        let there = read_all(core, places.keys().map(|place| (place.clone(), at(place)))).await?;
        let mut new: BTreeMap<UserId, Vec<Candidate>> = BTreeMap::new();
        for (place, candidate) in places {
            match (candidate.is_wanted, there.contains_key(&place)) {
                (false, true) => effects.write(core, at(&place).delete()),
                (true, false) if candidate.note.kind == NotificationKind::Reminder => {
                    self.remind_later(&candidate.cause, effects)?;
                }
                (true, false) if !self.is_over(&candidate.note) => {
                    new.entry(place.0).or_default().push(candidate);
                }
                _ => {}
            }
        }
        let admitted = new.into_iter().map(|(user, candidates)| self.admitted(user, candidates));
        for note in try_join_all(admitted).await?.into_iter().flatten() {
            effects.write(core, note.create());
        }
        Ok(())
    }

    /// Of what one person is to be told, what they may be.
    async fn admitted(
        &self,
        user: UserId,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Notification>, Failure> {
        let (causes, notes): (Vec<Cause>, Vec<Notification>) =
            candidates.into_iter().map(|candidate| (candidate.cause, candidate.note)).unzip();
        let admitted = self.notifications.admits(&user, &causes).await?;
        Ok(notes.into_iter().zip(admitted).filter(|(_, is)| *is).map(|(note, _)| note).collect())
    }

    /// The wishes that changes of a kind of fact make or end, and whether the fact has them now.
    async fn wishes<F: Fact>(
        &self,
        changes: &[Change],
        wishes: &mut Vec<(Wish, bool)>,
    ) -> Result<(), Failure> {
        let lead_ms = self.lead_ms();
        let mut touched: HashMap<Key, (At<F>, Vec<Wish>)> = HashMap::new();
        for change in changes.iter().filter(|change| entity(change) == Some(F::SHAPE.name)) {
            let Images { old, new } = Images::<F>::of(change)?;
            let before = old.as_ref().map(|old| old.wishes(lead_ms)).unwrap_or_default();
            let is_news = new.as_ref().is_some_and(|new| F::is_news(old.as_ref(), new));
            let after = new.as_ref().map(|new| new.wishes(lead_ms)).unwrap_or_default();
            let ended = before.iter().filter(|wish| !after.contains(wish));
            let made = after.iter().filter(|wish| is_news && !before.contains(wish));
            let made = made.map(|wish| {
                let meant_at = new.as_ref().and_then(|new| new.meant_at(old.as_ref(), &wish.whom));
                Wish { meant_at, ..wish.clone() }
            });
            let some: Vec<Wish> = ended.cloned().chain(made).collect();
            if let Some(fact) = new.as_ref().or(old.as_ref()).filter(|_| !some.is_empty()) {
                let place = fact.key();
                let known = touched.entry(place.clone().into_key());
                known.or_insert_with(|| (place, Vec::new())).1.extend(some);
            }
        }
        let places = touched.iter().map(|(key, (place, _))| (key.clone(), place.clone()));
        let now = read_all(self.ground.core().table(), places).await?;
        for (key, (_, some)) in touched {
            let now = now.get(&key).map(|fact| fact.wishes(lead_ms)).unwrap_or_default();
            wishes.extend(some.into_iter().map(|wish| {
                let is_wanted = now.iter().any(|one| one.is_same(&wish));
                (wish, is_wanted)
            }));
        }
        Ok(())
    }
}
