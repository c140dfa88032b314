//! Who follows whom, and who wants nothing to do with whom.

use std::collections::HashSet;

use rand::Rng;
use rand::rngs::SmallRng;

use super::{Edge, Scale, Town};
use crate::feed::skew::different;

/// The share of followees who are muted, and of private ones who have not answered yet.
const MUTED: f64 = 0.03;
const UNANSWERED: f64 = 0.2;
/// How many each reader blocks, and how many block them.
const BLOCKED: usize = 5;

impl Town {
    /// Lets readers and regulars follow whom everybody follows, and all actors the star.
    pub(super) fn tie(&mut self, scale: &Scale, popularity: &[f64], random: &mut SmallRng) {
        let mut next = self.actors;
        for (followees, readers) in &scale.readers {
            let group: Vec<usize> = (next..next + readers).collect();
            next += readers;
            for reader in &group {
                let followees = self.follow(*reader, *followees, popularity, random);
                self.avoid(*reader, &followees, popularity, random);
            }
            self.readers.push((*followees, group));
        }
        for regular in self.regulars.clone() {
            self.follow(regular, scale.regulars.1, popularity, random);
        }
        let (star, actors) = (self.star, self.actors);
        let fan = |follower| Edge { follower, followee: star, is_active: true, is_muted: false };
        self.edges.extend((0..actors).map(fan));
    }

    fn follow(
        &mut self,
        who: usize,
        count: usize,
        popularity: &[f64],
        random: &mut SmallRng,
    ) -> HashSet<usize> {
        // One more, in case they come across themselves.
        let mut followees = different(popularity, count + 1, random);
        followees.retain(|followee| *followee != who);
        if followees.len() > count {
            followees.swap_remove(random.random_range(0..followees.len()));
        }
        for followee in &followees {
            let waits = self.person(*followee).is_private && random.random_bool(UNANSWERED);
            let is_muted = !waits && random.random_bool(MUTED);
            let edge = Edge { follower: who, followee: *followee, is_active: !waits, is_muted };
            self.edges.push(edge);
        }
        followees.into_iter().collect()
    }

    /// Lets a reader block some whom they do not follow, and be blocked by others. Nobody follows readers.
    fn avoid(
        &mut self,
        reader: usize,
        followees: &HashSet<usize>,
        popularity: &[f64],
        random: &mut SmallRng,
    ) {
        let others = different(popularity, followees.len() + 4 * BLOCKED, random);
        let others = others.into_iter().filter(|other| !followees.contains(other));
        for (nth, other) in others.take(2 * BLOCKED).enumerate() {
            let (blocker, blocked) = if nth % 2 == 0 { (reader, other) } else { (other, reader) };
            self.blocks.push((blocker, blocked));
        }
    }
}
