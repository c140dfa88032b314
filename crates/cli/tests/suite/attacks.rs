//! Attacks on a server over the network, at a small size. The campaign runs them at full size.

use std::path::Path;

use roundtable_campaign::{AttackSize, attack, attack_names};

/// With 1,024 descriptors and 1 GB of memory: the server survives all attacks, each ends as it must, and
/// the feed of a signed-in user, the operator's questions and the store at the end are as always.
#[test]
fn a_signed_in_client_is_served_during_every_attack() {
    let program = Path::new(env!("CARGO_BIN_EXE_roundtable"));
    let outcome = attack(program, &AttackSize::SMALL, 0, &mut |figures| println!("{figures}"));
    let figures = outcome.unwrap_or_else(|findings| panic!("{findings}"));
    assert_eq!(figures.len(), attack_names().count());
}
