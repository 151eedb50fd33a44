//! Tests an integration: whether its component works, its token is valid and its service responds.

use super::{IntegrationError, Integrations, Refusal, outbound, ready_service, record};
use crate::options::{Integration, Source};
use base::place::Audience;
use base::printable::printable;
use bytes::Bytes;
use guests::run::End;
use http_body_util::{BodyExt as _, Full};
use hyper::{Method, Request, StatusCode};
use sandbox::gate::read_only::Service;
use sandbox::gate::{Gate, request_log};
use serde_json::Value;
use wasmtime_wasi_http::{Error, RequestOptions};

/// A read-only request that shows whether the token is valid; by default, only whether the service responds.
#[derive(Default)]
struct Probe {
    /// Relative to the address.
    path: &'static str,
    /// Sent with `POST`; without a body, the request is a `GET`.
    body: Option<&'static str>,
    /// JSON pointer to the account name in the response.
    account: Option<&'static str>,
}

/// The result of a test. Errors say what to do.
#[derive(Debug)]
pub struct TestReport {
    /// Number of questions that the component suggests.
    pub component: Result<usize, String>,
    /// How the service responded.
    pub service: Result<String, String>,
}

impl TestReport {
    pub fn works(&self) -> bool {
        self.component.is_ok() && self.service.is_ok()
    }
}

impl Integrations {
    /// Tests everything that needs no question, and records the test.
    pub async fn test(&self, integration: &Integration) -> Result<TestReport, IntegrationError> {
        let component = self.component(integration).await?;
        let ready = self.check_record().and_then(|()| ready_service(integration).map_err(Refusal::NotReady));
        let (service, address) = match ready {
            Ok(ready) => ready,
            Err(refusal) => {
                return Ok(TestReport { component, service: Err(refusal.for_audience(Audience::Local)) });
            }
        };
        let outbound = outbound(integration, service.clone());
        let probe = match &integration.source {
            Source::Bundled(bundled) => {
                let artifact = bundled.artifact();
                Probe { path: artifact.probe_path, body: artifact.probe_body, account: artifact.probe_account }
            }
            Source::File { .. } => Probe::default(),
        };
        let mut entry = record::AuditEntry::new(integration, "", None);
        let began = self.inner.record.begin(entry.begin_test()).await?;
        let response = tokio::time::timeout(self.limits().time, send(outbound.gate, &address, &probe)).await;
        let entry = entry.tested(&outbound.requests.all(), &outbound.denials.take());
        self.inner.record.end(began, entry).await?;
        let response = response.unwrap_or(Err(Error::HttpResponseTimeout));
        Ok(TestReport { component, service: assess(integration, &service, &probe, response) })
    }

    async fn component(&self, integration: &Integration) -> Result<Result<usize, String>, IntegrationError> {
        let component = match self.inner.components.get(integration).await? {
            Ok(component) => component,
            Err(error) => return Ok(Err(error.for_audience(Audience::Local))),
        };
        let closed_gate = Gate::new(&[], sandbox::denials::Denials::default());
        Ok(match component.questions(closed_gate, self.limits()).await? {
            End::Returned(questions) => Ok(questions.len()),
            end => Err(format!("it does not list its questions: {end:?}")),
        })
    }
}

/// Sends a probe. Returns the status and the body of the response.
async fn send(gate: Gate, address: &str, probe: &Probe) -> Result<(StatusCode, Vec<u8>), Error> {
    let method = if probe.body.is_some() { Method::POST } else { Method::GET };
    let body = Full::new(Bytes::from_static(probe.body.unwrap_or_default().as_bytes()));
    let request = Request::builder().method(method).uri(format!("{address}{}", probe.path));
    let request = request.body(body.map_err(Error::from).boxed_unsync()).map_err(|_| Error::HttpRequestUriInvalid)?;
    let (response, end) = gate.send(request, RequestOptions::default()).await?;
    let _driver = wasmtime_wasi::runtime::spawn(async move {
        let _ = Box::into_pin(end).await;
    });
    let status = response.status();
    let body = response.into_body().collect().await?;
    Ok((status, body.to_bytes().to_vec()))
}

fn assess(
    integration: &Integration,
    service: &Service,
    probe: &Probe,
    response: Result<(StatusCode, Vec<u8>), Error>,
) -> Result<String, String> {
    let (status, body) = response.map_err(|error| {
        let hint = match error {
            Error::TlsCertificateError => "configure the certificates of your own authority with `ca_file`",
            Error::HttpRequestDenied | Error::DestinationIpProhibited => "grant its host with `hosts`",
            _ => "check the address and the network",
        };
        format!("`{}` cannot be reached: {}\nhint: {hint}", service.target, request_log::reason(&error))
    })?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let account = probe.account.and_then(|pointer| body.pointer(pointer)).and_then(Value::as_str);
    let variable = integration.token.as_ref().map_or("a token", |token| token.variable.as_str());
    match (status, account) {
        (_, Some(account)) if status.is_success() => Ok(format!("answers {status} to `{}`", printable(account))),
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
            Err(format!("answers {status}\nhint: set {variable} to a valid token with read access"))
        }
        (StatusCode::BAD_REQUEST, None) if probe.body.is_some() => {
            Err(format!("answers {status}, as it does to unknown tokens\nhint: set {variable} to a valid one"))
        }
        (StatusCode::TOO_MANY_REQUESTS, _) => Err(format!("answers {status}\nhint: try again in a minute or two")),
        // Any response shows that the service is reachable.
        _ if probe.account.is_none() && !status.is_server_error() => Ok(format!("answers {status}")),
        _ => Err(format!(
            "answers {status}, without an account name\nhint: check `integrations.{}.address`",
            integration.name
        )),
    }
}
