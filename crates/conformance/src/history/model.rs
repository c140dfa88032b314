//! The model: what a table of a few keys holds, and which answers it allows.

use super::call::{Action, Answer, Call, Edit, Seen};

/// How many keys a history may touch: few, so that they are hot and the search stays small.
pub const KEYS_MAX: usize = 4;

/// What all keys hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State([Seen; KEYS_MAX]);

impl State {
    /// What a key holds.
    pub fn at(&self, key: usize) -> Seen {
        self.0.get(key).copied().flatten()
    }

    /// This state with another content of one key.
    #[must_use]
    pub fn with(mut self, key: usize, seen: Seen) -> Self {
        if let Some(slot) = self.0.get_mut(key) {
            *slot = seen;
        }
        self
    }

    /// The state after `edits`, if all their demands hold before the first of them.
    fn after(self, edits: &[Edit]) -> Option<Self> {
        let allowed = edits.iter().all(|edit| edit.allowed(self.at(edit.key)));
        allowed.then(|| {
            edits.iter().fold(self, |state, edit| {
                state.with(edit.key, edit.effect.apply(state.at(edit.key)))
            })
        })
    }

    /// The state after a call that happens now, if it can be answered as it was. A call of unknown
    /// outcome has its effect here; that it may also have none is for the search to try.
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

    /// Whether exactly the edits to blame are blamed, each with what is there.
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
