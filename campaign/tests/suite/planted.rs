//! The planted faults still fit what they are planted in.

use roundtable_campaign::{CampaignTotals, TOTALS, planted_faults, workspace};

#[test]
fn every_planted_fault_still_applies() {
    let faults = planted_faults(&workspace()).unwrap();
    assert!(faults.len() >= 20, "{} faults", faults.len());
    for fault in faults {
        fault.check(&workspace()).unwrap_or_else(|error| panic!("{error:#}"));
    }
}

#[test]
fn the_recorded_findings_are_of_faults_that_exist() {
    let faults = planted_faults(&workspace()).unwrap();
    for name in CampaignTotals::read(&workspace().join(TOTALS)).unwrap().planted.keys() {
        assert!(faults.iter().any(|fault| fault.name == *name), "there is no fault {name}");
    }
}
