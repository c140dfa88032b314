//! The users of stories: each has an account, and uses the API as clients do.

use serde_json::{Value, json};

use super::scene::{Scene, Style, text};

const REGISTER: &str =
    "mutation ($email: AWSEmail!, $nickname: String!, $password: String!, $once: ID) {
    register(input: { email: $email, nickname: $nickname, password: $password }, requestId: $once) {
        accessToken refreshToken tokenType user { id nickname } } }";
const LOGIN: &str = "mutation ($email: AWSEmail!, $password: String!) {
    login(email: $email, password: $password) { accessToken refreshToken user { id } } }";

pub(crate) const PASSWORD: &str = "correct horse battery";

/// Fields that differ in every response: credentials and signed URLs.
const VOLATILE_FIELDS: [&str; 6] =
    ["accessToken", "refreshToken", "expiresIn", "url", "uploadUrl", "expiresAt"];

pub(crate) struct Person<'s> {
    pub(super) scene: &'s Scene,
    /// The index of their server.
    pub(super) server: usize,
    pub(crate) id: String,
    pub(crate) nickname: String,
    pub(crate) token: Option<String>,
    pub(crate) refresh_token: String,
}

impl Scene {
    /// A user who signs up under this name and a number.
    pub(crate) async fn sign_up(&self, name: &str) -> Person<'_> {
        let mut person = self.anonymous();
        person.nickname = format!("{name}{}", person.server);
        let signed_up = person.ask(REGISTER, person.credential(PASSWORD)).await["register"].take();
        assert_eq!(signed_up["user"]["nickname"], person.nickname.as_str());
        person.id = text(&signed_up["user"]["id"]);
        person.token = Some(text(&signed_up["accessToken"]));
        person.refresh_token = text(&signed_up["refreshToken"]);
        person
    }

    pub(crate) fn anonymous(&self) -> Person<'_> {
        let (id, nickname, refresh_token) = (String::new(), String::new(), String::new());
        Person { scene: self, server: self.number(), id, nickname, token: None, refresh_token }
    }

    /// A user who signs up and is made a moderator.
    pub(crate) async fn moderator(&self, name: &str) -> Person<'_> {
        let mut person = self.sign_up(name).await;
        self.grant(&person.nickname);
        // The old token lacks the role.
        let signed_in = person.log_in(PASSWORD).await["data"]["login"].take();
        person.token = Some(text(&signed_in["accessToken"]));
        person
    }
}

impl Person<'_> {
    pub(crate) fn credential(&self, password: &str) -> Value {
        let email = format!("{}@example.org", self.nickname);
        json!({ "email": email, "nickname": self.nickname, "password": password })
    }

    pub(crate) async fn log_in(&self, password: &str) -> Value {
        let mut credential = self.credential(password);
        credential.as_object_mut().unwrap().remove("nickname");
        self.answer(LOGIN, credential).await
    }

    /// The data of a response, which must have no errors.
    pub(crate) async fn ask(&self, document: &str, variables: Value) -> Value {
        let mut answer = self.answer(document, variables).await;
        assert!(answer["errors"].is_null(), "{}: {document}: {answer}", self.nickname);
        answer["data"].take()
    }

    /// The error code of a refused document.
    pub(crate) async fn refused(&self, document: &str, variables: Value) -> String {
        let answer = self.answer(document, variables).await;
        let code = answer["errors"][0]["extensions"]["code"].as_str();
        let code = code.unwrap_or_else(|| panic!("{}: {document}: {answer}", self.nickname));
        assert_eq!(answer["errors"][0]["errorType"], code, "{answer}");
        code.to_owned()
    }

    /// Repeats a query until the response satisfies the predicate; returns it.
    pub(crate) async fn wait_for(
        &self,
        document: &str,
        variables: Value,
        is_so: impl Fn(&Value) -> bool,
    ) -> Value {
        let deadline = self.scene.deadline();
        loop {
            let answer = self.ask(document, variables.clone()).await;
            if is_so(&answer) {
                return answer;
            }
            deadline.wait(format_args!("{}: {document}: {answer}", self.nickname)).await;
        }
    }

    /// Sends a document; mutations with a request id are sent in the scene's style.
    async fn answer(&self, document: &str, mut variables: Value) -> Value {
        let is_told_apart = document.contains("$once");
        if !is_told_apart || self.scene.style == Style::Plain {
            return self.send(self.server, document, &variables).await;
        }
        variables["once"] = format!("request {}", self.scene.number()).into();
        let first = self.send(self.server, document, &variables).await;
        let again = self.send(self.server + 1, document, &variables).await;
        let same = (without_volatile_fields(first.clone()), without_volatile_fields(again));
        assert_eq!(same.0, same.1, "{}: {document}", self.nickname);
        first
    }

    async fn send(&self, server: usize, document: &str, variables: &Value) -> Value {
        self.try_send(server, document, variables).await.unwrap()
    }

    /// The response of a server, if it is up.
    pub(super) async fn try_send(
        &self,
        server: usize,
        document: &str,
        variables: &Value,
    ) -> reqwest::Result<Value> {
        let url = format!("{}/graphql", self.scene.server(server));
        let body = json!({ "query": document, "variables": variables });
        let mut request = self.scene.http.post(url).json(&body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request.send().await?.json().await
    }
}

/// A response without the fields that differ every time.
fn without_volatile_fields(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE_FIELDS.contains(&name.as_str()));
            fields.values_mut().for_each(|value| *value = without_volatile_fields(value.take()));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = without_volatile_fields(item.take()));
        }
        _ => {}
    }
    answer
}
