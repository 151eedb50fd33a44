//! bashkit's own limits, switched off: the host stops a script that takes too much, and says so better.

use std::time::Duration;

use bashkit::ExecutionLimits;

/// What remains are depths (functions, substitutions, subshells, syntax): they keep a deep recursion from ending in a
/// trap, which would lose the message.
pub fn unlimited() -> ExecutionLimits {
    ExecutionLimits {
        max_work_units: u64::MAX,
        max_aggregate_input_bytes: u64::MAX,
        max_live_intermediate_bytes: u64::MAX,
        max_commands: usize::MAX,
        max_loop_iterations: usize::MAX,
        max_total_loop_iterations: usize::MAX,
        // So long that no deadline can be computed, which spares one look at the clock per command.
        timeout: Duration::MAX,
        parser_timeout: Duration::MAX,
        max_input_bytes: usize::MAX,
        max_parser_operations: usize::MAX,
        max_stdout_bytes: usize::MAX,
        max_stderr_bytes: usize::MAX,
        max_history_output_bytes: usize::MAX,
        max_word_split_fields: usize::MAX,
        max_word_split_bytes: usize::MAX,
        max_background_jobs: usize::MAX,
        ..ExecutionLimits::default()
    }
}
