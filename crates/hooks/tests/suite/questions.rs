//! What a judge behind a URL is told.

use roundtable_domain::{Content, Judge, Subject};
use roundtable_hooks::WebhookJudge;
use roundtable_model::samples;

use crate::answers::subject;
use crate::loopback::{Loopback, Received, Told};
use crate::sending::courier;

async fn asked(subject: &Subject) -> Received {
    let mut service = Loopback::doing(Told::json(r#"{"decision":"approve"}"#)).await;
    WebhookJudge::new(courier(&service.url())).judge(subject).await.unwrap();
    service.received().await
}

/// R34: what is to be decided about, as documented.
#[tokio::test]
async fn a_case_is_told_with_what_it_is_about() {
    let mut subject = subject();
    subject.content.post.content = "Sixteen kilometres".into();
    let told = asked(&subject).await;
    let (case, Content { post, comment }) = (&subject.case, &subject.content);
    let comment = comment.as_ref().unwrap();
    let (reason, said) = (case.reason.as_deref().unwrap(), &comment.content);
    let expected = format!(
        concat!(
            r#"{{"type":"moderation.case.pending","timestamp":"{opened}","data":{{"#,
            r#""caseId":"{case}","reason":"{reason}","reports":{reports},"#,
            r#""post":{{"id":"{post}","authorId":"{author}","authorNickname":"ana_runs","#,
            r#""content":"Sixteen kilometres","contentType":"image","#,
            r#""media":[{{"key":"{key}","contentType":"image/jpeg","width":2048,"height":1536}}],"#,
            r#""visibility":"public","createdAt":"{posted}"}},"#,
            r#""comment":{{"id":"{id}","authorId":"{commenter}","content":"{said}","#,
            r#""createdAt":"{commented}"}}}}}}"#,
        ),
        opened = case.created_at,
        case = case.id,
        reason = reason,
        reports = case.reporter_ids.len(),
        post = post.id,
        author = post.author_id,
        key = post.media[0].s3_key,
        posted = post.created_at,
        id = comment.id,
        commenter = comment.user_id,
        said = said,
        commented = comment.created_at,
    );
    assert_eq!(String::from_utf8(told.body).unwrap(), expected);
    assert!(told.headers["webhook-id"].starts_with(&format!("{}-", case.id)));
}

/// I9: who complained is told to nobody.
#[tokio::test]
async fn reporters_are_counted_and_not_named() {
    let mut subject = subject();
    subject.case.reporter_ids = vec!["the-neighbour".parse().unwrap(), "bo".parse().unwrap()];
    let told = asked(&subject).await;
    let body = String::from_utf8(told.body).unwrap();
    assert!(body.contains(r#""reports":2"#) && !body.contains("the-neighbour"), "{body}");
}

/// What is not there is not told.
#[tokio::test]
async fn a_post_that_nobody_reported_has_neither_reason_nor_comment() {
    let mut subject = Subject { content: samples::post().into(), ..subject() };
    (subject.case.reason, subject.case.reporter_ids) = (None, Vec::new());
    let body = String::from_utf8(asked(&subject).await.body).unwrap();
    assert!(body.contains(r#""reports":0,"post":"#), "{body}");
    assert!(!body.contains("reason") && !body.contains("comment") && !body.contains("groupId"));
}

/// The same question has the same id, so that a service can answer it once; another text is another
/// question.
#[tokio::test]
async fn ids_follow_what_is_asked() {
    let id = async |subject: &Subject| asked(subject).await.headers["webhook-id"].clone();
    let mut subject = subject();
    let first = id(&subject).await;
    assert_eq!(id(&subject).await, first);
    subject.content.post.score = None;
    assert_eq!(id(&subject).await, first, "what is not asked makes no difference");
    subject.content.post.content.push('!');
    assert_ne!(id(&subject).await, first);
}
