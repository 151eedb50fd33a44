//! One question to an integration.

use super::feedback::Feedback;
use super::{Integration, IntegrationState, Limits, Report};
use crate::run::{End, Lost, Outcome, Run};
use base::printable::printable_up_to;
use bindings::integration::Integration as Guest;
use bindings::query::{QueryError, Question};
use sandbox::gate::Gate;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use wasmtime::Store;

/// Passed to the host in one call: bodies of requests, texts, and the answer.
const MAX_TRANSFER_BYTES: usize = 4 << 20;

/// Questions that it can suggest. Together they fit on one screen.
const MAX_QUESTIONS: usize = 40;

/// In characters.
const MAX_QUESTION_LENGTH: usize = 120;

/// What an integration answers.
#[derive(Debug)]
pub enum Reply {
    Answer(String),
    /// Why there is no answer, and other questions if it did not understand this one.
    NoAnswer(QueryError, Vec<String>),
}

impl Integration {
    /// Asks a fresh instance, until it answers, hits a limit or is cancelled.
    pub async fn ask(
        &self,
        question: Question,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
    ) -> Result<Outcome<Reply>, Lost> {
        let body = async move |guest: Guest, store: &mut Store<IntegrationState>| {
            Ok(match guest.skillcell_plugin_query().call_ask(&mut *store, &question).await? {
                Ok(text) => Reply::Answer(text),
                Err(QueryError::NotUnderstood) => {
                    Reply::NoAnswer(QueryError::NotUnderstood, questions(&guest, store).await?)
                }
                Err(error) => Reply::NoAnswer(error, Vec::new()),
            })
        };
        self.drive(gate, report, limits, cancelled, body).await
    }

    /// Lists questions that it understands.
    pub async fn questions(&self, gate: Gate, limits: Limits) -> Result<End<Vec<String>>, Lost> {
        let body = async move |guest: Guest, store: &mut Store<IntegrationState>| questions(&guest, store).await;
        Ok(self.drive(gate, Arc::new(|_| {}), limits, CancellationToken::new(), body).await?.end)
    }

    async fn drive<T: Send + 'static>(
        &self,
        gate: Gate,
        report: Report,
        limits: Limits,
        cancelled: CancellationToken,
        body: impl AsyncFnOnce(Guest, &mut Store<IntegrationState>) -> wasmtime::Result<T> + Send + 'static,
    ) -> Result<Outcome<T>, Lost> {
        let (name, ready) = (Arc::clone(&self.name), self.ready.clone());
        let run = Run {
            name: "integration",
            engine: ready.engine().clone(),
            executor: Arc::clone(&self.executor),
            time: limits.time,
            fuel: limits.fuel,
            cancelled,
        };
        let state = move || IntegrationState::new(gate, Feedback::new(name, report), limits.memory);
        let body = async move |store: &mut Store<IntegrationState>| {
            store.set_hostcall_fuel(MAX_TRANSFER_BYTES);
            let guest = ready.instantiate_async(&mut *store).await?;
            body(guest, store).await
        };
        run.drive(state, body).await
    }
}

async fn questions(guest: &Guest, store: &mut Store<IntegrationState>) -> wasmtime::Result<Vec<String>> {
    let all = guest.skillcell_plugin_query().call_questions(store).await?;
    Ok(all.iter().take(MAX_QUESTIONS).map(|question| printable_up_to(question, MAX_QUESTION_LENGTH)).collect())
}
