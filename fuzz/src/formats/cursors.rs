//! Fuzzes cursors: packed, stored as text, and sealed for clients.

use roundtable_interface::CursorCipher;
use roundtable_model::{Cursor, Entity as _, PackingScope, UserId, samples};

use super::edits::edit;
use crate::choices::ByteChoices;
use crate::response_checks::hash;
use crate::runner::Coverage;

/// Reads an input as a cursor in three ways. Panics on a finding.
pub fn cursors(bytes: &[u8]) -> Coverage {
    let mut coverage = Coverage::default();
    let ana: UserId = "ana".parse().unwrap();
    let (own, other) =
        (PackingScope::new("posts of bo", Some(&ana)), PackingScope::new("posts of bo", None));
    for scope in [&own, &other] {
        if let Some(cursor) = Cursor::unpack(scope, bytes) {
            assert_eq!(cursor.pack(scope), bytes, "a cursor has two packed forms");
            coverage.insert(hash(&format!("packed {:?}", bytes.first())));
            let stored: Cursor = cursor.to_string().parse().unwrap();
            assert_eq!(stored, cursor, "a stored cursor is another one");
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(cursor) = text.parse::<Cursor>()
    {
        coverage.insert(hash(&format!("stored {}", cursor.note().is_some())));
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
    }
    let mut choices = ByteChoices(bytes);
    let cursor = Cursor::at("posts", samples::post().key()).with_note("note");
    // Packed forms that are almost right.
    let mut packed = cursor.pack(&own);
    edit(&mut packed, &mut choices);
    let is_read = Cursor::unpack(&own, &packed).is_some();
    coverage.insert(hash(&format!("edited {is_read} {}", packed.len())));
    let cipher = CursorCipher::new(&[7; 32]).unwrap();
    let sealed = cipher.seal(&own, &cursor).to_string();
    let mut forged = sealed.clone().into_bytes();
    edit(&mut forged, &mut choices);
    let forged = String::from_utf8_lossy(&forged).into_owned();
    let opened = cipher.open(&own, &forged).is_ok();
    assert_eq!(opened, forged == sealed, "a forged cursor was accepted: {forged}");
    assert!(cipher.open(&other, &sealed).is_err(), "a cursor of another viewer was accepted");
    coverage
}
