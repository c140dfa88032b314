//! Search by tag, as each viewer may see it (R4, R30).

use roundtable_domain::{
    Caller, Code, NewGroup, NewPost, PageInput, Refusal, Settings, ShardCount, ShardSettings,
    TaggedItem,
};
use roundtable_model::entities::{Goal, Quest, TagRef, User};
use roundtable_model::table::Order;
use roundtable_model::{
    Entity, EntityKind, Role, Shard, Shards, SubjectId, Tag, UserStatus, Visibility, samples,
};
use roundtable_testkit::Town;

fn tag() -> Tag {
    "town".parse().unwrap()
}

fn label(tagged: &TaggedItem) -> String {
    match tagged {
        TaggedItem::User(user) => format!("user {}", user.id),
        TaggedItem::Group(group) => format!("group {}", group.name),
        TaggedItem::Goal(goal) => format!("goal {}", goal.id),
        TaggedItem::Quest(quest) => format!("quest {}", quest.id),
        TaggedItem::Post(post) => format!("post {}", post.content),
        TaggedItem::Comment(comment) => format!("comment {}", comment.content),
        TaggedItem::Offer(offer) => format!("offer {}", offer.title),
    }
}

/// All items found by a viewer, page by page.
async fn found(
    town: &Town,
    viewer: Option<&Caller>,
    kind: Option<EntityKind>,
    size: usize,
) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = PageInput { limit: Some(size), after: after.take() };
        let page = town.tags().search(viewer, &tag(), kind, Order::Ascending, &page).await.unwrap();
        assert!(page.items.len() == size || page.next.is_none(), "pages are full");
        after.clone_from(&page.next);
        all.extend(page.into_items().iter().map(label));
        if after.is_none() {
            return all;
        }
    }
}

/// Writes a tag reference to a user's item.
async fn write_reference(town: &Town, owner: &str, entity: EntityKind, id: impl Into<SubjectId>) {
    let reference = TagRef {
        tag: tag(),
        shard: Shard::ZERO,
        entity,
        id: id.into(),
        user_id: Some(town.id(owner)),
        within: None,
        title: String::from("a title"),
        created_at: town.now(),
    };
    town.context().core().table().put(reference.put()).await.unwrap();
}

/// Adds a user with the tag.
async fn add_tagged_user(town: &Town, name: &str) {
    town.add_user(name, |user| user.tags = vec![tag()]).await;
    write_reference(town, name, EntityKind::User, &town.id(name)).await;
}

/// Ana with a goal, a quest, a group, two posts and an offer, all with the tag.
async fn tagged_town(settings: Settings) -> Town {
    let town = Town::with(settings, ["bo", "bex", "mo", "ada"]).await;
    add_tagged_user(&town, "ana").await;
    town.grant_role("mo", Role::Moderator).await;
    town.grant_role("ada", Role::Admin).await;
    let ana = town.caller("ana");
    let (id, user_id) = ("anas".parse().unwrap(), town.id("ana"));
    let goal = Goal { user_id, id, tags: vec![tag()], ..samples::goal() };
    let (id, user_id) = ("anas".parse().unwrap(), town.id("ana"));
    let quest = Quest { user_id, id, tags: vec![tag()], ..samples::quest() };
    town.context().core().table().put(goal.put()).await.unwrap();
    town.context().core().table().put(quest.put()).await.unwrap();
    write_reference(&town, "ana", EntityKind::Goal, &goal.id).await;
    write_reference(&town, "ana", EntityKind::Quest, &quest.id).await;
    let group = NewGroup { tags: vec![tag()], ..NewGroup::named("walkers") };
    town.groups().create(&ana, group, None).await.unwrap();
    town.post("ana", "for all #town").await;
    let visibility = Some(Visibility::Followers);
    town.post_as("ana", NewPost { visibility, ..NewPost::text("for few #town") }).await;
    let company = town.company("ana", "tours").await;
    town.offer("ana", &company, "a tour", &["town"]).await;
    town
}

/// R4: a tag finds items of all kinds, or of one.
#[tokio::test]
async fn a_tag_finds_all_kinds() {
    let shards =
        ShardSettings { tags: ShardCount(Shards::new(3).unwrap()), ..ShardSettings::default() };
    for shards in [ShardSettings::default(), shards] {
        let town = tagged_town(Settings { shards, ..Town::settings() }).await;
        let ana = town.caller("ana");
        let all = [
            "goal anas",
            "group walkers",
            "offer a tour",
            "post for all #town",
            "post for few #town",
            "quest anas",
            "user ana",
        ];
        for size in [1, 3, 100] {
            assert_eq!(found(&town, Some(&ana), None, size).await, all);
        }
        for (kind, many) in [
            (EntityKind::Goal, 1),
            (EntityKind::Group, 1),
            (EntityKind::Offer, 1),
            (EntityKind::Post, 2),
            (EntityKind::Quest, 1),
            (EntityKind::User, 1),
        ] {
            assert_eq!(found(&town, Some(&ana), Some(kind), 1).await.len(), many, "{kind}");
        }
    }
}

/// R4: kinds without tags are refused.
#[tokio::test]
async fn kinds_without_tags_are_refused() {
    let town = Town::of(["ana"]).await;
    for kind in [EntityKind::Follow, EntityKind::Task, EntityKind::Like, EntityKind::Message] {
        let requested = town
            .tags()
            .search(None, &tag(), Some(kind), Order::Ascending, &PageInput::first())
            .await;
        assert_eq!(requested.unwrap_err().code(), Code::BadRequest);
    }
}

/// R4, I9: every viewer finds exactly what they may see.
#[tokio::test]
async fn hidden_items_are_not_found_by_tag() {
    let town = tagged_town(Town::settings()).await;
    town.block("ana", "bex").await;
    let public = ["group walkers", "offer a tour", "post for all #town", "user ana"];
    assert_eq!(found(&town, None, None, 2).await, public);
    assert_eq!(found(&town, Some(&town.caller("bo")), None, 2).await, public);
    assert_eq!(found(&town, Some(&town.caller("bex")), None, 2).await, ["group walkers"]);
    let mos =
        ["group walkers", "offer a tour", "post for all #town", "post for few #town", "user ana"];
    assert_eq!(found(&town, Some(&town.mo()), None, 2).await, mos, "goals are not for moderators");
    let ada = town.staff("ada", Role::Admin);
    assert_eq!(found(&town, Some(&ada), None, 2).await.len(), 7);
    let no_admin = town.staff("bo", Role::Admin);
    let goals = found(&town, Some(&no_admin), Some(EntityKind::Goal), 2).await;
    assert!(goals.is_empty(), "the profile has the last word");
    town.set_status("ana", UserStatus::Suspended).await;
    assert_eq!(found(&town, None, None, 2).await, ["group walkers"]);
    let goals = found(&town, Some(&town.caller("ana")), Some(EntityKind::Goal), 2).await;
    assert!(goals.is_empty(), "as the goals themselves");
    assert_eq!(found(&town, Some(&ada), None, 2).await.len(), 7);
    town.set_status("ana", UserStatus::Deleted).await;
    assert_eq!(found(&town, Some(&ada), None, 2).await, ["group walkers"]);
    assert_eq!(found(&town, Some(&town.caller("ana")), None, 2).await, ["group walkers"]);
}

/// R4, I9: the e-mail address stays hidden, however a profile is found.
#[tokio::test]
async fn a_search_by_tag_reveals_no_email_addresses() {
    let town = tagged_town(Town::settings()).await;
    let email = async |viewer: &str| {
        let (viewer, kind) = (town.caller(viewer), Some(EntityKind::User));
        let page = town
            .tags()
            .search(Some(&viewer), &tag(), kind, Order::Ascending, &PageInput::first())
            .await;
        match &page.unwrap().into_items()[..] {
            [TaggedItem::User(user)] => user.email.is_some(),
            other => panic!("{other:?}"),
        }
    };
    assert!(email("ana").await);
    assert!(!email("bo").await);
}

/// R4, R30: pages stay full where many items are hidden, and a stale reference shows nothing.
#[tokio::test]
async fn pages_are_full_although_much_is_hidden() {
    let town = Town::of([]).await;
    let mut visible = Vec::new();
    for n in 10..40 {
        let name = format!("p{n}");
        add_tagged_user(&town, &name).await;
        match n % 3 {
            0 => town.set_status(&name, UserStatus::Suspended).await,
            1 => {
                let patch = User::at(&town.id(&name)).patch().set(User::TAGS, &Vec::new());
                town.context().core().table().update(patch.into()).await.unwrap();
            }
            _ => visible.push(format!("user {name}")),
        }
    }
    for size in [1, 4, 100] {
        assert_eq!(found(&town, None, None, size).await, visible);
    }
}

/// R53: a tag finds comments as it finds posts, in the order that the caller wants.
#[tokio::test]
async fn a_tag_finds_comments_in_either_order() {
    let town = Town::of(["ana", "bo", "bex"]).await;
    let post = town.post("ana", "hello #town").await.id;
    let first = town.comment("bo", &post, "first #Town @ana @nobody").await;
    let second = town.comment("bo", &post, "second #town").await;
    assert_eq!(first.hashtags.as_deref(), Some(&["Town".parse().unwrap()][..]));
    assert_eq!(first.mentions.as_deref(), Some(&["ana".parse().unwrap()][..]), "who exist");
    let ordered = async |order| {
        let found = town.tags().search(None, &tag(), None, order, &PageInput::first()).await;
        found.unwrap().into_items().iter().map(label).collect::<Vec<_>>()
    };
    let (comments, posts) =
        (["comment first #Town @ana @nobody", "comment second #town"], ["post hello #town"]);
    assert_eq!(ordered(Order::Ascending).await, [&comments[..], &posts[..]].concat());
    let descending = [posts[0], comments[1], comments[0]];
    assert_eq!(ordered(Order::Descending).await, descending);

    let bo = town.caller("bo");
    town.comments().update(&bo, &second.id, "second #other", None).await.unwrap();
    let kind = Some(EntityKind::Comment);
    assert_eq!(found(&town, None, kind, 1).await, comments[..1]);
    assert_eq!(town.rows("TAG#other", "Comment#").await.len(), 1);
    town.comments().delete(&bo, &second.id, None).await.unwrap();
    assert!(town.rows("TAG#other", "Comment#").await.is_empty());
    town.block("ana", "bex").await;
    assert!(found(&town, Some(&town.caller("bex")), kind, 1).await.is_empty(), "below her post");
}

/// R53: two edits at the same time leave the tag references of one text.
#[tokio::test]
async fn concurrent_edits_of_a_comment_keep_its_tags_right() {
    let town = Town::of(["ana"]).await;
    let post = town.post("ana", "hello").await.id;
    let comment = town.comment("ana", &post, "first #one").await;
    let (comments, ana) = (town.comments(), town.caller("ana"));
    let edits = ["second #two", "third #three", "fourth #four"];
    let edit = |text| comments.update(&ana, &comment.id, text, None);
    for edited in futures::future::join_all(edits.map(edit)).await {
        edited.unwrap();
    }
    let now = town.comments().comment(None, &comment.id).await.unwrap();
    for tag in ["one", "two", "three", "four"] {
        let referred = town.rows(&format!("TAG#{tag}"), "Comment#").await.len();
        assert_eq!(referred, usize::from(now.content.ends_with(tag)), "{tag}: {}", now.content);
    }
}
