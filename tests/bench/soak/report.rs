//! What was measured, as tables, and whether something keeps growing.

use skillcell_tests::measure::{memory, shown};
use std::fmt::Write as _;
use std::time::Duration;

/// Rows of the printed table.
const ROWS: usize = 12;

pub const SERVERS: [&str; 2] = ["HTTP", "stdio"];

/// The state of everything at a time, and the latencies since the sample before.
pub struct Sample {
    pub at: Duration,
    pub servers: [ServerSample; 2],
    pub temporary_files: usize,
    pub latencies: Vec<Duration>,
}

#[derive(Clone, Copy)]
pub struct ServerSample {
    /// In megabytes.
    pub memory: f64,
    pub descriptors: usize,
    pub threads: usize,
}

impl ServerSample {
    pub fn of(process: u32) -> Self {
        let entries = |folder: &str| std::fs::read_dir(format!("/proc/{process}/{folder}")).map_or(0, Iterator::count);
        Self { memory: memory(process), descriptors: entries("fd"), threads: entries("task") }
    }
}

/// A figure that must not keep growing: its name, how to read it, and how much it may grow in addition to a tenth.
pub type Figure = (String, Box<dyn Fn(&Sample) -> f64>, f64);

#[expect(clippy::cast_precision_loss, reason = "counts of less than a billion")]
pub fn figures() -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (number, name) in SERVERS.iter().enumerate() {
        let server = move |sample: &Sample| sample.servers[number];
        figures.push((format!("memory {name}, MB"), Box::new(move |sample| server(sample).memory), 12.0));
        figures.push((format!("descriptors {name}"), Box::new(move |sample| server(sample).descriptors as f64), 6.0));
        figures.push((format!("threads {name}"), Box::new(move |sample| server(sample).threads as f64), 6.0));
    }
    figures.push(("temporary files".to_owned(), Box::new(|sample| sample.temporary_files as f64), 4.0));
    figures
}

/// Describes every figure whose median in the last quarter is well above that in the second. The first quarter warms up.
pub fn growth(samples: &[Sample]) -> Vec<String> {
    let quarter = samples.len() / 4;
    if quarter == 0 {
        return vec!["too short to tell whether anything grows".to_owned()];
    }
    let (early, late) = (&samples[quarter..2 * quarter], &samples[samples.len() - quarter..]);
    let grown = |(name, read, slack): Figure| {
        let (early, late) = (middle(early.iter().map(&read)), middle(late.iter().map(&read)));
        (late > early * 1.1 + slack)
            .then(|| format!("{name} grows: {early:.1} in the second quarter, {late:.1} in the last"))
    };
    figures().into_iter().filter_map(grown).collect()
}

fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The latencies of some samples, sorted.
pub fn sorted_latencies(samples: &[Sample]) -> Vec<Duration> {
    let mut latencies: Vec<Duration> = samples.iter().flat_map(|sample| sample.latencies.iter().copied()).collect();
    latencies.sort_unstable();
    latencies
}

/// Returns the latency that this part of all is below, in percent.
pub fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let last = sorted.len().saturating_sub(1);
    sorted.get((sorted.len() * percent / 100).min(last)).copied().unwrap_or_default()
}

/// A table in Markdown: medians, but the maximum of latencies.
pub fn table(samples: &[Sample]) -> String {
    let names: Vec<String> = figures().into_iter().map(|(name, ..)| name).collect();
    let mut table = format!("| until | {} | answers | p50 | p99 | max |\n|---|", names.join(" | "));
    table.push_str(&"---:|".repeat(names.len() + 4));
    table.push('\n');
    for part in samples.chunks(samples.len().div_ceil(ROWS).max(1)) {
        let minutes = part.last().map_or(0.0, |sample| sample.at.as_secs_f64() / 60.0);
        let cells: Vec<String> =
            figures().into_iter().map(|(_, read, _)| format!("{:.0}", middle(part.iter().map(read)))).collect();
        let sorted = sorted_latencies(part);
        let times = [percentile(&sorted, 50), percentile(&sorted, 99), percentile(&sorted, 100)].map(shown);
        let _ =
            writeln!(table, "| {minutes:.1} min | {} | {} | {} |", cells.join(" | "), sorted.len(), times.join(" | "));
    }
    table
}

pub fn csv(samples: &[Sample]) -> String {
    let names: Vec<String> = figures().into_iter().map(|(name, ..)| name.replace(',', " in")).collect();
    let mut csv = format!("seconds,{},answers,p50 ms,p99 ms,max ms\n", names.join(","));
    for sample in samples {
        let cells: Vec<String> = figures().into_iter().map(|(_, read, _)| format!("{:.1}", read(sample))).collect();
        let sorted = sorted_latencies(std::slice::from_ref(sample));
        let milliseconds = |percent| percentile(&sorted, percent).as_secs_f64() * 1e3;
        let _ = writeln!(
            csv,
            "{:.0},{},{},{:.3},{:.3},{:.3}",
            sample.at.as_secs_f64(),
            cells.join(","),
            sorted.len(),
            milliseconds(50),
            milliseconds(99),
            milliseconds(100)
        );
    }
    csv
}
