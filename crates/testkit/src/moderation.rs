//! Reports, cases and decisions of a town. Its moderator is called mo; tests must add this user.

use roundtable_domain::{Caller, Moderation, ModerationSubject, PageInput};
use roundtable_model::entities::{Audit, ModerationCase, Post};
use roundtable_model::{CaseId, ModerationStatus, PostId, Role};

use crate::Town;

impl Town {
    pub fn moderation(&self) -> Moderation {
        Moderation::new(self.context().clone())
    }

    pub fn mo(&self) -> Caller {
        self.staff("mo", Role::Moderator)
    }

    pub async fn report(&self, name: &str, post: &PostId, reason: &str) -> ModerationCase {
        self.moderation().report_post(&self.caller(name), post, reason, None).await.unwrap()
    }

    pub async fn moderate(&self, post: &PostId, status: ModerationStatus) -> Post {
        self.moderation().moderate_post(&self.mo(), post, status, None, None).await.unwrap()
    }

    /// Returns the case of a post or comment.
    pub async fn case(&self, id: impl Into<CaseId>) -> ModerationSubject {
        let reviewed = self.moderation().case(&self.mo(), &id.into()).await.unwrap();
        let content = reviewed.content().unwrap().clone();
        ModerationSubject { case: reviewed.case, content }
    }

    /// Returns the case ids of the first page of the moderation queue.
    pub async fn queue(&self, status: ModerationStatus) -> Vec<CaseId> {
        let page = self.moderation().queue(&self.mo(), Some(status), &PageInput::first()).await;
        page.unwrap().into_items().into_iter().map(|subject| subject.case.id).collect()
    }

    /// Returns the first page of the audit log, oldest first, each entry as one line.
    pub async fn audit_trail(&self) -> Vec<String> {
        let page = self.moderation().audit(&self.mo(), None, None, &PageInput::first()).await;
        let line = |Audit { actor, action, detail, .. }: Audit| {
            let actor = actor.map_or_else(|| String::from("system"), |actor| actor.to_string());
            let detail = detail.map(|detail| detail.to_string()).unwrap_or_default();
            format!("{actor} {action} {detail}")
        };
        page.unwrap().into_items().into_iter().rev().map(line).collect()
    }
}
