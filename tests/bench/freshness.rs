//! How soon a change is served and told, and whether anybody waits for it, on 10,000 skills: `just bench`. Fails when a limit
//! is missed.

#![expect(clippy::print_stdout, reason = "a report for people")]

use serde_json::{Value, json};
use skillcell_tests::measure::{median, shown};
use skillcell_tests::{Launch, Session, write_library};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const SKILLCELL: &str = env!("CARGO_BIN_EXE_skillcell");

const SKILLS: usize = 10_000;

/// Skills at the end that no rebuild changes.
const UNCHANGED: usize = 100;

/// Edits that are asked for at once, and edits that are waited for until they are told.
const ASKED: usize = 200;
const EDITS: usize = 20;

/// Times that everything changes, for each figure. Each tool is the first to be called behind a third of them.
const REBUILDS: usize = 6;

/// The tools that are asked for single skills.
const TOOLS: [&str; 3] = ["skill", "read_skill", "get_skill"];

const MILLISECOND: Duration = Duration::from_millis(1);

/// What a list may take while everything is brought in: the second that it waits at most, and its answer.
const LIST_MEANWHILE: Limits = Limits { median: None, most: Some(MILLISECOND.saturating_mul(1_100)) };

/// What a request about one skill may take while everything is brought in.
const MEANWHILE: Limits =
    Limits { median: Some(MILLISECOND.saturating_mul(5)), most: Some(MILLISECOND.saturating_mul(50)) };

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_library(folder.path(), SKILLS);
    let mut session = Launch::new(SKILLCELL).arg("--verbose").arg(folder.path()).start();
    session.call_json("skills_list", json!({"query": "skill-0"}));
    // From here on nothing of the start is left to do.
    session.wait_for_log_that("both engines", |log| log.matches("brought generation 1 into engine").count() == 2);
    println!("{SKILLS} skills");
    let mut bench =
        Bench { tasks: tasks(folder.path()), library: folder.path().to_owned(), session, missed: 0, asked: 0 };
    bench.next_calls();
    bench.notifications();
    bench.during_rebuilds();
    bench.lists_during_rebuilds();
    bench.behind_checkouts();
    if bench.missed > 0 {
        println!("{} limits were missed", bench.missed);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

struct Bench {
    session: Session,
    library: PathBuf,
    /// For each skill in a tree a task that it answers.
    tasks: Vec<String>,
    /// Limits that were missed.
    missed: usize,
    /// Questions so far.
    asked: usize,
}

/// What times must not exceed.
#[derive(Default)]
struct Limits {
    median: Option<Duration>,
    /// For 99 of 100.
    most: Option<Duration>,
}

impl Bench {
    /// One file is edited, and the next call has its new text.
    fn next_calls(&mut self) {
        let file = self.file_of(0);
        let before = read(&file);
        let times = (0..ASKED).map(|edit| {
            let text = format!("{before}Edition {edit}.\n");
            put(&file, &text);
            let started = Instant::now();
            let answer = self.session.call("skill", json!({"name": "skill-0"}));
            let time = started.elapsed();
            let served = answer["content"][0]["text"].as_str().unwrap_or_default();
            assert!(served.ends_with(&text), "the old text");
            time
        });
        let times = times.collect();
        self.report("`skill` right behind an edit", times, &Limits { most: MEANWHILE.most, ..Limits::default() });
    }

    /// One description is edited, and clients are told.
    fn notifications(&mut self) {
        let file = self.file_of(2);
        let before = read(&file);
        let (mut told, mut rebuilt) = (Vec::new(), Vec::new());
        for edit in 0..EDITS {
            let started = Instant::now();
            put(&file, &before.replacen("description: ", &format!("description: edit {edit} "), 1));
            let notice = self.session.notification("notifications/resources/list_changed");
            told.push(started.elapsed());
            let reason = notice["params"]["_meta"]["reason"].as_str().expect("a reason");
            assert!(reason.ends_with(" in the folders of skills"), "{reason}");
            rebuilt.push(rebuilds(&self.session.log()).pop().expect("a rebuild was logged"));
        }
        let told_within = Limits { most: Some(700 * MILLISECOND), ..Limits::default() };
        self.report("from the edit to the notification", told, &told_within);
        let rebuilt_within = Limits { median: Some(30 * MILLISECOND), ..Limits::default() };
        self.report("from the look to the new generation", rebuilt, &rebuilt_within);
    }

    /// Nearly all files change, and single skills are asked for while somebody else brings that in.
    fn during_rebuilds(&mut self) {
        let (mut lasted, mut same, mut other) = (Vec::new(), Vec::new(), TOOLS.map(|_| Vec::new()));
        for rebuild in 0..REBUILDS {
            let mark = format!("Rebuild {rebuild}.");
            self.change_everything(&mark);
            let logged = self.session.log().len();
            let refresh = self.session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
            let began = Instant::now();
            let mut over = false;
            while !over {
                let unchanged = self.asked % (TOOLS.len() + 1) == TOOLS.len();
                let tool = if unchanged { 0 } else { self.asked % (TOOLS.len() + 1) };
                let (time, answer) = self.ask(tool, unchanged, |message| over |= message["id"] == refresh);
                assert!(unchanged || answer.contains(&mark), "an old text: {answer}");
                // What was answered behind the rebuild was not answered during it.
                if !over {
                    (if unchanged { &mut same } else { &mut other[tool] }).push(time);
                }
            }
            lasted.push(began.elapsed());
            let rebuilds = rebuilds(&self.session.log()[logged..]);
            assert!(rebuilds.iter().any(|time| *time > 100 * MILLISECOND), "{rebuilds:?} are none of everything");
            self.calm_down();
        }
        self.report("a rebuild of everything", lasted, &Limits::default());
        self.report("`skill` meanwhile, its file unchanged", same, &MEANWHILE);
        for (tool, times) in TOOLS.iter().zip(other) {
            self.report(&format!("`{tool}` meanwhile, its file changed"), times, &MEANWHILE);
        }
    }

    /// The same for lists, which wait for that.
    fn lists_during_rebuilds(&mut self) {
        let mut times = Vec::new();
        for rebuild in 0..REBUILDS {
            self.change_everything(&format!("Listed {rebuild}."));
            let started = self.session.log().matches("bringing in generation ").count();
            let refresh = self.session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
            self.session.wait_for_log_that("a rebuild", |log| log.matches("bringing in generation ").count() > started);
            let began = Instant::now();
            self.session.call_json("skills_list", json!({"query": "skill-0"}));
            times.push(began.elapsed());
            self.session.answer(&refresh);
            self.calm_down();
        }
        self.report("`skills_list` meanwhile", times, &LIST_MEANWHILE);
    }

    /// Nearly all files change, and whoever asks for a single skill first finds that out.
    fn behind_checkouts(&mut self) {
        let (mut first, mut others) = (Vec::new(), TOOLS.map(|_| Vec::new()));
        for checkout in 0..REBUILDS {
            let mark = format!("Checkout {checkout}.");
            self.change_everything(&mark);
            let served = rebuilds(&self.session.log()).len();
            self.asked = checkout;
            let mut is_first = true;
            while rebuilds(&self.session.log()).len() == served {
                let tool = self.asked % TOOLS.len();
                let (time, answer) = self.ask(tool, false, |_| ());
                assert!(answer.contains(&mark), "an old text: {answer}");
                (if is_first { &mut first } else { &mut others[tool] }).push(time);
                is_first = false;
            }
            self.calm_down();
        }
        self.report("the first call behind a checkout", first, &Limits { most: MEANWHILE.most, ..Limits::default() });
        for (tool, times) in TOOLS.iter().zip(others) {
            self.report(&format!("`{tool}` after that, until all is served"), times, &MEANWHILE);
        }
    }

    /// Asks for one skill, each time another one, and shows every message until the answer.
    fn ask(&mut self, tool: usize, unchanged: bool, mut each: impl FnMut(&Value)) -> (Duration, String) {
        self.asked += 1;
        let last = if unchanged { UNCHANGED } else { SKILLS - UNCHANGED };
        let number = self.asked * 7 % last / 2 * 2 + if unchanged { SKILLS - UNCHANGED } else { 0 };
        let arguments = match TOOLS[tool] {
            "get_skill" => json!({"context": self.tasks[number / 2]}),
            _ => json!({"name": format!("skill-{number}")}),
        };
        let started = Instant::now();
        let id = self.session.post("tools/call", json!({"name": TOOLS[tool], "arguments": arguments}));
        loop {
            let message = self.session.next_message();
            let time = started.elapsed();
            each(&message);
            if message["id"] == id {
                assert_ne!(message["result"]["isError"], true, "{message}");
                return (time, message["result"]["content"].to_string());
            }
        }
    }

    /// Puts a line behind all files but the last.
    fn change_everything(&self, mark: &str) {
        for number in 0..SKILLS - UNCHANGED {
            let file = self.file_of(number);
            put(&file, &format!("{}{mark}\n", read(&file)));
        }
    }

    /// Waits until both engines have what changed, and nothing is left to be told.
    fn calm_down(&mut self) {
        self.session.call_json("skills_list", json!({"query": "skill-0"}));
        self.session.wait_for_log_that("both engines", |log| {
            let last = log.rsplit("bringing in generation ").next().and_then(|rest| rest.split_whitespace().next());
            last.is_none_or(|last| log.matches(&format!("brought generation {last} into engine")).count() == 2)
        });
    }

    fn report(&mut self, what: &str, mut times: Vec<Duration>, limits: &Limits) {
        times.sort_unstable();
        let (worst, most) = (times[times.len() - 1], times[times.len() * 99 / 100]);
        let count = times.len();
        let middle = median(times);
        let mut note = String::new();
        for (name, time, limit) in [("median", middle, limits.median), ("p99", most, limits.most)] {
            let Some(limit) = limit else { continue };
            let verdict = if time < limit { "" } else { ", MISSED" };
            self.missed += usize::from(time >= limit);
            let _ = write!(note, "; {name} to be under {}{verdict}", shown(limit));
        }
        let (middle, most, worst) = (shown(middle), shown(most), shown(worst));
        println!("  {what:<44} median {middle}, p99 {most}, worst {worst} ({count} times{note})");
    }

    fn file_of(&self, number: usize) -> PathBuf {
        file_of(&self.library, number)
    }
}

/// The times of all rebuilds, as the server logs them.
fn rebuilds(log: &str) -> Vec<Duration> {
    let number = |rest: &str| rest.split_whitespace().next().and_then(|text| text.parse().ok());
    let times = log.split("is served after ").skip(1).filter_map(number);
    times.map(Duration::from_micros).collect()
}

/// The keywords of each skill in a tree that nobody else has, as a task.
fn tasks(library: &Path) -> Vec<String> {
    let task = |number: usize| {
        let text = read(&file_of(library, number));
        let line = text.lines().find_map(|line| line.strip_prefix("keywords: [")).expect("keywords");
        let keywords: Vec<&str> = line.trim_end_matches(']').split(", ").skip(2).collect();
        format!("write the {} of our component", keywords.join(" and the "))
    };
    (1..SKILLS).step_by(2).map(task).collect()
}

/// As `write_library` has them.
fn file_of(library: &Path, number: usize) -> PathBuf {
    let group = number % 50;
    let path = match number % 2 {
        0 => format!("team{group}/skill-{number}/SKILL.md"),
        _ => format!("area{group}/topic-{number}.md"),
    };
    library.join(path)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a readable file")
}

/// Writes a file in one step.
fn put(file: &Path, text: &str) {
    let next = file.with_file_name(".next");
    std::fs::write(&next, text).expect("a writable folder");
    std::fs::rename(&next, file).expect("a writable folder");
}
