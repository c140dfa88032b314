//! How people read in a history, and that they are shown what they should be.

use roundtable_domain::{FeedEntry, FeedPolicy, FeedSource, Page, PageInput};
use roundtable_model::Cursor;

use crate::cast::{Door, Name};
use crate::oracle::{Entry, Facts};
use crate::pages::{Run, Shown};
use crate::stage::Stage;
use crate::stalling::up_to;
use crate::step::{Read, Step};

/// A page that is not as it should be, in words.
#[derive(Debug)]
pub(crate) struct Mismatch(pub(crate) String);

impl Stage {
    /// Somebody reads a page.
    pub(crate) async fn read(&mut self, read: Read) -> Result<(), Mismatch> {
        let facts = self.facts().await;
        if !facts.is_active(&read.who.id()) {
            return Ok(());
        }
        let mut run = self.run(read);
        let feed = feed(&facts, read.who);
        self.turn(read, &mut run, &feed).await?;
        if run.after.is_some() {
            self.runs.insert(read.who, run);
            return Ok(());
        }
        self.runs.remove(&read.who);
        self.check_whole(read, &run)
    }

    /// Somebody reads a page while something else happens. If that changes what they should see, each
    /// entry may be as before or as after.
    pub(crate) async fn read_while(
        &mut self,
        read: Read,
        waits: usize,
        meanwhile: &Step,
    ) -> Result<(), Mismatch> {
        let before = self.facts().await;
        let run = self.run(read);
        let (feeds, caller) = (self.door(read.at).feeds().await.clone(), read.who.caller());
        let page = PageInput { limit: Some(read.size), after: run.after.clone() };
        let mut reading = Box::pin(async move { feeds.home(&caller, &page).await });
        let done = up_to(&mut reading, waits).await;
        self.tally.interrupted += usize::from(done.is_none());
        Box::pin(self.take(meanwhile)).await?;
        let page = match done {
            Some(done) => done,
            None => reading.await,
        };
        let after = self.facts().await;
        if !before.is_active(&read.who.id()) || !after.is_active(&read.who.id()) {
            return Ok(());
        }
        let page = page.map_err(|error| self.failed(read, &error.to_string()))?;
        let shown = self.shown(page);
        let (before, after) = (feed(&before, read.who), feed(&after, read.who));
        if before == after {
            return self.judge(read, &run, &shown, &after);
        }
        let (before, after) = (run.rest(&before), run.rest(&after));
        if shown.is_between(before, after, read.size) {
            return Ok(());
        }
        let expected = format!("between {} and {}", self.listed(before), self.listed(after));
        Err(self.differs(read, run.below.as_ref(), &expected, &self.listed(&shown.entries)))
    }

    /// Everybody reads everything, at every door: under every policy, or under another one at each.
    pub(crate) async fn compare_all(&mut self) -> Result<(), Mismatch> {
        let facts = self.facts().await;
        self.tally.trimmed += facts.trimmed;
        let policies = [FeedPolicy::Documents, FeedPolicy::Pull, FeedPolicy::Push];
        let each = || policies.into_iter().flat_map(|policy| Door::ALL.map(|at| (policy, at)));
        let few = each().step_by(Door::ALL.len() + 1);
        let all: Vec<_> = if self.place.is_thorough { each().collect() } else { few.collect() };
        let mut size = self.posts.len();
        for (policy, at) in all {
            self.set_policy(Some(at), policy);
            if policy == FeedPolicy::Pull {
                self.warm_up(at).await;
            }
            for who in Name::ALL.into_iter().filter(|who| facts.is_active(&who.id())) {
                size = size % 7 + 1;
                let feed = feed(&facts, who);
                let (read, mut run) = (Read { who, at, size, anew: true }, Run::default());
                self.turn(read, &mut run, &feed).await?;
                while run.after.is_some() {
                    self.turn(read, &mut run, &feed).await?;
                }
                self.check_whole(read, &run)?;
            }
        }
        Ok(())
    }

    /// The run that a page belongs to.
    fn run(&self, read: Read) -> Run {
        let going_on = self.runs.get(&read.who).filter(|_| !read.anew);
        going_on.cloned().unwrap_or_default()
    }

    /// Reads the next page of a run.
    async fn turn(&mut self, read: Read, run: &mut Run, feed: &[Entry]) -> Result<(), Mismatch> {
        let input = PageInput { limit: Some(read.size), after: run.after.clone() };
        let feeds = self.door(read.at).feeds().await;
        let page = feeds.home(&read.who.caller(), &input).await;
        let page = page.map_err(|error| self.failed(read, &error.to_string()))?;
        let shown = self.shown(page);
        self.judge(read, run, &shown, feed)?;
        run.note(&shown, feed);
        Ok(())
    }

    fn shown(&mut self, page: Page<FeedEntry>) -> Shown {
        let Page { items, next } = page;
        let is_copied = |(entry, _): &&(FeedEntry, Cursor)| entry.source == FeedSource::FanOut;
        self.tally.pages += 1;
        self.tally.entries += items.len();
        self.tally.copied += items.iter().filter(is_copied).count();
        Shown { entries: items.iter().map(|(entry, _)| Entry::of(entry)).collect(), next }
    }

    fn judge(&self, read: Read, run: &Run, shown: &Shown, feed: &[Entry]) -> Result<(), Mismatch> {
        let rest = run.rest(feed);
        if shown.is_first_of(rest, read.size) {
            return Ok(());
        }
        let told = |entries: &[Entry], more: bool| {
            let more = if more { "more to come" } else { "nothing more" };
            format!("{}, {more}", self.listed(entries))
        };
        let first = rest.get(..read.size).unwrap_or(rest);
        let expected = told(first, rest.len() > read.size);
        let actual = told(&shown.entries, shown.next.is_some());
        Err(self.differs(read, run.below.as_ref(), &expected, &actual))
    }

    fn check_whole(&self, read: Read, run: &Run) -> Result<(), Mismatch> {
        if run.is_whole() {
            return Ok(());
        }
        let what = "something that was there all the time was not shown exactly once";
        Err(self.failed(read, what))
    }
}

/// Somebody's feed as it should be.
fn feed(facts: &Facts, who: Name) -> Vec<Entry> {
    facts.home(&who.id(), who == Name::Mo)
}
