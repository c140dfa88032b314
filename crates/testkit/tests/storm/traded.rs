//! Whether companies, offers and files are what people remember (R16, R43).

use roundtable_model::entities::Upload;
use roundtable_model::table::Get;
use roundtable_model::{OfferStatus, UserId};
use roundtable_testkit::Town;

use crate::model::Memory;

/// Compares what people offer and have sent with what they remember.
pub(crate) async fn traded(memory: &Memory, town: &Town) {
    let (core, life) = (town.ground().core(), &memory.life);
    for (id, owner) in &life.companies {
        let there = core.company(id).get().await.unwrap();
        assert_eq!(there.is_some(), memory.alive(owner), "{id}");
    }
    for (id, known) in &life.offers {
        let there = core.offer(id).get().await.unwrap().map(|offer| offer.status);
        let status = if known.is_closed { OfferStatus::Closed } else { OfferStatus::Open };
        assert_eq!(there, memory.alive(&known.owner).then_some(status), "{id}");
    }
    let mut kept = 0;
    for (key, (owner, _)) in &life.tickets {
        let place = Get::new(Upload::at(owner, key)).strong();
        let there = core.table().get(place).await.unwrap().item.is_some();
        // What has not arrived in time is given up; what belongs to a post goes with it.
        let file = life.files.get(key).filter(|_| memory.alive(owner));
        let post = file.and_then(|(_, _, post)| post.as_ref());
        let is_shown = post.is_none_or(|post| memory.posted[post].text.is_some());
        assert_eq!(there, file.is_some() && is_shown, "{key} of {owner}");
        kept += usize::from(there);
    }
    // Where nobody sweeps, the bytes of what was given up stay for now.
    if town.ground().store().capabilities().one_process {
        assert_eq!(town.shelf().count(), kept, "one copy of each file, which is shown");
    }
}

/// What is left of what somebody offered.
pub(crate) async fn left_of(town: &Town, user: &UserId) -> usize {
    town.ground().core().companies_of(user).all().await.unwrap().len()
}
