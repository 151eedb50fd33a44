//! Hands a question to a remote query service and relays its answer.
//!
//! [`inquiry`] is what is sent, [`events`] takes the stream apart that comes back, [`meaning`] says what an event is for, and
//! [`relay`] passes progress on and keeps the answer.

pub mod inquiry;
pub mod events;
pub mod meaning;
pub mod relay;
#[cfg(test)]
mod tests;

use integration_kit::http::Http;
use integration_kit::{Integration, QueryError, Question};
use relay::Relay;

/// The integration with whatever service the operator named.
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
