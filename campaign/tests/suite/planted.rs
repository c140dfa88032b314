//! The planted faults still fit what they are planted in.

use roundtable_campaign::{planted_faults, workspace};

#[test]
fn every_planted_fault_still_applies() {
    let faults = planted_faults(&workspace()).unwrap();
    assert!(faults.len() >= 20, "{} faults", faults.len());
    for fault in faults {
        fault.check(&workspace()).unwrap_or_else(|error| panic!("{error:#}"));
    }
}
