//! Queries and scans, page by page.

use roundtable_table::{Order, Put, Query, Scan, SortRange, Table, Value, attribute, item};

use crate::server::{START, Server, all_pages, texts};

async fn filled(server: &Server) -> Table {
    let table = server.table().await;
    for n in 0..10 {
        let item = item! {
            "PK" => "p", "SK" => format!("a#{n}"), "n" => n, "kind" => "k", "name" => format!("n{n}"),
            "GSI1PK" => "g", "GSI1SK" => format!("{}", n / 3), "more" => Value::map([("x", n)]),
        };
        table.put(Put::new(item)).await.unwrap();
    }
    table.put(Put::new(item! { "PK" => "p", "SK" => "b#0" })).await.unwrap();
    table
}

#[tokio::test]
async fn queries_honour_range_and_order() {
    let server = Server::start().await;
    let table = filled(&server).await;
    let found = async |range: SortRange, order| {
        let mut query = Query::new("p").sort(range);
        query.order = order;
        texts(&table.query(query).await.unwrap().items, "SK").join(" ")
    };
    let (up, down) = (Order::Ascending, Order::Descending);
    assert_eq!(found(SortRange::Less("a#2".into()), up).await, "a#0 a#1");
    assert_eq!(found(SortRange::LessOrEqual("a#1".into()), down).await, "a#1 a#0");
    assert_eq!(found(SortRange::Greater("a#8".into()), up).await, "a#9 b#0");
    assert_eq!(found(SortRange::GreaterOrEqual("a#9".into()), down).await, "b#0 a#9");
    assert_eq!(found(SortRange::Between("a#3".into(), "a#4".into()), up).await, "a#3 a#4");
    assert_eq!(found(SortRange::Equal("a#3".into()), up).await, "a#3");
    assert_eq!(found(SortRange::BeginsWith("b".into()), up).await, "b#0");
}

#[tokio::test]
async fn pages_add_up_to_all_items() {
    let server = Server::start().await;
    let table = filled(&server).await;
    for index in [None, Some("gsi1"), Some("keys"), Some("some")] {
        for limit in [1, 3, 5, 10, 20] {
            let mut query = Query::new("p").begins_with("a#").limit(limit);
            if let Some(index) = index {
                let partition = if index == "gsi1" { "g" } else { "k" };
                query = Query::new(partition).index(index).limit(limit);
            }
            let (items, pages) = all_pages(&table, query).await;
            let mut keys = texts(&items, "SK");
            keys.sort_unstable();
            keys.dedup();
            assert_eq!((items.len(), keys.len()), (10, 10), "{index:?} by {limit}");
            assert!(pages <= 10 / limit + 1);
        }
    }
}

#[tokio::test]
async fn the_limit_applies_before_the_filter() {
    let server = Server::start().await;
    let table = filled(&server).await;
    let query = Query::new("p").limit(6).filter(attribute("n").ge(4)).project(["n"]);
    let page = table.query(query).await.unwrap();
    assert_eq!(page.items, [item! { "n" => 4 }, item! { "n" => 5 }]);
    assert_eq!(page.evaluated, 6);
    assert!(page.next.is_some());
}

#[tokio::test]
async fn pages_are_full_despite_expired_items() {
    let server = Server::start().await;
    let table = server.table().await;
    for n in 0..12u64 {
        // Two of three are expired.
        let ttl = if n % 3 == 0 { START + 100 } else { START };
        table
            .put(Put::new(item! { "PK" => "p", "SK" => format!("{n:02}"), "n" => n, "ttl" => ttl }))
            .await
            .unwrap();
    }
    let page = table.query(Query::new("p").limit(3)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["00", "03", "06"]);
    assert_eq!(page.evaluated, 3);
    let page = table.query(Query::new("p").limit(3).after(page.next)).await.unwrap();
    assert_eq!(texts(&page.items, "SK"), ["09"]);
    assert_eq!(page.next, None);
    let filtered = Query::new("p").limit(3).filter(attribute("n").ne(3));
    let page = table.query(filtered).await.unwrap();
    assert_eq!((texts(&page.items, "SK").join(" "), page.evaluated), ("00 06".into(), 3));
    let scanned = table.scan(Scan::new().limit(4)).await.unwrap();
    assert_eq!((scanned.items.len(), scanned.evaluated), (4, 4));
}

#[tokio::test]
async fn indexes_return_only_their_projected_attributes() {
    let server = Server::start().await;
    let table = server.table().await;
    let live = item! { "PK" => "p", "SK" => "1", "kind" => "k", "name" => "n", "x" => 1, "ttl" => START + 1 };
    table.put(Put::new(live.clone())).await.unwrap();
    let dead = item! { "PK" => "p", "SK" => "2", "kind" => "k", "ttl" => START };
    table.put(Put::new(dead)).await.unwrap();
    let carried = async |query: Query| table.query(query).await.unwrap().items;
    let keys = carried(Query::new("k").index("keys")).await;
    assert_eq!(keys, [item! { "PK" => "p", "SK" => "1", "kind" => "k" }]);
    let some = carried(Query::new("k").index("some")).await;
    assert_eq!(some, [item! { "PK" => "p", "SK" => "1", "kind" => "k", "name" => "n" }]);
    let part = carried(Query::new("k").index("some").project(["name"])).await;
    assert_eq!(part, [item! { "name" => "n" }]);
}

#[tokio::test]
async fn segments_of_a_scan_return_every_item_once() {
    let server = Server::start().await;
    let table = filled(&server).await;
    for n in 0..20 {
        table.put(Put::new(item! { "PK" => format!("q{n}"), "SK" => "x" })).await.unwrap();
    }
    let mut found = Vec::new();
    for segment in 0..3 {
        let mut next = None;
        loop {
            let page =
                table.scan(Scan::new().segment(segment, 3).limit(4).after(next)).await.unwrap();
            found.extend(
                page.items.iter().map(|i| i.text("PK").unwrap().to_owned() + i.text("SK").unwrap()),
            );
            next = page.next;
            if next.is_none() {
                break;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 31);
}
