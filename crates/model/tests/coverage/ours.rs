//! The data as our entities. Fields that a document does not state are taken from the samples.

use std::fmt::Display;
use std::str::FromStr;

use roundtable_model::entities::*;
use roundtable_model::{
    CountScope, Entity, Expiry, FeedName, GroupRole, InvalidValue, ModerationStatus, QuestKind,
    Score, Shard, Time, TimelineEntry, UserCount, Visibility, samples,
};
use roundtable_table::Item;

/// Parses a value from its text.
pub(crate) fn id<T: FromStr<Err = InvalidValue>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Parses a time as the documents write it, without milliseconds.
pub(crate) fn at(text: &str) -> Time {
    Time::parse_lenient(text).unwrap()
}

/// Adds minutes to a time, as the documents write it.
pub(crate) fn later(start: &str, minutes: u64) -> String {
    let time = at(start).plus_ms(minutes * 60_000).to_string();
    time.replace(".000Z", "Z")
}

pub(crate) fn texts<T: Display>(values: impl IntoIterator<Item = T>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

pub(crate) fn items<E: Entity>(entities: impl IntoIterator<Item = E>) -> Vec<Item> {
    entities.into_iter().map(|entity| entity.item()).collect()
}

/// Returns the time, kind and id of an entry.
pub(crate) fn described(entry: &TimelineEntry) -> (Time, String) {
    match entry {
        TimelineEntry::User(user) => (user.created_at, format!("User {}", user.id)),
        TimelineEntry::Group(member) => {
            (member.joined_at, format!("GroupMember {}", member.group_id))
        }
        TimelineEntry::Goal(goal) => (goal.created_at, format!("Goal {}", goal.id)),
        TimelineEntry::Task(task) => (task.due_at.unwrap(), format!("Task {}", task.id)),
        TimelineEntry::Milestone(mark) => (mark.created_at, format!("Milestone {}", mark.id)),
        TimelineEntry::Quest(quest) => (quest.created_at, format!("Quest {}", quest.id)),
        TimelineEntry::Message(message) => (message.created_at, format!("Message {}", message.id)),
        other => panic!("{other:?} was not asked for"),
    }
}

pub(crate) fn user(user: &str, nickname: &str, email: &str, created: &str) -> User {
    User {
        id: id(user),
        nickname: id(nickname),
        email: Some(id(email)),
        handle: None,
        preferred_username: nickname.into(),
        created_at: at(created),
        updated_at: at(created),
        ..samples::user()
    }
}

pub(crate) fn follow(follower: &str, followee: &str, created: &str) -> Follow {
    Follow {
        follower_id: id(follower),
        followee_id: id(followee),
        active_since: Some(at(created)),
        created_at: at(created),
        ..samples::follow()
    }
}

pub(crate) fn counter(user: &str, counter: UserCount, count: u64, updated: &str) -> UserCounter {
    UserCounter {
        user_id: id(user),
        counter,
        shard: Shard::ZERO,
        count,
        seq: None,
        version: None,
        updated_at: at(updated),
    }
}

pub(crate) fn group(group: &str, owner: &str, created: &str) -> Group {
    Group {
        id: id(group),
        owner_id: id(owner),
        created_at: at(created),
        updated_at: at(created),
        ..samples::group()
    }
}

pub(crate) fn member(group: &str, user: &str, role: GroupRole, joined: &str) -> GroupMember {
    GroupMember {
        group_id: id(group),
        user_id: id(user),
        role,
        joined_at: at(joined),
        ..samples::group_member()
    }
}

pub(crate) fn goal(user: &str, goal: &str, created: &str) -> Goal {
    Goal { user_id: id(user), id: id(goal), created_at: at(created), ..samples::goal() }
}

pub(crate) fn task(user: &str, goal: &str, task: &str, due: Option<&str>) -> Task {
    Task {
        user_id: id(user),
        goal_id: id(goal),
        id: id(task),
        due_at: due.map(at),
        ..samples::task()
    }
}

pub(crate) fn milestone(user: &str, goal: &str, milestone: &str, created: &str) -> Milestone {
    Milestone {
        user_id: id(user),
        goal_id: id(goal),
        id: id(milestone),
        created_at: at(created),
        ..samples::milestone()
    }
}

pub(crate) fn quest(
    user: &str,
    quest: &str,
    created: &str,
    goals: &[&str],
    tasks: &[&str],
) -> Quest {
    Quest {
        user_id: id(user),
        id: id(quest),
        kind: QuestKind::Linked,
        linked_goal_ids: Some(goals.iter().copied().map(id).collect()),
        linked_task_ids: Some(tasks.iter().copied().map(id).collect()),
        count_scope: Some(CountScope::Linked),
        created_at: at(created),
        ..samples::quest()
    }
}

pub(crate) fn activity(actor: &str, activity: &str, created: &str) -> Activity {
    Activity {
        activity_id: id(activity),
        actor_id: id(actor),
        created_at: at(created),
        ..samples::activity()
    }
}

pub(crate) fn feed_item(reader: &str, actor: &str, activity: &str, created: &str) -> FeedItem {
    FeedItem {
        follower_id: id(reader),
        activity_id: id(activity),
        actor_id: id(actor),
        created_at: at(created),
        ttl: Expiry::at(at(created).plus_ms(45 * 24 * 60 * 60_000)),
        ..samples::feed_item()
    }
}

pub(crate) fn message(room: &str, message: &str, user: &str, created: &str) -> Message {
    Message {
        room_id: id(room),
        id: id(message),
        user_id: id(user),
        listed: true,
        created_at: at(created),
        ttl: None,
        ..samples::message()
    }
}

/// Returns a public post that was approved at once.
pub(crate) fn post(post: &str, author: &str, created: &str) -> Post {
    Post {
        id: id(post),
        author_id: id(author),
        visibility: Visibility::Public,
        moderation_status: ModerationStatus::Approved,
        feed_id: FeedName::GLOBAL,
        published_at: Some(at(created)),
        score: None,
        created_at: at(created),
        updated_at: at(created),
        ..samples::post()
    }
}

pub(crate) fn post_counter(post: &str, likes: u64, comments: u64, score: u64) -> PostCounter {
    PostCounter { post_id: id(post), likes, comments, score, ..samples::post_counter() }
}

pub(crate) fn popular(post: Post, score: u64) -> Post {
    Post { score: Some(Score::new(score)), ..post }
}

pub(crate) fn comment(post: &str, comment: &str, user: &str, created: &str) -> Comment {
    Comment {
        post_id: id(post),
        id: id(comment),
        user_id: id(user),
        created_at: at(created),
        updated_at: at(created),
        ..samples::comment()
    }
}

pub(crate) fn like(post: &str, user: &str, author: &str, created: &str) -> Like {
    Like {
        post_id: id(post),
        user_id: id(user),
        post_user_id: id(author),
        created_at: at(created),
        ..samples::like()
    }
}
