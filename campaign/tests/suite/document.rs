//! The documentation of the campaign.

use roundtable_campaign::{CampaignTotals, Counts, TOTALS, check_document, members, workspace};

#[test]
fn the_committed_document_shows_the_committed_totals() {
    check_document(&workspace()).unwrap();
}

#[test]
fn the_totals_are_of_members_that_exist() {
    let totals = CampaignTotals::read(&workspace().join(TOTALS)).unwrap();
    for name in totals.members.keys() {
        assert!(members().named(name).is_some(), "there is no member {name}");
    }
}

#[test]
fn totals_add_up_over_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("totals.json");
    for run in 1..=3 {
        let mut totals = CampaignTotals::read(&path).unwrap();
        let known = totals.member("simulation");
        known.next_seed += 10;
        known.add(Counts::from([("power cuts".to_owned(), 7)]));
        assert_eq!(known.counts["power cuts"], run * 7);
        totals.write(&path).unwrap();
    }
    assert_eq!(CampaignTotals::read(&path).unwrap().members["simulation"].next_seed, 30);
}
