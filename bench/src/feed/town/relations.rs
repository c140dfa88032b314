//! The follows and blocks of a town.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;

use super::{FollowEdge, Scale, Town};
use crate::feed::skew::choose_distinct;

/// The fraction of muted followees, and of pending requests to private users.
const MUTED: f64 = 0.03;
const UNANSWERED: f64 = 0.2;
/// The number of users that each reader blocks, and that block the reader.
const BLOCKED: usize = 5;

impl Town {
    /// Lets readers and regulars follow popular users, and all actors the star.
    pub(super) fn add_relations(
        &mut self,
        scale: &Scale,
        popularity: &[f64],
        random: &mut SmallRng,
    ) {
        let mut next = self.actors;
        for (followees, readers) in &scale.readers {
            let group: Vec<usize> = (next..next + readers).collect();
            next += readers;
            for reader in &group {
                let followees = self.follow(*reader, *followees, popularity, random);
                self.add_blocks(*reader, &followees, popularity, random);
            }
            self.readers.push((*followees, group));
        }
        for regular in self.regulars.clone() {
            self.follow(regular, scale.regulars.1, popularity, random);
        }
        let (star, actors) = (self.star, self.actors);
        let fan =
            |follower| FollowEdge { follower, followee: star, is_active: true, is_muted: false };
        self.edges.extend((0..actors).map(fan));
    }

    fn follow(
        &mut self,
        who: usize,
        count: usize,
        popularity: &[f64],
        random: &mut SmallRng,
    ) -> HashSet<usize> {
        // One more, in case the user is among them.
        let mut followees = choose_distinct(popularity, count + 1, random);
        followees.retain(|followee| *followee != who);
        if followees.len() > count {
            followees.swap_remove(random.random_range(0..followees.len()));
        }
        for followee in &followees {
            let waits = self.person(*followee).is_private && random.random_bool(UNANSWERED);
            let is_muted = !waits && random.random_bool(MUTED);
            let edge =
                FollowEdge { follower: who, followee: *followee, is_active: !waits, is_muted };
            self.edges.push(edge);
        }
        followees.into_iter().collect()
    }

    /// Adds blocks between a reader and users that the reader does not follow. Readers have no followers.
    fn add_blocks(
        &mut self,
        reader: usize,
        followees: &HashSet<usize>,
        popularity: &[f64],
        random: &mut SmallRng,
    ) {
        let others = choose_distinct(popularity, followees.len() + 4 * BLOCKED, random);
        let others = others.into_iter().filter(|other| !followees.contains(other));
        for (nth, other) in others.take(2 * BLOCKED).enumerate() {
            let (blocker, blocked) = if nth % 2 == 0 { (reader, other) } else { (other, reader) };
            self.blocks.push((blocker, blocked));
        }
    }
}
