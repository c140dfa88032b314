//! `roundtable xray`: the cost of a query, operation by operation, with DynamoDB's price for it.

mod cost_report;
mod request;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use roundtable_planning::capacity::Prices;
use serde_json::{Value, json};

use self::cost_report::CostReport;
use crate::CommandOutcome;
use crate::error::CommandError;

#[derive(Args, Debug)]
#[command(after_help = "\
The query is executed, with all its effects. The server must permit it: graphql.xray = true.
Units are those that DynamoDB would count, on any store; prices are the published ones built into this
program, without storage and transfer.

Exit status: 0 success, 1 the response has errors, or there was none.

Examples:
  roundtable xray feed.graphql --token \"$TOKEN\"
  roundtable xray posts.graphql --variables '{\"tag\": \"gardening\"}' --server http://127.0.0.1:4001")]
pub(crate) struct XrayArgs {
    /// A file with a GraphQL document
    #[arg(value_name = "FILE.graphql")]
    file: PathBuf,
    /// The URL of the server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:4000")]
    server: String,
    /// An access token or API key [default: ROUNDTABLE_TOKEN, or anonymous]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// The variables of the query, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = object, default_value = "{}")]
    variables: Value,
    /// The operation to run, if the document has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Prints the server's cost report as JSON
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

impl XrayArgs {
    pub(crate) fn run(self, out: &mut impl Write) -> Result<CommandOutcome, CommandError> {
        let document = fs::read_to_string(&self.file).map_err(CommandError::file(&self.file))?;
        let mut body = json!({ "query": document, "variables": self.variables });
        if let (Some(operation), Some(members)) = (self.operation, body.as_object_mut()) {
            members.insert(String::from("operationName"), operation.into());
        }
        let token = self.token.or_else(|| std::env::var("ROUNDTABLE_TOKEN").ok());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let exchange = request::send(&self.server, token.as_deref(), &body);
        let response = runtime.map_err(CommandError::Start)?.block_on(exchange)?;
        let errors =
            response.get("errors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for error in errors {
            let code = error.pointer("/extensions/code").and_then(Value::as_str).unwrap_or("ERROR");
            writeln!(
                out,
                "{code}: {}",
                error.get("message").and_then(Value::as_str).unwrap_or_default()
            )?;
        }
        let outcome =
            if errors.is_empty() { CommandOutcome::Success } else { CommandOutcome::Findings };
        let reported = response.pointer("/extensions/xray").unwrap_or(&Value::Null);
        if self.json {
            writeln!(out, "{reported:#}")?;
            return Ok(outcome);
        }
        let prices = Prices::published().map_err(|error| CommandError::Capacity {
            source_name: String::from("the published prices"),
            error: Box::new(error),
        })?;
        match CostReport::read(reported) {
            Some(report) => write!(out, "{}", report.priced(&prices))?,
            // A response of errors alone may have no cost report.
            None if outcome == CommandOutcome::Findings => {}
            None => return Err(CommandError::NoXray),
        }
        Ok(outcome)
    }
}
