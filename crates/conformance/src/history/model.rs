//! The model of a table with a few keys, and the responses it allows.

use super::call::{Action, Answer, Call, Edit, Seen};

/// The maximum number of keys in a history: few, so that they are hot and the search stays small.
pub const KEYS_MAX: usize = 4;

/// The items of all keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State([Seen; KEYS_MAX]);

impl State {
    pub fn at(&self, key: usize) -> Seen {
        self.0.get(key).copied().flatten()
    }

    #[must_use]
    pub fn with(mut self, key: usize, seen: Seen) -> Self {
        if let Some(slot) = self.0.get_mut(key) {
            *slot = seen;
        }
        self
    }

    /// The state after `edits`, if all their preconditions hold before the first of them.
    fn after(self, edits: &[Edit]) -> Option<Self> {
        let allowed = edits.iter().all(|edit| edit.allowed(self.at(edit.key)));
        allowed.then(|| {
            edits.iter().fold(self, |state, edit| {
                state.with(edit.key, edit.effect.apply(state.at(edit.key)))
            })
        })
    }

    /// The state after a call, if its response is possible now. A call of unknown outcome takes
    /// effect here; the search also tries the case that it does not.
    pub fn step(self, call: &Call) -> Option<Self> {
        match (&call.action, &call.answer) {
            (_, Answer::Failed) => Some(self),
            (Action::Get(_) | Action::GetTogether(_), Answer::Read(seen)) => {
                let keys = call.action.reads();
                let same = keys.iter().zip(seen).all(|(key, seen)| self.at(*key) == *seen);
                (keys.len() == seen.len() && same).then_some(self)
            }
            (Action::Write(edit), Answer::Done(seen)) => {
                (*seen == [self.at(edit.key)]).then(|| self.after(&[*edit]))?
            }
            (Action::Transact(edits), Answer::Done(seen)) if seen.is_empty() => self.after(edits),
            (Action::Write(_) | Action::Transact(_), Answer::Refused(parts)) => {
                self.refuses(call.action.edits(), parts).then_some(self)
            }
            (action, Answer::Unknown) => self.after(action.edits()),
            _ => None,
        }
    }

    /// Returns `true` if exactly the edits whose preconditions fail are reported, each with the
    /// existing item.
    fn refuses(&self, edits: &[Edit], parts: &[Option<Seen>]) -> bool {
        let right = |(edit, part): (&Edit, &Option<Seen>)| {
            let here = self.at(edit.key);
            *part == (!edit.allowed(here)).then_some(here)
        };
        edits.len() == parts.len()
            && parts.iter().any(Option::is_some)
            && edits.iter().zip(parts).all(right)
    }
}
