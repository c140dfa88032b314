//! The effect of `#[boxed]` on an `impl`.
#![expect(unreachable_pub, reason = "what is public is what is boxed")]

use std::num::ParseIntError;

use futures::executor::block_on;
use roundtable_domain_macros::boxed;

struct Shelf {
    books: Vec<String>,
}

#[boxed]
impl Shelf {
    /// Returns early in both possible ways.
    pub async fn book(&self, place: &str) -> Result<Option<&str>, ParseIntError> {
        let room = [0_u8; 256];
        let place: usize = place.parse()?;
        std::future::ready(()).await;
        if place >= room.len() {
            return Ok(None);
        }
        Ok(self.books.get(place).map(String::as_str))
    }

    pub async fn put(&mut self, mut book: String) {
        book.push('.');
        self.books.push(book);
    }

    pub async fn longer<'a>(&self, one: &'a str, other: &'a str) -> &'a str {
        if self.books.is_empty() || one.len() >= other.len() { one } else { other }
    }

    pub async fn put_any(&mut self, book: impl Into<String>) {
        let room = [0_u8; 256];
        std::future::ready(()).await;
        self.books.push(book.into());
        self.books.truncate(room.len());
    }

    async fn count(&self) -> usize {
        let room = [0_u8; 256];
        std::future::ready(()).await;
        self.books.len().min(room.len())
    }
}

fn shelf() -> Shelf {
    Shelf { books: vec!["The Sea".into(), "The Moor".into()] }
}

#[test]
fn a_boxed_future_returns_the_same_result() {
    let mut shelf = shelf();
    assert_eq!(block_on(shelf.book("1")), Ok(Some("The Moor")));
    assert_eq!(block_on(shelf.book("1000")), Ok(None));
    assert!(block_on(shelf.book("first")).is_err());
    block_on(shelf.put("The Wind".into()));
    assert_eq!(block_on(shelf.book("2")), Ok(Some("The Wind.")));
    assert_eq!(block_on(shelf.count()), 3);
}

/// A returned reference may outlive the service.
#[test]
fn named_lifetimes_stay_what_they_are() {
    let (one, other) = (String::from("one"), String::from("other"));
    let longer = block_on(shelf().longer(&one, &other));
    assert_eq!(longer, "other");
}

#[test]
fn only_public_functions_without_type_parameters_are_boxed() {
    const BOX: usize = size_of::<Box<dyn Future<Output = ()>>>();
    let mut shelf = shelf();
    assert_eq!(size_of_val(&shelf.book("0")), BOX);
    assert!(size_of_val(&shelf.count()) > BOX);
    assert!(size_of_val(&shelf.put_any("The Fen")) > BOX);
    block_on(shelf.put_any("The Fen"));
    assert_eq!(block_on(shelf.count()), 3);
}

/// A service is called from tasks that move between threads.
#[test]
fn a_boxed_future_can_be_sent() {
    fn sent<T: Send>(_: &T) {}
    sent(&shelf().book("0"));
}
