//! Companies, each spoken for by one person, and hidden with them (R17).

use std::collections::HashMap;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Company;
use roundtable_model::{CompanyId, Entity, RequestId};

use crate::access::{Act, Standing, allows};
use crate::account::live;
use crate::limits::{NAME_CHARS_MAX, check_filled};
use crate::once::Tried;
use crate::{Caller, Failure, Ground, refusals};

refusals! {
    /// Why a company was not entered or shown.
    CompanyError {
        NoSuchCompany: NotFound = "there is no such company",
    }
}

/// The companies of everybody.
#[derive(Clone, Debug)]
pub struct Companies {
    ground: Ground,
}

#[boxed]
impl Companies {
    /// The companies on this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// Enters a company, for which the caller speaks.
    pub async fn create(
        &self,
        caller: &Caller,
        name: &str,
        request: Option<&RequestId>,
    ) -> Result<Company, CompanyError> {
        let me = self.ground.account(caller).await?;
        if !allows(Act::CreateCompany, Standing::SIGNED_IN) {
            return Err(Failure::Forbidden.into());
        }
        check_filled("name", name, NAME_CHARS_MAX)?;
        let name = name.trim();
        let request = self.ground.request(&me.id, request, "createCompany", &name)?;
        self.ground
            .once(
                request.as_ref(),
                async |id: CompanyId| self.company(Some(caller), &id).await,
                async || {
                    let now = self.ground.now();
                    let company = Company {
                        id: self.ground.ids().next_at(now),
                        owner_id: me.id.clone(),
                        name: name.to_owned(),
                        created_at: now,
                    };
                    let commit = self
                        .ground
                        .commit()
                        .with("company", company.create())
                        .with("person", live(&me.id))
                        .remembering(request.as_ref(), &company.id)?;
                    let tried = commit.done(company).await?;
                    if matches!(tried, Tried::Again) {
                        // The account may be what has changed.
                        self.ground.reader(caller).await?;
                    }
                    Ok(tried)
                },
            )
            .await
    }

    /// A company.
    pub async fn company(
        &self,
        viewer: Option<&Caller>,
        id: &CompanyId,
    ) -> Result<Company, CompanyError> {
        let found = self.companies(viewer, std::slice::from_ref(id)).await?;
        found.into_iter().flatten().next().ok_or(CompanyError::NoSuchCompany)
    }

    /// Several companies, each in its place; `None` where there is none for the viewer.
    pub async fn companies(
        &self,
        viewer: Option<&Caller>,
        ids: &[CompanyId],
    ) -> Result<Vec<Option<Company>>, CompanyError> {
        let seen = visible(&self.ground, viewer, ids).await?;
        // The same one may be asked for twice.
        Ok(ids.iter().map(|id| seen.get(id).cloned()).collect())
    }
}

/// Those of the companies whose owners the viewer may see, by id.
pub(crate) async fn visible(
    ground: &Ground,
    viewer: Option<&Caller>,
    ids: &[CompanyId],
) -> Result<HashMap<CompanyId, Company>, Failure> {
    let found = ground.core().companies(ids).strong().get().await?;
    let owners = found.iter().flatten().map(|company| &company.owner_id);
    let sight = ground.sight(viewer, owners, []).await?;
    let seen = found.into_iter().flatten();
    let seen = seen.filter(|company| sight.person(&company.owner_id).is_some());
    Ok(seen.map(|company| (company.id.clone(), company)).collect())
}
