//! Companies, offers and files.

use roundtable_domain::{Caller, Code, NewOffer, NewPost, NewUpload};
use roundtable_model::{ContentType, RequestId};

use super::{Gained, Pursuit, gained};
use crate::Town;

impl Town {
    pub(super) async fn pursue_trade(
        &self,
        caller: &Caller,
        pursuit: &Pursuit,
        request: Option<&RequestId>,
    ) -> Result<Gained, Code> {
        let (offers, media) = (self.offers(), self.media());
        match pursuit {
            Pursuit::EnterCompany(name) => {
                let made = self.companies().create(caller, name, request).await;
                gained(made, |company| Gained::Company(company.id))
            }
            Pursuit::MakeOffer { company, title, tag } => {
                let (company_id, title) = (company.clone(), title.clone());
                let new = NewOffer { company_id, title, tags: vec![tag.clone()] };
                let made = offers.create(caller, new, request).await;
                gained(made, |offer| Gained::Offer(offer.id))
            }
            Pursuit::CloseOffer(offer) => {
                gained(offers.close(caller, offer, request).await, |_| Gained::Nothing)
            }
            Pursuit::Announce { is_sound } => {
                let mut picture = Self::picture();
                let bytes = picture.len() as u64;
                let input = NewUpload { content_type: "image/png".into(), bytes, purpose: None };
                let ticket = media.create_upload(caller, &input, request).await;
                if !is_sound {
                    // As long as was said, and no picture.
                    picture.fill(0);
                }
                let sent = ticket.inspect(|ticket| self.shelf().arrive(&ticket.key, &picture));
                gained(sent, |ticket| Gained::Ticket(ticket.key))
            }
            Pursuit::Complete(key) => {
                gained(media.complete_upload(caller, key, request).await, Gained::File)
            }
            Pursuit::PostPicture(file, text) => {
                let media = vec![Self::named(file)];
                let content_type = ContentType::Image;
                let post = NewPost { media, content_type, ..NewPost::text(text) };
                let made = self.posts().create(caller, &post, request).await;
                gained(made, |post| Gained::Post(post.id))
            }
            other => panic!("{other:?} is not about trade"),
        }
    }
}
