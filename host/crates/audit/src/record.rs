//! The record as seen by the code that writes to it.

use super::{Audit, AuditError};
use base::place::LocalReason;
use serde_json::{Map, Value};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The destination of audit entries.
pub enum Record {
    Writable(Audit),
    /// The home folder is unknown, so entries are discarded.
    Disabled,
    /// The folder cannot be used.
    Broken(LocalReason),
}

impl Record {
    /// Appends a line. It is on disk when this returns.
    pub async fn write(self: &Arc<Self>, entry: Map<String, Value>) -> Result<(), AuditError> {
        let record = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || match &*record {
            Self::Writable(audit) => audit.add(entry),
            Self::Disabled | Self::Broken(_) => Ok(()),
        });
        let aborted = |_| AuditError::Unwritable {
            folder: PathBuf::new(),
            reason: io::Error::other("the server is shutting down"),
        };
        written.await.map_err(aborted)?
    }
}
