//! Compares the store with the model.

use std::collections::BTreeSet;

use crate::Town;
use roundtable_model::{GroupId, PostId, Shards, UserId, UserStatus};

use super::town_model::TownModel;
use super::{check_notifications, check_progress, check_rooms, check_trade};

/// Asserts that the store is what the users decided.
pub(super) async fn assert_matches_model(model: &TownModel, town: &Town) {
    people(model, town).await;
    let ended = groups(model, town).await;
    let kept = posts(model, town, &ended).await;
    comments(model, town, &kept).await;
    marks(model, town, &kept).await;
    ties(model, town).await;
    check_progress::check_progress(model, town).await;
    check_rooms::check_rooms(model, town).await;
    check_trade::check_trade(model, town).await;
    check_notifications::check_notifications(model, town).await;
}

/// Only users who deleted their accounts are gone, and none of their data remains.
async fn people(model: &TownModel, town: &Town) {
    let core = town.context().core();
    for (user, nickname) in model.nicknames.iter().filter(|(user, _)| model.alive(user)) {
        let profile = core.profile(user).strong().get().await.unwrap().unwrap();
        assert_ne!(profile.status, UserStatus::Deleted, "{user}");
        assert_eq!(profile.nickname, *nickname, "{user}");
    }
    for (user, roles) in model.roles.iter().filter(|(user, _)| model.alive(user)) {
        let profile = core.profile(user).strong().get().await.unwrap().unwrap();
        assert_eq!(profile.roles, *roles, "{user}");
    }
    for user in &model.gone {
        assert!(
            core.profile(user).strong().get().await.unwrap().is_none(),
            "{user} is still there"
        );
        assert_eq!(remaining_items(town, user).await, 0, "{user} left something behind");
    }
}

/// Counts the remaining items of a user.
async fn remaining_items(town: &Town, user: &UserId) -> usize {
    let core = town.context().core();
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
        + check_progress::remaining_items(town, user).await
        + check_rooms::remaining_items(town, user).await
        + check_trade::remaining_items(town, user).await
}

/// Groups exist until they are deleted, and leave nothing behind; returns the deleted ones.
async fn groups<'a>(model: &'a TownModel, town: &Town) -> BTreeSet<&'a GroupId> {
    let core = town.context().core();
    let mut ended = BTreeSet::new();
    for (id, known) in &model.founded {
        let Some(stored) = core.group(id).get().await.unwrap() else {
            let had_to_end = known.is_deleted || known.is_loose || !model.alive(&known.founder);
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

/// Posts have their last text until they, their author or their group are deleted; returns the
/// existing ones.
async fn posts<'a>(
    model: &'a TownModel,
    town: &Town,
    ended: &BTreeSet<&GroupId>,
) -> BTreeSet<&'a PostId> {
    let mut kept = BTreeSet::new();
    for (id, said) in &model.posted {
        let stored = town.context().core().post(id).get().await.unwrap();
        let is_kept =
            model.alive(&said.author) && said.place.as_ref().is_none_or(|it| !ended.contains(it));
        let expected = said.text.as_ref().filter(|_| is_kept);
        assert_eq!(stored.as_ref().map(|post| &post.content), expected, "{id}: {said:?}");
        if expected.is_some() {
            kept.insert(id);
        }
    }
    kept
}

/// Comments likewise, while their post exists; a deleted one may remain without its text.
async fn comments(model: &TownModel, town: &Town, kept: &BTreeSet<&PostId>) {
    for (id, said) in &model.commented {
        let stored = town.context().core().comment_on(&said.place, id).get().await.unwrap();
        let stored = stored.filter(|comment| !comment.is_deleted);
        let is_kept = model.alive(&said.author) && kept.contains(&said.place);
        let expected = said.text.as_ref().filter(|_| is_kept);
        assert_eq!(stored.as_ref().map(|comment| &comment.content), expected, "{id}: {said:?}");
    }
}

/// Likes and shares of existing posts match.
async fn marks(model: &TownModel, town: &Town, kept: &BTreeSet<&PostId>) {
    let core = town.context().core();
    for ((user, post), liked) in &model.likes {
        let there = core.liked(std::slice::from_ref(post), user).get().await.unwrap();
        let expected = *liked && model.alive(user) && kept.contains(post);
        assert_eq!(there.iter().any(Option::is_some), expected, "{user} likes {post}: {liked}");
    }
    for ((user, post), shared) in &model.shares {
        let there = core.shared(std::slice::from_ref(post), user).get().await.unwrap();
        let expected = *shared && model.alive(user) && kept.contains(post);
        assert_eq!(there.iter().any(Option::is_some), expected, "{user} shared {post}: {shared}");
    }
}

/// Follows and blocks match.
async fn ties(model: &TownModel, town: &Town) {
    let core = town.context().core();
    for ((follower, followee), follows) in &model.follows {
        let Some(follows) = follows else { continue };
        let expected = *follows && model.alive(follower) && model.alive(followee);
        let there = core.follows(follower, followee).get().await.unwrap().is_some();
        assert_eq!(there, expected, "{follower} follows {followee}");
    }
    for ((blocker, blocked), blocks) in &model.blocks {
        let expected = *blocks && model.alive(blocker) && model.alive(blocked);
        let there = core.blocked(blocker, std::slice::from_ref(blocked)).get().await.unwrap();
        assert_eq!(there.iter().any(Option::is_some), expected, "{blocker} blocks {blocked}");
    }
}
