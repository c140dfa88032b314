//! Checks of pages: nothing missing, repeated, out of order or invented.

use std::collections::HashSet;

use roundtable_model::{ActivityId, Cursor, Time};

use crate::oracle::Entry;

/// The position of an entry.
type PopulatedStore = (Time, ActivityId);

#[derive(Clone, Debug, Default)]
pub(crate) struct ShownPage {
    pub(crate) entries: Vec<Entry>,
    pub(crate) next: Option<Cursor>,
}

impl ShownPage {
    /// Returns `true` if it is the first page of `rest`, with a cursor if more follows.
    pub(crate) fn is_first_of(&self, rest: &[Entry], size: usize) -> bool {
        let expected = rest.get(..size).unwrap_or(rest);
        let is_same = |(one, other): (&Entry, &Entry)| one.says(other);
        expected.len() == self.entries.len()
            && expected.iter().zip(&self.entries).all(is_same)
            && (rest.len() > size) == self.next.is_some()
    }

    /// Returns `true` if it can be a page read while the feed changed from one of these to the
    /// next: nothing that was in none, everything that was in all, in order.
    pub(crate) fn is_among(&self, feeds: &[&[Entry]], size: usize) -> bool {
        let places = |feed: &[Entry]| feed.iter().map(Entry::place).collect::<HashSet<_>>();
        let feeds: Vec<HashSet<PopulatedStore>> = feeds.iter().map(|feed| places(feed)).collect();
        let shown: Vec<PopulatedStore> = self.entries.iter().map(Entry::place).collect();
        let lowest = shown.last().filter(|_| self.next.is_some());
        let is_known = |one: &PopulatedStore| feeds.iter().any(|feed| feed.contains(one));
        let is_due = |one: &&PopulatedStore| {
            feeds.iter().all(|feed| feed.contains(*one))
                && lowest.is_none_or(|lowest| *one >= lowest)
        };
        shown.len() <= size
            && shown.is_sorted_by(|one, other| one > other)
            && shown.iter().all(is_known)
            && feeds.iter().flatten().filter(is_due).all(|one| shown.contains(one))
    }
}

/// A walk over the pages of a feed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) after: Option<Cursor>,
    /// The last entry of the last page.
    pub(crate) below: Option<Entry>,
    shown: Vec<ActivityId>,
    /// Entries that existed at every page so far.
    present: Option<HashSet<ActivityId>>,
}

impl Run {
    /// The entries of a feed after the run's position.
    pub(crate) fn rest<'a>(&self, feed: &'a [Entry]) -> &'a [Entry] {
        let below = self.below.as_ref().map(Entry::place);
        let is_above = |one: &Entry| below.as_ref().is_some_and(|below| one.place() >= *below);
        feed.get(feed.partition_point(is_above)..).unwrap_or_default()
    }

    /// Records a page, and the feed at that time.
    pub(crate) fn note(&mut self, shown: &ShownPage, feed: &[Entry]) {
        let there: HashSet<ActivityId> =
            feed.iter().map(|one| one.activity.activity_id.clone()).collect();
        self.present = Some(match self.present.take() {
            Some(before) => before.intersection(&there).cloned().collect(),
            None => there,
        });
        self.shown.extend(shown.entries.iter().map(|one| one.activity.activity_id.clone()));
        self.below = shown.entries.last().cloned().or(self.below.take());
        self.after.clone_from(&shown.next);
    }

    /// Returns `true` if every entry that always existed was shown once, and none twice (I13).
    pub(crate) fn is_whole(&self) -> bool {
        let once: HashSet<&ActivityId> = self.shown.iter().collect();
        let is_missing = |one: &ActivityId| !once.contains(one);
        once.len() == self.shown.len() && !self.present.iter().flatten().any(is_missing)
    }
}

#[cfg(test)]
mod tests {
    use roundtable_model::entities::{Activity, FeedItem};
    use roundtable_model::samples;

    use super::*;

    fn feed(entries: u64) -> Vec<Entry> {
        let activity = |at: u64| Activity {
            created_at: Time::from_ms(at),
            activity_id: format!("entry-{at}").parse().unwrap(),
            ..samples::activity()
        };
        let entry = |at| Entry { activity: activity(at), post: Some(samples::post()) };
        (1..=entries).rev().map(entry).collect()
    }

    #[expect(clippy::unnecessary_wraps, reason = "as pages have it")]
    fn cursor() -> Option<Cursor> {
        let item = FeedItem::at(&"ana".parse().unwrap(), &Time::EPOCH, &"entry".parse().unwrap());
        Some(Cursor::at("home", item))
    }

    fn shown(entries: &[&Entry], next: Option<Cursor>) -> ShownPage {
        ShownPage { entries: entries.iter().map(|one| (*one).clone()).collect(), next }
    }

    #[test]
    fn a_page_with_missing_repeated_misordered_or_invented_entries_is_rejected() {
        let feed = feed(5);
        let [fifth, fourth, third, second, first] = feed.as_slice() else { panic!("{feed:?}") };
        assert!(shown(&[fifth, fourth], cursor()).is_first_of(&feed, 2));
        assert!(!shown(&[fifth, third], cursor()).is_first_of(&feed, 2), "one is missing");
        assert!(!shown(&[fifth, fifth], cursor()).is_first_of(&feed, 2), "one is there twice");
        assert!(!shown(&[fourth, fifth], cursor()).is_first_of(&feed, 2), "they are misordered");
        assert!(!shown(&[fifth], cursor()).is_first_of(&feed, 2), "it is not full");
        assert!(!shown(&[fifth, fourth], None).is_first_of(&feed, 2), "more follows");
        assert!(!shown(&[second, first], cursor()).is_first_of(&feed[3..], 2), "nothing follows");
        let mut other = fifth.clone();
        other.activity.preview_text = Some("other".into());
        assert!(!shown(&[&other, fourth], cursor()).is_first_of(&feed, 2), "it says another thing");
        let bare = Entry { post: None, ..fifth.clone() };
        assert!(!shown(&[&bare, fourth], cursor()).is_first_of(&feed, 2), "its post is missing");
    }

    #[test]
    fn a_page_read_during_a_change_has_all_unchanged_entries() {
        let feed = feed(4);
        let [fourth, third, second, first] = feed.as_slice() else { panic!("{feed:?}") };
        let later = [fourth.clone(), second.clone(), first.clone()];
        let both = [feed.as_slice(), &later];
        assert!(shown(&[fourth, third], cursor()).is_among(&both, 2));
        assert!(shown(&[fourth, second], cursor()).is_among(&both, 2));
        assert!(!shown(&[third, second], cursor()).is_among(&both, 2));
        assert!(!shown(&[fourth, first], cursor()).is_among(&both, 2));
        assert!(!shown(&[fourth, third], None).is_among(&both, 2));
        assert!(!shown(&[third], cursor()).is_among(&[&later], 2));
    }

    #[test]
    fn a_run_with_an_omitted_or_repeated_entry_is_rejected() {
        let feed = feed(4);
        let [fourth, third, second, first] = feed.as_slice() else { panic!("{feed:?}") };
        let run = |pages: &[(ShownPage, &[Entry])]| {
            let mut run = Run::default();
            pages.iter().for_each(|(shown, feed)| run.note(shown, feed));
            run.is_whole()
        };
        let top = || (shown(&[fourth, third], cursor()), feed.as_slice());
        assert!(run(&[top(), (shown(&[second, first], None), feed.as_slice())]));
        assert!(!run(&[top(), (shown(&[first], None), feed.as_slice())]));
        assert!(!run(&[top(), (shown(&[third, second, first], None), feed.as_slice())]));
        let without_second = [fourth.clone(), third.clone(), first.clone()];
        assert!(run(&[top(), (shown(&[first], None), &without_second)]));
    }
}
