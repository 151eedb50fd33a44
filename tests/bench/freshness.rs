//! The time until a change is served and notified, and whether requests wait for it, on 10,000 skills: `just bench`. Fails when
//! a limit is missed.

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

/// Edits that are followed by a request, and edits that are followed by waiting for the notification.
const REQUESTED_EDITS: usize = 200;
const NOTIFIED_EDITS: usize = 20;

/// Skills that are added, removed and added again.
const ADDED_SKILLS: usize = 20;

/// Changes of everything for each figure. Each tool is the first to be called after a third of them.
const REBUILDS: usize = 6;

/// The tools that return single skills.
const TOOLS: [&str; 3] = ["skill", "read_skill", "get_skill"];

const MILLISECOND: Duration = Duration::from_millis(1);

/// Limits of a list during a rebuild of everything: it waits for at most a second, and then answers.
const LIST_DURING_REBUILD: Limits = Limits { median: None, p99: Some(MILLISECOND.saturating_mul(1_100)) };

/// Limits of a request for one skill during a rebuild of everything.
const DURING_REBUILD: Limits =
    Limits { median: Some(MILLISECOND.saturating_mul(5)), p99: Some(MILLISECOND.saturating_mul(50)) };

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_library(folder.path(), SKILLS);
    let mut session = Launch::new(SKILLCELL).arg("--verbose").arg(folder.path()).start();
    session.call_json("skills_list", json!({"query": "skill-0"}));
    // The start is complete now.
    session.wait_for_log_that("both engines", |log| log.matches("generation 1 is in slot").count() == 2);
    println!("{SKILLS} skills");
    let mut bench =
        Bench { tasks: tasks(folder.path()), library: folder.path().to_owned(), session, missed: 0, requests: 0 };
    bench.next_calls();
    bench.notifications();
    bench.additions();
    bench.during_rebuilds();
    bench.lists_during_rebuilds();
    bench.after_checkouts();
    if bench.missed > 0 {
        println!("{} limits were missed", bench.missed);
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

struct Bench {
    session: Session,
    library: PathBuf,
    /// A task that matches, for each tree skill.
    tasks: Vec<String>,
    /// The number of missed limits.
    missed: usize,
    /// The number of requests so far.
    requests: usize,
}

/// Limits for measured times.
#[derive(Default)]
struct Limits {
    median: Option<Duration>,
    /// The 99th percentile.
    p99: Option<Duration>,
}

impl Bench {
    /// Edits one file, and checks that the next call has its new text.
    fn next_calls(&mut self) {
        let file = self.skill_file(0);
        let before = read(&file);
        let times = (0..REQUESTED_EDITS).map(|edit| {
            let text = format!("{before}Edition {edit}.\n");
            replace_file(&file, &text);
            let started = Instant::now();
            let answer = self.session.call("skill", json!({"name": "skill-0"}));
            let time = started.elapsed();
            let served = answer["content"][0]["text"].as_str().unwrap_or_default();
            assert!(served.ends_with(&text), "the old text");
            time
        });
        let times = times.collect();
        self.report("`skill` right after an edit", times, &Limits { p99: DURING_REBUILD.p99, ..Limits::default() });
    }

    /// Edits one description, and waits for the notification.
    fn notifications(&mut self) {
        let file = self.skill_file(2);
        let before = read(&file);
        let (mut notified, mut rebuilt) = (Vec::new(), Vec::new());
        for edit in 0..NOTIFIED_EDITS {
            let started = Instant::now();
            replace_file(&file, &before.replacen("description: ", &format!("description: edit {edit} "), 1));
            let notification = self.session.notification("notifications/resources/list_changed");
            notified.push(started.elapsed());
            let reason = notification["params"]["_meta"]["reason"].as_str().expect("a reason");
            assert!(reason.ends_with(" in the folders of skills"), "{reason}");
            rebuilt.push(rebuilds(&self.session.log()).pop().expect("a rebuild was logged"));
        }
        let notification_limits = Limits { p99: Some(700 * MILLISECOND), ..Limits::default() };
        self.report("from the edit to the notification", notified, &notification_limits);
        let rebuild_limits = Limits { median: Some(30 * MILLISECOND), ..Limits::default() };
        self.report("from the scan to the new generation", rebuilt, &rebuild_limits);
    }

    /// Adds skills and removes them, and asks for each by its name; then adds others, and waits for the notifications.
    fn additions(&mut self) {
        let (mut served, mut gone, mut announced) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..ADDED_SKILLS {
            let name = format!("added-{number}");
            let folder = self.library.join("team0").join(&name);
            let text = format!("---\nname: {name}\ndescription: added while the server runs\n---\n\nNew.\n");
            let started = Instant::now();
            write_skill(&folder, &text);
            let answer = self.session.call("skill", json!({"name": name}));
            served.push(started.elapsed());
            assert!(answer["content"][0]["text"].as_str().unwrap_or_default().ends_with(&text), "{answer}");
            let started = Instant::now();
            std::fs::remove_dir_all(&folder).expect("a writable folder");
            let answer = self.session.call("skill", json!({"name": name}));
            gone.push(started.elapsed());
            assert_eq!(answer["isError"], json!(true), "{answer}");
            self.session.notification("notifications/resources/list_changed");
            let started = Instant::now();
            write_skill(&folder, &text);
            self.session.notification("notifications/resources/list_changed");
            announced.push(started.elapsed());
        }
        let added = Limits { median: Some(30 * MILLISECOND), ..Limits::default() };
        self.report("from adding a skill to its text", served, &added);
        self.report("from removing a skill to its absence", gone, &Limits::default());
        let announced_limits = Limits { median: Some(650 * MILLISECOND), ..Limits::default() };
        self.report("from adding a skill to the notification", announced, &announced_limits);
    }

    /// Changes nearly all files, and requests single skills while another request applies the changes.
    fn during_rebuilds(&mut self) {
        let (mut durations, mut same, mut other) = (Vec::new(), Vec::new(), TOOLS.map(|_| Vec::new()));
        for rebuild in 0..REBUILDS {
            let mark = format!("Rebuild {rebuild}.");
            self.change_everything(&mark);
            let logged = self.session.log().len();
            let refresh = self.session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
            let started = Instant::now();
            let mut is_over = false;
            while !is_over {
                let unchanged = self.requests % (TOOLS.len() + 1) == TOOLS.len();
                let tool = if unchanged { 0 } else { self.requests % (TOOLS.len() + 1) };
                let (time, answer) = self.ask(tool, unchanged, |message| is_over |= message["id"] == refresh);
                assert!(unchanged || answer.contains(&mark), "an old text: {answer}");
                // An answer after the rebuild does not count.
                if !is_over {
                    (if unchanged { &mut same } else { &mut other[tool] }).push(time);
                }
            }
            durations.push(started.elapsed());
            let rebuilds = rebuilds(&self.session.log()[logged..]);
            assert!(rebuilds.iter().any(|time| *time > 10 * MILLISECOND), "no rebuild of everything in {rebuilds:?}");
            self.wait_until_settled();
        }
        self.report("a rebuild of everything", durations, &Limits::default());
        self.report("`skill` during that, its file unchanged", same, &DURING_REBUILD);
        for (tool, times) in TOOLS.iter().zip(other) {
            self.report(&format!("`{tool}` during that, its file changed"), times, &DURING_REBUILD);
        }
    }

    /// Changes nearly all files, and requests lists while another request applies the changes.
    fn lists_during_rebuilds(&mut self) {
        let mut times = Vec::new();
        for rebuild in 0..REBUILDS {
            self.change_everything(&format!("Listed {rebuild}."));
            let rebuilds_before = self.session.log().matches("applying generation ").count();
            let refresh = self.session.post("tools/call", json!({"name": "refresh_skills", "arguments": {}}));
            self.session
                .wait_for_log_that("a rebuild", |log| log.matches("applying generation ").count() > rebuilds_before);
            let started = Instant::now();
            self.session.call_json("skills_list", json!({"query": "skill-0"}));
            times.push(started.elapsed());
            self.session.answer(&refresh);
            self.wait_until_settled();
        }
        self.report("`skills_list` during a rebuild", times, &LIST_DURING_REBUILD);
    }

    /// Changes nearly all files, and requests single skills, the first of which finds the changes.
    fn after_checkouts(&mut self) {
        let (mut first, mut others) = (Vec::new(), TOOLS.map(|_| Vec::new()));
        for checkout in 0..REBUILDS {
            let mark = format!("Checkout {checkout}.");
            self.change_everything(&mark);
            let served = rebuilds(&self.session.log()).len();
            self.requests = checkout;
            let mut is_first = true;
            while rebuilds(&self.session.log()).len() == served {
                let tool = self.requests % TOOLS.len();
                let (time, answer) = self.ask(tool, false, |_| ());
                assert!(answer.contains(&mark), "an old text: {answer}");
                (if is_first { &mut first } else { &mut others[tool] }).push(time);
                is_first = false;
            }
            self.wait_until_settled();
        }
        self.report("the first call after a checkout", first, &Limits { p99: DURING_REBUILD.p99, ..Limits::default() });
        for (tool, times) in TOOLS.iter().zip(others) {
            self.report(&format!("`{tool}` after that, until all is served"), times, &DURING_REBUILD);
        }
    }

    /// Requests a skill, a different one each time, and passes every message until the answer to `each`.
    fn ask(&mut self, tool: usize, unchanged: bool, mut each: impl FnMut(&Value)) -> (Duration, String) {
        self.requests += 1;
        let last = if unchanged { UNCHANGED } else { SKILLS - UNCHANGED };
        let number = self.requests * 7 % last / 2 * 2 + if unchanged { SKILLS - UNCHANGED } else { 0 };
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

    /// Appends a line to all files but the last ones.
    fn change_everything(&self, mark: &str) {
        for number in 0..SKILLS - UNCHANGED {
            let file = self.skill_file(number);
            replace_file(&file, &format!("{}{mark}\n", read(&file)));
        }
    }

    /// Waits until both engines have all changes.
    fn wait_until_settled(&mut self) {
        self.session.call_json("skills_list", json!({"query": "skill-0"}));
        self.session.wait_for_log_that("both engines", |log| {
            let last = log.rsplit("applying generation ").next().and_then(|rest| rest.split_whitespace().next());
            last.is_none_or(|last| log.matches(&format!("generation {last} is in slot")).count() == 2)
        });
    }

    fn report(&mut self, what: &str, mut times: Vec<Duration>, limits: &Limits) {
        times.sort_unstable();
        let (worst, p99) = (times[times.len() - 1], times[times.len() * 99 / 100]);
        let count = times.len();
        let middle = median(times);
        let mut note = String::new();
        for (name, time, limit) in [("median", middle, limits.median), ("p99", p99, limits.p99)] {
            let Some(limit) = limit else { continue };
            let verdict = if time < limit { "" } else { ", MISSED" };
            self.missed += usize::from(time >= limit);
            let _ = write!(note, "; {name} to be under {}{verdict}", shown(limit));
        }
        let (middle, p99, worst) = (shown(middle), shown(p99), shown(worst));
        println!("  {what:<44} median {middle}, p99 {p99}, worst {worst} ({count} times{note})");
    }

    fn skill_file(&self, number: usize) -> PathBuf {
        skill_file(&self.library, number)
    }
}

/// Returns the logged times of all rebuilds.
fn rebuilds(log: &str) -> Vec<Duration> {
    let number = |rest: &str| rest.split_whitespace().next().and_then(|text| text.parse().ok());
    let times = log.split("is served after ").skip(1).filter_map(number);
    times.map(Duration::from_micros).collect()
}

/// Returns a task for each tree skill, made of the keywords that only this skill has.
fn tasks(library: &Path) -> Vec<String> {
    let task = |number: usize| {
        let text = read(&skill_file(library, number));
        let line = text.lines().find_map(|line| line.strip_prefix("keywords: [")).expect("keywords");
        let keywords: Vec<&str> = line.trim_end_matches(']').split(", ").skip(2).collect();
        format!("write the {} of our component", keywords.join(" and the "))
    };
    (1..SKILLS).step_by(2).map(task).collect()
}

/// Returns the path of a skill that `write_library` wrote.
fn skill_file(library: &Path, number: usize) -> PathBuf {
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

/// Makes the folder of a skill appear in one step, as a checkout does.
fn write_skill(folder: &Path, text: &str) {
    let next = folder.with_file_name(".next-skill");
    std::fs::create_dir_all(&next).expect("a writable folder");
    std::fs::write(next.join("SKILL.md"), text).expect("a writable folder");
    std::fs::rename(&next, folder).expect("a writable folder");
}

/// Writes a file in one step.
fn replace_file(file: &Path, text: &str) {
    let next = file.with_file_name(".next");
    std::fs::write(&next, text).expect("a writable folder");
    std::fs::rename(&next, file).expect("a writable folder");
}
