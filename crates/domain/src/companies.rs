//! Companies, each owned by one user and hidden with them (R17).

use std::collections::HashMap;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Company;
use roundtable_model::{CompanyId, Entity, RequestId};

use crate::access::{Permission, Relations, require};
use crate::account::active_account_check;
use crate::limits::{NAME_CHARS_MAX, check_filled};
use crate::{Caller, Context, ServiceError, refusals};

refusals! {
    CompanyError {
        NoSuchCompany: NotFound = "there is no such company",
    }
}

#[derive(Clone, Debug)]
pub struct Companies {
    context: Context,
}

#[boxed]
impl Companies {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    /// Creates a company owned by the caller.
    pub async fn create(
        &self,
        caller: &Caller,
        name: &str,
        request: Option<&RequestId>,
    ) -> Result<Company, CompanyError> {
        let mutation = self.context.mutation(caller).await?;
        require(Permission::CreateCompany, Relations::SIGNED_IN)?;
        check_filled("name", name, NAME_CHARS_MAX)?;
        let name = name.trim();
        mutation
            .once("createCompany", &name, request)?
            .replay(async |id: CompanyId| self.company(Some(caller), &id).await)
            .run(async |me, attempt| {
                let now = self.context.now();
                let company = Company {
                    id: self.context.ids().next_at(now),
                    owner_id: me.id.clone(),
                    name: name.to_owned(),
                    created_at: now,
                };
                attempt
                    .commit()
                    .with("company", company.create())
                    .with("user", active_account_check(&me.id))
                    .finish(company.id.clone(), company)
                    .await
            })
            .await
    }

    pub async fn company(
        &self,
        viewer: Option<&Caller>,
        id: &CompanyId,
    ) -> Result<Company, CompanyError> {
        let found = self.companies(viewer, std::slice::from_ref(id)).await?;
        found.into_iter().flatten().next().ok_or(CompanyError::NoSuchCompany)
    }

    /// Returns companies in the order of `ids`; `None` where the viewer may not see one.
    pub async fn companies(
        &self,
        viewer: Option<&Caller>,
        ids: &[CompanyId],
    ) -> Result<Vec<Option<Company>>, CompanyError> {
        let visible = visible_companies(&self.context, viewer, ids).await?;
        // The same id may occur twice.
        Ok(ids.iter().map(|id| visible.get(id).cloned()).collect())
    }
}

/// Returns the companies whose owners the viewer may see, by id.
pub(crate) async fn visible_companies(
    context: &Context,
    viewer: Option<&Caller>,
    ids: &[CompanyId],
) -> Result<HashMap<CompanyId, Company>, ServiceError> {
    let found = context.core().companies(ids).strong().get().await?;
    let owners = found.iter().flatten().map(|company| &company.owner_id);
    let access = context.viewer_access(viewer, owners, []).await?;
    let visible = found.into_iter().flatten();
    let visible = visible.filter(|company| access.visible_user(&company.owner_id).is_some());
    Ok(visible.map(|company| (company.id.clone(), company)).collect())
}
