//! Companies, offers and uploads.

use roundtable_model::entities::{Offer, Upload};
use roundtable_model::{OfferStatus, UploadState, samples};

use super::MutationWrites;
use super::step::{change, check, put};

pub(super) fn mutations() -> Vec<MutationWrites> {
    vec![create_company(), create_offer(), close_offer(), create_upload(), complete_upload()]
}

fn create_company() -> MutationWrites {
    MutationWrites::idempotent("createCompany", [put(&samples::company())])
}

fn create_offer() -> MutationWrites {
    let tags = put(&samples::tag_ref()).times("tags", 2.0);
    MutationWrites::idempotent(
        "createOffer",
        [check(&samples::company()), put(&samples::offer()), tags],
    )
}

fn close_offer() -> MutationWrites {
    let offer = samples::offer();
    let closed = Offer { status: OfferStatus::Closed, ..offer.clone() };
    MutationWrites::idempotent("closeOffer", [check(&samples::company()), change(&offer, &closed)])
}

/// A file that has not arrived yet, and expires if it does not.
fn pending_upload() -> Upload {
    let ttl = Some(samples::idempotency().ttl);
    let (copy, width, height, holder) = (None, None, None, None);
    let upload = samples::upload();
    Upload { state: UploadState::Pending, copy, width, height, holder, ttl, ..upload }
}

fn create_upload() -> MutationWrites {
    MutationWrites::idempotent("createUpload", [put(&pending_upload())])
}

fn complete_upload() -> MutationWrites {
    let ttl = pending_upload().ttl;
    let arrived = Upload { holder: None, ttl, ..samples::upload() };
    MutationWrites::idempotent("completeUpload", [change(&pending_upload(), &arrived)])
}
