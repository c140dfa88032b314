//! A durable table in `./town-data`: writes a few items, ends as a crash would, and reopens it.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use roundtable_engine::{Engine, Options};
use roundtable_table::{
    BatchWrite, Error, KeyDefinition, Merge, Put, Query, Result, Returning, Store, TableDefinition,
    Transaction, Update, attribute, item, not_exists,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let engine = Engine::open("town-data", Options::default())?;
    let store = Store::new(engine.clone());
    let definition = TableDefinition::new("town", KeyDefinition::texts("PK", "SK"))
        .with_index("GSI1", KeyDefinition::texts("GSI1PK", "GSI1SK"))
        .with_ttl("ttl")
        .with_stream();
    let town = store.create_table(definition).await?;

    // A follow and its counter in one transaction; a second run is rejected.
    let edge = item! {
        "PK" => "USER#ana", "SK" => "FOLLOWING#bo", "GSI1PK" => "USER#bo", "GSI1SK" => "FOLLOWER#ana",
    };
    let follow = Transaction::new()
        .with(&town, Put::new(edge).when(not_exists("PK")))
        .with(&town, Update::new(("USER#bo", "COUNTER#FOLLOWERS")).add("count", 1));
    match store.transact(follow).await {
        Ok(_) => println!("ana follows bo"),
        Err(Error::Cancelled { .. }) => println!("ana already follows bo (this is a second run)"),
        Err(error) => return Err(error),
    }

    let posts = (0..20).map(|n| {
        let author = if n % 2 == 0 { "ACTIVITY#bo" } else { "ACTIVITY#cy" };
        BatchWrite::Put(
            item! { "PK" => author, "SK" => format!("TS#{n:03}"), "text" => format!("post {n}") },
        )
    });
    town.batch_write(posts.collect()).await?;
    let visit = Update::new(("TOWN", "VISITS")).add("count", 1).returning(Returning::New);
    let visits = town.update(visit.when(attribute("closed").ne(true))).await?;
    println!("visits: {:?}", visits.item);

    // Everything acknowledged is on disk: end without a clean shutdown, and reopen.
    drop((town, store));
    engine.abandon();
    let engine = Engine::open("town-data", Options::default())?;
    let town = Store::new(engine.clone()).table("town").await?;
    let followers =
        town.query(Query::new("USER#bo").index("GSI1").begins_with("FOLLOWER#")).await?;
    println!("after a crash, bo has {} follower(s)", followers.items.len());
    let newest = town.merge(Merge::newest(["ACTIVITY#bo", "ACTIVITY#cy"], 5)).await?;
    for post in &newest.items {
        println!("  {} {}", post.text("SK").unwrap_or("?"), post.text("text").unwrap_or("?"));
    }
    println!(
        "audit: {} finding(s); {} changes so far",
        engine.audit()?.len(),
        engine.metrics().sequence
    );
    drop(town);
    engine.close()
}
