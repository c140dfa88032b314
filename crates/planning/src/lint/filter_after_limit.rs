//! Patterns that drop items they have read. The model reads on until the page is full, so pages are
//! never short, but dropped items are paid for.

use roundtable_model::shape::{PatternShape, PatternSort, TableShape};

use super::{LintFinding, LintRule};

pub(super) fn check(table: &TableShape) -> Vec<LintFinding> {
    table.patterns.iter().filter_map(|pattern| finding(table, pattern)).collect()
}

fn finding(table: &TableShape, pattern: &PatternShape) -> Option<LintFinding> {
    let filter = pattern.filter.as_ref()?;
    let read = match &pattern.sort {
        PatternSort::All => format!("`{}`", pattern.partition),
        PatternSort::Equal(sort) | PatternSort::Begins(sort) | PatternSort::Within(sort) => {
            format!("`{}`, `{sort}`", pattern.partition)
        }
    };
    Some(LintFinding {
        lint: LintRule::FilterAfterLimit,
        table: table.name,
        subject: pattern.name,
        index: pattern.index,
        message: format!(
            "it reads all of {read} and filters by `{}`: dropped items are read and paid for",
            filter.field
        ),
        remedy: format!(
            "give `{}` a key of its own, on an index or as items beside the {}",
            filter.field, pattern.entity
        ),
        accepted: None,
    })
}

#[cfg(test)]
mod tests {
    use roundtable_model::shape::Index;

    use super::*;
    use crate::test_schema::{PatternDraft, query, table};

    #[test]
    fn a_filter_is_a_finding_and_a_key_condition_is_not() {
        let all = || query("quests", "user: UserId", Index::Gsi1, "USER#{user}", "QUEST#", "Quest");
        let linked = PatternShape { name: "linked", ..all() }.having("goal_ids", "goal");
        let findings = check(table("t").pattern(all()).pattern(linked).shape());
        let [finding] = findings.try_into().unwrap();
        assert_eq!((finding.subject, finding.index), ("linked", Index::Gsi1));
        assert!(finding.message.contains("`USER#{user}`, `QUEST#`"), "{}", finding.message);
        assert!(finding.remedy.contains("`goal_ids`"), "{}", finding.remedy);
    }
}
