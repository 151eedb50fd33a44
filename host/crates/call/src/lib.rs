//! One call, as the code that answers it sees it: who asks, whether the answer is still wanted, where progress and usage go.
//!
//! Owns [`Call`], which every tool, prompt, resource read, script run and question takes. Must not know what is asked or how the
//! request arrived: `mcp` makes one call per request, the command line one per command.
//!
//! Start reading with [`Call`], then [`Principal`].

use analytics::Usage;
use base::environment::variable;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub struct Call {
    pub caller: Caller,
    /// Cancelled when the answer is no longer wanted.
    pub cancelled: CancellationToken,
    pub progress: Progress,
    pub usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub principal: Principal,
    /// The program that asks for the principal, as it names itself.
    pub client: Option<Client>,
    /// Distinguishes clients of the same principal over HTTP, as far as they say who they are.
    pub session: Option<String>,
}

/// On whose behalf a call is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Principal {
    /// The user of this machine, over stdio and on the command line.
    User(Arc<str>),
    /// The holder of the single HTTP token.
    Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub version: String,
}

/// Receives progress reports while the caller waits. The default discards them.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(f64, String) + Send + Sync>>);

impl Principal {
    /// Returns the user that this process runs as.
    pub fn local_user() -> Self {
        let name = variable("USER").or_else(|| variable("LOGNAME"));
        Self::User(name.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw())).into())
    }
}

impl Progress {
    pub fn new(report: impl Fn(f64, String) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    /// Reports a step. `amount` increases with every report of a call.
    pub fn report(&self, amount: f64, message: String) {
        if let Some(report) = &self.0 {
            report(amount, message);
        }
    }
}
