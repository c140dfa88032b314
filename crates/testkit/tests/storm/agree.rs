//! Whether what is there is what people remember.

use std::collections::HashSet;

use roundtable_model::{GroupId, PostId, Shards, UserId, UserStatus};
use roundtable_testkit::Town;

use crate::model::Memory;
use crate::{heard, reached, told, traded};

/// Compares a town with what its people remember.
pub(crate) async fn agrees_with(memory: &Memory, town: &Town) {
    people(memory, town).await;
    let ended = groups(memory, town).await;
    let kept = posts(memory, town, &ended).await;
    comments(memory, town, &kept).await;
    marks(memory, town, &kept).await;
    ties(memory, town).await;
    reached::reached(memory, town).await;
    heard::heard(memory, town).await;
    traded::traded(memory, town).await;
    told::told(memory, town).await;
}

/// Nobody has gone but those who wanted to, and those took everything along.
async fn people(memory: &Memory, town: &Town) {
    let core = town.ground().core();
    assert!(!memory.gone.is_empty(), "a storm in which nobody left");
    for (user, nickname) in memory.nicknames.iter().filter(|(user, _)| memory.alive(user)) {
        let profile = core.profile(user).strong().get().await.unwrap().unwrap();
        assert_ne!(profile.status, UserStatus::Deleted, "{user}");
        assert_eq!(profile.nickname, *nickname, "{user}");
    }
    for (user, roles) in memory.roles.iter().filter(|(user, _)| memory.alive(user)) {
        let profile = core.profile(user).strong().get().await.unwrap().unwrap();
        assert_eq!(profile.roles, *roles, "{user}");
    }
    for user in &memory.gone {
        assert!(
            core.profile(user).strong().get().await.unwrap().is_none(),
            "{user} is still there"
        );
        assert_eq!(left_of(town, user).await, 0, "{user} left something behind");
    }
}

/// How much there still is of somebody.
async fn left_of(town: &Town, user: &UserId) -> usize {
    let core = town.ground().core();
    core.following(user).all().await.unwrap().len()
        + core.followers(user, Shards::ONE).all().await.unwrap().len()
        + core.follow_requests(user).all().await.unwrap().len()
        + core.blocks(user).all().await.unwrap().len()
        + core.blockers(user).all().await.unwrap().len()
        + core.groups_of(user).all().await.unwrap().len()
        + core.posts_by(user).all().await.unwrap().len()
        + core.comments_by(user).all().await.unwrap().len()
        + core.likes_by(user).all().await.unwrap().len()
        + core.shares_by(user).all().await.unwrap().len()
        + town.rows(&format!("USER#{user}"), "").await.len()
        + town.rows(&format!("ACTIVITY#{user}"), "").await.len()
        + reached::left_of(town, user).await
        + heard::left_of(town, user).await
        + traded::left_of(town, user).await
}

/// Groups are there until somebody ends them, and leave nothing behind; those that are not there.
async fn groups<'a>(memory: &'a Memory, town: &Town) -> HashSet<&'a GroupId> {
    let core = town.ground().core();
    let mut ended = HashSet::new();
    for (id, known) in &memory.founded {
        let Some(stored) = core.group(id).get().await.unwrap() else {
            let had_to_end = known.is_deleted || known.is_loose || !memory.alive(&known.founder);
            assert!(had_to_end, "{id} is not there");
            let left = town.rows(&format!("GROUP#{id}"), "").await;
            assert!(left.is_empty(), "{id} left {left:?}");
            let told = town.rows(&format!("ACTIVITY#{id}"), "").await;
            assert!(told.is_empty(), "{id} left {told:?}");
            ended.insert(id);
            continue;
        };
        assert!(!known.is_deleted, "{id} was deleted");
        if let Some(name) = &known.name {
            assert_eq!(stored.name, *name, "{id}");
        }
    }
    ended
}

/// Posts say what their authors wrote last, until they, their author or their group are gone; those
/// that are there.
async fn posts<'a>(
    memory: &'a Memory,
    town: &Town,
    ended: &HashSet<&GroupId>,
) -> HashSet<&'a PostId> {
    let mut kept = HashSet::new();
    for (id, said) in &memory.posted {
        let stored = town.ground().core().post(id).get().await.unwrap();
        let is_kept =
            memory.alive(&said.author) && said.place.as_ref().is_none_or(|it| !ended.contains(it));
        let expected = said.text.as_ref().filter(|_| is_kept);
        assert_eq!(stored.as_ref().map(|post| &post.content), expected, "{id}: {said:?}");
        if expected.is_some() {
            kept.insert(id);
        }
    }
    kept
}

/// Comments as well, while the post is there; a deleted one may stand there without its words.
async fn comments(memory: &Memory, town: &Town, kept: &HashSet<&PostId>) {
    for (id, said) in &memory.commented {
        let stored = town.ground().core().comment_on(&said.place, id).get().await.unwrap();
        let stored = stored.filter(|comment| !comment.is_deleted);
        let is_kept = memory.alive(&said.author) && kept.contains(&said.place);
        let expected = said.text.as_ref().filter(|_| is_kept);
        assert_eq!(stored.as_ref().map(|comment| &comment.content), expected, "{id}: {said:?}");
    }
}

/// What people like and share, of what is there.
async fn marks(memory: &Memory, town: &Town, kept: &HashSet<&PostId>) {
    let core = town.ground().core();
    for ((user, post), liked) in &memory.likes {
        let there = core.liked(std::slice::from_ref(post), user).get().await.unwrap();
        let expected = *liked && memory.alive(user) && kept.contains(post);
        assert_eq!(there.iter().any(Option::is_some), expected, "{user} likes {post}: {liked}");
    }
    for ((user, post), shared) in &memory.shares {
        let there = core.shared(std::slice::from_ref(post), user).get().await.unwrap();
        let expected = *shared && memory.alive(user) && kept.contains(post);
        assert_eq!(there.iter().any(Option::is_some), expected, "{user} shared {post}: {shared}");
    }
}

/// Who follows and who blocks whom.
async fn ties(memory: &Memory, town: &Town) {
    let (core, mut compared) = (town.ground().core(), 0);
    for ((follower, followee), follows) in &memory.follows {
        let Some(follows) = follows else { continue };
        let expected = *follows && memory.alive(follower) && memory.alive(followee);
        let there = core.follows(follower, followee).get().await.unwrap().is_some();
        assert_eq!(there, expected, "{follower} follows {followee}");
        compared += 1;
    }
    for ((blocker, blocked), blocks) in &memory.blocks {
        let expected = *blocks && memory.alive(blocker) && memory.alive(blocked);
        let there = core.blocked(blocker, std::slice::from_ref(blocked)).get().await.unwrap();
        assert_eq!(there.iter().any(Option::is_some), expected, "{blocker} blocks {blocked}");
    }
    assert!(compared > 0 && !memory.likes.is_empty(), "a storm in which nothing happened");
}
