//! Runs one script from start to exit code.

use std::rc::Rc;

use boa_engine::Context;
use boa_engine::builtins::promise::PromiseState;

use crate::event_loop::{EventLoop, Fault, RejectionTracker};
use crate::host::Host;
use crate::modules::Loader;
use crate::{globals, modules, process, report};

/// Deeper calls end with Node's `RangeError`. The guest's stack must hold the native frames between them in the worst
/// case.
const CALL_DEPTH: usize = 3_000;

/// Values on the stack of the engine; enough for `CALL_DEPTH` calls with many local variables.
const STACK_VALUES: usize = 1_000_000;

/// Node's exit code for a top-level promise that never settles.
const UNSETTLED_AWAIT: u8 = 13;

/// Runs the script in this file and returns its exit code.
pub fn run(file: &str) -> u8 {
    let events = Rc::new(EventLoop::default());
    let mut context = Context::builder()
        .job_executor(events.clone())
        .host_hooks(Rc::new(RejectionTracker))
        .module_loader(Rc::new(Loader::default()))
        .build()
        .expect("nothing in the configuration can fail");
    context.runtime_limits_mut().set_recursion_limit(CALL_DEPTH);
    context.runtime_limits_mut().set_stack_size_limit(STACK_VALUES);
    let host = Rc::new(Host::new(file, events));
    context.insert_data(host.clone());
    globals::install(&mut context);
    let code = execute(&host, &mut context);
    // The instance ends here, so freeing the heap is a waste of time.
    std::mem::forget(context);
    code
}

fn execute(host: &Host, context: &mut Context) -> u8 {
    let (main, mut fault) = match modules::start(&host.main, context) {
        Ok(main) => (main, None),
        Err(error) => (None, Some(Fault::Thrown(error))),
    };
    loop {
        let outcome = fault.take().map_or_else(|| host.events.run(context), Err);
        if let Some(code) = host.events.exit.get() {
            return code;
        }
        let Err(unhandled) = outcome else { break };
        match report::handle(unhandled, context) {
            Ok(()) => {}
            Err(Some(next)) => fault = Some(next),
            Err(None) => return host.events.exit.get().unwrap_or_else(|| finish(host, 1, context)),
        }
    }
    let unsettled = main.is_some_and(|main| matches!(main.state(), PromiseState::Pending));
    if unsettled {
        crate::console::write_error("Warning: Detected unsettled top-level await\n");
    }
    finish(host, if unsettled { UNSETTLED_AWAIT } else { 0 }, context)
}

/// Notifies listeners of `exit`, which may change the code.
fn finish(host: &Host, code: u8, context: &mut Context) -> u8 {
    let code = process::final_code(code, context);
    if let Some(code) = host.events.exit.get() {
        return code;
    }
    code.unwrap_or_else(|error| {
        report::thrown(error, context);
        1
    })
}
