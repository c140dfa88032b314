use std::fmt::Debug;

use super::*;
use crate::entities::{Activity, Post};
use crate::{ActorId, Expiry, Score, Time};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[test]
fn every_sample_survives_being_stored() {
    fn survives<E: Entity + PartialEq + Debug>(sample: &E) {
        assert_eq!(&E::from_item(&sample.item()).unwrap(), sample);
    }
    with_entities!(each survives);
}

#[test]
fn every_entity_has_a_sample_in_the_order_of_the_schema() {
    let sampled: Vec<&str> = typical().iter().map(|(shape, _)| shape.name).collect();
    let tables = crate::SCHEMA.iter();
    let wanted: Vec<&str> = tables.flat_map(|table| table.entities).map(|it| it.name).collect();
    assert_eq!(sampled, wanted);
}

#[test]
fn ids_contain_the_creation_time() {
    assert_eq!(user().id.time(), Some(user().created_at));
    assert_eq!(group().id.time(), Some(group().created_at));
    assert_eq!(room().id.time(), Some(room().created_at));
    assert_eq!(goal().id.time(), Some(goal().created_at));
    assert_eq!(task().id.time(), Some(task().created_at));
    assert_eq!(milestone().id.time(), Some(milestone().created_at));
    assert_eq!(quest().id.time(), Some(quest().created_at));
    assert_eq!(activity().activity_id.time(), Some(activity().created_at));
    assert_eq!(message().id.time(), Some(message().created_at));
    assert_eq!(assist_thread().thread_id.time(), Some(assist_thread().created_at));
    assert_eq!(assist_msg().id.time(), Some(assist_msg().created_at));
    assert_eq!(post().id.time(), Some(post().created_at));
    assert_eq!(comment().id.time(), Some(comment().created_at));
    assert_eq!(share().activity_id.time(), Some(share().created_at));
    assert_eq!(notification().id.time(), Some(notification().created_at));
    assert_eq!(company().id.time(), Some(company().created_at));
    assert_eq!(offer().id.time(), Some(offer().created_at));
    assert_eq!(session().id.time(), Some(session().created_at));
    assert_eq!(api_key().id.time(), Some(api_key().created_at));
    assert_eq!(audit().id.time(), Some(audit().created_at));
    assert_eq!(job().id.time(), Some(job().created_at));
    assert_eq!(dead_letter().id.time(), Some(dead_letter().created_at));
    assert_eq!(webhook().id.time(), Some(webhook().created_at));
    assert_eq!(sealed_key().id.time(), Some(sealed_key().created_at));
}

#[test]
fn the_samples_are_consistent() {
    let (user, post, activity) = (user(), post(), activity());
    assert_eq!(Some(email_lock().email), user.email);
    assert_eq!(nick_lock().nickname, user.nickname);
    assert_eq!(Some(handle_lock().handle), user.handle);
    assert_eq!((&post.author_id, &post.author_nickname), (&user.id, &user.nickname));

    let home = Activity::home(&activity.actor_id, &activity.group_id);
    assert_eq!(home, ActorId::from(&user.id));
    assert_eq!(activity.object_id, (&post.id).into());
    assert_eq!(post.published_at, Some(activity.created_at));
    assert_eq!(actor_head().actor_id, home);
    assert_eq!(actor_head().last_ts, activity.created_at);
    assert!(activity.fanout && actor_head().since < Some(activity.created_at));
    assert_eq!(promotion().watermark_since, actor_head().since);
    assert_eq!(feed_item().activity_id, activity.activity_id);
    assert!(feed_horizon().oldest < feed_item().created_at);

    assert_eq!(room_head().seq, message().seq);
    assert_eq!(room_head().last_ts, message().created_at);
    assert_eq!(Some(group().id), room().group_id);
    assert_eq!(report().subject_id, moderation_case().id);
    assert_eq!(Some(upload().key), post.media.first().map(|media| media.s3_key.clone()));

    let counter = post_counter();
    assert_eq!(counter.score, counter.likes + 3 * counter.comments + 5 * counter.shares);
    assert_eq!(post.score.map(Score::value), Some(counter.score));
    assert_eq!(xp_entry().reward_xp, quest().reward_xp);
}

#[test]
fn expiry_times_follow_from_creation_times() {
    let after = |days: u64, made: Time| Expiry::at(made.plus_ms(days * DAY_MS));
    assert_eq!(feed_item().ttl, after(45, feed_item().created_at));
    assert_eq!(notification().ttl, after(90, notification().created_at));
    assert_eq!(message().ttl, Some(after(90, message().created_at)));
    assert_eq!(session().ttl, after(30, session().created_at));
    assert_eq!(idempotency().ttl, after(1, idempotency().created_at));
}

#[test]
fn the_post_is_typical() {
    let post = post();
    let Post { visibility, moderation_status, is_deleted, group_id, author_is_private, .. } = &post;
    assert!(Post::publicly_listed(
        visibility,
        moderation_status,
        is_deleted,
        group_id,
        author_is_private
    ));
    assert!((250..=300).contains(&post.content.chars().count()), "{}", post.content.len());
    assert_eq!(post_summary().content, post.content);
}
