//! Reads pages in a history, and compares them with the oracle.

use std::sync::Arc;

use roundtable_domain::{Accounts, FeedEntry, FeedPolicy, FeedSource, Page, PageInput, Posts};
use roundtable_model::Cursor;
use roundtable_model::entities::User;

use crate::cast::{Name, Server};
use crate::oracle::{Entry, Facts};
use crate::pages::{Run, ShownPage};
use crate::stage::Stage;
use crate::stalled::{before, up_to};
use crate::step::{Read, Step};

/// The description of a wrong page.
#[derive(Debug)]
pub(crate) struct Mismatch(pub(crate) String);

impl Stage {
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

    /// Reads a page while other steps run. If those change the feed, each entry may be as it was at
    /// any time in between.
    pub(crate) async fn read_while(
        &mut self,
        read: Read,
        waits: usize,
        concurrent_steps: &[Step],
    ) -> Result<(), Mismatch> {
        let run = self.run(read);
        let (feeds, caller) = (self.server(read.at).feeds().await.clone(), read.who.caller());
        let page = PageInput { limit: Some(read.size), after: run.after.clone() };
        let reading = async move { feeds.home(&caller, &page).await };
        let (page, moments) = self.during(reading, waits, concurrent_steps).await?;
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
                let env_number: Vec<_> =
                    rests.iter().map(|rest| self.describe_entries(rest)).collect();
                let (expected, actual) =
                    (env_number.join(", then\n  "), self.describe_entries(&shown.entries));
                Err(self.differs(read, run.below.as_ref(), &expected, &actual))
            }
        }
    }

    /// Warms up a server's cache while other steps run.
    pub(crate) async fn warm_up_while(
        &mut self,
        at: Server,
        waits: usize,
        concurrent_steps: &[Step],
    ) -> Result<(), Mismatch> {
        let bus = self.server(at).bus().await.clone();
        let warming = async move { bus.warm_up().await.unwrap() };
        self.during(warming, waits, concurrent_steps).await.map(drop)
    }

    /// Runs work up to this many waits, then other steps, then the rest of the work; returns its
    /// result, and the facts before and after each step.
    async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        waits: usize,
        concurrent_steps: &[Step],
    ) -> Result<(T, Vec<Facts>), Mismatch> {
        let mut moments = vec![self.facts().await];
        let mut work = Box::pin(work);
        let mut done = up_to(&mut work, waits).await;
        self.stats.interrupted += usize::from(done.is_none());
        for step in concurrent_steps {
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

    /// All users read everything on every server: under every policy, or a different one on each.
    pub(crate) async fn compare_all(&mut self) -> Result<(), Mismatch> {
        let facts = self.facts().await;
        self.stats.trimmed += facts.trimmed;
        let policies = [FeedPolicy::Documents, FeedPolicy::Pull, FeedPolicy::Push];
        let each = || policies.into_iter().flat_map(|policy| Server::ALL.map(|at| (policy, at)));
        let few = each().step_by(Server::ALL.len() + 1);
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

    fn run(&self, read: Read) -> Run {
        let going_on = self.runs.get(&read.who).filter(|_| !read.anew);
        going_on.cloned().unwrap_or_default()
    }

    async fn turn(&mut self, read: Read, run: &mut Run, feed: &[Entry]) -> Result<(), Mismatch> {
        let input = PageInput { limit: Some(read.size), after: run.after.clone() };
        let feeds = self.server(read.at).feeds().await;
        let page = feeds.home(&read.who.caller(), &input).await;
        let page = page.map_err(|error| self.failed(read, &error.to_string()))?;
        self.check_memory(read, &page).await?;
        let shown = self.shown(page);
        self.judge(read, run, &shown, feed)?;
        run.note(&shown, feed);
        Ok(())
    }

    /// Profiles and counters are the same from memory as from the table, and so are those that come with
    /// the page.
    async fn check_memory(&self, read: Read, page: &Page<FeedEntry>) -> Result<(), Mismatch> {
        let (process, caller) = (self.server(read.at), read.who.caller());
        let contexts = [process.memory_context(), process.town.context().clone()];
        let users = Name::ALL.map(Name::id);
        let entries = || page.items.iter().map(|(entry, _)| entry);
        let posts = entries().filter_map(|entry| entry.post.as_ref());
        let posts: Vec<_> = posts.map(|post| post.id.clone()).collect();
        let mut answers = Vec::new();
        for context in contexts {
            let people = Accounts::new(context.clone()).people(Some(&caller), &users).await;
            let strangers_view = Accounts::new(context.clone()).people(None, &users).await;
            let counters = Posts::new(context).counters(&posts).await;
            answers.push((people.unwrap(), strangers_view.unwrap(), counters.unwrap()));
        }
        let [remembered, stored] = answers.as_slice() else { return Ok(()) };
        if remembered != stored {
            let problem = format!("memory has\n  {remembered:?}\nthe table\n  {stored:?}");
            return Err(self.failed(read, &problem));
        }
        let is_current = |user: &Arc<User>| stored.0.contains(&Some(Arc::clone(user)));
        match entries().flat_map(|entry| &entry.people).find(|user| !is_current(user)) {
            Some(outdated) => Err(self.failed(read, &format!("the page has {outdated:?}"))),
            None => Ok(()),
        }
    }

    fn shown(&mut self, page: Page<FeedEntry>) -> ShownPage {
        let Page { items, next } = page;
        let is_copied = |(entry, _): &&(FeedEntry, Cursor)| entry.source == FeedSource::FanOut;
        self.stats.pages += 1;
        self.stats.entries += items.len();
        self.stats.copied += items.iter().filter(is_copied).count();
        ShownPage { entries: items.iter().map(|(entry, _)| Entry::of(entry)).collect(), next }
    }

    fn judge(
        &self,
        read: Read,
        run: &Run,
        shown: &ShownPage,
        feed: &[Entry],
    ) -> Result<(), Mismatch> {
        let rest = run.rest(feed);
        if shown.is_first_of(rest, read.size) {
            return Ok(());
        }
        let env_number = |entries: &[Entry], more: bool| {
            let more = if more { "more to come" } else { "nothing more" };
            format!("{}, {more}", self.describe_entries(entries))
        };
        let first = rest.get(..read.size).unwrap_or(rest);
        let expected = env_number(first, rest.len() > read.size);
        let actual = env_number(&shown.entries, shown.next.is_some());
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

/// A user's expected feed.
fn feed(facts: &Facts, who: Name) -> Vec<Entry> {
    facts.home(&who.id(), who == Name::Mo)
}
