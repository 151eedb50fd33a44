//! GraphQL client. Values are passed as variables, never inserted into the query.

use integration_kit::http::{Head, Http, Request, Response};
use integration_kit::json::{Json, Value, json};
use integration_kit::service::paging::{Page, Pages, follow};
use integration_kit::service::status;
use integration_kit::text::{cut, line};
use integration_kit::{QueryError, Question};

/// Items per page. Linear limits the complexity of a query, so larger pages of nested items would be rejected.
const PAGE: usize = 50;

/// Maximum number of characters of Linear's error message.
const MESSAGE_CHARS: usize = 300;

/// The Linear API.
pub struct Linear<'a> {
    http: &'a dyn Http,
    address: String,
    progress: &'a dyn Fn(&str),
    pub now: u64,
}

impl<'a> Linear<'a> {
    pub fn new(http: &'a dyn Http, question: &Question, progress: &'a dyn Fn(&str)) -> Self {
        let address = format!("{}/graphql", question.address.trim_end_matches('/'));
        Self { http, address, progress, now: question.now }
    }

    /// Reports progress.
    pub fn report(&self, what: &str) {
        (self.progress)(what);
    }

    /// Returns the `data` of the response. `what` names it in the message if it does not exist.
    pub fn query(&self, query: &str, variables: &Value, what: &str) -> Result<Value, QueryError> {
        let body = json!({"query": query, "variables": variables}).to_string();
        let request = Request::post(self.address.as_str(), body.into_bytes())
            .with("user-agent", "skillcell")
            .with("content-type", "application/json")
            .with("accept", "application/json");
        let response = self.http.send(&request)?;
        let answer = serde_json::from_slice::<Value>(&response.body);
        // Linear reports failures in `errors`, whatever the status.
        if let Some(error) = answer.as_ref().ok().and_then(|answer| answer.list("errors").first()) {
            return Err(refused(error, &response.head, self.now, what));
        }
        understood(&request, &response, answer, self.now, what)
    }

    /// Reads a list of at most `max` pages. `place` is its path in the response.
    pub fn list(
        &self,
        query: &str,
        variables: &Value,
        place: &str,
        what: &str,
        max: usize,
    ) -> Result<Pages, QueryError> {
        follow(max, |after| {
            let mut variables = variables.clone();
            variables["first"] = json!(PAGE);
            variables["after"] = json!(after);
            let data = self.query(query, &variables, what)?;
            let nodes = data.at(&format!("{place}.nodes")).and_then(Value::as_array);
            let Some(nodes) = nodes else { return Err(odd(what)) };
            let info = format!("{place}.pageInfo");
            let next = data.text(&format!("{info}.endCursor")).filter(|_| data.is(&format!("{info}.hasNextPage")));
            Ok(Page { items: nodes.clone(), next: next.map(str::to_owned) })
        })
    }
}

fn understood(
    request: &Request,
    response: &Response,
    answer: Result<Value, serde_json::Error>,
    now: u64,
    what: &str,
) -> Result<Value, QueryError> {
    if let Some(error) = status::failure(request, response, now, what) {
        return Err(error);
    }
    let mut answer = answer
        .map_err(|error| QueryError::Failed(format!("the answer to {} is not JSON: {error}", request.describe())))?;
    match answer.get_mut("data").map(Value::take) {
        Some(data @ Value::Object(_)) => Ok(data),
        _ => Err(odd(what)),
    }
}

fn odd(what: &str) -> QueryError {
    QueryError::Failed(format!("asked for {what}, but Linear answered something else"))
}

/// Converts an entry of `errors`.
fn refused(error: &Value, head: &Head, now: u64, what: &str) -> QueryError {
    let reason = error.text("extensions.userPresentableMessage").or_else(|| error.text("message"));
    let reason = cut(&line(reason.unwrap_or("Linear failed and did not say why")), MESSAGE_CHARS);
    let message = error.text("message").unwrap_or_default().to_lowercase();
    let code = error.text("extensions.code").or_else(|| error.text("extensions.type")).unwrap_or_default();
    match code.to_uppercase().replace(' ', "_").as_str() {
        "RATELIMITED" => QueryError::RateLimited(wait(head, now)),
        "AUTHENTICATION_ERROR" => QueryError::Unauthorized(reason),
        "FORBIDDEN" | "FEATURE_NOT_ACCESSIBLE" => QueryError::Forbidden(reason),
        _ if message.starts_with("entity not found") => QueryError::NotFound(what.to_owned()),
        _ if head.status == 401 => QueryError::Unauthorized(reason),
        _ if head.status == 403 => QueryError::Forbidden(reason),
        _ if head.status == 429 => QueryError::RateLimited(wait(head, now)),
        _ if message.contains("complex") => {
            QueryError::Failed(format!("Linear rejects this question as too complex: {reason}"))
        }
        _ => QueryError::Failed(reason),
    }
}

/// Returns the seconds until all exhausted limits are reset. Linear sends timestamps in milliseconds.
fn wait(head: &Head, now: u64) -> Option<u64> {
    let reset = |limit: &str| {
        let left = head.header(&format!("x-ratelimit-{limit}-remaining"))?;
        let moment: u64 = head.header(&format!("x-ratelimit-{limit}-reset"))?.parse().ok()?;
        (left == "0").then(|| moment.div_ceil(1000).saturating_sub(now))
    };
    let limits = ["requests", "complexity", "endpoint-requests"];
    status::wait(head, now).or_else(|| limits.into_iter().filter_map(reset).max())
}
