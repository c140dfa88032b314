//! Calls for help.

use serde_json::{Value, json};

use crate::stage::{Stage, each};

/// R16: a call for help is between one person and their helpers.
#[tokio::test]
async fn help_is_asked_for_and_given_and_nobody_else_hears() {
    let stage = Stage::of(["ana", "bo", "cleo"]).await;
    let ask = "mutation { createAssistThread(helperIds: [\"bo\"]) { id userId helperIds } }";
    let thread = stage.ask("ana", ask).await["createAssistThread"].take();
    assert_eq!((&thread["userId"], &thread["helperIds"]), (&json!("ana"), &json!(["bo"])));
    for (name, text) in [("ana", "how?"), ("bo", "so")] {
        let said = format!(
            "mutation {{ sendAssistMessage(threadId: {}, text: \"{text}\") {{ threadId }} }}",
            thread["id"]
        );
        assert_eq!(stage.ask(name, &said).await["sendAssistMessage"]["threadId"], thread["id"]);
    }
    let read = format!(
        "{{ listAssistMessages(threadId: {id}, sortDirection: ASC) {{ items {{ text userId }} }}
            getAssistThread(id: {id}) {{ id }} listAssistThreads {{ items {{ id }} }} }}",
        id = thread["id"]
    );
    let seen = stage.ask("bo", &read).await;
    assert_eq!(each(&seen["listAssistMessages"], "text"), ["how?", "so"]);
    assert_eq!(seen["listAssistThreads"]["items"][0]["id"], thread["id"]);
    assert_eq!(stage.refused("cleo", &read).await, "NOT_FOUND");
    let get = format!("{{ getAssistThread(id: {}) {{ id }} }}", thread["id"]);
    assert_eq!(stage.ask("cleo", &get).await["getAssistThread"], Value::Null);
}
