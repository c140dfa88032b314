//! Dead letters, as operators act on them with an account: the processors of `streams` park and redrive
//! them.

use std::fmt;
use std::str::FromStr;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::DeadLetter;
use roundtable_model::{InvalidValue, JobId, Json, Queue, RequestId, SubjectId, Time};

use crate::access::Permission;
use crate::{Caller, Context, ServiceError, audit, refusals};

refusals! {
    DeadLetterError {
        NoSuchDeadLetter: NotFound = "there is no such dead letter",
    }
}

/// The name of a dead letter for people: `QUEUE/TIME/ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetterName {
    pub queue: Queue,
    pub failed_at: Time,
    pub id: JobId,
}

#[derive(Clone, Debug)]
pub struct DeadLetterService {
    context: Context,
}

#[boxed]
impl DeadLetterService {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Deletes a dead letter: its change or job will never be processed.
    pub async fn discard(
        &self,
        caller: &Caller,
        name: &DeadLetterName,
        request: Option<&RequestId>,
    ) -> Result<(), DeadLetterError> {
        let mutation = self.context.mutation(caller).await?;
        let staff = mutation.staff(Permission::DiscardDeadLetter)?;
        let DeadLetterName { queue, failed_at, id } = name;
        let text = name.to_string();
        mutation
            .once("discardDeadLetter", &text, request)?
            .replay(async |(): ()| Ok(()))
            .run(async |_, attempt| {
                let ops = self.context.ops();
                let letter = ops.dead_letter(queue, failed_at, id).get().await?;
                let letter = letter.ok_or(DeadLetterError::NoSuchDeadLetter)?;
                let detail = serde_json::json!({ "name": text, "error": letter.error });
                let detail = Json::encode(&detail)
                    .map_err(|invalid| ServiceError::Internal(invalid.to_string()))?;
                let (action, subject): (_, SubjectId) = ("discardDeadLetter", id.recast());
                let entry =
                    audit::entry(&self.context, Some(caller), action, subject, Some(detail));
                attempt
                    .commit()
                    .to(ops.table(), "letter", DeadLetter::at(queue, failed_at, id).delete())
                    .with("staff", staff.role_check())
                    .with("audit", entry)
                    .finish((), ())
                    .await
            })
            .await
    }
}

impl From<&DeadLetter> for DeadLetterName {
    fn from(letter: &DeadLetter) -> Self {
        let DeadLetter { queue, failed_at, id, .. } = letter.clone();
        Self { queue, failed_at, id }
    }
}

impl FromStr for DeadLetterName {
    type Err = InvalidValue;

    fn from_str(name: &str) -> Result<Self, InvalidValue> {
        let mut parts = name.rsplitn(3, '/');
        let (Some(id), Some(at), Some(queue)) = (parts.next(), parts.next(), parts.next()) else {
            let expected = "a name as `dlq list` prints it: QUEUE/TIME/ID";
            return Err(InvalidValue::new(expected, format_args!("{name:?}")));
        };
        Ok(Self { queue: queue.parse()?, failed_at: Time::parse_lenient(at)?, id: id.parse()? })
    }
}

impl fmt::Display for DeadLetterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.queue.as_str(), self.failed_at, self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        let name = "stream.counters/2026-01-31T12:00:00.000Z/01KG";
        assert_eq!(name.parse::<DeadLetterName>().unwrap().to_string(), name);
        for text in ["", "fan-out", "fan-out/x", "fan-out/then/01KG", "/2026-01-31T12:00:00Z/a"] {
            text.parse::<DeadLetterName>().expect_err(text);
        }
    }
}
