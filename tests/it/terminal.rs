//! What a person at a terminal sees and a program does not: colours, tables that fit, and how far something is.

mod progress;

use crate::{SKILLCELL, library};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use skillcell_tests::{Launch, repository};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longer than anything takes on the slowest machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Columns of a terminal on which long lines have to be cut.
const NARROW: u16 = 60;

/// A command that runs on a terminal.
pub struct Watched {
    child: Child,
    shown: Receiver<Vec<u8>>,
    /// Everything that was shown so far, with the line ends of programs.
    pub seen: String,
    /// Gives the command its home, and keeps it there.
    _launch: Launch,
}

/// Which output of a command is the terminal. The other leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl Watched {
    pub fn start(mut launch: Launch, stream: Stream) -> Self {
        let (theirs, shown) = pseudo_terminal();
        let command = launch.command().stdin(Stdio::piped());
        match stream {
            Stream::Output => command.stdout(theirs).stderr(Stdio::null()),
            Stream::Error => command.stdout(Stdio::null()).stderr(theirs),
        };
        let child = command.spawn().expect("the program starts");
        // Otherwise the terminal stays open as long as the command is there.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { child, shown, seen: String::new(), _launch: launch }
    }

    /// Waits until this text was shown.
    pub fn until(&mut self, text: &str) {
        let began = Instant::now();
        while !self.seen.contains(text) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match self.shown.recv_timeout(left) {
                Ok(bytes) => self.add(&bytes),
                Err(error) => {
                    let _ = self.child.kill();
                    panic!("`{text}` did not come ({error}): {:?}", self.seen);
                }
            }
        }
    }

    /// Ends its input, waits for its end, and returns how it ended.
    pub fn end(&mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        while let Ok(bytes) = self.shown.recv_timeout(PATIENCE) {
            self.add(&bytes);
        }
        self.child.wait().expect("a child").code()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.seen.push_str(&String::from_utf8_lossy(bytes).replace("\r\n", "\n"));
    }
}

/// What a program is given, and what a person would see on it.
fn pseudo_terminal() -> (File, Receiver<Vec<u8>>) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: NARROW, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let (sender, shown) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut ours, mut buffer) = (File::from(ours), [0; 4096]);
        // When the last program is gone, reading fails.
        while let Ok(length @ 1..) = ours.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    (File::from(theirs), shown)
}

/// A command on a terminal that knows colours.
pub fn command(arguments: &[&str], folder: &Path) -> Launch {
    let launch = Launch::bare(SKILLCELL).env("TERM", "xterm").env("NO_COLOR", "").arg(arguments[0]);
    let launch = launch.env("SKILLS_DIR", folder.to_str().expect("a path that is text"));
    arguments[1..].iter().fold(launch, Launch::arg)
}

/// All that a command prints on a terminal.
fn printed(launch: Launch) -> String {
    let mut watched = Watched::start(launch, Stream::Output);
    watched.end();
    watched.seen
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap_or_else(|| panic!("no colour: {part:?}")).1)
}

#[test]
fn colours_are_seen_on_a_terminal_and_nowhere_else() {
    let bundled = repository().join("fixtures/skills");
    for arguments in [
        &["list"][..],
        &["search", "index"],
        &["match", "build a React login form component"],
        &["match", "login", "--explain"],
        &["doctor"],
        &["plugin", "list"],
        &["integration", "list"],
        &["demo"],
    ] {
        let shown = printed(command(arguments, &bundled));
        assert!(shown.contains("\x1b["), "no colour in {arguments:?}: {shown}");
        let plain = without_colours(&shown);
        assert!(!plain.is_empty() && !plain.contains('\x1b'), "{arguments:?}: {plain:?}");
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let shown = printed(command(arguments, &bundled).env(name, value));
            assert!(!shown.is_empty() && !shown.contains('\x1b'), "{name}={value} {arguments:?}: {shown:?}");
        }
        let mut unknown = command(arguments, &bundled);
        unknown.command().env_remove("TERM");
        let shown = printed(unknown);
        assert!(!shown.is_empty() && !shown.contains('\x1b'), "no TERM, {arguments:?}: {shown:?}");
        let output = command(arguments, &bundled).output();
        let piped = [output.stdout, output.stderr].concat();
        assert!(!piped.contains(&b'\x1b'), "{arguments:?}: {}", String::from_utf8_lossy(&piped));
    }
}

#[test]
fn an_error_and_its_hint_are_seen_at_a_glance() {
    let empty = library(&[]);
    let mut watched = Watched::start(command(&["show", "nothing"], empty.path()), Stream::Error);
    assert_eq!(watched.end(), Some(1));
    let Watched { seen, .. } = &watched;
    assert!(
        seen.starts_with("\x1b[1;31merror:\x1b[0m no skill is called `nothing`\n\x1b[32mhint:\x1b[0m "),
        "{seen:?}"
    );
}

#[test]
fn a_list_is_a_table_that_fits_and_no_skill_breaks_out_of_its_line() {
    let long = format!("---\nname: long\ndescription: {}\n---\n", "wide 文字 ".repeat(40));
    let deep = format!("{}leaf.md", "a-rather-long-folder/".repeat(5));
    let folder = library(&[
        ("long/SKILL.md", &long),
        (&deep, "---\nkeywords: [x]\ndescription: Deep\n---\n"),
        ("evil/SKILL.md", "---\nname: evil\ndescription: \"a\\n\\e\\u202e\"\n---\n"),
    ]);
    let shown = without_colours(&printed(command(&["list"], folder.path())));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[0].starts_with("NAME") && lines[0].ends_with("DESCRIPTION"), "{shown}");
    let wide = |letter: char| if ('\u{3000}'..='\u{9fff}').contains(&letter) { 2 } else { 1 };
    for line in &lines {
        let columns: usize = line.chars().map(wide).sum();
        assert!(columns <= usize::from(NARROW), "{columns} columns: {line}");
    }
    assert!(lines.iter().any(|line| line.contains('文') && line.ends_with('…')), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with('…') && line.contains("folder/leaf ")), "{shown}");
    assert!(lines.iter().any(|line| line.starts_with("evil ") && line.contains("a\\n\\u{1b}\\u{202e}")), "{shown}");
}

#[test]
fn what_was_searched_is_marked() {
    let folder = library(&crate::SMALL);
    let shown = printed(command(&["search", "READER"], folder.path()));
    assert!(shown.starts_with("\x1b[1mpdf\x1b[0m  \x1b[2mscore 1\x1b[0m\n"), "{shown:?}");
    assert!(shown.contains("    Use the \x1b[1;33mreader\x1b[0m.\n"), "{shown:?}");
    assert!(shown.ends_with("\n1 of 1 matching skill\n"), "{shown:?}");
}

#[test]
fn a_skill_cannot_command_the_terminal() {
    let text = "---\nname: evil\ndescription: d\n---\n\u{1b}]0;title\u{7}\u{1b}[2J\ttab\r\nüber\u{202e}\n";
    let folder = library(&[("evil/SKILL.md", text)]);
    for arguments in [&["show", "evil"][..], &["show", "evil", "--aggregated"]] {
        let shown = printed(command(arguments, folder.path()));
        assert!(
            shown.contains("\\u{1b}]0;title\\u{7}\\u{1b}[2J\ttab") && shown.contains("über\\u{202e}\n"),
            "{shown:?}"
        );
        assert!(!shown.contains('\x1b') && !shown.contains('\u{202e}'), "{shown:?}");
    }
    let output = command(&["show", "evil"], folder.path()).output();
    assert_eq!(output.stdout, text.as_bytes(), "a program gets exactly the file");
}
