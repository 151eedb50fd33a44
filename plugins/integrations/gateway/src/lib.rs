//! Forwards a question to a remote query service and relays its answer.
//!
//! [`inquiry`] builds the request, [`events`] parses the response stream, [`meaning`] interprets events, and [`relay`]
//! forwards progress and collects the answer.

pub mod inquiry;
pub mod events;
pub mod meaning;
pub mod relay;
#[cfg(test)]
mod tests;

use integration_kit::http::Http;
use integration_kit::{Integration, QueryError, Question};
use relay::Relay;

/// The integration with a query service that the operator configures.
pub struct Gateway;

integration_kit::export_integration!(crate::Gateway);

impl Integration for Gateway {
    const QUESTIONS: &'static [&'static str] = &[
        "Get comments on this PR on GitHub",
        "Show failing checks on this branch in CircleCI",
        "Get my assigned issues in Linear",
        "anything else that the query service understands",
    ];

    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError> {
        let request = inquiry::request(question);
        let mut relay = Relay::new(&request, question.now, progress);
        let received = http.stream(&request, &mut |head, part| relay.receive(head, part));
        relay.finish(received)
    }
}
