//! How many there are of everything: for admins, who ask seldom. It reads the whole
//! table, since nothing else counts everybody.

use roundtable_domain_macros::boxed;
use roundtable_model::entities::{Activity, Post, User};
use roundtable_model::table::{Path, Scan, ValueRef};
use roundtable_model::{Entity, TYPE, UserStatus};

use crate::access::Act;
use crate::accounts::staff::Official;
use crate::{Caller, Ground, refusals};

refusals! {
    /// Why nothing was counted.
    CensusError {}
}

/// Counts everything.
#[derive(Clone, Debug)]
pub struct Census {
    ground: Ground,
}

/// How many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Accounts that are not gone.
    pub users: u64,
    /// Posts that are not deleted.
    pub posts: u64,
    /// Activities.
    pub activities: u64,
}

/// What tells what an item is, and whether it is gone.
const LOOKED_AT: [&str; 3] = [TYPE, "status", "isDeleted"];

#[boxed]
impl Census {
    /// The census of this ground.
    pub const fn new(ground: Ground) -> Self {
        Self { ground }
    }

    /// How many there are at present, for admins.
    pub async fn totals(&self, caller: &Caller) -> Result<Totals, CensusError> {
        let me = self.ground.reader(caller).await?;
        Official::new(caller, me).may(Act::RedriveDeadLetters)?;
        let (mut totals, mut after) = (Totals::default(), None);
        loop {
            let mut scan = Scan::new().after(after.take());
            scan.projection = LOOKED_AT.map(Path::from).to_vec();
            let page = self.ground.core().table().scan(scan).await.map_err(crate::Failure::from)?;
            for item in &page.items {
                let kind = item.text(TYPE).unwrap_or_default();
                let is_gone = item.text("status") == Some(UserStatus::Deleted.as_str());
                let is_deleted = item.get("isDeleted") == Some(ValueRef::Bool(true));
                totals.users += u64::from(kind == User::SHAPE.name && !is_gone);
                totals.posts += u64::from(kind == Post::SHAPE.name && !is_deleted);
                totals.activities += u64::from(kind == Activity::SHAPE.name);
            }
            after = page.next;
            if after.is_none() {
                return Ok(totals);
            }
            // A backend in this process never waits; others may want to run.
            tokio::task::yield_now().await;
        }
    }
}
