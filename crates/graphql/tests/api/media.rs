//! R43: files of posts, activities and profiles, and their URLs.

use roundtable_testkit::Town;
use serde_json::{Value, json};

use crate::api_town::ApiTown;

#[tokio::test]
async fn viewers_of_a_post_can_fetch_its_picture() {
    let api = ApiTown::of(["ana", "bo"]).await;
    let picture = api.town.upload("ana").await;
    let create = format!(
        r#"mutation {{ createPost(input: {{ content: "look", contentType: image, media: [{{ s3Key: "{}", contentType: "image/png" }}] }}) {{ id media {{ s3Key width height url }} }} }}"#,
        picture.s3_key.as_str()
    );
    let post = api.run("ana", &create).await["createPost"].take();
    assert_eq!(post["media"][0]["width"], 3);
    let document = format!(
        "{{ getPost(id: {}) {{ media {{ contentType url }} }} getFeed {{ items {{ activity {{ media {{ url }} }} }} }} }}",
        post["id"]
    );
    api.town.follow("bo", "ana").await;
    let seen = api.run("bo", &document).await;
    let url = seen["getPost"]["media"][0]["url"].as_str().unwrap();
    assert_eq!(api.town.media_store().fetch(url).unwrap(), Town::picture());
    assert_eq!(seen["getFeed"]["items"][0]["activity"]["media"]["url"], url);
}

#[tokio::test]
async fn a_missing_file_does_not_hide_its_post() {
    let api = ApiTown::of(["ana"]).await;
    let picture = api.town.upload("ana").await;
    let input = roundtable_domain::NewPost {
        media: vec![Town::as_new_media(&picture)],
        content_type: roundtable_model::ContentType::Image,
        ..roundtable_domain::NewPost::text("look")
    };
    let post = api.town.post_as("ana", input).await;
    let upload = roundtable_model::entities::Upload::at(&api.town.id("ana"), &picture.s3_key);
    api.town.context().core().table().delete(upload.delete()).await.unwrap();
    let document = format!(
        r#"{{ getPost(id: "{}") {{ content media {{ url }} bare: media {{ contentType }} }} }}"#,
        post.id
    );
    let seen = api.run("ana", &document).await["getPost"].take();
    let expected = json!({"content": "look", "media": [], "bare": []});
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_profile_picture_is_optional() {
    let api = ApiTown::of(["ana"]).await;
    let far = "https://far.example/bo.png";
    let town = &api.town;
    town.add_user("bo", |bo| (bo.profile_image, bo.profile_image_url) = (None, Some(far.into())))
        .await;
    town.add_user("cy", |cy| (cy.profile_image, cy.profile_image_url) = (None, None)).await;
    let document = r#"{ bo: getUser(id: "bo") { profileImageUrl } cy: getUser(id: "cy") { profileImageUrl } }"#;
    let seen = api.run("ana", document).await;
    assert_eq!(seen["cy"]["profileImageUrl"], Value::Null);
    assert_eq!(seen["bo"]["profileImageUrl"], far);
}
