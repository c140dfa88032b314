//! Answers of a moderation service, and invalid ones.

use roundtable_domain::{
    AutoModerator, AutoModeratorError, ModeratedContent, ModerationSubject, Verdict,
};
use roundtable_hooks::WebhookModerator;
use roundtable_model::samples;

use crate::loopback::{Loopback, Reaction};
use crate::sending::client;

pub(crate) fn subject() -> ModerationSubject {
    let content = ModeratedContent { post: samples::post(), comment: Some(samples::comment()) };
    ModerationSubject { case: samples::moderation_case(), content }
}

async fn ask(reaction: Reaction) -> Result<Verdict, AutoModeratorError> {
    let service = Loopback::doing(reaction).await;
    WebhookModerator::new(client(&service.url())).review(&subject()).await
}

/// R34: every decision that a hook can make.
#[tokio::test]
async fn valid_answers_are_verdicts() {
    for (answer, verdict) in [
        (r#"{"decision":"approve"}"#, Verdict::Approve),
        (r#"{"decision":"approve","reason":null,"score":0.1}"#, Verdict::Approve),
        (r#"{"decision":"reject","reason":"spam"}"#, Verdict::Reject("spam".into())),
        (r#" {"reason":"odd","decision":"flag"} "#, Verdict::Flag("odd".into())),
        (r#"{"decision":"undecided","reason":"hm"}"#, Verdict::Undecided),
    ] {
        assert_eq!(ask(Reaction::json(answer)).await, Ok(verdict), "{answer}");
    }
    let kind = "Application/JSON; charset=utf-8";
    let reaction = Reaction::answer("200 OK", kind, r#"{"decision":"approve"}"#);
    assert_eq!(ask(reaction).await, Ok(Verdict::Approve));
}

/// R34: any other answer decides nothing, and the error says why.
#[tokio::test]
async fn an_invalid_answer_is_no_verdict() {
    let approve = r#"{"decision":"approve"}"#;
    let json = "application/json";
    let long = format!(r#"{{"decision":"{}"}}"#, "x".repeat(10_000));
    for (reaction, what) in [
        (
            Reaction::answer("500 Internal Server Error", json, approve),
            "responded with 500 Internal",
        ),
        (Reaction::answer("201 Created", json, approve), "responded with 201 Created"),
        (Reaction::answer("302 Found", json, approve), "responded with 302 Found"),
        (Reaction::answer("200 OK", "text/html", approve), "not application/json"),
        (Reaction::raw(format!("HTTP/1.1 200 OK\r\n\r\n{approve}")), "not application/json"),
        (Reaction::json(""), "is invalid"),
        (Reaction::json("approve"), "is invalid"),
        (Reaction::json(r#""approve""#), "is invalid"),
        (Reaction::json(r#"{"decision":true}"#), "is invalid"),
        (Reaction::json(r#"{"reason":"spam"}"#), "missing field `decision`"),
        (Reaction::json(r#"{"decision":"approve"} and more"#), "trailing characters"),
        (Reaction::json(r#"{"decision":"approve","decision":"reject"}"#), "duplicate field"),
        (
            Reaction::json(r#"{"decision":"Approve"}"#),
            "decided \"Approve\", expected approve, reject, flag or undecided",
        ),
        (Reaction::json(&long), "expected approve, reject, flag or undecided"),
        (Reaction::json(r#"{"decision":"reject"}"#), "no reason for its decision to reject"),
        (
            Reaction::json(r#"{"decision":"flag","reason":" "}"#),
            "no reason for its decision to flag",
        ),
        (Reaction::json(&" ".repeat(70_000)), "larger than 65536 bytes"),
        (Reaction::raw("hello\r\n\r\n"), "cannot be reached"),
        (Reaction::raw(""), "cannot be reached"),
    ] {
        let shown = format!("{reaction:?}");
        let AutoModeratorError(error) = ask(reaction).await.unwrap_err();
        assert!(
            error.contains(what),
            "{error} instead of {what}: {}",
            &shown[..shown.len().min(99)]
        );
        assert!(error.len() < 300, "what others say is not repeated at length");
    }
}
