//! Helpers of the benchmarks.

use std::time::{Duration, Instant};

pub fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Formats a time in milliseconds, with a suitable number of digits.
pub fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match milliseconds {
        ..1.0 => format!("{milliseconds:.3} ms"),
        1.0..100.0 => format!("{milliseconds:.1} ms"),
        _ => format!("{milliseconds:.0} ms"),
    }
}

/// Returns the most memory that a process has had so far, in mebibytes.
pub fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) >> 10
}

/// Returns the resident memory of a process in megabytes.
pub fn memory(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
    let kibibytes = line.trim().trim_end_matches(" kB").trim().parse::<u32>().unwrap_or(0);
    f64::from(kibibytes) * 1024.0 / 1e6
}
