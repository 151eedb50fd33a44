//! Disables bashkit's own limits: the host stops a script that exceeds its limits, with a better message.

use std::time::Duration;

use bashkit::ExecutionLimits;

/// Depth limits (functions, substitutions, subshells, syntax) remain: they keep deep recursion from trapping, which
/// would lose the message.
pub fn unlimited() -> ExecutionLimits {
    ExecutionLimits {
        max_work_units: u64::MAX,
        max_aggregate_input_bytes: u64::MAX,
        max_live_intermediate_bytes: u64::MAX,
        max_commands: usize::MAX,
        max_loop_iterations: usize::MAX,
        max_total_loop_iterations: usize::MAX,
        // Too long for a deadline to be computed, which saves a clock call per command.
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
