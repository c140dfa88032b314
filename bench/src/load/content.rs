//! What an app shows besides home feeds: posts with comments, profiles, chat rooms, and posts to like.

use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use roundtable_domain::{
    Caller, Comments, Context, Groups, Messages, NewComment, NewGroup, NewMessage, NewPost, Posts,
};
use roundtable_model::{PostId, RoomId, UserId};

use super::PAGE;
use crate::feed::SeededTown;
use crate::progress::{Progress, log_step};

/// Posts with comments, and profiles.
const THREADS: usize = 50;
const PROFILES: usize = 200;
/// The newest posts on a profile, which all of these have.
pub(super) const PROFILE_POSTS: usize = 20;
/// Readers who share a room, and other users in it.
const ROOM_READERS: usize = 20;
const ROOM_OTHERS: usize = 10;
/// More than a page, in a thread and in a room.
const ENTRIES: usize = PAGE + 10;
const AT_ONCE: usize = 16;
/// Posts as long as they may be.
const LONG_POSTS: usize = 100;
const LONG_CHARS: usize = 10_000;

/// The ids of what requests are about.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) threads: Vec<String>,
    pub(super) profiles: Vec<String>,
    /// The room of each reader.
    pub(super) rooms: Vec<String>,
    /// Posts that all readers may like, and do not like yet.
    pub(super) likeable: Vec<String>,
    /// The user with the most followers.
    pub(super) star: String,
    /// The author of the longest posts.
    pub(super) novelist: String,
}

impl Content {
    /// Writes comments, messages and long posts through the services.
    pub(super) async fn add(context: &Context, town: &SeededTown) -> Result<Self> {
        log_step("comments, messages and long posts");
        let (readers, mut likeable) = (town.readers(), town.open_posts());
        let people = town.authors(&likeable, 1);
        let threads: Vec<PostId> = likeable.drain(..THREADS.min(likeable.len())).collect();
        let profiles: Vec<UserId> = town.authors(&likeable, PROFILE_POSTS);
        let novelist = people.last().context("there are no authors")?.clone();
        let people: Vec<Caller> = people.into_iter().map(Caller::user).collect();
        let progress = Progress::new("threads and rooms", 0);
        let comments = futures::stream::iter(threads.iter().enumerate()).map(Ok);
        comments
            .try_for_each_concurrent(AT_ONCE, |(number, post)| {
                add_thread(context, post, &people, number, &progress)
            })
            .await?;
        let rooms = futures::stream::iter(readers.chunks(ROOM_READERS).enumerate());
        let rooms: Vec<Vec<RoomId>> = rooms
            .map(|(number, readers)| add_room(context, readers, &people, number, &progress))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let posts = Posts::new(context.clone());
        let author = Caller::user(novelist.clone());
        for number in 0..LONG_POSTS {
            posts.create(&author, &NewPost::text(long_text(number)), None).await?;
        }
        Ok(Self {
            threads: texts(&threads),
            profiles: texts(profiles.iter().take(PROFILES)),
            rooms: texts(rooms.iter().flatten()),
            likeable: texts(&likeable),
            star: town.star().to_string(),
            novelist: novelist.to_string(),
        })
    }
}

fn texts<'a, T: ToString + 'a>(ids: impl IntoIterator<Item = &'a T>) -> Vec<String> {
    ids.into_iter().map(ToString::to_string).collect()
}

/// Comments on a post, some of which others like.
async fn add_thread(
    context: &Context,
    post: &PostId,
    people: &[Caller],
    number: usize,
    progress: &Progress,
) -> Result<()> {
    let comments = Comments::new(context.clone());
    let mut people = people.iter().cycle().skip(number * ENTRIES);
    for entry in 0..ENTRIES {
        let author = people.next().context("there are no authors")?;
        let comment = NewComment {
            post_id: post.clone(),
            content: format!("Comment {entry}: count me in, and I know two more who would come."),
            parent_comment_id: None,
        };
        let comment = comments.add(author, &comment, None).await?;
        for liker in people.clone().take(entry % 3) {
            comments.like(liker, &comment.id, None, None).await?;
        }
        progress.add(1);
    }
    Ok(())
}

/// A group of readers and others who have talked in its room; returns the room for each reader.
async fn add_room(
    context: &Context,
    readers: &[UserId],
    people: &[Caller],
    number: usize,
    progress: &Progress,
) -> Result<Vec<RoomId>> {
    let groups = Groups::new(context.clone());
    let others = people.iter().cycle().skip(number * ROOM_OTHERS).take(ROOM_OTHERS).cloned();
    let members: Vec<Caller> = readers.iter().cloned().map(Caller::user).chain(others).collect();
    let (owner, rest) = members.split_first().context("a room without readers")?;
    let group = groups.create(owner, NewGroup::named(format!("runners{number}")), None).await?;
    for member in rest {
        groups.join(member, &group.id, None).await?;
    }
    let messages = Messages::new(context.clone());
    for (entry, sender) in members.iter().cycle().take(ENTRIES).enumerate() {
        let text = format!("Message {entry}: see you on Saturday at the river, and bring bread.");
        messages.send(sender, &NewMessage::text(group.room_id.clone(), text), None).await?;
        progress.add(1);
    }
    Ok(vec![group.room_id; readers.len()])
}

/// Returns the longest text that a post may have.
fn long_text(number: usize) -> String {
    let text =
        format!("{number}: the story of the run, from the very beginning. ").repeat(LONG_CHARS);
    text.chars().take(LONG_CHARS).collect()
}
