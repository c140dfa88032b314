//! Updates: every action, on paths of every depth, on existing and missing items.

use roundtable_table::{
    Delete, Invalid, Item, Path, Put, Returning, Term, Update, Value, exists, item,
};

use super::steps::{
    bytes, condition_failed, get, key, long, number, put, refused, refused_by_item, subject, update,
};
use crate::TestBench;

/// Updates the item `before`; returns the new item.
async fn after(bench: &TestBench, before: Item, change: Update) -> Item {
    let table = bench.table().await;
    put(&table, before).await;
    let returned = update(&table, change.returning(Returning::New)).await.item.unwrap();
    assert_eq!(get(&table, key()).await, Some(returned.clone()), "what it returned is there");
    returned
}

/// Expects an update of the item `before` to fail without a change.
async fn refuses(bench: &TestBench, before: Item, change: Update) -> Invalid {
    let table = bench.table().await;
    put(&table, before).await;
    refused_by_item(&table, table.update(change)).await
}

fn change() -> Update {
    Update::new(key())
}

fn numbers(numbers: &[i32]) -> Value {
    Value::list(numbers.iter().copied())
}

pub(super) async fn an_update_keeps_what_it_does_not_name(bench: &TestBench) {
    let before = subject().with("a", 1).with("b", 2);
    let found = after(bench, before, change().set("b", 3)).await;
    assert_eq!(found, subject().with("a", 1).with("b", 3));
}

pub(super) async fn an_update_makes_the_item_if_need_be(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, change().set("a", 1)).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("a", 1)));
}

pub(super) async fn an_update_without_actions_makes_the_bare_item(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, change()).await;
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn a_removal_alone_makes_the_bare_item(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, change().remove("a")).await;
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn an_update_returns_the_old_image(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let set = change().set("n", 2).returning(Returning::Old);
    assert_eq!(update(&table, set).await.item, Some(subject().with("n", 1)));
}

pub(super) async fn an_update_that_makes_an_item_has_no_old_image(bench: &TestBench) {
    let table = bench.table().await;
    let set = change().set("n", 1).returning(Returning::Old);
    assert_eq!(update(&table, set).await.item, None);
}

pub(super) async fn an_update_returns_the_new_image(bench: &TestBench) {
    let table = bench.table().await;
    let set = change().set("n", 1).returning(Returning::New);
    assert_eq!(update(&table, set).await.item, Some(subject().with("n", 1)));
}

pub(super) async fn a_failed_update_shows_the_item_when_asked(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("n", 1)).await;
    let attempt = change().set("n", 2).when(exists("never")).returning(Returning::Old);
    assert_eq!(condition_failed(table.update(attempt).await), Some(subject().with("n", 1)));
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 1)));
}

pub(super) async fn set_takes_values_of_every_type(bench: &TestBench) {
    let values: [(&str, Value); 8] = [
        ("S", "".into()),
        ("N", number("1.5").into()),
        ("B", bytes(&[0])),
        ("BOOL", false.into()),
        ("NULL", Value::Null),
        ("L", numbers(&[])),
        ("M", Value::map([("x", Value::list(["y"]))])),
        ("SS", Value::texts(["a"])),
    ];
    let set =
        values.iter().fold(change(), |update, (name, value)| update.set(*name, value.clone()));
    let found = after(bench, subject(), set).await;
    for (name, value) in values {
        assert_eq!(found.get(name).unwrap().to_value(), value);
    }
}

pub(super) async fn set_replaces_a_value_of_another_type(bench: &TestBench) {
    let found = after(bench, subject().with("a", 1), change().set("a", "one")).await;
    assert_eq!(found, subject().with("a", "one"));
}

pub(super) async fn set_copies_another_attribute(bench: &TestBench) {
    let found = after(bench, subject().with("a", 1), change().set("b", Path::new("a"))).await;
    assert_eq!(found, subject().with("a", 1).with("b", 1));
}

pub(super) async fn set_from_a_missing_attribute_is_refused(bench: &TestBench) {
    refuses(bench, subject(), change().set("b", Path::new("a"))).await;
    let table = bench.table().await;
    refused_by_item(&table, table.update(change().set("b", Path::new("a")))).await;
}

pub(super) async fn terms_see_the_item_as_it_was(bench: &TestBench) {
    let swap = change().set("a", Path::new("b")).set("b", Path::new("a"));
    let found = after(bench, subject().with("a", 1).with("b", 2), swap).await;
    assert_eq!(found, subject().with("a", 2).with("b", 1));
}

pub(super) async fn a_removed_attribute_can_still_be_copied(bench: &TestBench) {
    let rename = change().set("b", Path::new("a")).remove("a");
    let found = after(bench, subject().with("a", 1), rename).await;
    assert_eq!(found, subject().with("b", 1));
}

pub(super) async fn set_reaches_into_a_map(bench: &TestBench) {
    let before = subject().with("m", Value::map([("x", 1), ("y", 2)]));
    let set = change().set(Path::new("m").field("x"), 9).set(Path::new("m").field("z"), 3);
    let found = after(bench, before, set).await;
    assert_eq!(found, subject().with("m", Value::map([("x", 9), ("y", 2), ("z", 3)])));
}

pub(super) async fn set_reaches_into_a_list(bench: &TestBench) {
    let before = subject().with("l", numbers(&[1, 2, 3]));
    let found = after(bench, before, change().set(Path::new("l").index(1), 9)).await;
    assert_eq!(found, subject().with("l", numbers(&[1, 9, 3])));
}

pub(super) async fn set_reaches_deep(bench: &TestBench) {
    let deep = |n: i32| Value::L(vec![Value::map([("x", numbers(&[0, n]))])]);
    let path = Path::new("l").index(0).field("x").index(1);
    let found = after(bench, subject().with("l", deep(1)), change().set(path, 2)).await;
    assert_eq!(found, subject().with("l", deep(2)));
}

pub(super) async fn set_past_the_end_of_a_list_appends(bench: &TestBench) {
    let before = subject().with("l", numbers(&[1]));
    let found = after(bench, before, change().set(Path::new("l").index(7), 2)).await;
    assert_eq!(found, subject().with("l", numbers(&[1, 2])));
}

pub(super) async fn several_sets_past_the_end_append_by_rising_index(bench: &TestBench) {
    let l = |index| Path::new("l").index(index);
    let set = change().set(l(9), 9).set(l(5), 5).set(l(0), 0);
    let found = after(bench, subject().with("l", numbers(&[1])), set).await;
    assert_eq!(found, subject().with("l", numbers(&[0, 5, 9])));
}

pub(super) async fn set_under_a_missing_map_is_refused(bench: &TestBench) {
    let into = || change().set(Path::new("m").field("x"), 1);
    refuses(bench, subject(), into()).await;
    let table = bench.table().await;
    refused_by_item(&table, table.update(into())).await;
}

pub(super) async fn set_through_the_wrong_type_is_refused(bench: &TestBench) {
    let field = || change().set(Path::new("a").field("x"), 1);
    refuses(bench, subject().with("a", numbers(&[1])), field()).await;
    refuses(bench, subject().with("a", "text"), field()).await;
    let element = change().set(Path::new("a").index(0), 1);
    refuses(bench, subject().with("a", Value::map([("x", 1)])), element).await;
}

pub(super) async fn if_not_exists_gives_a_start(bench: &TestBench) {
    let table = bench.table().await;
    let count = || change().set("n", Term::if_not_exists("n", 10).plus(1));
    update(&table, count()).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 11)));
    update(&table, count()).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 12)));
}

pub(super) async fn if_not_exists_keeps_what_is_there(bench: &TestBench) {
    let set = change().set("a", Term::if_not_exists("a", 9)).set("b", Term::if_not_exists("b", 9));
    let found = after(bench, subject().with("a", 1), set).await;
    assert_eq!(found, subject().with("a", 1).with("b", 9));
}

pub(super) async fn if_not_exists_looks_at_paths(bench: &TestBench) {
    let x = || Path::new("m").field("x");
    let before = subject().with("m", Value::map([("y", 1)]));
    let found = after(bench, before, change().set(x(), Term::if_not_exists(x(), 5))).await;
    assert_eq!(found, subject().with("m", Value::map([("x", 5), ("y", 1)])));
}

pub(super) async fn plus_and_minus_calculate(bench: &TestBench) {
    let before = subject().with("a", 10).with("b", number("2.5"));
    let set = change()
        .set("sum", Term::Path("a".into()).plus(Path::new("b")))
        .set("difference", Term::Path("a".into()).minus(Path::new("b")))
        .set("a", Term::Path("a".into()).minus(11));
    let found = after(bench, before, set).await;
    assert_eq!(found.number("sum"), Some(number("12.5")));
    assert_eq!(found.number("difference"), Some(number("7.5")));
    assert_eq!(found.number("a"), Some(number("-1")));
}

pub(super) async fn arithmetic_with_anything_but_numbers_is_refused(bench: &TestBench) {
    let plus = || change().set("a", Term::Path("a".into()).plus(1));
    refuses(bench, subject().with("a", "1"), plus()).await;
    refuses(bench, subject().with("a", Value::Null), plus()).await;
    refuses(bench, subject(), plus()).await;
}

pub(super) async fn list_append_joins_in_order(bench: &TestBench) {
    let before = subject().with("l", numbers(&[2]));
    let set = change()
        .set("l", Term::Path("l".into()).append(numbers(&[3, 4])))
        .set("front", Term::from(numbers(&[1])).append(Path::new("l")));
    let found = after(bench, before, set).await;
    assert_eq!(found, subject().with("l", numbers(&[2, 3, 4])).with("front", numbers(&[1, 2])));
}

pub(super) async fn list_append_starts_a_list(bench: &TestBench) {
    let table = bench.table().await;
    let start = || Term::if_not_exists("l", numbers(&[])).append(numbers(&[1]));
    update(&table, change().set("l", start())).await;
    update(&table, change().set("l", start())).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("l", numbers(&[1, 1]))));
}

pub(super) async fn list_append_to_anything_but_a_list_is_refused(bench: &TestBench) {
    let append = || change().set("l", Term::Path("l".into()).append(numbers(&[1])));
    refuses(bench, subject().with("l", 1), append()).await;
    refuses(bench, subject().with("l", Value::texts(["a"])), append()).await;
    refuses(bench, subject(), append()).await;
}

pub(super) async fn remove_takes_an_attribute_away(bench: &TestBench) {
    let before = subject().with("a", 1).with("b", 2).with("c", 3);
    let found = after(bench, before, change().remove("a").remove("c")).await;
    assert_eq!(found, subject().with("b", 2));
}

pub(super) async fn remove_of_what_is_missing_does_nothing(bench: &TestBench) {
    let before = subject().with("m", Value::map([("x", 1)])).with("l", numbers(&[1]));
    let remove =
        change().remove("a").remove(Path::new("m").field("y")).remove(Path::new("l").index(4));
    let found = after(bench, before.clone(), remove).await;
    assert_eq!(found, before);
}

pub(super) async fn remove_reaches_into_a_map(bench: &TestBench) {
    let before = subject().with("m", Value::map([("x", 1), ("y", 2)]));
    let found = after(bench, before, change().remove(Path::new("m").field("x"))).await;
    assert_eq!(found, subject().with("m", Value::map([("y", 2)])));
}

pub(super) async fn remove_of_list_elements_closes_the_gaps(bench: &TestBench) {
    let before = subject().with("l", numbers(&[0, 1, 2, 3, 4]));
    let l = |index| Path::new("l").index(index);
    let found = after(bench, before, change().remove(l(1)).remove(l(3))).await;
    assert_eq!(found, subject().with("l", numbers(&[0, 2, 4])));
}

pub(super) async fn remove_means_positions_before_the_update(bench: &TestBench) {
    let before = subject().with("l", numbers(&[0, 1, 2]));
    let l = |index| Path::new("l").index(index);
    let found = after(bench, before, change().set(l(2), 9).remove(l(0)).set(l(7), 7)).await;
    assert_eq!(found, subject().with("l", numbers(&[1, 9, 7])));
}

pub(super) async fn remove_under_a_missing_path_is_refused(bench: &TestBench) {
    let remove = || change().remove(Path::new("m").field("x"));
    refuses(bench, subject(), remove()).await;
    refuses(bench, subject().with("m", 1), remove()).await;
    let deeper = change().remove(Path::new("m").field("x").field("y"));
    refuses(bench, subject().with("m", Value::map([("z", 1)])), deeper).await;
    let table = bench.table().await;
    refused_by_item(&table, table.update(remove())).await;
}

pub(super) async fn add_counts(bench: &TestBench) {
    let found = after(bench, subject().with("n", 5), change().add("n", -7)).await;
    assert_eq!(found, subject().with("n", -2));
}

pub(super) async fn add_starts_at_zero(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, change().add("n", 3).add("zero", 0)).await;
    assert_eq!(get(&table, key()).await, Some(subject().with("n", 3).with("zero", 0)));
}

pub(super) async fn add_joins_sets(bench: &TestBench) {
    let before = subject().with("ss", Value::texts(["a"])).with("ns", Value::numbers([1]));
    let add = change()
        .add("ss", Value::texts(["a", "b"]))
        .add("ns", Value::numbers([number("1.0"), number("2")]))
        .add("bs", Value::Bs([vec![7u8].into()].into()));
    let found = after(bench, before, add).await;
    let expected = subject()
        .with("ss", Value::texts(["a", "b"]))
        .with("ns", Value::numbers([1, 2]))
        .with("bs", Value::Bs([vec![7u8].into()].into()));
    assert_eq!(found, expected);
}

pub(super) async fn add_to_another_type_is_refused(bench: &TestBench) {
    refuses(bench, subject().with("a", "1"), change().add("a", 1)).await;
    refuses(bench, subject().with("a", 1), change().add("a", Value::texts(["b"]))).await;
    let texts = subject().with("a", Value::texts(["b"]));
    refuses(bench, texts, change().add("a", Value::numbers([1]))).await;
}

pub(super) async fn add_of_anything_but_numbers_and_sets_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    let wrong = |found: &str| Invalid::OperandType {
        action: "ADD",
        path: "a".into(),
        expected: "a number or a set",
        found: found.into(),
        key: key().to_string(),
    };
    refused(&table, table.update(change().add("a", "text")), wrong("S")).await;
    refused(&table, table.update(change().add("a", numbers(&[1]))), wrong("L")).await;
}

pub(super) async fn subtract_takes_members_out_of_a_set(bench: &TestBench) {
    let before = subject()
        .with("ss", Value::texts(["a", "b", "c"]))
        .with("ns", Value::numbers([1, 2]))
        .with("bs", Value::Bs([vec![7u8].into(), vec![8u8].into()].into()));
    let subtract = change()
        .subtract("ss", Value::texts(["b", "z"]))
        .subtract("ns", Value::numbers([number("2.0")]))
        .subtract("bs", Value::Bs([vec![7u8].into()].into()));
    let found = after(bench, before, subtract).await;
    let expected = subject()
        .with("ss", Value::texts(["a", "c"]))
        .with("ns", Value::numbers([1]))
        .with("bs", Value::Bs([vec![8u8].into()].into()));
    assert_eq!(found, expected);
}

pub(super) async fn the_last_member_takes_its_set_with_it(bench: &TestBench) {
    let before = subject().with("ss", Value::texts(["a", "b"]));
    let found = after(bench, before, change().subtract("ss", Value::texts(["a", "b"]))).await;
    assert_eq!(found, subject());
}

pub(super) async fn subtract_from_nothing_does_nothing(bench: &TestBench) {
    let table = bench.table().await;
    update(&table, change().subtract("ss", Value::texts(["a"]))).await;
    assert_eq!(get(&table, key()).await, Some(subject()));
}

pub(super) async fn subtract_from_another_type_is_refused(bench: &TestBench) {
    let subtract = || change().subtract("a", Value::texts(["b"]));
    refuses(bench, subject().with("a", "b"), subtract()).await;
    refuses(bench, subject().with("a", Value::numbers([1])), subtract()).await;
}

pub(super) async fn all_kinds_of_actions_go_together(bench: &TestBench) {
    let before = subject()
        .with("set", 1)
        .with("remove", 1)
        .with("add", 1)
        .with("subtract", Value::texts(["a", "b"]));
    let all = change()
        .subtract("subtract", Value::texts(["a"]))
        .add("add", 1)
        .remove("remove")
        .set("set", 2);
    let expected = subject().with("set", 2).with("add", 2).with("subtract", Value::texts(["b"]));
    assert_eq!(after(bench, before, all).await, expected);
}

pub(super) async fn overlapping_paths_are_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("m", Value::map([("x", 1)]))).await;
    let m = || Path::new("m");
    let pairs = [
        (m(), m()),
        (m(), m().field("x")),
        (m().field("x"), m()),
        (m().field("x").index(0), m().field("x")),
        (m().field("x"), m().index(0)),
    ];
    for (first, second) in pairs {
        let twice = change().set(first.clone(), 1).remove(second.clone());
        refused(&table, table.update(twice), Invalid::PathOverlap { first, second }).await;
    }
}

pub(super) async fn neighbouring_paths_do_not_overlap(bench: &TestBench) {
    let before = subject().with("m", Value::map([("x", 1), ("xy", 2)])).with("mm", 3);
    let set =
        change().set(Path::new("m").field("x"), 7).set(Path::new("m").field("xy"), 8).set("mm", 9);
    let found = after(bench, before, set).await;
    assert_eq!(found, subject().with("m", Value::map([("x", 7), ("xy", 8)])).with("mm", 9));
}

pub(super) async fn key_attributes_cannot_be_updated(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject()).await;
    for name in ["PK", "SK"] {
        let expected = || Invalid::UpdatesKey { attribute: name.into(), key: key().to_string() };
        refused(&table, table.update(change().set(name, "x")), expected()).await;
        refused(&table, table.update(change().remove(name)), expected()).await;
    }
}

pub(super) async fn add_works_on_top_level_attributes_only(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("m", Value::map([("n", 1)]))).await;
    let path = || Path::new("m").field("n");
    let expected = |action| Invalid::TopLevelOnly { action, path: path() };
    refused(&table, table.update(change().add(path(), 1)), expected("ADD")).await;
    let members = Value::texts(["a"]);
    refused(&table, table.update(change().subtract(path(), members)), expected("DELETE")).await;
}

pub(super) async fn an_update_that_would_break_the_size_limit_is_refused(bench: &TestBench) {
    let table = bench.table().await;
    put(&table, subject().with("a", long(300 * 1024))).await;
    refused_by_item(&table, table.update(change().set("b", long(200 * 1024)))).await;
}

pub(super) async fn a_failing_action_undoes_the_others(bench: &TestBench) {
    let mixed = change().set("a", 2).add("n", 1).remove("b");
    refuses(bench, subject().with("a", 1).with("b", 1).with("n", "text"), mixed).await;
}

pub(super) async fn an_update_after_a_delete_starts_afresh(bench: &TestBench) {
    let table = bench.table().await;
    table.put(Put::new(subject().with("a", 1).with("n", 5))).await.unwrap();
    table.delete(Delete::new(key())).await.unwrap();
    update(&table, change().add("n", 1)).await;
    assert_eq!(get(&table, key()).await, Some(item! { "PK" => "p", "SK" => "s", "n" => 1 }));
}
