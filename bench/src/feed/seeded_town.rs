//! A town for the load benchmark: all readers follow the same number of users, all users have a picture
//! and all posts have counts, as in a real app.

use std::path::Path;

use anyhow::{Context, Result};
use roundtable_model::entities::{Holder, Media, PostCounter, Upload, User};
use roundtable_model::{Entity, MediaKey, MediaUse, Time, UserId, samples};
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

/// Writes such a town into a new directory, processes all changes, and returns the readers.
pub(crate) fn seed(dir: &Path, seed: &Seed) -> Result<Vec<UserId>> {
    let town = Town::of(&Scale {
        activities: seed.activities,
        actors: seed.actors,
        readers: vec![(seed.followees, seed.readers)],
        regulars: (0, 0),
    });
    Ours::write(dir, &town)?;
    let ours = Ours::open(dir, false)?;
    let people = (0..town.people.len()).map(|number| pictured(&town, number));
    let people = people.collect::<Result<Vec<_>>>()?;
    let counts = (0..town.posts.len()).filter_map(|number| counted(&town, number));
    ours.put(people.into_iter().flatten().chain(counts), "writing pictures and counts")?;
    let processors = ours.start_processors()?;
    ours.stop_processors(processors)?;
    ours.close()?;
    let readers = town.readers.iter().flat_map(|(_, readers)| readers);
    Ok(readers.map(|number| town.person(*number).id.clone()).collect())
}

/// A user with a picture, and the picture.
fn pictured(town: &Town, number: usize) -> Result<[Item; 2]> {
    let user = town.user(number);
    let key: MediaKey = format!("u/{}/me.jpg", user.id).parse().context("parsing the media key")?;
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
    let (likes, comments, shares) = (number as u64 % 40, number as u64 % 7, number as u64 % 3);
    let counter = PostCounter {
        post_id: town.posts.get(number)?.id.clone(),
        likes,
        comments,
        shares,
        score: likes + comments + shares,
        // Earlier than all changes that are still to be counted.
        seq: "0".repeat(40),
    };
    Some(counter.item())
}
