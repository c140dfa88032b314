//! Merges against a naive implementation: sort everything, skip, take.

use roundtable_table::{Item, Merge, Order, Path, Put, Scalar, SortRange, Table, item};

use crate::server::{START, Server};

/// A small generator, so that a failing case can be named by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

async fn filled(server: &Server, partitions: u64, items: u64, seed: u64) -> (Table, Vec<Item>) {
    let table = server.table().await;
    let mut dice = Dice(seed);
    let mut live = std::collections::BTreeMap::new();
    for n in 0..items {
        let (partition, sort) = (dice.roll(partitions), dice.roll(40));
        let dead = dice.roll(5) == 0;
        let mut item = item! {
            "PK" => format!("p{partition}"), "SK" => format!("a{sort:02}"), "n" => n,
            "GSI1PK" => format!("g{}", dice.roll(partitions)), "GSI1SK" => format!("t{}", dice.roll(6)),
        };
        if dead {
            item = item.with("ttl", START);
        }
        table.put(Put::new(item.clone())).await.unwrap();
        live.insert((partition, sort), (!dead).then_some(item));
    }
    (table, live.into_values().flatten().collect())
}

fn key(item: &Item, (partition, sort): (&str, &str)) -> (String, String, String, String) {
    let text = |name| item.text(name).unwrap().to_owned();
    (text(sort), text(partition), text("PK"), text("SK"))
}

async fn check(table: &Table, live: &[Item], merge: Merge, attributes: (&str, &str)) {
    let mut expected: Vec<&Item> = live
        .iter()
        .filter(|item| {
            let partition = Scalar::from(item.text(attributes.0).unwrap());
            let sort = Scalar::from(item.text(attributes.1).unwrap());
            merge.partitions.contains(&partition) && merge.sort.contains(&sort)
        })
        .collect();
    expected.sort_by_key(|item| key(item, attributes));
    if merge.order == Order::Descending {
        expected.reverse();
    }
    let (mut found, mut next) = (Vec::new(), None);
    for _ in 0..1000 {
        let page = table.merge(merge.clone().after(next)).await.unwrap();
        let full = page.items.len() == merge.limit;
        assert!(full || page.next.is_none(), "only the last page may be short");
        found.extend(page.items);
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    let shown =
        |items: &[&Item]| items.iter().map(|item| key(item, attributes)).collect::<Vec<_>>();
    assert_eq!(shown(&found.iter().collect::<Vec<_>>()), shown(&expected), "{merge:?}");
}

#[tokio::test]
async fn the_pages_of_a_merge_add_up_to_the_sorted_items() {
    let server = Server::start().await;
    let (table, live) = filled(&server, 7, 120, 1).await;
    let ranges = [
        SortRange::All,
        SortRange::BeginsWith("a1".into()),
        SortRange::Less("a20".into()),
        SortRange::Greater("a10".into()),
        SortRange::Between("a05".into(), "a30".into()),
    ];
    for range in ranges {
        for limit in [3, 50] {
            let partitions = ["p0", "p1", "p2", "p3", "p4", "p6", "nobody"];
            let newest = Merge::newest(partitions, limit).sort(range.clone());
            check(&table, &live, newest, ("PK", "SK")).await;
            let oldest = Merge::oldest(partitions, limit).sort(range.clone());
            check(&table, &live, oldest, ("PK", "SK")).await;
        }
    }
}

#[tokio::test]
async fn equal_index_keys_are_ordered_by_primary_key() {
    let server = Server::start().await;
    let (table, live) = filled(&server, 4, 80, 2).await;
    for limit in [1, 3, 7, 100] {
        let partitions = ["g0", "g1", "g3"];
        let newest = Merge::newest(partitions, limit).index("gsi1");
        check(&table, &live, newest, ("GSI1PK", "GSI1SK")).await;
        let oldest = Merge::oldest(partitions, limit).index("gsi1");
        check(&table, &live, oldest, ("GSI1PK", "GSI1SK")).await;
    }
}

#[tokio::test]
async fn a_small_page_over_many_partitions_is_correct() {
    let server = Server::start().await;
    let (table, live) = filled(&server, 60, 150, 3).await;
    let partitions: Vec<String> = (0..60).map(|n| format!("p{n}")).collect();
    check(&table, &live, Merge::newest(partitions.clone(), 10), ("PK", "SK")).await;
    let mut projected = Merge::newest(partitions, 1);
    projected.projection = vec![Path::new("n")];
    let page = table.merge(projected).await.unwrap();
    assert_eq!(page.items[0].iter().map(|(name, _)| name).collect::<Vec<_>>(), ["n"]);
    assert!(page.capacity.read_halves >= 10, "{:?}", page.capacity);
}

#[tokio::test]
async fn a_merge_without_items_is_empty() {
    let server = Server::start().await;
    let table = server.table().await;
    let page = table.merge(Merge::newest(Vec::<String>::new(), 5)).await.unwrap();
    assert!(page.items.is_empty() && page.next.is_none());
    let page = table.merge(Merge::newest(["nobody"], 5)).await.unwrap();
    assert!(page.items.is_empty() && page.next.is_none());
}
