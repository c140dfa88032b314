//! Companies, each owned by one user and hidden with them (R17).

use std::collections::HashMap;

use roundtable_domain_macros::boxed;
use roundtable_model::entities::Company;
use roundtable_model::{CompanyId, Entity, RequestId};

use crate::access::{Permission, Relations, allows, require};
use crate::account::active_account_check;
use crate::limits::{NAME_CHARS_MAX, check_filled};
use crate::pages::fill_page;
use crate::{Caller, Context, Page, PageInput, ServiceError, refusals};

refusals! {
    CompanyError {
        NoSuchCompany: NotFound = "there is no such company",
        NotOwner: Forbidden = "only the owner of the company can do this",
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

    /// Renames a company of the caller's.
    pub async fn update(
        &self,
        caller: &Caller,
        id: &CompanyId,
        name: &str,
        request: Option<&RequestId>,
    ) -> Result<Company, CompanyError> {
        let mutation = self.context.mutation(caller).await?;
        check_filled("name", name, NAME_CHARS_MAX)?;
        let name = name.trim();
        mutation
            .once("updateCompany", &(id, name), request)?
            .replay(async |id: CompanyId| self.company(Some(caller), &id).await)
            .run(async |me, attempt| {
                let before = self.company(Some(caller), id).await?;
                if !allows(Permission::UpdateCompany, caller.relations_to(&me, &before.owner_id)) {
                    return Err(CompanyError::NotOwner);
                }
                let owned = Company::OWNER_ID.is(&me.id);
                let patch = before.key().patch().set(Company::NAME, &name.to_owned()).when(owned);
                attempt
                    .commit()
                    .with("company", patch)
                    .with("user", active_account_check(&me.id))
                    .finish(id, Company { name: name.to_owned(), ..before })
                    .await
            })
            .await
    }

    /// Lists the caller's companies, newest first.
    pub async fn mine(
        &self,
        caller: &Caller,
        page: &PageInput,
    ) -> Result<Page<Company>, CompanyError> {
        let me = self.context.authorize_read(caller).await?.id;
        let core = self.context.core();
        fill_page(
            page,
            async |limit, after| core.companies_of(&me).limit(limit).after(after).page().await,
            async |listed: Vec<Company>| {
                // The index may be stale, so each is read again.
                let ids: Vec<CompanyId> = listed.into_iter().map(|company| company.id).collect();
                let found = core.companies(&ids).strong().get().await?;
                let is_mine = |company: &Company| company.owner_id == me;
                Ok(found.into_iter().map(|company| company.filter(is_mine)).collect())
            },
        )
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
