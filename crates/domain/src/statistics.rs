//! Totals of users, posts and activities, for admins. Reads the whole table, since no counter
//! covers all users; meant to be called rarely.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Post, ProfileActivity, User};
use roundtable_model::table::{Path, Scan, ValueRef};
use roundtable_model::{Entity, TYPE, UserStatus};

use crate::access::Permission;
use crate::{Caller, Context, refusals};

refusals! {
    StatisticsError {}
}

#[derive(Clone, Debug)]
pub struct Statistics {
    context: Context,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Excludes deleted accounts.
    pub users: u64,
    /// Excludes deleted posts.
    pub posts: u64,
    pub activities: u64,
}

/// The attributes that show an item's type and whether it is deleted.
const PROJECTION: [&str; 3] = [TYPE, "status", "isDeleted"];

#[boxed]
impl Statistics {
    pub const fn new(context: Context) -> Self {
        Self { context }
    }

    pub async fn totals(&self, caller: &Caller) -> Result<Totals, StatisticsError> {
        self.context.authorize_staff(caller, Permission::RedriveDeadLetters).await?;
        let (mut totals, mut after) = (Totals::default(), None);
        loop {
            let mut scan = Scan::new().after(after.take());
            scan.projection = PROJECTION.map(Path::from).to_vec();
            let page =
                self.context.core().table().scan(scan).await.map_err(crate::ServiceError::from)?;
            for item in &page.items {
                let kind = item.text(TYPE).unwrap_or_default();
                let is_deleted_user = item.text("status") == Some(UserStatus::Deleted.as_str());
                let is_deleted_post = item.get("isDeleted") == Some(ValueRef::Bool(true));
                totals.users += u64::from(kind == User::SHAPE.name && !is_deleted_user);
                totals.posts += u64::from(kind == Post::SHAPE.name && !is_deleted_post);
                let is_activity =
                    [Activity::SHAPE.name, ProfileActivity::SHAPE.name].contains(&kind);
                totals.activities += u64::from(is_activity);
            }
            after = page.next;
            if after.is_none() {
                return Ok(totals);
            }
            // An in-process backend never yields by itself.
            tokio::task::yield_now().await;
        }
    }
}
