//! The cost of mutations. In a transaction the table's units count twice, those of indexes once.

use roundtable_model::{Entity, samples};
use roundtable_planning::capacity::mutations;

use super::{close, sizes, write};

/// R41: creating a post.
#[test]
fn the_cost_of_a_post() {
    sizes!(tag_ref = 236, activity = 483, actor_head = 308, idempotency = 332, user = 1593);
    sizes!(feed_item = 436, notification = 330);
    let create = mutations().into_iter().find(|mutation| mutation.name == "createPost").unwrap();
    // Without reactions it has no score and is not among the popular posts.
    assert_eq!((create.own[0].entity, create.own[0].bytes()), ("Post", 1048));

    let line = write("createPost = { rate = 1, tags = 2, mentions = 1, feeds = 5 }");
    //                                                      table  indexes
    // Post          1,048 B: 2, and 2 in GSI1, 2 in GSI2       2        4
    // User          1,593 B: the author checked                2
    // UserCounter     154 B: posts                             1
    // TagRef          236 B: 2 tags, 1 each                    2
    // Activity        483 B                                    1
    // ActorHead       308 B                                    1
    // Idempotency     332 B                                    1
    // in a transaction                                    2 × 10 +      4 = 24
    close(line.own, 24.0);
    // FeedItem        436 B: 5 feeds, 1 each                    =  5
    // Notification    330 B: a mention, in a transaction 2 × 1  =  2
    // UserCounter     156 B: the count of unread ones    2 × 1  =  2
    close(line.derived, 9.0);
}

/// R41: a post that must be approved first costs in two parts.
#[test]
fn the_cost_of_a_post_that_waits_for_approval() {
    sizes!(moderation_case = 497, audit = 272);
    let create = mutations().into_iter().find(|mutation| mutation.name == "createPostModerated");
    assert_eq!(create.unwrap().own[0].bytes(), 930);
    //                                                                   table  indexes
    // Post              930 B: 1, and 1 in GSI1                             1        1
    // User            1,593 B: the author checked                           2
    // UserCounter       154 B: posts                                        1
    // TagRef            236 B: 2 tags, 1 each                               2
    // ModerationCase    427 B: 1, and 1 in GSI2                             1        1
    // Idempotency       332 B                                               1
    // in a transaction                                                  2 × 8 +      2 = 18
    close(write("createPostModerated = { rate = 1, tags = 2 }").own, 18.0);
    // ModerationCase    497 B: 1, and 1 + 1 where it moves in GSI2          1        2
    // Post            1,048 B: 2, and 2 in GSI1, 2 where it enters GSI2     2        4
    // User            1,593 B: the author checked                           2
    // Audit, activity, head, outcome: 1 each                                4
    // in a transaction                                                  2 × 9 +      6 = 24
    close(write("moderatePost = 1").own, 24.0);
}

/// R41: liking a post.
#[test]
fn the_cost_of_a_like() {
    sizes!(like = 394, post = 1144, idempotency = 332);
    sizes!(post_counter = 175, notification = 330);
    let line = write("likePost = { rate = 1, rescored = 0.1 }");
    //                                                      table  indexes
    // Like            394 B: 1, and 1 in GSI1                  1        1
    // Post          1,144 B: a check costs like a write        2
    // Block           not there: a check of either side        2
    // Idempotency     332 B                                    1
    // in a transaction                                     2 × 6 +      1 = 13
    close(line.own, 13.0);
    // PostCounter     175 B: 1                                          = 1
    // Post          1,144 B: a tenth of the time, by itself 2 in the table, 2 in GSI1, 2 in GSI2,
    //                        2 + 2 where it moves in GSI3, 10           = 1
    // Notification    330 B and the count of unread ones, 2 × (1 + 1)   = 4
    close(line.derived, 6.0);
}

/// R41: commenting on a post.
#[test]
fn the_cost_of_a_comment() {
    sizes!(comment = 590, post = 1144, comment_counter = 221, idempotency = 332);
    let line = write("addComment = { rate = 1, replies = 0.5, rescored = 0 }");
    //                                                        table  indexes
    // Comment         590 B: 1, and 1 in GSI1, 1 in GSI2         1        2
    // Post          1,144 B: checked                             2
    // Comment         590 B: its parent checked, half the time   0.5
    // Block           not there: a check of either side          2
    // Idempotency     332 B                                      1
    // in a transaction                                     2 × 6.5 +      2 = 15
    close(line.own, 15.0);
    // PostCounter 1, CommentCounter half the time 0.5, notification and unread count 2 × (1 + 1).
    close(line.derived, 5.5);
}

/// R41: a follow, and its end.
#[test]
fn the_cost_of_a_follow() {
    sizes!(follow = 698, user = 1593, user_counter = 162, idempotency = 332);
    let line = write("followUser = 1");
    //                                                      table  indexes
    // Follow          698 B: 1, and 1 in each of three         1        3
    // UserCounter     162 B: followers                         1
    // UserCounter     172 B: following, with its version       1
    // User          1,593 B: the other, checked                2
    // Block           not there: a check of either side        2
    // Idempotency     332 B                                    1
    // in a transaction                                     2 × 8 +      3 = 19
    close(line.own, 19.0);
    // Notification and the count of unread ones, 2 × (1 + 1).
    close(line.derived, 4.0);
    // Removal costs the same as creation, without the checks.
    let end = write("unfollowUser = 1");
    close(end.own, 11.0);
    close(end.derived, 0.0);
    // Without a requestId the outcome is not stored.
    close(write("followUser = { rate = 1, request_ids = 0 }").own, 2.0 * 7.0 + 3.0);
    // A request is in GSI1 only; accepted, it moves there and enters GSI2 and GSI3: 2 + 1 + 1.
    close(write("acceptFollower = 1").own, 2.0 * 4.0 + 4.0);
}

/// R41: a new name moves one index entry and leaves the others unchanged.
#[test]
fn the_cost_of_a_rename() {
    sizes!(user = 1593, nick_lock = 121, idempotency = 332);
    //                                                              table  indexes
    // User          1,593 B: 2, and 2 in GSI1, 2 + 2 where it moves
    //                        in GSI2, 2 in GSI3                        2        8
    // NickLock        121 B: the new one and the old one               2
    // Idempotency     332 B                                            1
    // in a transaction                                             2 × 5 +      8 = 18
    close(write("updateProfileRenamed = 1").own, 18.0);
    // Another bio: 2 in the table and in each index; outcome 1. There are no derived writes.
    let edit = write("updateProfile = 1");
    close(edit.own, 2.0 * (2.0 + 1.0) + 3.0 * 2.0);
    close(edit.derived, 0.0);
    // Becoming private costs the same, but 45 posts leave GSI2 and GSI3, and stay in GSI1: 2 each,
    // and 2 in the table; the author is checked.
    let private = write("updateProfilePrivate = { rate = 1, posts = 45 }");
    close(private.own, edit.own);
    close(private.derived, 45.0 * (2.0 * (2.0 + 2.0) + 3.0 * 2.0));
}

/// R41: signing in counts attempts, by account and by address, and opens a session.
#[test]
fn the_cost_of_a_sign_in() {
    sizes!(login_attempt = 168, session = 289, credential = 263, user = 1593);
    // LoginAttempt    168 B: both counted, one subtracted, one deleted 4
    // Session         289 B                                1
    // User          1,593 B: checked                       2
    // Credential      263 B: checked                       1
    // in a transaction                                 2 × 4
    close(write("login = 1").own, 4.0 + 2.0 * 4.0);
    close(write("loginFailed = 1").own, 2.0);
    // The session's next token, in a transaction.
    close(write("refreshToken = 1").own, 2.0);
    close(write("logout = { rate = 1, sessions = 3 }").own, 3.0);
    // One attempt, counted and reset; credential and session 2 × (1 + 1); another session ends.
    close(write("changePassword = 1").own, 2.0 + 2.0 * 2.0 + 1.0);
    // One attempt; User 2, and 2 in GSI1 and GSI2, 2 + 2 where it moves in GSI3; two locks.
    close(write("changeEmail = 1").own, 2.0 + 2.0 * (2.0 + 2.0) + 8.0);
}

/// R41: a check of a missing item is paid for like the smallest item.
#[test]
fn checks_of_missing_items_are_paid_for() {
    sizes!(follow = 698, block = 256, user = 1593, user_counter = 162, idempotency = 332);
    //                                                      table  indexes
    // Block           256 B: 1, and 1 in GSI1                  1        1
    // User          1,593 B: checked                           2
    // UserCounter     172 B: both circles                      2
    // Follow          698 B: one there, with a counter         2        3
    // Follow          nothing: the other must not be           1
    // Idempotency     332 B                                    1
    // in a transaction                                     2 × 9 +      4 = 22
    close(write("blockUser = 1").own, 22.0);
}

/// R41: each decision about a user is checked and audited.
#[test]
fn the_cost_of_a_role() {
    sizes!(user = 1593, audit = 272, idempotency = 332);
    // User 2, and 2 in each of three indexes; the staff member checked 2; audit 1; outcome 1.
    close(write("setUserRoles = 1").own, 2.0 * (2.0 + 2.0 + 1.0 + 1.0) + 3.0 * 2.0);
}

/// R41: a feed item is a single write, without transaction or index; a batch has 25.
#[test]
fn the_cost_of_a_feed_item() {
    sizes!(feed_item = 436);
    let none = write("postActivity = { rate = 1, feeds = 0 }");
    let batch = write("postActivity = { rate = 1, feeds = 25 }");
    close(batch.own, none.own);
    close(none.derived, 0.0);
    close(batch.derived, 25.0);
}
