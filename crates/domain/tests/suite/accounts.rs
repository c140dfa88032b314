//! Accounts, through the service and as rows (R5, R6, R21, R31, R32, R33, R42).

mod crashes;
mod deletion;
mod devices;
mod identities;
mod keys;
mod lockout;
mod nicknames;
mod passwords;
mod profiles;
mod rates;
mod reads;
mod registration;
mod renames;
mod sessions;
mod sign_in_names;
mod staff;

use roundtable_domain::{Code, Refusal};
use roundtable_model::entities::User;
use roundtable_model::table::{Item, Scan, Table};
use roundtable_model::{FromItem, RequestId, Secret, UserStatus};
use roundtable_testkit::Town;

fn request(text: &str) -> RequestId {
    text.parse().unwrap()
}

fn code<T: std::fmt::Debug, E: Refusal>(refused: Result<T, E>) -> Code {
    refused.unwrap_err().code()
}

/// All stored items as one text, to search for leaked secrets.
async fn everything(town: &Town) -> String {
    let context = town.context();
    let mut lines = Vec::new();
    for table in [context.core().table(), context.logins().table(), context.ops().table()] {
        lines.extend(items(table).await.iter().map(|item| format!("{item:?}")));
    }
    lines.join("\n")
}

/// All locks with their owners, in order: `NICK#ana ana`.
async fn locks(town: &Town) -> Vec<String> {
    let items = items(town.context().core().table()).await;
    let locks = items.iter().filter(|item| item.text("SK") == Some("UNIQUE#USER"));
    let text = |item: &Item, name: &str| item.text(name).unwrap().to_owned();
    let mut locks: Vec<String> =
        locks.map(|lock| format!("{} {}", text(lock, "PK"), text(lock, "userId"))).collect();
    locks.sort();
    locks
}

/// Asserts that exactly the names in profiles are locked.
async fn names_are_locked(town: &Town) {
    let items = items(town.context().core().table()).await;
    let profiles = items.iter().filter(|item| item.text("type") == Some("User"));
    let mut expected = Vec::new();
    for user in profiles.map(|item| User::from_item(item).unwrap()) {
        if user.status != UserStatus::Deleted {
            expected.push(format!("NICK#{} {}", user.nickname.fold(), user.id));
            expected.extend(user.email.map(|email| format!("EMAIL#{} {}", email.fold(), user.id)));
            let handle = user.handle.map(|handle| format!("HANDLE#{} {}", handle.fold(), user.id));
            expected.extend(handle);
        }
    }
    expected.sort();
    assert_eq!(locks(town).await, expected);
}

async fn items(table: &Table) -> Vec<Item> {
    let (mut items, mut scan) = (Vec::new(), Scan::default());
    loop {
        let page = table.scan(scan.clone()).await.unwrap();
        items.extend(page.items);
        match page.next {
            Some(next) => scan.start = Some(next),
            None => return items,
        }
    }
}

/// The parts of a token or key that must not be stored.
fn secrets(token: &Secret) -> Vec<&str> {
    token.expose().split('.').skip(3).collect()
}
