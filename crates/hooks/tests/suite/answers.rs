//! What a judge behind a URL answers, and what becomes of everything that is not an answer.

use roundtable_domain::{Content, Judge, JudgeError, Subject, Verdict};
use roundtable_hooks::WebhookJudge;
use roundtable_model::samples;

use crate::loopback::{Loopback, Told};
use crate::sending::courier;

pub(crate) fn subject() -> Subject {
    let content = Content { post: samples::post(), comment: Some(samples::comment()) };
    Subject { case: samples::moderation_case(), content }
}

async fn ask(told: Told) -> Result<Verdict, JudgeError> {
    let service = Loopback::doing(told).await;
    WebhookJudge::new(courier(&service.url())).judge(&subject()).await
}

/// R34: every decision that a hook can make.
#[tokio::test]
async fn answers_are_verdicts() {
    for (answer, verdict) in [
        (r#"{"decision":"approve"}"#, Verdict::Approve),
        (r#"{"decision":"approve","reason":null,"score":0.1}"#, Verdict::Approve),
        (r#"{"decision":"reject","reason":"spam"}"#, Verdict::Reject("spam".into())),
        (r#" {"reason":"odd","decision":"flag"} "#, Verdict::Flag("odd".into())),
        (r#"{"decision":"undecided","reason":"hm"}"#, Verdict::Undecided),
    ] {
        assert_eq!(ask(Told::json(answer)).await, Ok(verdict), "{answer}");
    }
    let kind = "Application/JSON; charset=utf-8";
    let told = Told::answer("200 OK", kind, r#"{"decision":"approve"}"#);
    assert_eq!(ask(told).await, Ok(Verdict::Approve));
}

/// R34: whatever else comes decides nothing, and says what was wrong.
#[tokio::test]
async fn nonsense_is_no_verdict() {
    let approve = r#"{"decision":"approve"}"#;
    let json = "application/json";
    let long = format!(r#"{{"decision":"{}"}}"#, "x".repeat(10_000));
    for (told, what) in [
        (Told::answer("500 Internal Server Error", json, approve), "answered 500 Internal"),
        (Told::answer("201 Created", json, approve), "answered 201 Created"),
        (Told::answer("302 Found", json, approve), "answered 302 Found"),
        (Told::answer("200 OK", "text/html", approve), "not application/json"),
        (Told::raw(format!("HTTP/1.1 200 OK\r\n\r\n{approve}")), "not application/json"),
        (Told::json(""), "makes no sense"),
        (Told::json("approve"), "makes no sense"),
        (Told::json(r#""approve""#), "makes no sense"),
        (Told::json(r#"{"decision":true}"#), "makes no sense"),
        (Told::json(r#"{"reason":"spam"}"#), "missing field `decision`"),
        (Told::json(r#"{"decision":"approve"} and more"#), "trailing characters"),
        (Told::json(r#"{"decision":"approve","decision":"reject"}"#), "duplicate field"),
        (Told::json(r#"{"decision":"Approve"}"#), "decided \"Approve\", which is none of"),
        (Told::json(&long), "which is none of"),
        (Told::json(r#"{"decision":"reject"}"#), "no reason for its decision to reject"),
        (Told::json(r#"{"decision":"flag","reason":" "}"#), "no reason for its decision to flag"),
        (Told::json(&" ".repeat(70_000)), "larger than 65536 bytes"),
        (Told::raw("hello\r\n\r\n"), "cannot be reached"),
        (Told::raw(""), "cannot be reached"),
    ] {
        let shown = format!("{told:?}");
        let JudgeError(error) = ask(told).await.unwrap_err();
        assert!(
            error.contains(what),
            "{error} instead of {what}: {}",
            &shown[..shown.len().min(99)]
        );
        assert!(error.len() < 300, "what others say is not repeated at length");
    }
}
