//! The message to a moderation service.

use roundtable_domain::{AutoModerator, ModeratedContent, ModerationSubject};
use roundtable_hooks::WebhookModerator;
use roundtable_model::samples;

use crate::answers::subject;
use crate::loopback::{Loopback, Reaction, Received};
use crate::sending::client;

async fn sent_message(subject: &ModerationSubject) -> Received {
    let mut service = Loopback::doing(Reaction::json(r#"{"decision":"approve"}"#)).await;
    WebhookModerator::new(client(&service.url())).review(subject).await.unwrap();
    service.received().await
}

/// R34: the case, as documented.
#[tokio::test]
async fn a_message_describes_the_case() {
    let mut subject = subject();
    subject.content.post.content = "Sixteen kilometres".into();
    let request = sent_message(&subject).await;
    let (case, ModeratedContent { post, comment }) = (&subject.case, &subject.content);
    let comment = comment.as_ref().unwrap();
    let (reason, comment_text) = (case.reason.as_deref().unwrap(), &comment.content);
    let expected = format!(
        concat!(
            r#"{{"type":"moderation.case.pending","timestamp":"{opened}","data":{{"#,
            r#""caseId":"{case}","reason":"{reason}","reports":{reports},"#,
            r#""post":{{"id":"{post}","authorId":"{author}","authorNickname":"ana_runs","#,
            r#""content":"Sixteen kilometres","contentType":"image","#,
            r#""media":[{{"key":"{key}","contentType":"image/jpeg","width":2048,"height":1536}}],"#,
            r#""visibility":"public","createdAt":"{posted}"}},"#,
            r#""comment":{{"id":"{id}","authorId":"{commenter}","content":"{comment_text}","#,
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
        comment_text = comment_text,
        commented = comment.created_at,
    );
    assert_eq!(String::from_utf8(request.body).unwrap(), expected);
    assert!(request.headers["webhook-id"].starts_with(&format!("{}-", case.id)));
}

/// I9: reporters are not revealed.
#[tokio::test]
async fn reporters_are_counted_and_not_named() {
    let mut subject = subject();
    subject.case.reporter_ids = vec!["the-neighbour".parse().unwrap(), "bo".parse().unwrap()];
    let request = sent_message(&subject).await;
    let body = String::from_utf8(request.body).unwrap();
    assert!(body.contains(r#""reports":2"#) && !body.contains("the-neighbour"), "{body}");
}

#[tokio::test]
async fn an_unreported_post_has_neither_reason_nor_comment() {
    let mut subject = ModerationSubject { content: samples::post().into(), ..subject() };
    (subject.case.reason, subject.case.reporter_ids) = (None, Vec::new());
    let body = String::from_utf8(sent_message(&subject).await.body).unwrap();
    assert!(body.contains(r#""reports":0,"post":"#), "{body}");
    assert!(!body.contains("reason") && !body.contains("comment") && !body.contains("groupId"));
}

/// The same message has the same id, so that a service can answer it once; another text has another id.
#[tokio::test]
async fn message_ids_follow_the_content() {
    let id = async |subject: &ModerationSubject| {
        sent_message(subject).await.headers["webhook-id"].clone()
    };
    let mut subject = subject();
    let first = id(&subject).await;
    assert_eq!(id(&subject).await, first);
    subject.content.post.score = None;
    assert_eq!(id(&subject).await, first, "what is not asked makes no difference");
    subject.content.post.content.push('!');
    assert_ne!(id(&subject).await, first);
}
