//! The shell before it knows its script: everything independent of environment and files.
//!
//! Registering some 170 commands is most of the work of a trivial script. A host that keeps snapshots calls [`prepare`]
//! before taking one; otherwise the first run does this work.

use std::cell::RefCell;
use std::sync::Arc;

use bashkit::{Bash, BashBuilder, MemoryLimits, SessionLimits, ShellState};
use tokio::runtime::{Builder, Runtime};

use crate::bc::Bc;
use crate::diff::Diff;
use crate::files::LentFiles;
use crate::ls::Ls;
use crate::programs::{self, Program};
use crate::{commands, limits};

pub struct Shell {
    pub bash: Bash,
    /// The initial state of `bash`.
    pub fresh: ShellState,
    pub runtime: Runtime,
    /// Whether this may be one of many copies of a snapshot.
    pub is_copy: bool,
}

thread_local! {
    static PREPARED: RefCell<Option<Shell>> = const { RefCell::new(None) };
}

/// Does the work that every run needs ahead of time. Idempotent.
pub fn prepare() {
    let shell = take();
    PREPARED.set(Some(Shell { is_copy: true, ..shell }));
}

/// Returns the prepared shell, or a new one.
pub fn take() -> Shell {
    PREPARED.take().unwrap_or_else(build)
}

fn build() -> Shell {
    let builder = Bash::builder()
        .fs(Arc::new(LentFiles::default()))
        .limits(limits::unlimited())
        .session_limits(SessionLimits::unlimited())
        .memory_limits(MemoryLimits::unlimited())
        .builtin_filter(commands::is_offered)
        .before_tool(Box::new(commands::adapt_arguments))
        .builtin("bc", Box::new(Bc))
        .builtin("diff", Box::new(Diff))
        .builtin("ls", Box::new(Ls));
    let with_programs = |builder: BashBuilder, name| builder.builtin(name, Box::new(Program(name)));
    let bash = programs::NAMES.into_iter().fold(builder, with_programs).build();
    let fresh = bash.shell_state();
    let runtime = Builder::new_current_thread().enable_time().build().expect("a timer needs nothing from the host");
    Shell { bash, fresh, runtime, is_copy: false }
}
