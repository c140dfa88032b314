//! Actions of moderators, admins and operators.

use roundtable_domain::{DeadLetterService, NewPromotion, Promotions, Webhooks};
use roundtable_model::entities::DeadLetter;
use roundtable_model::{CaseId, Entity, ModerationStatus, PromotionReason, Role, Tier, samples};

use crate::book::CostBook;
use crate::expression::at_least_one;
use crate::scene::{ANA, BO, Scene};

const URL: &str = "https://hooks.hillside.example/town";

pub(crate) async fn record(book: &mut CostBook) {
    book.mutation("setPromotion", &[], async |scene| {
        let input = NewPromotion {
            subject_id: (&scene.town.id(BO)).into(),
            fanout_enabled: true,
            reason: PromotionReason::Manual,
            thresholds: None,
        };
        let promotions = Promotions::new(scene.town.context().clone());
        let (admin, request) = (scene.admin().await, scene.request());
        scene.record(promotions.set(&admin, &input, request.as_ref())).await;
    })
    .await;
    book.mutation("setUserRoles", &[], async |scene| {
        let (accounts, admin) = (scene.town.accounts(), scene.admin().await);
        let (bo, roles, request) =
            (scene.town.id(BO), [Role::User, Role::Moderator], scene.request());
        scene.record(accounts.set_roles(&admin, &bo, &roles, request.as_ref())).await;
    })
    .await;
    book.mutation("setUserTier", &[], async |scene| {
        let (accounts, admin) = (scene.town.accounts(), scene.admin().await);
        let (bo, request) = (scene.town.id(BO), scene.request());
        scene.record(accounts.set_tier(&admin, &bo, Tier::Pro, request.as_ref())).await;
    })
    .await;
    book.mutation("setUserVerified", &[], async |scene| {
        let (accounts, admin) = (scene.town.accounts(), scene.admin().await);
        let (bo, request) = (scene.town.id(BO), scene.request());
        scene.record(accounts.set_verified(&admin, &bo, true, request.as_ref())).await;
    })
    .await;
    book.mutation("reportUser", &[], async |scene| {
        let (moderation, me, request) = (scene.town.moderation(), scene.ana(), scene.request());
        let bo = scene.town.id(BO);
        scene.record(moderation.report_user(&me, &bo, "rude", request.as_ref())).await;
    })
    .await;
    book.mutation("reportGroup", &[], async |scene| {
        let group = scene.town.create_group(BO, "runners").await;
        let (moderation, me, request) = (scene.town.moderation(), scene.ana(), scene.request());
        scene.record(moderation.report_group(&me, &group, "rude", request.as_ref())).await;
    })
    .await;
    book.mutation("reportMessage", &[], async |scene| {
        let room = scene.town.room_with(BO, ANA).await;
        let said = scene.town.send_message(BO, &room, "hello").await.id;
        let (moderation, me, request) = (scene.town.moderation(), scene.ana(), scene.request());
        let reported = moderation.report_message(&me, &room, &said, "rude", request.as_ref());
        scene.record(reported).await;
    })
    .await;
    book.mutation("decideCase", &[], async |scene| {
        let (moderation, mo, bo) =
            (scene.town.moderation(), scene.moderator().await, scene.town.id(BO));
        moderation.report_user(&scene.ana(), &bo, "rude", None).await.unwrap();
        let (id, status, request) =
            (CaseId::from(&bo), ModerationStatus::Approved, scene.request());
        scene.record(moderation.decide_case(&mo, &id, status, None, request.as_ref())).await;
    })
    .await;
    book.mutation("suspendUser", &[], async |scene| {
        let (accounts, mo, request) =
            (scene.town.accounts(), scene.moderator().await, scene.request());
        scene.record(accounts.suspend(&mo, &scene.town.id(BO), "rude", request.as_ref())).await;
    })
    .await;
    book.mutation("unsuspendUser", &[], async |scene| {
        let (accounts, mo, request) =
            (scene.town.accounts(), scene.moderator().await, scene.request());
        accounts.suspend(&mo, &scene.town.id(BO), "rude", None).await.unwrap();
        scene.record(accounts.unsuspend(&mo, &scene.town.id(BO), request.as_ref())).await;
    })
    .await;
    book.mutation_once("redriveDeadLetters", &[at_least_one("letters", 10.0)], async |scene| {
        for number in 0..scene.count("letters") {
            park(scene, number).await;
        }
        let letters = scene.town.runner().dead_letters();
        scene.record(letters.redrive_all(100)).await;
    })
    .await;
    book.mutation_once("createWebhook", &[], async |scene| {
        let (webhooks, admin) = (webhooks(scene), scene.admin().await);
        scene.record(webhooks.create(&admin, URL, &[String::from("*")])).await;
    })
    .await;
    book.mutation("enableWebhook", &[], async |scene| {
        let (webhooks, admin, request) = (webhooks(scene), scene.admin().await, scene.request());
        let made = webhooks.create(&admin, URL, &[String::from("*")]).await.unwrap();
        webhooks.disable(&made.webhook.id, "it fails").await.unwrap();
        scene.record(webhooks.enable(&admin, &made.webhook.id, request.as_ref())).await;
    })
    .await;
    book.mutation("replayWebhook", &[], async |scene| {
        let (webhooks, admin, request) = (webhooks(scene), scene.admin().await, scene.request());
        let made = webhooks.create(&admin, URL, &[String::from("*")]).await.unwrap();
        let from = scene.town.now();
        scene.record(webhooks.replay(&admin, &made.webhook.id, from, request.as_ref())).await;
    })
    .await;
    book.mutation("discardDeadLetter", &[], async |scene| {
        let letters = DeadLetterService::new(scene.town.context().clone());
        let (admin, request, letter) =
            (scene.admin().await, scene.request(), samples::dead_letter());
        scene.town.context().ops().table().put(letter.put()).await.unwrap();
        scene.record(letters.discard(&admin, &(&letter).into(), request.as_ref())).await;
    })
    .await;
    book.mutation("deleteWebhook", &[], async |scene| {
        let (webhooks, admin, request) = (webhooks(scene), scene.admin().await, scene.request());
        let made = webhooks.create(&admin, URL, &[String::from("*")]).await.unwrap();
        scene.record(webhooks.delete(&admin, &made.webhook.id, request.as_ref())).await;
    })
    .await;
}

fn webhooks(scene: &Scene) -> Webhooks {
    Webhooks::new(scene.town.context().clone())
}

/// Parks a job as a dead letter.
async fn park(scene: &Scene, number: usize) {
    let queue = scene.town.runner().dead_letters().queues().pop().unwrap();
    let id = format!("01JJM1DYG4MF2KDPB0NR5YHC{number:02}").parse().unwrap();
    let letter = DeadLetter { queue, id, ..samples::dead_letter() };
    scene.town.context().ops().table().put(letter.put()).await.unwrap();
}
