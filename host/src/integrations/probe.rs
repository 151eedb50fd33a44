//! Trying an integration: whether its component works, its token is known and its service answers.

use super::{IntegrationError, Integrations, ready, record, way_out};
use crate::config::{Integration, Source};
use crate::integrations::bundled::{KNOCK, Probe};
use crate::printable::printable;
use crate::sandbox::gate::reading::Service;
use crate::sandbox::gate::{Gate, requests};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Method, Request, StatusCode};
use serde_json::Value;
use wasmtime_wasi_http::{Error, RequestOptions};

/// What works, and what does not with what to do about it.
#[derive(Debug)]
pub struct Tested {
    /// How many questions the component suggests.
    pub component: Result<usize, String>,
    /// What the service said.
    pub service: Result<String, String>,
}

impl Tested {
    pub fn works(&self) -> bool {
        self.component.is_ok() && self.service.is_ok()
    }
}

impl Integrations {
    /// Tries everything about an integration that needs no question, and writes that down.
    pub async fn test(&self, integration: &Integration) -> Result<Tested, IntegrationError> {
        let component = self.component(integration).await?;
        let (service, address) = match self.recordable().and_then(|()| ready(integration)) {
            Ok(ready) => ready,
            Err(message) => return Ok(Tested { component, service: Err(message) }),
        };
        let way_out = way_out(integration, service.clone());
        let probe = match &integration.source {
            Source::Bundled(bundled) => bundled.row().probe,
            Source::File { .. } => KNOCK,
        };
        let asked = tokio::time::timeout(self.limits().time, send(way_out.gate, &address, &probe)).await;
        let entry = record::Noted::new(integration, "", None);
        self.shared.record.write(entry.tested(&way_out.requests.all(), &way_out.denials.take())).await?;
        let seen = asked.unwrap_or(Err(Error::HttpResponseTimeout));
        Ok(Tested { component, service: told(integration, &service, &probe, seen) })
    }

    async fn component(&self, integration: &Integration) -> Result<Result<usize, String>, IntegrationError> {
        let component = match self.shared.loaded.get(integration).await? {
            Ok(component) => component,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let nowhere = Gate::new(&[], crate::sandbox::denials::Denials::default());
        let questions = component.questions(nowhere, self.limits()).await?;
        Ok(questions.map(|questions| questions.len()).map_err(|end| format!("it does not tell its questions: {end:?}")))
    }
}

/// The status and the body that a probe brings.
async fn send(gate: Gate, address: &str, probe: &Probe) -> Result<(StatusCode, Vec<u8>), Error> {
    let method = if probe.question.is_some() { Method::POST } else { Method::GET };
    let body = Full::new(Bytes::from_static(probe.question.unwrap_or_default().as_bytes()));
    let request = Request::builder().method(method).uri(format!("{address}{}", probe.path));
    let request = request.body(body.map_err(Error::from).boxed_unsync()).map_err(|_| Error::HttpRequestUriInvalid)?;
    let (answer, end) = gate.send(request, RequestOptions::default()).await?;
    let _driving = wasmtime_wasi::runtime::spawn(async move {
        let _ = Box::into_pin(end).await;
    });
    let status = answer.status();
    let body = answer.into_body().collect().await?;
    Ok((status, body.to_bytes().to_vec()))
}

fn told(
    integration: &Integration,
    service: &Service,
    probe: &Probe,
    seen: Result<(StatusCode, Vec<u8>), Error>,
) -> Result<String, String> {
    let (status, body) = seen.map_err(|error| {
        let hint = match error {
            Error::TlsCertificateError => "name the certificates of your own authority with `ca_file`",
            Error::HttpRequestDenied | Error::DestinationIpProhibited => "grant its host with `hosts`",
            _ => "check the address and the network",
        };
        format!("`{}` cannot be reached: {}\nhint: {hint}", service.target, requests::reason(&error))
    })?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let who = probe.who.and_then(|place| body.pointer(place)).and_then(Value::as_str);
    let variable = integration.token.as_ref().map_or("a token", |token| token.variable.as_str());
    match (status, who) {
        (_, Some(who)) if status.is_success() => Ok(format!("answers {status} to `{}`", printable(who))),
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
            Err(format!("answers {status}\nhint: set {variable} to a token that is valid and may read"))
        }
        (StatusCode::BAD_REQUEST, None) if probe.question.is_some() => {
            Err(format!("answers {status}, as it does to tokens it does not know\nhint: set {variable} to a valid one"))
        }
        (StatusCode::TOO_MANY_REQUESTS, _) => Err(format!("answers {status}\nhint: try again in a minute or two")),
        // Nobody asked it anything, so it may say what it likes.
        _ if probe.who.is_none() && !status.is_server_error() => Ok(format!("answers {status}")),
        _ => {
            Err(format!("answers {status}, and not who asks\nhint: check `integrations.{}.address`", integration.name))
        }
    }
}
