//! `roundtable xray`: what a query costs, operation by operation, and what DynamoDB would ask for it.

mod asking;
mod sheet;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use roundtable_model::capacity::Prices;
use serde_json::{Value, json};

use self::sheet::Sheet;
use crate::Outcome;
use crate::failure::Failure;

/// What to ask, and whom.
#[derive(Args, Debug)]
#[command(after_help = "\
The query is run, with all its effects. The server must allow it: graphql.xray = true.
Units are those that DynamoDB would count, on any store; prices are the published ones that this program
carries, without storage and transfer.

Exit status: 0 it was answered, 1 the answer has errors, or there was none.

Examples:
  roundtable xray feed.graphql --token \"$TOKEN\"
  roundtable xray posts.graphql --variables '{\"tag\": \"gardening\"}' --server http://127.0.0.1:4001")]
pub(crate) struct Xray {
    /// A GraphQL document
    #[arg(value_name = "FILE.graphql")]
    file: PathBuf,
    /// The server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4000")]
    server: String,
    /// An access token or a key for programs [default: the variable ROUNDTABLE_TOKEN, or nobody's]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// The variables of the query
    #[arg(long, value_name = "JSON", value_parser = object, default_value = "{}")]
    variables: Value,
    /// Which of several operations of the document
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Prints what the server told, as JSON
    #[arg(long)]
    json: bool,
}

fn object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(String::from("expected an object such as {\"id\": \"…\"}")),
        Err(error) => Err(error.to_string()),
    }
}

impl Xray {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<Outcome, Failure> {
        let document = fs::read_to_string(&self.file).map_err(Failure::file(&self.file))?;
        let mut body = json!({ "query": document, "variables": self.variables });
        if let (Some(operation), Some(members)) = (self.operation, body.as_object_mut()) {
            members.insert(String::from("operationName"), operation.into());
        }
        let token = self.token.or_else(|| std::env::var("ROUNDTABLE_TOKEN").ok());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let asked = asking::ask(&self.server, token.as_deref(), &body);
        let answer = runtime.map_err(Failure::Start)?.block_on(asked)?;
        let errors =
            answer.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for error in errors {
            let code = error.pointer("/extensions/code").and_then(Value::as_str).unwrap_or("ERROR");
            writeln!(
                out,
                "{code}: {}",
                error.get("message").and_then(Value::as_str).unwrap_or_default()
            )?;
        }
        let outcome = if errors.is_empty() { Outcome::Well } else { Outcome::Found };
        let told = answer.pointer("/extensions/xray").unwrap_or(&Value::Null);
        if self.json {
            writeln!(out, "{told:#}")?;
            return Ok(outcome);
        }
        let prices = Prices::published().map_err(|error| Failure::Capacity {
            source_name: String::from("the published prices"),
            error: Box::new(error),
        })?;
        match Sheet::read(told) {
            Some(sheet) => write!(out, "{}", sheet.priced(&prices))?,
            // Without it, an answer that is all errors has told enough.
            None if outcome == Outcome::Found => {}
            None => return Err(Failure::NoXray),
        }
        Ok(outcome)
    }
}
