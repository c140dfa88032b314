//! How people read in a history, and that they are shown what they should be.

use roundtable_domain::{FeedEntry, FeedPolicy, FeedSource, Page, PageInput};
use roundtable_model::Cursor;

use crate::cast::{Door, Name};
use crate::oracle::{Entry, Facts};
use crate::pages::{Run, Shown};
use crate::stage::Stage;
use crate::stalling::{before, up_to};
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

    /// Somebody reads a page while other things happen. If those change what they should see, each entry
    /// may be as it was at any moment of it.
    pub(crate) async fn read_while(
        &mut self,
        read: Read,
        waits: usize,
        meanwhile: &[Step],
    ) -> Result<(), Mismatch> {
        let run = self.run(read);
        let (feeds, caller) = (self.door(read.at).feeds().await.clone(), read.who.caller());
        let page = PageInput { limit: Some(read.size), after: run.after.clone() };
        let reading = async move { feeds.home(&caller, &page).await };
        let (page, moments) = self.during(reading, waits, meanwhile).await?;
        if moments.iter().any(|facts| !facts.is_active(&read.who.id())) {
            return Ok(());
        }
        let page = page.map_err(|error| self.failed(read, &error.to_string()))?;
        let shown = self.shown(page);
        let moments: Vec<_> = moments.iter().map(|facts| feed(facts, read.who)).collect();
        match moments.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other == first) => {
                self.judge(read, &run, &shown, first)
            }
            moments => {
                let rests: Vec<_> = moments.iter().map(|feed| run.rest(feed)).collect();
                if shown.is_among(&rests, read.size) {
                    return Ok(());
                }
                let told: Vec<_> = rests.iter().map(|rest| self.listed(rest)).collect();
                let (expected, actual) = (told.join(", then\n  "), self.listed(&shown.entries));
                Err(self.differs(read, run.below.as_ref(), &expected, &actual))
            }
        }
    }

    /// A process reads the latest activities into memory while other things happen.
    pub(crate) async fn warm_up_while(
        &mut self,
        at: Door,
        waits: usize,
        meanwhile: &[Step],
    ) -> Result<(), Mismatch> {
        let feeds = self.door(at).feeds().await.clone();
        let warming = async move { feeds.warm_up().await.unwrap() };
        self.during(warming, waits, meanwhile).await.map(drop)
    }

    /// Does something up to so many waits, then other things, then the rest of it: what came of it, and
    /// the facts before all that, and after each of the others.
    async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        waits: usize,
        meanwhile: &[Step],
    ) -> Result<(T, Vec<Facts>), Mismatch> {
        let mut moments = vec![self.facts().await];
        let mut work = Box::pin(work);
        let mut done = up_to(&mut work, waits).await;
        self.tally.interrupted += usize::from(done.is_none());
        for step in meanwhile {
            let taking = Box::pin(self.take(step));
            if done.is_some() {
                taking.await?;
            } else {
                let (taken, all) = before(taking, &mut work).await;
                done = all;
                taken?;
            }
            moments.push(self.facts().await);
        }
        let done = match done {
            Some(done) => done,
            None => work.await,
        };
        Ok((done, moments))
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
