//! R43: files of posts, activities and profiles, and where they can be fetched.

use roundtable_testkit::Town;
use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn a_picture_of_a_post_can_be_fetched_by_whoever_sees_the_post() {
    let stage = Stage::of(["ana", "bo"]).await;
    let picture = stage.town.upload("ana").await;
    let create = format!(
        r#"mutation {{ createPost(input: {{ content: "look", contentType: image, media: [{{ s3Key: "{}", contentType: "image/png" }}] }}) {{ id media {{ s3Key width height url }} }} }}"#,
        picture.s3_key.as_str()
    );
    let post = stage.ask("ana", &create).await["createPost"].take();
    assert_eq!(post["media"][0]["width"], 3);
    let document = format!(
        "{{ getPost(id: {}) {{ media {{ contentType url }} }} getFeed {{ items {{ activity {{ media {{ url }} }} }} }} }}",
        post["id"]
    );
    stage.town.follow("bo", "ana").await;
    let seen = stage.ask("bo", &document).await;
    let url = seen["getPost"]["media"][0]["url"].as_str().unwrap();
    assert_eq!(stage.town.shelf().fetch(url).unwrap(), Town::picture());
    assert_eq!(seen["getFeed"]["items"][0]["activity"]["media"]["url"], url);
}

#[tokio::test]
async fn a_file_that_is_gone_takes_nothing_along() {
    let stage = Stage::of(["ana"]).await;
    let picture = stage.town.upload("ana").await;
    let input = roundtable_domain::NewPost {
        media: vec![Town::named(&picture)],
        content_type: roundtable_model::ContentType::Image,
        ..roundtable_domain::NewPost::text("look")
    };
    let post = stage.town.post_as("ana", input).await;
    let upload = roundtable_model::entities::Upload::at(&stage.town.id("ana"), &picture.s3_key);
    stage.town.ground().core().table().delete(upload.delete()).await.unwrap();
    let document = format!(
        r#"{{ getPost(id: "{}") {{ content media {{ url }} bare: media {{ contentType }} }} }}"#,
        post.id
    );
    let seen = stage.ask("ana", &document).await["getPost"].take();
    let expected = json!({"content": "look", "media": [], "bare": [{"contentType": "image/png"}]});
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_profile_has_a_picture_or_none() {
    let stage = Stage::of(["ana"]).await;
    let far = "https://far.example/bo.png";
    let town = &stage.town;
    town.move_in("bo", |bo| (bo.profile_image, bo.profile_image_url) = (None, Some(far.into())))
        .await;
    town.move_in("cy", |cy| (cy.profile_image, cy.profile_image_url) = (None, None)).await;
    let document = r#"{ bo: getUser(id: "bo") { profileImageUrl } cy: getUser(id: "cy") { profileImageUrl } }"#;
    let seen = stage.ask("ana", document).await;
    assert_eq!(seen["cy"]["profileImageUrl"], Value::Null);
    assert_eq!(seen["bo"]["profileImageUrl"], far);
}
