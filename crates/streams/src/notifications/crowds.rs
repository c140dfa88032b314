//! Likes and shares of a post, which add up: one notification for each hour, which names the latest of
//! those who still like it, or whose share is still there, and whom the author may hear of.
//!
//! Its place follows from the post and the hour in which somebody did it. Whom it names is the latest of
//! whom it named and of those who have just done it; where whom it named has taken it back, everybody is
//! asked. So it is right after every change, and right again when changes come twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::future::try_join_all;
use roundtable_domain::{About, Cause, Latest, hour_of};
use roundtable_model::entities::{Like, Notification, Share};
use roundtable_model::table::Change;
use roundtable_model::{At, Entity, NotificationKind, PostId, Time, UserId};

use super::{Notices, Place, at, place_of};
use crate::Failure;
use crate::processor::{Effects, Images, entity};
use crate::reads::read_all;

/// Something that people do to a post, each once.
pub(super) trait Reaction: Entity {
    const KIND: NotificationKind;

    fn whose(&self) -> (&PostId, &UserId);

    fn author(&self) -> &UserId;

    fn when(&self) -> Time;

    fn by(post: &PostId, user: &UserId) -> At<Self>;
}

/// What happened to one post in one hour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crowd {
    author: UserId,
    post: PostId,
    hour: Time,
}

impl Notices {
    pub(super) async fn crowds<R: Reaction>(
        &self,
        changes: &[Change],
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let mut touched: BTreeMap<Crowd, BTreeSet<UserId>> = BTreeMap::new();
        for change in changes.iter().filter(|change| entity(change) == Some(R::SHAPE.name)) {
            let Images { old, new } = Images::<R>::of(change)?;
            if old.as_ref().map(R::when) == new.as_ref().map(R::when) {
                // Another way of liking is no news.
                continue;
            }
            for image in [old, new].into_iter().flatten() {
                let (post, user) = image.whose();
                if user != image.author() {
                    let (author, post) = (image.author().clone(), post.clone());
                    let crowd = Crowd { author, post, hour: hour_of(image.when()) };
                    touched.entry(crowd).or_default().insert(user.clone());
                }
            }
        }
        if touched.is_empty() {
            return Ok(());
        }
        let core = self.ground.core().table();
        let mut places: BTreeMap<Place, &Crowd> = BTreeMap::new();
        for crowd in touched.keys() {
            places.insert(place_of(&self.note::<R>(crowd, None)?), crowd);
        }
        let found = read_all(core, places.keys().map(|place| (place.clone(), at(place)))).await?;
        let known: BTreeMap<&Crowd, &Notification> =
            places.iter().filter_map(|(place, crowd)| Some((*crowd, found.get(place)?))).collect();
        let named = |crowd: &Crowd| known.get(crowd).and_then(|note| note.actor_id.clone());
        let asked: BTreeSet<(PostId, UserId)> = touched
            .iter()
            .flat_map(|(crowd, users)| {
                users.iter().cloned().chain(named(crowd)).map(|user| (crowd.post.clone(), user))
            })
            .collect();
        let places = asked.iter().map(|(post, user)| ((post, user), R::by(post, user)));
        let now: HashMap<(&PostId, &UserId), R> = read_all(core, places).await?;
        let each = touched.iter().map(async |(crowd, users)| {
            let before = known.get(crowd).copied();
            let named = before.and_then(|note| note.actor_id.as_ref());
            let all: BTreeSet<&UserId> = users.iter().chain(named).collect();
            let is_then = |user: &&UserId| {
                let reaction = now.get(&(&crowd.post, *user))?;
                let when = reaction.when();
                (hour_of(when) == crowd.hour).then(|| (when, (*user).clone()))
            };
            let live: Vec<(Time, UserId)> = all.iter().filter_map(is_then).collect();
            self.latest::<R>(crowd, before, live).await
        });
        let latest = try_join_all(each).await?;
        for (crowd, latest) in touched.keys().zip(latest) {
            self.name::<R>(crowd, known.get(crowd).copied(), latest, effects)?;
        }
        Ok(())
    }

    /// Whom a notification is to name.
    async fn latest<R: Reaction>(
        &self,
        crowd: &Crowd,
        before: Option<&Notification>,
        mut live: Vec<(Time, UserId)>,
    ) -> Result<Latest, Failure> {
        live.sort_unstable_by(|one, other| other.cmp(one));
        let causes = live.iter().map(|(when, user)| cause::<R>(crowd, Some(user), *when));
        let causes: Vec<Cause> = causes.collect();
        let admitted = self.notifications.admits(&crowd.author, &causes).await?;
        let heard = live.into_iter().zip(admitted).filter(|(_, is)| *is).map(|(one, _)| one);
        let heard: Vec<(Time, UserId)> = heard.collect();
        let first = heard.first().map(|(when, user)| Latest::Named(user.clone(), *when));
        let Some(note) = before else { return Ok(first.unwrap_or(Latest::Nobody)) };
        let is_right = match &note.actor_id {
            // Otherwise whom it named is not among them any more.
            Some(named) => heard.iter().any(|(_, user)| user == named),
            // There were so many that it names nobody, until somebody more comes, or all others go.
            None => first.is_some(),
        };
        if let (true, Some(first)) = (is_right, &first) {
            return Ok(first.clone());
        }
        let (post, hour) = (&crowd.post, crowd.hour);
        let latest = self.notifications.latest(&crowd.author, R::KIND, post, hour).await?;
        Ok(later(first, latest))
    }

    /// The writes by which a notification names somebody, or goes.
    fn name<R: Reaction>(
        &self,
        crowd: &Crowd,
        before: Option<&Notification>,
        latest: Latest,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        let core = self.ground.core().table();
        let (actor, latest_at) = match latest {
            Latest::Named(user, when) => (Some(user), Some(when)),
            Latest::Many => (None, before.and_then(|note| note.latest_at)),
            Latest::Nobody => {
                if let Some(note) = before {
                    effects.write(core, note.key().delete());
                }
                return Ok(());
            }
        };
        let Some(note) = before else {
            let note = Notification { latest_at, ..self.note::<R>(crowd, actor.as_ref())? };
            if !self.is_over(&note) {
                effects.write(core, note.create());
            }
            return Ok(());
        };
        // Clocks do not tell what its reader knew of: it named somebody else when it was marked, or named
        // them for something earlier.
        let is_news = actor.is_some() && (latest_at, &actor) > (note.latest_at, &note.actor_id);
        let read_at = note.read_at.filter(|_| !is_news);
        if note.actor_id != actor || note.latest_at != latest_at {
            let unchanged = Notification::ACTOR_ID
                .is(&note.actor_id)
                .and(Notification::LATEST_AT.is(&note.latest_at))
                .and(Notification::READ_AT.is(&note.read_at));
            let patch = note.key().patch().set(Notification::ACTOR_ID, &actor);
            let patch = patch.set(Notification::LATEST_AT, &latest_at);
            let patch = patch.set(Notification::READ_AT, &read_at).when(unchanged);
            effects.write(core, patch);
        }
        Ok(())
    }

    fn note<R: Reaction>(
        &self,
        crowd: &Crowd,
        actor: Option<&UserId>,
    ) -> Result<Notification, Failure> {
        Ok(cause::<R>(crowd, actor, crowd.hour).notification(&self.ground)?)
    }
}

impl Reaction for Like {
    const KIND: NotificationKind = NotificationKind::Like;

    fn whose(&self) -> (&PostId, &UserId) {
        (&self.post_id, &self.user_id)
    }

    fn author(&self) -> &UserId {
        &self.post_user_id
    }

    fn when(&self) -> Time {
        self.created_at
    }

    fn by(post: &PostId, user: &UserId) -> At<Self> {
        Self::at(post, user)
    }
}

impl Reaction for Share {
    const KIND: NotificationKind = NotificationKind::Share;

    fn whose(&self) -> (&PostId, &UserId) {
        (&self.post_id, &self.user_id)
    }

    fn author(&self) -> &UserId {
        &self.post_user_id
    }

    fn when(&self) -> Time {
        self.created_at
    }

    fn by(post: &PostId, user: &UserId) -> At<Self> {
        Self::at(post, user)
    }
}

/// What a person's reaction gives cause to.
fn cause<R: Reaction>(crowd: &Crowd, actor: Option<&UserId>, at: Time) -> Cause {
    Cause {
        user: crowd.author.clone(),
        kind: R::KIND,
        actor: actor.cloned(),
        about: About::Post(crowd.post.clone()),
        at,
    }
}

/// The later of whom is known already and whom a look at the others has found.
fn later(known: Option<Latest>, found: Latest) -> Latest {
    match (known, found) {
        (Some(Latest::Named(one, then)), Latest::Named(other, when)) => {
            if then >= when {
                Latest::Named(one, then)
            } else {
                Latest::Named(other, when)
            }
        }
        (Some(known), Latest::Many) => known,
        (_, found) => found,
    }
}
