//! Companies, offers and files.

use roundtable_domain::{Caller, Code, NewOffer, NewPost, NewUpload};
use roundtable_model::{ContentType, RequestId};

use super::{FeatureAction, FeatureOutcome, reduce};
use crate::Town;

impl Town {
    pub(super) async fn perform_on_trade(
        &self,
        caller: &Caller,
        action: &FeatureAction,
        request: Option<&RequestId>,
    ) -> Result<FeatureOutcome, Code> {
        let (offers, media) = (self.offers(), self.media());
        match action {
            FeatureAction::EnterCompany(name) => {
                let made = self.companies().create(caller, name, request).await;
                reduce(made, |company| FeatureOutcome::Company(company.id))
            }
            FeatureAction::MakeOffer { company, title, tag } => {
                let (company_id, title) = (company.clone(), title.clone());
                let new = NewOffer { company_id, title, tags: vec![tag.clone()] };
                let made = offers.create(caller, new, request).await;
                reduce(made, |offer| FeatureOutcome::Offer(offer.id))
            }
            FeatureAction::CloseOffer(offer) => {
                reduce(offers.close(caller, offer, request).await, |_| FeatureOutcome::Nothing)
            }
            FeatureAction::Announce { is_sound } => {
                let mut picture = Self::picture();
                let bytes = picture.len() as u64;
                let input = NewUpload { content_type: "image/png".into(), bytes, purpose: None };
                let ticket = media.create_upload(caller, &input, request).await;
                if !is_sound {
                    // The declared length, but not a picture.
                    picture.fill(0);
                }
                let sent =
                    ticket.inspect(|ticket| self.media_store().put_incoming(&ticket.key, &picture));
                reduce(sent, |ticket| FeatureOutcome::Ticket(ticket.key))
            }
            FeatureAction::Complete(key) => {
                reduce(media.complete_upload(caller, key, request).await, FeatureOutcome::File)
            }
            FeatureAction::PostPicture(file, text) => {
                let media = vec![Self::as_new_media(file)];
                let content_type = ContentType::Image;
                let post = NewPost { media, content_type, ..NewPost::text(text) };
                let made = self.posts().create(caller, &post, request).await;
                reduce(made, |post| FeatureOutcome::Post(post.id))
            }
            other => panic!("{other:?} is not about trade"),
        }
    }
}
