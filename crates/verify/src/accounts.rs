//! The second look: the accounts of a few buckets in full, and what is wrong with those that do not
//! balance.

use std::collections::HashMap;

use roundtable_model::UserCount;
use roundtable_model::entities::User;
use roundtable_model::shape::Index;

use crate::books::{Book, Entry, Side};
use crate::finding::{Finding, Findings, Invariant, Remedy};
use crate::ledger::{Ledger, Place, Selection};
use crate::subject::{Subject, shown};
use crate::tell::{DELETED, attribute, counted};

/// Between the key an item has in an index and the digest of its content.
const CONTENT: char = '\u{1f}';

/// Where lines are entered: all of them into sums, or some of them in full.
pub(crate) trait Books {
    /// Books one line.
    fn enter(&mut self, entry: Entry);

    /// Books that an item stands in an index, or that the index shows it there.
    fn list(&mut self, listed: &Listed<'_>, side: Side);
}

/// An item's entry in an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed<'a> {
    /// The index.
    pub(crate) book: Book,
    /// The item's own key.
    pub(crate) base: (&'a str, &'a str),
    /// Its key in the index.
    pub(crate) key: (&'a str, &'a str),
    /// What stands for its content.
    pub(crate) digest: u64,
}

impl Books for Ledger {
    fn enter(&mut self, entry: Entry) {
        // The sums need no owner, and most of what is there is one.
        if entry.side == Side::Owner {
            return;
        }
        let key = entry.subject.key(entry.book);
        let part = roundtable_model::table::Scalar::as_text;
        let sort = key.sort.as_ref().and_then(part).unwrap_or_default();
        Self::enter(self, &entry, part(&key.partition).unwrap_or_default(), sort);
    }

    fn list(&mut self, listed: &Listed<'_>, side: Side) {
        // Cheaper than the text of the second look, and equal whenever that is.
        let place = Place::of(listed.base.0, listed.base.1);
        let entry = Place::of(listed.key.0, listed.key.1);
        let about: [u64; 2] = [entry.0, listed.digest];
        let about = about.map(u64::to_le_bytes);
        self.add(listed.book, (place, about.as_flattened()), side, 1);
    }
}

/// The accounts of some buckets.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    selection: Selection,
    accounts: HashMap<(Book, Place), Account>,
}

#[derive(Debug)]
struct Account {
    subject: Subject,
    claims: Vec<Claim>,
    /// Whether what it is about is there.
    is_owned: bool,
}

/// The lines of an account that are about the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Claim {
    about: String,
    facts: i128,
    stated: i128,
    /// Whether anything states it at all, if only that there is nothing.
    is_stated: bool,
}

impl Claim {
    const fn balances(&self) -> bool {
        self.facts == self.stated
    }
}

impl Account {
    const fn new(subject: Subject) -> Self {
        Self { subject, claims: Vec::new(), is_owned: false }
    }

    /// Whether it is only about what is gone.
    fn is_moot(&self, book: Book) -> bool {
        let stated = self.claims.iter().any(|claim| claim.is_stated);
        !self.is_owned && (book.outlives_owner() || book.has_owner() && !stated)
    }

    /// Whether it says more than is there, of what expires: that is hidden at once, and counts until the
    /// store has taken it away.
    fn may_count_expired(&self, book: Book) -> bool {
        book == Book::Count
            && matches!(self.subject, Subject::Person(_, UserCount::Unread, _))
            && self.claims.iter().all(|claim| claim.stated >= claim.facts)
    }

    fn claim(&mut self, about: &str) -> Option<&mut Claim> {
        let at = self.claims.iter().position(|claim| claim.about == about).unwrap_or_else(|| {
            let about = about.to_owned();
            self.claims.push(Claim { about, facts: 0, stated: 0, is_stated: false });
            self.claims.len() - 1
        });
        self.claims.get_mut(at)
    }

    fn add(&mut self, about: &str, facts: i128, stated: Option<i128>) {
        if let Some(claim) = self.claim(about) {
            claim.facts += facts;
            claim.stated += stated.unwrap_or_default();
            claim.is_stated |= stated.is_some();
        }
    }
}

impl Books for Accounts {
    fn enter(&mut self, entry: Entry) {
        let key = entry.subject.key(entry.book);
        let part = roundtable_model::table::Scalar::as_text;
        let sort = key.sort.as_ref().and_then(part).unwrap_or_default();
        let place = Place::of(part(&key.partition).unwrap_or_default(), sort);
        if self.selection.has(entry.book, place) {
            self.add(entry, place);
        }
    }

    fn list(&mut self, listed: &Listed<'_>, side: Side) {
        let place = Place::of(listed.base.0, listed.base.1);
        if self.selection.has(listed.book, place) {
            let subject = Subject::Item(listed.base.into());
            let ((partition, sort), digest) = (listed.key, listed.digest);
            let about = format!("{partition} / {sort}{CONTENT}{digest:016x}");
            let entry = Entry { side, ..Entry::fact(listed.book, subject).about(about) };
            self.add(entry, place);
        }
    }
}

impl Accounts {
    /// None yet, of the accounts in `selection`.
    pub(crate) fn of(selection: Selection) -> Self {
        Self { selection, accounts: HashMap::new() }
    }

    fn add(&mut self, entry: Entry, place: Place) {
        let Entry { book, subject, about, side, amount } = entry;
        let account = self.accounts.entry((book, place)).or_insert_with(|| Account::new(subject));
        match side {
            Side::Fact => account.add(&about, amount, None),
            Side::Stated => account.add(&about, 0, Some(amount)),
            Side::Owner => account.is_owned = true,
        }
    }

    /// Adds what others hold.
    pub(crate) fn merge(&mut self, other: Self) {
        for ((book, place), account) in other.accounts {
            let Account { subject, claims, is_owned } = account;
            let own = self.accounts.entry((book, place)).or_insert_with(|| Account::new(subject));
            own.is_owned |= is_owned;
            for Claim { about, facts, stated, is_stated } in claims {
                own.add(&about, facts, is_stated.then_some(stated));
            }
        }
    }

    /// What is wrong with them; and how many may be right, as what has expired was not `swept`.
    pub(crate) fn settle(self, swept: bool, findings: &mut Findings) -> u64 {
        let mut excused = 0;
        for ((book, _), mut account) in self.accounts {
            if account.claims.iter().all(Claim::balances) || account.is_moot(book) {
                continue;
            }
            if !swept && account.may_count_expired(book) {
                excused += 1;
                continue;
            }
            // They came from several threads.
            account.claims.sort_by(|one, other| one.about.cmp(&other.about));
            let found = match book {
                Book::Score => score(&account),
                Book::Lock => Some(lock(&account)),
                Book::Gsi1 | Book::Gsi2 | Book::Gsi3 => Some(listed(book, &account)),
                Book::Reward | Book::Tag | Book::Seat | Book::File | Book::Helper => {
                    Some(follows(book, &account))
                }
                // The stream has accounts of its own.
                Book::Stream => None,
                _ => count(book, &account),
            };
            if let Some(finding) = found {
                findings.add(finding);
            }
        }
        excused
    }
}

fn count(book: Book, account: &Account) -> Option<Finding> {
    let claim = account.claims.first()?;
    let key = shown(&account.subject.key(book));
    let (name, what) = (attribute(book), counted(book, &account.subject));
    let expected = format!("{name} {}, {what}", claim.facts);
    let found =
        if claim.is_stated { claim.stated.to_string() } else { String::from("no such item") };
    let remedy = Remedy::Count(account.subject.clone(), claim.facts);
    Some(Finding::new(Invariant::I1, key, expected, found, remedy))
}

fn score(account: &Account) -> Option<Finding> {
    if account.claims.iter().any(|claim| claim.about == DELETED) {
        return None;
    }
    let of = |wanted: fn(&Claim) -> i128| {
        let claim = account.claims.iter().find(|claim| wanted(claim) > 0);
        claim.map_or_else(|| String::from("no score"), |claim| format!("score {}", claim.about))
    };
    let key = shown(&account.subject.key(Book::Score));
    let expected = format!("{}, as its counter says", of(|claim| claim.facts));
    let remedy = Remedy::Count(account.subject.clone(), 0);
    Some(Finding::new(Invariant::I6, key, expected, of(|claim| claim.stated), remedy))
}

fn lock(account: &Account) -> Finding {
    let who = |wanted: fn(&Claim) -> i128| -> Vec<&str> {
        account.claims.iter().filter(|claim| wanted(claim) > 0).map(|claim| &*claim.about).collect()
    };
    let (carriers, owners) = (who(|claim| claim.facts), who(|claim| claim.stated));
    let users = account.claims.iter().filter_map(|claim| claim.about.parse().ok()).collect();
    let mut remedy = Remedy::Lock(account.subject.clone(), users);
    let expected = match &*carriers {
        [] => String::from("no lock: no live profile carries this name"),
        [one] => format!("a lock of {one}, whose profile carries this name"),
        _ => {
            remedy = Remedy::None("somebody has to decide who keeps the name");
            String::from("one live profile that carries this name")
        }
    };
    let found = match (&*carriers, &*owners) {
        ([] | [_], []) => String::from("none"),
        ([] | [_], owners) => format!("a lock of {}", owners.join(", ")),
        (carriers, []) => format!("{}, and no lock", carriers.join(", ")),
        (carriers, owners) => {
            format!("{}; the lock is of {}", carriers.join(", "), owners.join(", "))
        }
    };
    let key = shown(&account.subject.key(Book::Lock));
    let finding = Finding::new(Invariant::I2, key, expected, found, remedy);
    let profiles = carriers.iter().chain(owners.iter().filter(|owner| !carriers.contains(owner)));
    profiles.fold(finding, |finding, user| match user.parse() {
        Ok(user) => finding.with_key(shown(&User::at(&user).into_key())),
        Err(_) => finding,
    })
}

/// Something that is there because something else is.
fn follows(book: Book, account: &Account) -> Finding {
    let (invariant, there, absent) = match book {
        Book::Reward => (Invariant::I6, "a reward of ", "none, as its quest is not completed"),
        Book::Seat => (Invariant::I15, "a seat of a member", "no seat of somebody else"),
        Book::File => (Invariant::I6, "a file of ", "a file of nothing"),
        Book::Helper => (Invariant::I6, "what lists a call for help", "nothing: nobody was asked"),
        _ => (Invariant::I6, "a reference to what carries the tag", "none: it is not carried"),
    };
    let of = |wanted: fn(&Claim) -> i128, absent: &str| {
        let claims = account.claims.iter().filter(|claim| wanted(claim) > 0);
        let claims: Vec<String> = claims.map(|claim| format!("{there}{}", claim.about)).collect();
        if claims.is_empty() { absent.to_owned() } else { claims.join(", ") }
    };
    let expected = of(|claim| claim.facts, absent);
    let mut found = of(|claim| claim.stated, "none");
    if account.claims.iter().any(|claim| claim.stated > 1) {
        found.push_str(", more than once");
    }
    let remedy = match book {
        Book::File => Remedy::None("nobody can tell whether what shows it or the file is wrong"),
        Book::Helper => Remedy::None("nobody can tell whether the thread or the list is wrong"),
        _ => Remedy::Follow(account.subject.clone(), book),
    };
    Finding::new(invariant, shown(&account.subject.key(book)), expected, found, remedy)
}

fn listed(book: Book, account: &Account) -> Finding {
    let index = book.index().unwrap_or(Index::Main);
    let of = |wanted: fn(&Claim) -> i128| {
        let places = account.claims.iter().filter(|claim| wanted(claim) > 0);
        let places: Vec<&str> = places.map(|claim| place_of(&claim.about)).collect();
        if places.is_empty() { String::from("nothing") } else { places.join(", ") }
    };
    let (expected, mut found) = (of(|claim| claim.facts), of(|claim| claim.stated));
    if account.claims.iter().any(|claim| claim.stated > 1) {
        found.push_str(", more than once");
    } else if expected == found {
        found.push_str(" with other content");
    }
    let key = account.subject.key(book);
    let expected = format!("{expected} in {index}");
    Finding::new(Invariant::I3, shown(&key), expected, found, Remedy::Entries(key))
}

fn place_of(about: &str) -> &str {
    about.split(CONTENT).next().unwrap_or_default()
}
