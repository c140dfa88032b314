//! A budget for what waits in memory for clients to read it: answers, pages such as the metrics, and chunks
//! of files.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use roundtable_domain::Code;
use roundtable_graphql::{Answer, OperationType};
use roundtable_interface::ApiError;
use tokio::sync::Notify;

use crate::client_key::{CLIENT_SHARE, ClientShares, GROUP_SHARE, ShareKey};

/// This part of the budget is for short answers alone, and the same in the share of a group, so that a few
/// clients with long ones do not end all service, or that of their network.
const SHORT_SHARE: usize = 8;
const SHORT_BYTES_MAX: usize = 64 << 10;
/// All pages may have this part, beside what clients leave unread of answers and files: operators need the
/// metrics most when that is all of the budget.
const PAGE_SHARE: usize = 16;

/// The refusal of an answer or a page because of others.
pub(crate) const NO_ROOM: &str = "the server has no room for the answer; try again in a second";

/// The bytes of all answers that wait for their clients, on any transport, of pages, and of files.
#[derive(Clone, Debug)]
pub(crate) struct AnswerBudget {
    bytes: Arc<Mutex<AnswerBytes>>,
    /// Some bytes were given back.
    freed: Arc<Notify>,
}

#[derive(Debug)]
struct AnswerBytes {
    max: usize,
    used: usize,
    by_share: HashMap<ShareKey, usize>,
}

/// The bytes of one answer, page or chunk, until the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct AnswerReservation(
    #[expect(dead_code, reason = "the bytes are given back when it is dropped")] Arc<ReservedShare>,
);

#[derive(Debug)]
struct ReservedShare {
    budget: AnswerBudget,
    keys: Vec<ShareKey>,
    bytes: usize,
}

/// An answer whose bytes are reserved.
#[derive(Debug)]
pub(crate) struct ReservedAnswer {
    pub(crate) answer: Answer,
    /// `None` for short errors, which are always sent.
    pub(crate) reservation: Option<AnswerReservation>,
}

/// An answer has no room beside those that are not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooManyAnswers {
    /// The client itself leaves too many unread.
    OfClient,
    /// Other clients do: all of them, all anonymous ones, or all accounts of the network.
    OfOthers,
}

impl TooManyAnswers {
    /// Returns what takes the place of an answer that has no room.
    pub(crate) fn answer(self, operation: OperationType) -> Answer {
        let mut problem = String::from(match self {
            Self::OfClient => "earlier answers have not been read yet; read them, then try again",
            Self::OfOthers => NO_ROOM,
        });
        let is_mutation = operation == OperationType::Mutation;
        if is_mutation {
            problem.push_str(" with the same requestId: the change may have been made");
        }
        let error = ApiError::new(Code::RateLimited, problem).into();
        // A query has changed nothing, so that it may be reported as not executed.
        if self == Self::OfOthers && !is_mutation {
            Answer::refused(&error)
        } else {
            Answer::abandoned(&error)
        }
    }

    /// Returns the last event of a subscription whose next event has no room.
    pub(crate) fn last_event(self) -> Answer {
        let problem = match self {
            Self::OfClient => {
                "earlier events have not been read yet; read them, refetch, then subscribe again"
            }
            Self::OfOthers => {
                "the server has no room for the event; refetch, then subscribe again in a second"
            }
        };
        Answer::abandoned(&ApiError::new(Code::RateLimited, problem).into())
    }
}

impl AnswerBudget {
    pub(crate) fn new(bytes_max: usize) -> Self {
        let (used, by_share) = (0, HashMap::new());
        let bytes = Arc::new(Mutex::new(AnswerBytes { max: bytes_max, used, by_share }));
        Self { bytes, freed: Arc::default() }
    }

    pub(crate) fn used(&self) -> usize {
        self.bytes.lock().used
    }

    /// Reserves the bytes of an answer in the name of a client.
    pub(crate) fn reserve(
        &self,
        client: &ClientShares,
        bytes: usize,
    ) -> Result<AnswerReservation, TooManyAnswers> {
        self.reserve_of(client, bytes, bytes > SHORT_BYTES_MAX)
    }

    /// Reserves the bytes of a chunk of a file, as soon as there is room for it. It is a part of something
    /// long: the room for short answers is not for it.
    pub(crate) async fn reserve_chunk(
        &self,
        client: &ClientShares,
        bytes: usize,
    ) -> AnswerReservation {
        loop {
            let mut freed = pin!(self.freed.notified());
            // Before the attempt: what is given back after it ends the wait.
            freed.as_mut().enable();
            if let Ok(reservation) = self.reserve_of(client, bytes, true) {
                return reservation;
            }
            freed.await;
        }
    }

    /// Reserves the bytes of a page. One page always fits.
    pub(crate) fn reserve_page(&self, bytes: usize) -> Result<AnswerReservation, TooManyAnswers> {
        let mut state = self.bytes.lock();
        let of_pages = state.by_share.get(&ShareKey::Pages).copied().unwrap_or(0);
        if of_pages > 0 && of_pages.saturating_add(bytes) > state.max / PAGE_SHARE {
            return Err(TooManyAnswers::OfOthers);
        }
        Ok(self.take(&mut state, vec![ShareKey::Pages], bytes))
    }

    fn reserve_of(
        &self,
        client: &ClientShares,
        bytes: usize,
        is_long: bool,
    ) -> Result<AnswerReservation, TooManyAnswers> {
        let mut state = self.bytes.lock();
        let is_within = |used: usize, max: usize| used.saturating_add(bytes) <= max;
        let of_share = |key: &ShareKey| state.by_share.get(key).copied().unwrap_or(0);
        if !is_within(of_share(&client.own), state.max / CLIENT_SHARE) {
            return Err(TooManyAnswers::OfClient);
        }
        let for_short = if is_long { state.max / SHORT_SHARE } else { 0 };
        let of_others =
            [(of_share(&client.group), state.max / GROUP_SHARE), (state.used, state.max)];
        if !of_others.iter().all(|(used, max)| is_within(*used, max - for_short)) {
            return Err(TooManyAnswers::OfOthers);
        }
        Ok(self.take(&mut state, Vec::from(client.both().map(ShareKey::clone)), bytes))
    }

    fn take(
        &self,
        state: &mut AnswerBytes,
        keys: Vec<ShareKey>,
        bytes: usize,
    ) -> AnswerReservation {
        state.used += bytes;
        for key in &keys {
            *state.by_share.entry(key.clone()).or_default() += bytes;
        }
        AnswerReservation(Arc::new(ReservedShare { budget: self.clone(), keys, bytes }))
    }
}

impl AnswerReservation {
    /// Returns bytes that keep this until the last of them is dropped.
    pub(crate) fn hold(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        Bytes::from_owner(ReservedBytes { bytes, _reservation: self })
    }
}

impl Drop for ReservedShare {
    fn drop(&mut self) {
        let mut state = self.budget.bytes.lock();
        state.used -= self.bytes;
        for key in &self.keys {
            match state.by_share.get_mut(key) {
                Some(own) if *own > self.bytes => *own -= self.bytes,
                _ => drop(state.by_share.remove(key)),
            }
        }
        drop(state);
        self.budget.freed.notify_waiters();
    }
}

impl ReservedAnswer {
    /// Returns the JSON as bytes that stay reserved until the last of them is dropped.
    pub(crate) fn into_bytes(self) -> Bytes {
        Self::reserved(self.answer.into_json(), self.reservation)
    }

    /// Returns the JSON between two texts, as [`ReservedAnswer::into_bytes`] does.
    pub(crate) fn into_bytes_between(self, before: &[u8], after: &[u8]) -> Bytes {
        Self::reserved([before, self.answer.json(), after].concat(), self.reservation)
    }

    fn reserved(bytes: Vec<u8>, reservation: Option<AnswerReservation>) -> Bytes {
        match reservation {
            Some(reservation) => reservation.hold(bytes),
            None => Bytes::from(bytes),
        }
    }
}

impl From<Answer> for ReservedAnswer {
    fn from(answer: Answer) -> Self {
        Self { answer, reservation: None }
    }
}

struct ReservedBytes<B> {
    bytes: B,
    _reservation: AnswerReservation,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for ReservedBytes<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use futures::FutureExt as _;
    use roundtable_domain::Caller;
    use roundtable_interface::ClientInfo;

    use super::*;

    fn client(name: Option<&str>, last: u8) -> ClientShares {
        let caller = name.map(|name| Caller::user(name.parse().unwrap()));
        let address = Some(IpAddr::from([192, 0, 2, last]));
        ClientShares::of(&ClientInfo { caller, address })
    }

    /// An account in a network of its own.
    fn account(name: &str) -> ClientShares {
        client(Some(name), name.len().try_into().unwrap())
    }

    fn stranger(last: u8) -> ClientShares {
        client(None, last)
    }

    #[test]
    fn a_client_that_does_not_read_takes_only_its_share() {
        let budget = AnswerBudget::new(80);
        let ana = account("ana");
        let held = budget.reserve(&ana, 20).unwrap();
        assert_eq!(budget.reserve(&ana, 1).unwrap_err(), TooManyAnswers::OfClient);
        let other = budget.reserve(&account("bo"), 20).unwrap();
        drop(held);
        assert!(budget.reserve(&ana, 20).is_ok());
        drop(other);
        assert_eq!(budget.used(), 0);
        assert!(budget.bytes.lock().by_share.is_empty());
    }

    #[test]
    fn anonymous_clients_leave_half_to_the_others() {
        let budget = AnswerBudget::new(80);
        let held: Vec<_> =
            (0..2).map(|last| budget.reserve(&stranger(last), 20).unwrap()).collect();
        assert_eq!(budget.reserve(&stranger(9), 1).unwrap_err(), TooManyAnswers::OfOthers);
        assert!(budget.reserve(&account("ana"), 20).is_ok());
        drop(held);
        assert!(budget.reserve(&stranger(9), 1).is_ok());
    }

    #[test]
    fn the_accounts_of_a_network_leave_half_to_the_others() {
        let budget = AnswerBudget::new(80);
        let held = ["ana", "bo"].map(|name| budget.reserve(&client(Some(name), 1), 20).unwrap());
        let third = budget.reserve(&client(Some("cleo"), 1), 1);
        assert_eq!(third.unwrap_err(), TooManyAnswers::OfOthers);
        assert!(budget.reserve(&client(Some("cleo"), 2), 1).is_ok());
        drop(held);
        assert!(budget.bytes.lock().by_share.is_empty());
    }

    /// A client that signs in there is anonymous before.
    #[test]
    fn accounts_take_nothing_from_the_anonymous_clients_of_their_network() {
        let budget = AnswerBudget::new(80);
        let _held = ["ana", "bo"].map(|name| budget.reserve(&client(Some(name), 1), 20).unwrap());
        assert!(budget.reserve(&stranger(1), 20).is_ok());
    }

    #[test]
    fn long_answers_of_two_accounts_leave_room_for_short_ones_in_their_network() {
        let budget = AnswerBudget::new(80 * SHORT_BYTES_MAX);
        let long = 2 * SHORT_BYTES_MAX;
        let account = |name: &str| client(Some(name), 1);
        let mut held = Vec::new();
        for name in ["ana", "bo"] {
            while let Ok(reservation) = budget.reserve(&account(name), long) {
                held.push(reservation);
            }
        }
        let refused = budget.reserve(&account("cleo"), long).unwrap_err();
        assert_eq!(refused, TooManyAnswers::OfOthers);
        assert!(budget.reserve(&account("cleo"), SHORT_BYTES_MAX).is_ok());
        assert!(budget.reserve(&client(Some("cleo"), 2), long).is_ok(), "another network");
    }

    #[test]
    fn long_answers_leave_room_for_short_ones() {
        let budget = AnswerBudget::new(80 * SHORT_BYTES_MAX);
        let long = 20 * SHORT_BYTES_MAX;
        let _held = ["a", "bo", "ana"].map(|name| budget.reserve(&account(name), long).unwrap());
        let fourth = account("cleo");
        assert_eq!(budget.reserve(&fourth, long).unwrap_err(), TooManyAnswers::OfOthers);
        let short = [(); 20].map(|()| budget.reserve(&fourth, SHORT_BYTES_MAX).unwrap());
        assert_eq!(budget.used(), 80 * SHORT_BYTES_MAX);
        drop(short);
    }

    #[test]
    fn pages_fit_beside_answers_that_take_everything() {
        let budget = AnswerBudget::new(80);
        let names = ["a", "bo", "ana", "cleo"];
        let _held = names.map(|name| budget.reserve(&account(name), 20).unwrap());
        let page = budget.reserve_page(7).unwrap();
        assert_eq!(
            (budget.used(), budget.reserve_page(1).unwrap_err()),
            (87, TooManyAnswers::OfOthers)
        );
        drop(page);
        let short = [1, 2, 2].map(|bytes| budget.reserve_page(bytes).unwrap());
        assert!(budget.reserve_page(1).is_err());
        drop(short);
        assert_eq!(budget.used(), 80);
    }

    #[tokio::test]
    async fn a_chunk_of_a_file_waits_for_room_and_leaves_some_to_short_answers() {
        let budget = AnswerBudget::new(80);
        let mut held = Vec::new();
        for bytes in [20, 10] {
            held.push(
                budget.reserve_chunk(&stranger(1 + u8::try_from(bytes).unwrap()), bytes).await,
            );
        }
        assert!(budget.reserve_chunk(&stranger(1), 1).now_or_never().is_none());
        assert!(budget.reserve(&stranger(2), 10).is_ok(), "a short answer");
        let waits = stranger(1);
        let mut waiting = pin!(budget.reserve_chunk(&waits, 10));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(held.remove(1));
        waiting.await;
    }

    #[test]
    fn a_client_is_not_blamed_for_what_others_leave_unread() {
        let budget = AnswerBudget::new(80);
        let names = ["a", "bo", "ana", "cleo"];
        let held = names.map(|name| budget.reserve(&account(name), 20).unwrap());
        let full = budget.reserve(&account("david"), 1).unwrap_err();
        assert_eq!(full, TooManyAnswers::OfOthers);
        drop(held);
        let text = |answer: Answer| String::from_utf8(answer.into_json()).unwrap();
        for operation in [OperationType::Query, OperationType::Mutation] {
            assert!(!text(full.answer(operation)).contains("read them"));
            assert!(text(TooManyAnswers::OfClient.answer(operation)).contains("read them"));
        }
        assert!(full.answer(OperationType::Query).is_refused());
        assert!(!full.answer(OperationType::Mutation).is_refused(), "it may have been made");
        assert!(!text(full.last_event()).contains("read them"));
    }

    #[test]
    fn bytes_are_free_when_the_last_of_them_is_sent() {
        let budget = AnswerBudget::new(80);
        let reservation = budget.reserve(&account("ana"), 7).ok();
        let answer = Answer::refused(&roundtable_interface::ApiError::bad_request("no").into());
        let bytes = ReservedAnswer { answer, reservation }.into_bytes();
        let rest = bytes.slice(3..);
        drop(bytes);
        assert_eq!(budget.used(), 7);
        drop(rest);
        assert_eq!(budget.used(), 0);
    }
}
