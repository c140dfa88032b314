//! The town of the search benchmark: posts of words that are as frequent as those of a language, and the
//! queries and viewers that look for them. The same in every run.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use roundtable_model::Visibility;

const SEED: u64 = 58;
const VOCABULARY: usize = 50_000;
const AUTHORS: usize = 20_000;
const READERS: usize = 20;
const FOLLOWEES: usize = 200;
const BLOCKED: usize = 5;
/// The time of the first post. Each is a second later than the one before.
pub(super) const BEGIN_MS: u64 = 1_700_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct SeedPost {
    pub(super) author: usize,
    pub(super) visibility: Visibility,
}

/// A search by a reader.
#[derive(Clone, Debug)]
pub(super) struct SeedQuery {
    pub(super) text: String,
    pub(super) reader: usize,
    /// Several words that are no phrase: those with all of them as a phrase come first.
    pub(super) is_of_words: bool,
}

pub(super) struct Town {
    words: Vec<String>,
    pub(super) posts: Vec<SeedPost>,
    pub(super) is_private: Vec<bool>,
    /// The first users are readers: whom each follows, and whom each has blocked.
    pub(super) follows: Vec<Vec<usize>>,
    pub(super) blocks: Vec<Vec<usize>>,
}

impl Town {
    pub(super) fn of(posts: usize) -> Self {
        let mut random = SmallRng::seed_from_u64(SEED);
        let words = (0..VOCABULARY).map(word).collect();
        let is_private: Vec<bool> = (0..AUTHORS).map(|_| random.random_bool(0.03)).collect();
        let posts = (0..posts).map(|_| SeedPost {
            author: skewed(&mut random, AUTHORS),
            visibility: match random.random_range(0..100) {
                0..2 => Visibility::Private,
                2..7 => Visibility::Followers,
                _ => Visibility::Public,
            },
        });
        let posts = posts.collect();
        let others = |random: &mut SmallRng, count: usize| -> Vec<usize> {
            let mut others: Vec<usize> = (0..count).map(|_| skewed(random, AUTHORS)).collect();
            others.sort_unstable();
            others.dedup();
            others
        };
        let follows: Vec<Vec<usize>> =
            (0..READERS).map(|_| others(&mut random, FOLLOWEES)).collect();
        let blocks: Vec<Vec<usize>> = (0..READERS).map(|_| others(&mut random, BLOCKED)).collect();
        Self { words, posts, is_private, follows, blocks }
    }

    pub(super) const fn readers() -> usize {
        READERS
    }

    /// The words of a post. They follow from its number, so that no text is kept.
    fn words_of(&self, post: usize) -> Vec<&str> {
        let mut random =
            SmallRng::seed_from_u64(SEED ^ (post as u64 + 1).wrapping_mul(0x9e37_79b9));
        let count = random.random_range(6..30);
        let words = (0..count).map(|_| self.words.get(skewed(&mut random, VOCABULARY)));
        words.flatten().map(String::as_str).collect()
    }

    pub(super) fn text(&self, post: usize) -> String {
        self.words_of(post).join(" ")
    }

    /// Queries of one word, frequent and rare, of two and three words, and phrases that occur.
    pub(super) fn queries(&self, count: usize) -> Arc<[SeedQuery]> {
        let mut random = SmallRng::seed_from_u64(SEED + 1);
        let query = |number: usize| {
            let reader = random.random_range(0..READERS);
            let post = random.random_range(0..self.posts.len());
            let of_post = self.words_of(post);
            let mut any = || *of_post.choose(&mut random).unwrap_or(&"");
            let (text, is_of_words) = match number % 4 {
                0 => (any().to_owned(), false),
                1 => distinct(vec![any(), any()]),
                2 => distinct(vec![any(), any(), any()]),
                _ => {
                    let at = random.random_range(0..of_post.len().saturating_sub(1).max(1));
                    let phrase = of_post.get(at..at + 2).unwrap_or(&of_post);
                    (format!("\"{}\"", phrase.join(" ")), false)
                }
            };
            SeedQuery { text, reader, is_of_words }
        };
        (0..count).map(query).collect()
    }
}

/// Several different words, or a single one.
fn distinct(mut words: Vec<&str>) -> (String, bool) {
    words.sort_unstable();
    words.dedup();
    (words.join(" "), words.len() > 1)
}

/// A number below `end`, small ones far more often, as words of a language are.
fn skewed(random: &mut SmallRng, end: usize) -> usize {
    let exponent: f64 = random.random();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rough distribution"
    )]
    let number = ((end as f64).powf(exponent) - 1.0) as usize;
    number.min(end - 1)
}

/// A pronounceable word for each number.
fn word(number: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va", "we", "xi", "yo", "zu",
    ];
    let (mut rest, mut word) = (number + SYLLABLES.len(), String::new());
    while rest > 0 {
        word.push_str(SYLLABLES.get(rest % SYLLABLES.len()).unwrap_or(&"a"));
        rest /= SYLLABLES.len();
    }
    word
}
