//! Questions in GraphQL: values go in variables, never into the text of a query.

use integration_kit::http::{Head, Http, Request, Response};
use integration_kit::json::{Json, Value, json};
use integration_kit::service::paging::{Page, Pages, follow};
use integration_kit::service::status;
use integration_kit::text::{cut, line};
use integration_kit::{QueryError, Question};

/// Things on one page. Linear counts each of them against a limit, so that more would be refused where they have parts.
const PAGE: usize = 50;

/// Most of what Linear says about a failure, in characters.
const MESSAGE_CHARS: usize = 300;

/// Where Linear is.
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

    /// Shows what is being done.
    pub fn tell(&self, what: &str) {
        (self.progress)(what);
    }

    /// The `data` of the answer. `what` names it in the message when there is nothing.
    pub fn query(&self, query: &str, variables: &Value, what: &str) -> Result<Value, QueryError> {
        let body = json!({"query": query, "variables": variables}).to_string();
        let request = Request::post(self.address.as_str(), body.into_bytes())
            .with("user-agent", "skillcell")
            .with("content-type", "application/json")
            .with("accept", "application/json");
        let response = self.http.send(&request)?;
        let answer = serde_json::from_slice::<Value>(&response.body);
        // Linear says what is wrong in `errors`, whatever the status.
        if let Some(error) = answer.as_ref().ok().and_then(|answer| answer.list("errors").first()) {
            return Err(refused(error, &response.head, self.now, what));
        }
        understood(&request, &response, answer, self.now, what)
    }

    /// A list from at most so many pages. `place` is where it is in the answer.
    pub fn list(
        &self,
        query: &str,
        variables: &Value,
        place: &str,
        what: &str,
        most: usize,
    ) -> Result<Pages, QueryError> {
        follow(most, |after| {
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
        .map_err(|error| QueryError::Failed(format!("the answer to {} is no JSON: {error}", request.describe())))?;
    match answer.get_mut("data").map(Value::take) {
        Some(data @ Value::Object(_)) => Ok(data),
        _ => Err(odd(what)),
    }
}

fn odd(what: &str) -> QueryError {
    QueryError::Failed(format!("asked for {what}, and Linear answered something else"))
}

/// What an entry of `errors` means.
fn refused(error: &Value, head: &Head, now: u64, what: &str) -> QueryError {
    let said = error.text("extensions.userPresentableMessage").or_else(|| error.text("message"));
    let said = cut(&line(said.unwrap_or("Linear failed and did not say why")), MESSAGE_CHARS);
    let message = error.text("message").unwrap_or_default().to_lowercase();
    let code = error.text("extensions.code").or_else(|| error.text("extensions.type")).unwrap_or_default();
    match code.to_uppercase().replace(' ', "_").as_str() {
        "RATELIMITED" => QueryError::RateLimited(wait(head, now)),
        "AUTHENTICATION_ERROR" => QueryError::Unauthorized(said),
        "FORBIDDEN" | "FEATURE_NOT_ACCESSIBLE" => QueryError::Forbidden(said),
        _ if message.starts_with("entity not found") => QueryError::NotFound(what.to_owned()),
        _ if head.status == 401 => QueryError::Unauthorized(said),
        _ if head.status == 403 => QueryError::Forbidden(said),
        _ if head.status == 429 => QueryError::RateLimited(wait(head, now)),
        _ if message.contains("complex") => {
            QueryError::Failed(format!("Linear finds this too much for one question: {said}"))
        }
        _ => QueryError::Failed(said),
    }
}

/// Seconds until every limit that is used up has been reset. Linear writes the moments in milliseconds.
fn wait(head: &Head, now: u64) -> Option<u64> {
    let reset = |limit: &str| {
        let left = head.header(&format!("x-ratelimit-{limit}-remaining"))?;
        let moment: u64 = head.header(&format!("x-ratelimit-{limit}-reset"))?.parse().ok()?;
        (left == "0").then(|| moment.div_ceil(1000).saturating_sub(now))
    };
    let limits = ["requests", "complexity", "endpoint-requests"];
    status::wait(head, now).or_else(|| limits.into_iter().filter_map(reset).max())
}
