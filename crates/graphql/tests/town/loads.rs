//! No list causes one read for each of its items where they can be read together.

use crate::stage::Stage;

/// The tasks of a page load their goals together.
#[tokio::test]
async fn twenty_tasks_with_their_goals_cost_as_much_as_two() {
    let stage = Stage::of(["ana"]).await;
    let goal = stage.town.set_goal("ana", "Move").await;
    for number in 0..2 {
        stage.town.add_task("ana", &goal.id, &format!("task {number}")).await;
    }
    let list = format!(
        "{{ listTasks(goalId: \"{}\") {{ items {{ title goal {{ title }} }} }} }}",
        goal.id
    );
    let two = stage.cost("ana", &list).await;
    for number in 2..20 {
        stage.town.add_task("ana", &goal.id, &format!("task {number}")).await;
    }
    assert_eq!(stage.cost("ana", &list).await, two);
}

/// Offers load their companies together.
#[tokio::test]
async fn ten_offers_with_their_companies_cost_as_much_as_two() {
    let stage = Stage::of(["ana"]).await;
    let offered = async |number: usize| {
        let company = format!("mutation {{ createCompany(name: \"C{number}\") {{ id }} }}");
        let company = stage.ask("ana", &company).await["createCompany"]["id"].take();
        let offer = format!(
            "mutation {{ createOffer(input: {{ companyId: {company}, title: \"O\", tags: [\"t\"] }})
                {{ id }} }}"
        );
        stage.ask("ana", &offer).await;
    };
    offered(0).await;
    offered(1).await;
    let list = "{ listOffers(tag: \"t\") { items { title company { name } } } }";
    let two = stage.cost("ana", list).await;
    for number in 2..10 {
        offered(number).await;
    }
    assert_eq!(stage.cost("ana", list).await, two);
}
