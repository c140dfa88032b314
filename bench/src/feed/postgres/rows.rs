//! Copies the town as rows into the tables.

use std::fmt::Write;
use std::pin::pin;

use anyhow::{Context, Result};
use futures::SinkExt;
use roundtable_model::{ModerationStatus, UserStatus, Visibility};
use tokio_postgres::Client;

use crate::feed::town::{Town, Verb};
use crate::progress::Progress;

const CHUNK_BYTES: usize = 1 << 18;

pub(super) async fn copy(client: &Client, town: &Town) -> Result<()> {
    let total = town.people.len() + town.edges.len() + town.posts.len() + town.activities.len();
    let progress = Progress::new("copying it into Postgres", total as u64);
    let users = town.people.iter().enumerate().map(|(number, person)| {
        let status = match person.status {
            UserStatus::Active => 0,
            UserStatus::Suspended => 1,
            UserStatus::Deleted => 2,
        };
        let (name, last_ts) = (Town::nickname(number), person.last_ms.unwrap_or(0));
        format!("{number}\t{name}\t{status}\t{}\t{last_ts}\n", person.is_private)
    });
    copy_rows(client, "users", users, &progress).await?;
    let posts = town.posts.iter().enumerate().map(|(number, post)| {
        let visibility = match post.visibility {
            Visibility::Public => 0,
            Visibility::Followers => 1,
            Visibility::Private => 2,
        };
        let moderation = u8::from(post.moderation == ModerationStatus::Approved);
        let (text, tag) = (Town::text(number), Town::tag(number).unwrap_or_default());
        let (author, deleted, at) = (post.author, post.is_deleted, post.at_ms);
        format!(
            "{number}\t{author}\t{text}\t{{{tag}}}\t{visibility}\t{moderation}\t{deleted}\t{at}\n"
        )
    });
    copy_rows(client, "posts", posts, &progress).await?;
    let activities = town.activities.iter().enumerate().map(|(number, activity)| {
        let verb = u8::from(activity.verb != Verb::Wrote);
        format!("{number}\t{}\t{}\t{}\t{verb}\n", activity.at_ms, activity.actor, activity.post)
    });
    copy_rows(client, "activities", activities, &progress).await?;
    let shares =
        town.activities.iter().enumerate().filter(|(_, activity)| activity.verb == Verb::Shared);
    let shares = shares
        .map(|(number, activity)| format!("{}\t{}\t{number}\n", activity.post, activity.actor));
    copy_rows(client, "shares", shares, &progress).await?;
    let begin = Town::begin_ms();
    let follows = town.edges.iter().map(|edge| {
        let (follower, followee) = (edge.follower, edge.followee);
        format!("{follower}\t{followee}\t{}\t{}\t{begin}\n", edge.is_active, edge.is_muted)
    });
    copy_rows(client, "follows", follows, &progress).await?;
    let blocks = town.blocks.iter().map(|(blocker, blocked)| format!("{blocker}\t{blocked}\n"));
    copy_rows(client, "blocks", blocks, &progress).await
}

pub(crate) async fn copy_rows(
    client: &Client,
    table: &str,
    rows: impl Iterator<Item = String>,
    progress: &Progress,
) -> Result<()> {
    let sink = client.copy_in(&format!("COPY {table} FROM STDIN")).await.context("copying")?;
    let (mut sink, mut chunk, mut count) = (pin!(sink), String::new(), 0);
    for row in rows {
        chunk.write_str(&row)?;
        count += 1;
        if chunk.len() >= CHUNK_BYTES {
            sink.send(bytes::Bytes::from(std::mem::take(&mut chunk))).await?;
            progress.add(std::mem::take(&mut count));
        }
    }
    sink.send(bytes::Bytes::from(chunk)).await?;
    sink.finish().await.with_context(|| format!("copying {table}"))?;
    progress.add(count);
    Ok(())
}
