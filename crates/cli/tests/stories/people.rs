//! Those who act in stories: each is somebody with an account, who asks as clients do.

use serde_json::{Value, json};

use super::scene::{Scene, Style, text};

const REGISTER: &str =
    "mutation ($email: AWSEmail!, $nickname: String!, $password: String!, $once: ID) {
    register(input: { email: $email, nickname: $nickname, password: $password }, requestId: $once) {
        accessToken refreshToken tokenType user { id nickname } } }";
const LOGIN: &str = "mutation ($email: AWSEmail!, $password: String!) {
    login(email: $email, password: $password) { accessToken refreshToken user { id } } }";

/// What everybody's password is.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// What an answer has anew each time it is asked for: proofs, and signed addresses.
const ANEW: [&str; 6] =
    ["accessToken", "refreshToken", "expiresIn", "url", "uploadUrl", "expiresAt"];

/// Somebody.
pub(crate) struct Person<'s> {
    pub(super) scene: &'s Scene,
    /// Which server they go to.
    pub(super) door: usize,
    pub(crate) id: String,
    pub(crate) nickname: String,
    pub(crate) token: Option<String>,
    pub(crate) refresh_token: String,
}

impl Scene {
    /// Somebody who signs up, under this name and a number.
    pub(crate) async fn newcomer(&self, name: &str) -> Person<'_> {
        let mut person = self.stranger();
        person.nickname = format!("{name}{}", person.door);
        let signed_up = person.ask(REGISTER, person.proof(PASSWORD)).await["register"].take();
        assert_eq!(signed_up["user"]["nickname"], person.nickname.as_str());
        person.id = text(&signed_up["user"]["id"]);
        person.token = Some(text(&signed_up["accessToken"]));
        person.refresh_token = text(&signed_up["refreshToken"]);
        person
    }

    /// Somebody without an account.
    pub(crate) fn stranger(&self) -> Person<'_> {
        let (id, nickname, refresh_token) = (String::new(), String::new(), String::new());
        Person { scene: self, door: self.number(), id, nickname, token: None, refresh_token }
    }

    /// Somebody who signs up and is made a moderator.
    pub(crate) async fn moderator(&self, name: &str) -> Person<'_> {
        let mut person = self.newcomer(name).await;
        self.grant(&person.nickname);
        // What the old token says of them is outdated.
        let signed_in = person.log_in(PASSWORD).await["data"]["login"].take();
        person.token = Some(text(&signed_in["accessToken"]));
        person
    }
}

impl Person<'_> {
    /// Who they are, and what proves it.
    pub(crate) fn proof(&self, password: &str) -> Value {
        let email = format!("{}@example.org", self.nickname);
        json!({ "email": email, "nickname": self.nickname, "password": password })
    }

    /// What they are told when they sign in.
    pub(crate) async fn log_in(&self, password: &str) -> Value {
        let mut proof = self.proof(password);
        proof.as_object_mut().unwrap().remove("nickname");
        self.answer(LOGIN, proof).await
    }

    /// What a document gives; nothing of it may be refused.
    pub(crate) async fn ask(&self, document: &str, variables: Value) -> Value {
        let mut answer = self.answer(document, variables).await;
        assert!(answer["errors"].is_null(), "{}: {document}: {answer}", self.nickname);
        answer["data"].take()
    }

    /// The code with which a document is refused.
    pub(crate) async fn refused(&self, document: &str, variables: Value) -> String {
        let answer = self.answer(document, variables).await;
        let code = answer["errors"][0]["extensions"]["code"].as_str();
        let code = code.unwrap_or_else(|| panic!("{}: {document}: {answer}", self.nickname));
        assert_eq!(answer["errors"][0]["errorType"], code, "{answer}");
        code.to_owned()
    }

    /// Asks until the answer is as it has to become; that answer.
    pub(crate) async fn sees(
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

    /// What is answered to a document; what tells of a request id is asked in the manner of the scene.
    async fn answer(&self, document: &str, mut variables: Value) -> Value {
        let is_told_apart = document.contains("$once");
        if !is_told_apart || self.scene.style == Style::Plain {
            return self.send(self.door, document, &variables).await;
        }
        variables["once"] = format!("request {}", self.scene.number()).into();
        let first = self.send(self.door, document, &variables).await;
        let again = self.send(self.door + 1, document, &variables).await;
        let same = (lasting(first.clone()), lasting(again));
        assert_eq!(same.0, same.1, "{}: {document}", self.nickname);
        first
    }

    async fn send(&self, door: usize, document: &str, variables: &Value) -> Value {
        self.try_send(door, document, variables).await.unwrap()
    }

    /// What a server answers, if one is there.
    pub(super) async fn try_send(
        &self,
        door: usize,
        document: &str,
        variables: &Value,
    ) -> reqwest::Result<Value> {
        let url = format!("{}/graphql", self.scene.door(door));
        let body = json!({ "query": document, "variables": variables });
        let mut request = self.scene.http.post(url).json(&body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request.send().await?.json().await
    }
}

/// An answer without what is anew each time.
fn lasting(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.retain(|name, _| !ANEW.contains(&name.as_str()));
            fields.values_mut().for_each(|value| *value = lasting(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = lasting(item.take())),
        _ => {}
    }
    answer
}
