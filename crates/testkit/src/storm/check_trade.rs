//! Compares companies, offers and files with the model (R16, R43).

use crate::Town;
use roundtable_model::entities::Upload;
use roundtable_model::table::Get;
use roundtable_model::{OfferStatus, UserId};

use super::town_model::TownModel;

pub(crate) async fn check_trade(model: &TownModel, town: &Town) {
    let (core, features) = (town.context().core(), &model.features);
    for (id, owner) in &features.companies {
        let there = core.company(id).get().await.unwrap();
        assert_eq!(there.is_some(), model.alive(owner), "{id}");
    }
    for (id, known) in &features.offers {
        let there = core.offer(id).get().await.unwrap().map(|offer| offer.status);
        let status = if known.is_closed { OfferStatus::Closed } else { OfferStatus::Open };
        assert_eq!(there, model.alive(&known.owner).then_some(status), "{id}");
    }
    let mut kept = 0;
    for (key, (owner, _)) in &features.tickets {
        let place = Get::new(Upload::at(owner, key)).strong();
        let there = core.table().get(place).await.unwrap().item.is_some();
        // Incomplete uploads expire; files of a post are deleted with it.
        let file = features.files.get(key).filter(|_| model.alive(owner));
        let post = file.and_then(|(_, _, post)| post.as_ref());
        let is_shown = post.is_none_or(|post| model.posted[post].text.is_some());
        assert_eq!(there, file.is_some() && is_shown, "{key} of {owner}");
        kept += usize::from(there);
    }
    // Without a sweep, the bytes of expired uploads remain.
    if town.context().store().capabilities().single_process {
        assert_eq!(town.media_store().count(), kept, "one copy of each file, which is shown");
    }
}

/// Counts the remaining offers and files of a user.
pub(crate) async fn remaining_items(town: &Town, user: &UserId) -> usize {
    town.context().core().companies_of(user).all().await.unwrap().len()
}
