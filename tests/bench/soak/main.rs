//! A long run under a mixed load: `just soak HOURS`.
//!
//! Two servers share a home, one over HTTP and one over stdio, with clients that come and go. Files are edited, commits are
//! pushed, scorers are exchanged, and scripts run into every limit. The load is bounded, so that it runs beside other work.
//! Every answer is checked. Memory, descriptors, threads, temporary files and latency become a table, a CSV file and a plot;
//! the run fails if an answer is wrong or one of the first four keeps growing.
//!
//! `--hours HOURS` sets how long it lasts, `--server FILE` the binary, `--out FOLDER` where the files go.

#![expect(clippy::print_stdout, reason = "a report for people")]

mod load;
mod plot;
mod report;
mod scene;

use load::Load;
use report::{Sample, ServerSample};
use scene::Scene;
use skillcell_tests::repository;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

/// Samples of the whole run.
const SAMPLES: u32 = 240;

fn main() -> ExitCode {
    let argument = |name: &str| std::env::args().skip_while(|argument| argument != name).nth(1);
    let hours: f64 = argument("--hours").map_or(1.0, |text| text.parse().expect("a number of hours"));
    let time = Duration::from_secs_f64(hours * 3600.0);
    let binary = argument("--server").map_or_else(|| PathBuf::from(SKILLCELL), PathBuf::from);
    let out = argument("--out").map_or_else(|| repository().join("target/soak"), PathBuf::from);
    std::fs::create_dir_all(&out).expect("a writable folder");

    let scene = Scene::new(&binary);
    let load = Load::new(&scene);
    let mut samples = Vec::new();
    let interval = (time / SAMPLES).max(Duration::from_secs(1));
    load.run(|processes| {
        let began = Instant::now();
        while began.elapsed() < time && !load.is_over() {
            std::thread::park_timeout(interval);
            samples.push(Sample {
                at: began.elapsed(),
                servers: processes.map(ServerSample::of),
                temporary_files: scene.temporary_files(),
                latencies: load.take_latencies(),
            });
            // Each time, so that a run that is stopped early leaves what it measured.
            write_report(&out, &samples, &load);
        }
    });
    let mut failures = load.failures();
    failures.extend(scene.check_audit());
    failures.extend(report::growth(&samples));

    let table = write_report(&out, &samples, &load);
    println!("{table}\nsoak.md, soak.csv and soak.svg are in {}", out.display());
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    ExitCode::from(u8::from(!failures.is_empty()))
}

/// Writes the files, and returns the tables.
fn write_report(out: &Path, samples: &[Sample], load: &Load<'_>) -> String {
    let table = format!("{}\n{}", report::table(samples), load.work_done());
    let files = [("soak.csv", report::csv(samples)), ("soak.svg", plot::svg(samples)), ("soak.md", table.clone())];
    for (name, text) in files {
        std::fs::write(out.join(name), text).expect("a writable folder");
    }
    table
}
