//! Assist threads.

use serde_json::{Value, json};

use crate::api_town::{ApiTown, fields};

/// R16: an assist thread is between one user and their helpers.
#[tokio::test]
async fn only_participants_see_an_assist_thread() {
    let api = ApiTown::of(["ana", "bo", "cleo"]).await;
    let document = "mutation { createAssistThread(helperIds: [\"bo\"]) { id userId helperIds } }";
    let thread = api.run("ana", document).await["createAssistThread"].take();
    assert_eq!((&thread["userId"], &thread["helperIds"]), (&json!("ana"), &json!(["bo"])));
    for (name, text) in [("ana", "how?"), ("bo", "so")] {
        let said = format!(
            "mutation {{ sendAssistMessage(threadId: {}, text: \"{text}\") {{ threadId }} }}",
            thread["id"]
        );
        assert_eq!(api.run(name, &said).await["sendAssistMessage"]["threadId"], thread["id"]);
    }
    let read = format!(
        "{{ listAssistMessages(threadId: {id}, sortDirection: ASC) {{ items {{ text userId }} }}
            getAssistThread(id: {id}) {{ id }} listAssistThreads {{ items {{ id }} }} }}",
        id = thread["id"]
    );
    let data = api.run("bo", &read).await;
    assert_eq!(fields(&data["listAssistMessages"], "text"), ["how?", "so"]);
    assert_eq!(data["listAssistThreads"]["items"][0]["id"], thread["id"]);
    assert_eq!(api.error_code("cleo", &read).await, "NOT_FOUND");
    let get = format!("{{ getAssistThread(id: {}) {{ id }} }}", thread["id"]);
    assert_eq!(api.run("cleo", &get).await["getAssistThread"], Value::Null);
}
