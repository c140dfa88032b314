//! Companies and what they offer, and files on their way in.

use super::Mutation;
use super::step::{change, check, put};
use crate::entities::{Offer, Upload};
use crate::{OfferStatus, UploadState, samples};

pub(super) fn mutations() -> Vec<Mutation> {
    vec![create_company(), create_offer(), close_offer(), create_upload(), complete_upload()]
}

fn create_company() -> Mutation {
    Mutation::repeatable("createCompany", [put(&samples::company())])
}

fn create_offer() -> Mutation {
    let tags = put(&samples::tag_ref()).times("tags", 2.0);
    Mutation::repeatable("createOffer", [check(&samples::company()), put(&samples::offer()), tags])
}

fn close_offer() -> Mutation {
    let offer = samples::offer();
    let closed = Offer { status: OfferStatus::Closed, ..offer.clone() };
    Mutation::repeatable("closeOffer", [check(&samples::company()), change(&offer, &closed)])
}

/// A file that has not arrived yet, and is given up some time.
fn announced() -> Upload {
    let ttl = Some(samples::idempotency().ttl);
    let (copy, width, height, holder) = (None, None, None, None);
    let upload = samples::upload();
    Upload { state: UploadState::Pending, copy, width, height, holder, ttl, ..upload }
}

fn create_upload() -> Mutation {
    Mutation::repeatable("createUpload", [put(&announced())])
}

fn complete_upload() -> Mutation {
    let ttl = announced().ttl;
    let arrived = Upload { holder: None, ttl, ..samples::upload() };
    Mutation::repeatable("completeUpload", [change(&announced(), &arrived)])
}
