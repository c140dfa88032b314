//! Generators of random histories.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use roundtable_domain::FeedPolicy;
use roundtable_model::{ModerationStatus, Visibility};

use crate::cast::{Club, Name, Server};
use crate::stage::{DAY_MS, SKEW_MS};
use crate::step::{Actor, FeedAction, History, Nth, Opening, Read, Step, Topic};

pub(crate) fn history(steps: RangeInclusive<usize>) -> impl Strategy<Value = History> {
    let pace = prop_oneof![Just(0), 1..20u64, 100..900u64, 100..900u64];
    (opening(), pace, vec(step(), steps)).prop_map(|(opening, pace_ms, steps)| History {
        opening,
        pace_ms,
        steps,
    })
}

fn opening() -> impl Strategy<Value = Opening> {
    let promoted = vec(actor(), 0..4);
    let (follows, members) = (vec((name(), name()), 4..28), vec((name(), club()), 0..10));
    (policy(), prop::bool::weighted(0.3), any::<bool>(), follows, members, promoted).prop_map(
        |(policy, is_moderated, automatic, follows, members, promoted)| Opening {
            policy,
            is_moderated,
            automatic,
            follows,
            members,
            promoted,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let reading_while =
        (read(), 0..40usize, concurrent_steps()).prop_map(|(read, waits, concurrent_steps)| {
            Step::ReadWhile { read, waits, concurrent_steps }
        });
    let warming_while =
        (server(), 0..10usize, concurrent_steps()).prop_map(|(at, waits, concurrent_steps)| {
            Step::WarmUpWhile { at, waits, concurrent_steps }
        });
    prop_oneof![
        100 => action_step(),
        38 => upkeep_step(),
        12 => time(),
        14 => read().prop_map(Step::Read),
        10 => reading_while,
        3 => warming_while,
    ]
}

/// Steps that run while another one is stopped.
fn concurrent_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => upkeep_step(),
        4 => action_step(),
        4 => read().prop_map(Step::Read),
        1 => server().prop_map(Step::WarmUp),
    ];
    vec(step, 1..4)
}

/// Steps that change no feed, only copies and caches.
fn upkeep_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (proptest::option::of(server()), policy()).prop_map(|(at, to)| Step::Policy(at, to)),
        4 => actor().prop_map(Step::Promote),
        3 => actor().prop_map(Step::Demote),
        22 => Just(Step::Settle),
        7 => (0..16usize).prop_map(Step::Die),
        4 => (0..16usize).prop_map(Step::Park),
        3 => Just(Step::Redrive),
        6 => (0..200usize).prop_map(Step::Stall),
        5 => Just(Step::Resume),
    ]
}

fn time() -> impl Strategy<Value = Step> {
    let skew = SKEW_MS.cast_signed();
    // A worker's claim expires after a minute, copies after a day or two.
    let waits =
        [1, 300, 1_100, 61_000, 3_600_000, DAY_MS - 1_500, DAY_MS - 300, DAY_MS, 2 * DAY_MS];
    prop_oneof![
        5 => select(waits.to_vec()).prop_map(Step::Wait),
        3 => (proptest::option::weighted(0.8, server()), -skew..=skew).prop_map(|(at, beside)| Step::Clock(at, beside)),
        2 => server().prop_map(Step::WarmUp),
        2 => (server(), select(vec![1, 1, 1, 2])).prop_map(|(at, days)| Step::Restart(at, days)),
    ]
}

fn read() -> impl Strategy<Value = Read> {
    (name(), server(), 1..8usize, prop::bool::weighted(0.2))
        .prop_map(|(who, at, size, anew)| Read { who, at, size, anew })
}

fn action_step() -> impl Strategy<Value = Step> {
    let action = prop_oneof![48 => writing_action(), 18 => relation_action(), 7 => membership_action(), 6 => moderation_action()];
    (name(), server(), action).prop_map(|(who, at, action)| Step::Do { who, at, action })
}

fn writing_action() -> impl Strategy<Value = FeedAction> {
    let into = proptest::option::weighted(0.3, club());
    prop_oneof![
        30 => (into, visibility()).prop_map(|(club, to)| FeedAction::Post(club, to)),
        9 => nth().prop_map(FeedAction::Share),
        2 => nth().prop_map(FeedAction::Unshare),
        1 => nth().prop_map(FeedAction::Rewrite),
        4 => (nth(), visibility()).prop_map(|(post, to)| FeedAction::Show(post, to)),
        3 => nth().prop_map(FeedAction::Delete),
        2 => nth().prop_map(FeedAction::Comment),
        1 => nth().prop_map(FeedAction::DeleteComment),
        5 => topic().prop_map(FeedAction::Tell),
        1 => Just(FeedAction::DropGoal),
    ]
}

fn topic() -> impl Strategy<Value = Topic> {
    prop_oneof![
        Just(Topic::Themselves),
        Just(Topic::Goal),
        Just(Topic::Task),
        club().prop_map(Topic::Club),
        club().prop_map(Topic::GoalIn),
        nth().prop_map(Topic::Post),
        nth().prop_map(Topic::Comment),
    ]
}

fn relation_action() -> impl Strategy<Value = FeedAction> {
    prop_oneof![
        8 => name().prop_map(FeedAction::Follow),
        3 => name().prop_map(FeedAction::Unfollow),
        6 => name().prop_map(FeedAction::Accept),
        1 => name().prop_map(FeedAction::Reject),
        6 => (name(), prop::bool::weighted(0.7)).prop_map(|(whom, to)| FeedAction::Mute(whom, to)),
        2 => name().prop_map(FeedAction::Block),
        2 => name().prop_map(FeedAction::Unblock),
        2 => any::<bool>().prop_map(FeedAction::TurnPrivate),
    ]
}

fn membership_action() -> impl Strategy<Value = FeedAction> {
    prop_oneof![
        6 => club().prop_map(FeedAction::Join),
        3 => club().prop_map(FeedAction::Leave),
        5 => club().prop_map(FeedAction::LetIn),
        2 => club().prop_map(FeedAction::Remove),
        1 => club().prop_map(FeedAction::Close),
    ]
}

fn moderation_action() -> impl Strategy<Value = FeedAction> {
    prop_oneof![
        12 => (nth(), status()).prop_map(|(post, to)| FeedAction::Judge(post, to)),
        2 => (nth(), status()).prop_map(|(comment, to)| FeedAction::JudgeComment(comment, to)),
        2 => Just(FeedAction::Suspend),
        3 => Just(FeedAction::Reinstate),
        1 => Just(FeedAction::DeleteAccount),
    ]
}

fn name() -> impl Strategy<Value = Name> {
    select(Name::ALL.to_vec())
}

fn club() -> impl Strategy<Value = Club> {
    select(Club::ALL.to_vec())
}

fn server() -> impl Strategy<Value = Server> {
    select(Server::ALL.to_vec())
}

fn actor() -> impl Strategy<Value = Actor> {
    prop_oneof![3 => name().prop_map(Actor::Person), 1 => club().prop_map(Actor::Club)]
}

fn nth() -> impl Strategy<Value = Nth> {
    (0..20usize).prop_map(Nth)
}

fn policy() -> impl Strategy<Value = FeedPolicy> {
    prop_oneof![
        3 => Just(FeedPolicy::Documents),
        1 => Just(FeedPolicy::Pull),
        3 => Just(FeedPolicy::Push),
    ]
}

fn visibility() -> impl Strategy<Value = Visibility> {
    prop_oneof![
        7 => Just(Visibility::Public),
        2 => Just(Visibility::Followers),
        1 => Just(Visibility::Private),
    ]
}

fn status() -> impl Strategy<Value = ModerationStatus> {
    prop_oneof![
        3 => Just(ModerationStatus::Approved),
        1 => Just(ModerationStatus::Rejected),
        1 => Just(ModerationStatus::Flagged),
    ]
}
