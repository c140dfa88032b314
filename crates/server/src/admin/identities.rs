//! Commands for identities at external issuers.

use roundtable_domain::Accounts;
use roundtable_model::Nickname;
use roundtable_model::entities::Identity;
use serde::{Deserialize, Serialize};

use super::{AdminReply, AdminService, message, parse};

/// An identity of a user, for people to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentitySummary {
    pub issuer: String,
    pub subject: String,
    pub linked_at: String,
}

impl IdentitySummary {
    fn of(identity: &Identity) -> Self {
        Self {
            issuer: identity.issuer.to_string(),
            subject: identity.subject.to_string(),
            linked_at: identity.created_at.to_string(),
        }
    }
}

impl AdminService {
    pub(super) async fn list_identities(&self, nickname: &str) -> Result<AdminReply, String> {
        let nickname: Nickname = parse("the nickname", nickname)?;
        let accounts = Accounts::new(self.context.clone());
        let identities = accounts.identities(&nickname).await.map_err(message)?;
        let identities = identities.iter().map(IdentitySummary::of).collect();
        Ok(AdminReply::Identities { identities })
    }

    /// Links or unlinks an identity.
    pub(super) async fn link_identity(
        &self,
        nickname: &str,
        issuer: &str,
        subject: &str,
        linked: bool,
    ) -> Result<AdminReply, String> {
        let nickname: Nickname = parse("the nickname", nickname)?;
        let (issuer, subject) = (parse("the issuer", issuer)?, parse("the subject", subject)?);
        let accounts = Accounts::new(self.context.clone());
        if linked {
            let link = accounts.link_identity_as_operator(&nickname, &issuer, &subject);
            link.await.map_err(message)?;
        } else {
            let unlink = accounts.unlink_identity_as_operator(&nickname, &issuer, &subject);
            if !unlink.await.map_err(message)? {
                return Err(format!("{nickname} has no such identity: see `identity list`"));
            }
        }
        Ok(AdminReply::IdentityLinked { linked })
    }
}
