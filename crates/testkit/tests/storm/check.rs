//! The length of a storm, and the checks at its end.

use roundtable_testkit::Town;
use roundtable_testkit::storm::{SharedModel, assert_enough_happened, check_town};
use roundtable_verify::Verifier;

/// The number of actions per user: `ROUNDTABLE_STORM_STEPS`, or the default.
pub(crate) fn steps(unless_told: usize) -> usize {
    let told = std::env::var("ROUNDTABLE_STORM_STEPS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(unless_told)
}

/// Asserts that all users did `steps` steps, that no invariant is violated (I1 to I6), and that the
/// store matches the model. Counters may include what has expired, unless the store has been swept.
pub(crate) async fn check(town: &Town, shared_model: &SharedModel, steps: usize, is_swept: bool) {
    let model = shared_model.take();
    assert_enough_happened(&model, steps);
    let report = Verifier::on(town.context()).check().await.unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    let is_expected = |note: &String| !is_swept && note.contains("until the store deletes those");
    assert!(report.notes.iter().all(is_expected), "{:#?}", report.notes);
    check_town(town, &model).await;
}
