//! A town for the load benchmark: all readers follow the same number of users, all users have a picture
//! and all posts have counts, as in a real app.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use roundtable_domain::Context;
use roundtable_model::entities::{Holder, Media, PostCounter, Upload, User};
use roundtable_model::{
    Entity, MediaKey, MediaUse, ModerationStatus, PostId, Time, UserId, UserStatus, Visibility,
    samples,
};
use roundtable_table::Item;

use super::ours::Ours;
use super::town::{Scale, Town};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    pub(crate) activities: usize,
    /// Users who act.
    pub(crate) actors: usize,
    pub(crate) readers: usize,
    /// The followees of each reader.
    pub(crate) followees: usize,
}

#[derive(Debug)]
pub(crate) struct SeededTown {
    pub(super) town: Town,
}

/// Writes such a town into a new directory with what `add` adds to it, and processes all changes.
pub(crate) fn seed<T>(
    dir: &Path,
    seed: &Seed,
    add: impl AsyncFnOnce(&Context, &SeededTown) -> Result<T>,
) -> Result<(SeededTown, T)> {
    let town = Town::of(&Scale {
        activities: seed.activities,
        actors: seed.actors,
        readers: vec![(seed.followees, seed.readers)],
        regulars: (0, 0),
    });
    Ours::write(dir, &town)?;
    let ours = Ours::open(dir, false)?;
    // The last changes of the town are counted first, so that all counts are those that are written next.
    process_changes(&ours)?;
    let people = (0..town.people.len()).map(|number| pictured(&town, number));
    let people = people.collect::<Result<Vec<_>>>()?;
    let counts = (0..town.posts.len()).filter_map(|number| counted(&town, number));
    ours.put(people.into_iter().flatten().chain(counts), "writing pictures and counts")?;
    let town = SeededTown { town };
    let added = ours.run(async |context| add(context, &town).await)?;
    process_changes(&ours)?;
    ours.close()?;
    Ok((town, added))
}

fn process_changes(ours: &Ours) -> Result<()> {
    let processors = ours.start_processors()?;
    ours.stop_processors(processors)
}

impl SeededTown {
    pub(crate) fn readers(&self) -> Vec<UserId> {
        let readers = self.town.readers.iter().flat_map(|(_, readers)| readers);
        readers.map(|number| self.town.person(*number).id.clone()).collect()
    }

    /// Returns the user whom all actors follow.
    pub(crate) fn star(&self) -> UserId {
        self.town.person(self.town.star).id.clone()
    }

    /// Returns the posts that everyone may see and like: public posts by users who are in no block.
    pub(crate) fn open_posts(&self) -> Vec<PostId> {
        let blocked: HashSet<usize> =
            self.town.blocks.iter().flat_map(|(blocker, blocked)| [*blocker, *blocked]).collect();
        let open = self.town.posts.iter().filter(|post| {
            let author = self.town.person(post.author);
            post.visibility == Visibility::Public
                && post.moderation == ModerationStatus::Approved
                && !post.is_deleted
                && author.status == UserStatus::Active
                && !author.is_private
                && !blocked.contains(&post.author)
        });
        open.map(|post| post.id.clone()).collect()
    }

    /// Returns the authors of these posts who have at least so many of them.
    pub(crate) fn authors(&self, posts: &[PostId], posts_min: usize) -> Vec<UserId> {
        let posts: HashSet<&PostId> = posts.iter().collect();
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for post in self.town.posts.iter().filter(|post| posts.contains(&post.id)) {
            *counts.entry(post.author).or_default() += 1;
        }
        let mut authors: Vec<usize> =
            counts.into_iter().filter(|(_, count)| *count >= posts_min).map(|(it, _)| it).collect();
        authors.sort_unstable();
        authors.into_iter().map(|number| self.town.person(number).id.clone()).collect()
    }
}

/// The key of a user's picture.
pub(super) fn picture_key(user: &UserId) -> String {
    format!("u/{user}/me.jpg")
}

/// The likes, comments and shares of a post.
pub(super) fn post_counts(number: usize) -> (u64, u64, u64) {
    (number as u64 % 40, number as u64 % 7, number as u64 % 3)
}

/// A user with a picture, and the picture.
fn pictured(town: &Town, number: usize) -> Result<[Item; 2]> {
    let user = town.user(number);
    let key: MediaKey = picture_key(&user.id).parse().context("parsing the media key")?;
    let picture = Media {
        s3_key: key.clone(),
        content_type: "image/jpeg".into(),
        width: Some(512),
        height: Some(512),
    };
    let upload = Upload {
        user_id: user.id.clone(),
        key,
        purpose: Some(MediaUse::Profile),
        holder: Some(Holder::profile(&user.id)),
        created_at: Time::from_ms(Town::begin_ms()),
        ..samples::upload()
    };
    let user = User { profile_image: Some(picture), ..user };
    Ok([user.item(), upload.item()])
}

fn counted(town: &Town, number: usize) -> Option<Item> {
    let (likes, comments, shares) = post_counts(number);
    let counter = PostCounter {
        likes,
        comments,
        shares,
        score: likes + comments + shares,
        // Earlier than all changes that are still to be counted.
        seq: "0".repeat(40),
        ..PostCounter::zero(town.posts.get(number)?.id.clone())
    };
    Some(counter.item())
}
