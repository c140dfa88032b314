//! Where the bytes of files are (R43): in a [directory](Directory) of this machine, or in a
//! [store that speaks S3's API](Bucket).
//!
//! Both give out signed addresses, and what is sent to one goes to a place of its own: what the services
//! look at and show are copies, which no address lets anybody write to. Who may have an address is the
//! services' business, and that of HTTP is the server's.

mod bucket;
mod directory;
mod leftovers;
mod misconfigured;
mod objects;
mod signature;

pub use bucket::Bucket;
pub use directory::{
    Denied, Directory, Fetched, Fetching, NotFetched, NotReceived, SAFE_HEADERS, Sending,
};
pub use misconfigured::Misconfigured;
