//! What is found, in which order, and what is gone at the next read.

use roundtable_domain::{Edit, PageInput, PostChange, ProfileChange, SearchResult, SearchType};
use roundtable_model::Role;

use super::{all_results, name, names, town};

/// R58: people, groups, posts, comments, goals and tags, best first.
#[tokio::test]
async fn things_of_all_kinds_are_found_best_first() {
    let town = town().await;
    let ana = town.caller("ana");
    let change = ProfileChange { display_name: Edit::Set("Garden".into()), ..Default::default() };
    town.accounts().update_profile(&town.caller("bo"), &change, None).await.unwrap();
    let group = town.create_group("ana", "Garden friends").await;
    town.advance_ms(1_000);
    let first = town.post("ana", "my garden is green").await.id;
    town.advance_ms(1_000);
    let second = town.post("bo", "The GARDEN, again #gardening").await.id;
    town.advance_ms(1_000);
    let comment = town.comment("cy", &first, "what a garden").await.id;
    let goal = town.set_goal("ana", "Build a gardenhouse").await.id;
    let search = town.search();
    let expected = [
        "user bo".to_owned(),
        format!("group {group}"),
        format!("goal {goal}"),
        "tag gardening".to_owned(),
        format!("comment {comment}"),
        format!("post {second}"),
        format!("post {first}"),
    ];
    assert_eq!(names(&search, Some(&ana), "garden").await, expected);
    let without_goal: Vec<String> =
        expected.iter().filter(|it| !it.starts_with("goal")).cloned().collect();
    assert_eq!(names(&search, None, "garden").await, without_goal);
    assert_eq!(names(&search, Some(&town.caller("bo")), "garden").await, without_goal);
    let ada = town.staff("ada", Role::Admin);
    assert_eq!(names(&search, Some(&ada), "garden").await, expected, "admins see goals");
    for size in [1, 2, 3] {
        let pages = all_results(&search, Some(&ana), "garden", None, size).await;
        assert_eq!(pages.iter().map(name).collect::<Vec<_>>(), expected, "pages of {size}");
    }
    let types = [SearchType::Comment, SearchType::Tag];
    let of_types = all_results(&search, None, "garden", Some(&types), 10).await;
    assert_eq!(
        of_types.iter().map(name).collect::<Vec<_>>(),
        [&expected[3], &expected[4]].map(String::clone)
    );
}

/// R58: words and phrases, prefixes and typos.
#[tokio::test]
async fn words_phrases_prefixes_and_typos_are_found() {
    let town = town().await;
    let tea = town.post("ana", "black coffee and green tea").await.id;
    town.advance_ms(1_000);
    let swapped = town.post("bo", "tea, green, with milk").await.id;
    town.advance_ms(1_000);
    let tokyo = town.post("cy", "東京都に行きたい").await.id;
    town.add_user("theodora", |_| {}).await;
    let search = town.search();
    let found = async |query: &str| names(&search, None, query).await;
    let (tea, swapped) = (format!("post {tea}"), format!("post {swapped}"));
    assert_eq!(found("green tea").await, [tea.clone(), swapped.clone()], "a phrase first");
    assert_eq!(found("tea").await, [swapped.clone(), tea.clone()], "newest first");
    assert_eq!(found("\"green tea\"").await, [tea.clone()]);
    assert_eq!(found("gree").await, [] as [&str; 0], "no prefixes in texts");
    assert_eq!(found("京都").await, [format!("post {tokyo}")]);
    assert_eq!(found("京").await, [format!("post {tokyo}")]);
    assert_eq!(found("東都").await, [] as [&str; 0]);
    for query in ["theo", "THEODORA", "theodroa", "teodora"] {
        assert_eq!(found(query).await, ["user theodora"], "{query}");
    }
    for query in ["", "  ", "\"", "*:*", "OR (", "a:b^2~", "\\", "😀"] {
        assert_eq!(found(query).await, [] as [&str; 0], "{query}: any text is a query");
    }
}

/// R58: gone from results at the next read after a delete, block or edit. The index is not told.
#[tokio::test]
async fn what_is_deleted_edited_or_blocked_is_gone_at_the_next_read() {
    let town = town().await;
    let directory = tempfile::tempdir().unwrap();
    let (ana, bo, cy) = (town.caller("ana"), town.caller("bo"), town.caller("cy"));
    let mut posts = Vec::new();
    for n in 0..4 {
        town.advance_ms(1_000);
        posts.push(town.post("ana", &format!("whale number {n}")).await.id);
    }
    town.post("cy", "whale of cy").await;
    let mut indexer = super::indexer(&town, directory.path());
    indexer.catch_up().await.unwrap();
    let search = super::search_of(&town, &indexer);
    assert_eq!(names(&search, Some(&bo), "whale").await.len(), 5);
    town.posts().delete(&ana, &posts[0], None).await.unwrap();
    let change = PostChange { content: Some("a fish".into()), visibility: None };
    town.posts().update(&ana, &posts[1], &change, None).await.unwrap();
    assert_eq!(names(&search, Some(&bo), "whale").await.len(), 3);
    assert_eq!(names(&search, Some(&bo), "fish").await.len(), 0, "not indexed yet");
    town.blocks().block(&cy, &bo.user_id, None).await.unwrap();
    assert_eq!(names(&search, Some(&bo), "whale").await.len(), 2);
    assert_eq!(names(&search, Some(&cy), "whale").await.len(), 3);
    town.set_private("ana", true).await;
    assert_eq!(names(&search, Some(&bo), "whale").await.len(), 0);
    indexer.catch_up().await.unwrap();
    assert_eq!(names(&search, Some(&ana), "fish").await, [format!("post {}", posts[1])]);
}

/// R58: pages are full, although most hits are hidden.
#[tokio::test]
async fn pages_are_full_between_many_hidden_hits() {
    let town = town().await;
    town.set_private("ana", true).await;
    let mut visible = 0;
    for n in 0..60 {
        let author = if n % 10 == 0 { "bo" } else { "ana" };
        visible += usize::from(author == "bo");
        town.post(author, "otter").await;
    }
    let search = town.search();
    let page = PageInput { limit: Some(5), after: None };
    let first = search.search(None, "otter", None, &page).await.unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (5, visible > 5));
    assert!(
        first.items.iter().all(
            |(it, _)| matches!(it, SearchResult::Post(post) if post.author_id == town.id("bo"))
        )
    );
    assert_eq!(all_results(&search, None, "otter", None, 5).await.len(), visible);
}
