//! Output on a terminal: colors, tables that fit, and progress.

mod progress;

use crate::{SKILLCELL, library};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use skillcell_tests::{Launch, PATIENCE, repository};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

/// Columns of a terminal on which long lines have to be cut.
const NARROW: u16 = 60;

/// A command that runs on a terminal.
pub struct TerminalRun {
    child: Child,
    output: Receiver<Vec<u8>>,
    /// Everything that was printed so far, with Unix line ends.
    pub screen: String,
    /// Owns the home folder of the command.
    _launch: Launch,
}

/// Which output of a command is the terminal. The other is discarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

impl TerminalRun {
    pub fn start(mut launch: Launch, stream: Stream) -> Self {
        let (program_end, output) = pseudo_terminal();
        let command = launch.command().stdin(Stdio::piped());
        match stream {
            Stream::Output => command.stdout(program_end).stderr(Stdio::null()),
            Stream::Error => command.stdout(Stdio::null()).stderr(program_end),
        };
        let child = command.spawn().expect("the program starts");
        // Otherwise the terminal stays open as long as `command` lives.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { child, output, screen: String::new(), _launch: launch }
    }

    /// Waits until this text is printed.
    pub fn until(&mut self, text: &str) {
        let started = Instant::now();
        while !self.screen.contains(text) {
            let left = PATIENCE.saturating_sub(started.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.add(&bytes),
                Err(error) => {
                    let _ = self.child.kill();
                    panic!("`{text}` did not come ({error}): {:?}", self.screen);
                }
            }
        }
    }

    /// Closes its input, waits for its exit, and returns the exit code.
    pub fn end(&mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.add(&bytes);
        }
        self.child.wait().expect("a child").code()
    }

    fn add(&mut self, bytes: &[u8]) {
        self.screen.push_str(&String::from_utf8_lossy(bytes).replace("\r\n", "\n"));
    }
}

/// Returns the program's end of a terminal, and what the program prints there.
fn pseudo_terminal() -> (File, Receiver<Vec<u8>>) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let program_end = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    tcsetwinsize(&program_end, Winsize { ws_row: 24, ws_col: NARROW, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut controller, mut buffer) = (File::from(controller), [0; 4096]);
        // Reading fails when the last program has exited.
        while let Ok(length @ 1..) = controller.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    (File::from(program_end), received)
}

/// Prepares a command for a terminal with colors.
pub fn command(arguments: &[&str], folder: &Path) -> Launch {
    let launch = Launch::bare(SKILLCELL).env("TERM", "xterm").env("NO_COLOR", "").arg(arguments[0]);
    let launch = launch.env("SKILLS_DIR", folder.to_str().expect("a path that is text"));
    arguments[1..].iter().fold(launch, Launch::arg)
}

/// Returns everything that a command prints on a terminal.
fn printed(launch: Launch) -> String {
    let mut terminal = TerminalRun::start(launch, Stream::Output);
    terminal.end();
    terminal.screen
}

fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap_or_else(|| panic!("no color: {part:?}")).1)
}

#[test]
fn colors_are_used_only_on_a_terminal() {
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
        let output = printed(command(arguments, &bundled));
        assert!(output.contains("\x1b["), "no color in {arguments:?}: {output}");
        let plain = without_colors(&output);
        assert!(!plain.is_empty() && !plain.contains('\x1b'), "{arguments:?}: {plain:?}");
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let output = printed(command(arguments, &bundled).env(name, value));
            assert!(!output.is_empty() && !output.contains('\x1b'), "{name}={value} {arguments:?}: {output:?}");
        }
        let mut unknown = command(arguments, &bundled);
        unknown.command().env_remove("TERM");
        let output = printed(unknown);
        assert!(!output.is_empty() && !output.contains('\x1b'), "no TERM, {arguments:?}: {output:?}");
        let output = command(arguments, &bundled).output();
        let piped = [output.stdout, output.stderr].concat();
        assert!(!piped.contains(&b'\x1b'), "{arguments:?}: {}", String::from_utf8_lossy(&piped));
    }
}

#[test]
fn an_error_and_its_hint_are_highlighted() {
    let empty = library(&[]);
    let mut terminal = TerminalRun::start(command(&["show", "nothing"], empty.path()), Stream::Error);
    assert_eq!(terminal.end(), Some(1));
    let TerminalRun { screen, .. } = &terminal;
    assert!(
        screen.starts_with("\x1b[1m\x1b[31merror:\x1b[0m no skill is called `nothing`\n\x1b[32mhint:\x1b[0m "),
        "{screen:?}"
    );
}

#[test]
fn a_list_is_a_table_that_fits_with_one_line_per_skill() {
    let long = format!("---\nname: long\ndescription: {}\n---\n", "wide 文字 ".repeat(40));
    let deep = format!("{}leaf.md", "a-rather-long-folder/".repeat(5));
    let folder = library(&[
        ("long/SKILL.md", &long),
        (&deep, "---\nkeywords: [x]\ndescription: Deep\n---\n"),
        ("evil/SKILL.md", "---\nname: evil\ndescription: \"a\\n\\e\\u202e\"\n---\n"),
    ]);
    let output = without_colors(&printed(command(&["list"], folder.path())));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 4, "{output}");
    assert!(lines[0].starts_with("NAME") && lines[0].ends_with("DESCRIPTION"), "{output}");
    let width = |letter: char| if ('\u{3000}'..='\u{9fff}').contains(&letter) { 2 } else { 1 };
    for line in &lines {
        let columns: usize = line.chars().map(width).sum();
        assert!(columns <= usize::from(NARROW), "{columns} columns: {line}");
    }
    assert!(lines.iter().any(|line| line.contains('文') && line.ends_with('…')), "{output}");
    assert!(lines.iter().any(|line| line.starts_with('…') && line.contains("folder/leaf ")), "{output}");
    assert!(lines.iter().any(|line| line.starts_with("evil ") && line.contains("a\\n\\u{1b}\\u{202e}")), "{output}");
}

#[test]
fn search_terms_are_highlighted() {
    let folder = library(&crate::SMALL);
    let output = printed(command(&["search", "READER"], folder.path()));
    assert!(output.starts_with("\x1b[1mpdf\x1b[0m  \x1b[2mscore 1\x1b[0m\n"), "{output:?}");
    assert!(output.contains("    Use the \x1b[1m\x1b[33mreader\x1b[0m.\n"), "{output:?}");
    assert!(output.ends_with("\n1 of 1 matching skill\n"), "{output:?}");
}

#[test]
fn a_skill_cannot_control_the_terminal() {
    let text = "---\nname: evil\ndescription: d\n---\n\u{1b}]0;title\u{7}\u{1b}[2J\ttab\r\nüber\u{202e}\n";
    let folder = library(&[("evil/SKILL.md", text)]);
    for arguments in [&["show", "evil"][..], &["show", "evil", "--aggregated"]] {
        let output = printed(command(arguments, folder.path()));
        assert!(
            output.contains("\\u{1b}]0;title\\u{7}\\u{1b}[2J\ttab") && output.contains("über\\u{202e}\n"),
            "{output:?}"
        );
        assert!(!output.contains('\x1b') && !output.contains('\u{202e}'), "{output:?}");
    }
    let output = command(&["show", "evil"], folder.path()).output();
    assert_eq!(output.stdout, text.as_bytes(), "a program gets exactly the file");
}

#[test]
fn a_script_cannot_control_the_terminal() {
    const WRITTEN: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\rhidden\ttab\nüber\u{202e}\u{9b}31m\n";
    const SHOWN: &str = "\\u{1b}]0;title\\u{7}\\u{1b}[2J\\rhidden\ttab\nüber\\u{202e}\\u{9b}31m\n";
    let script = "const text = '\\u001b]0;title\\u0007\\u001b[2J\\rhidden\\ttab\\nüber\\u202e\\u009b31m\\n'\nprocess.stdout.write(text)\nprocess.stderr.write(text)\n";
    let folder = library(&[("evil/SKILL.md", "---\nname: evil\ndescription: d\n---\n"), ("evil/a.js", script)]);
    let run = || command(&["run", "evil", "a.js", "-q"], folder.path());
    for stream in [Stream::Output, Stream::Error] {
        let mut terminal = TerminalRun::start(run(), stream);
        assert_eq!(terminal.end(), Some(0), "{:?}", terminal.screen);
        assert!(terminal.screen.ends_with(SHOWN), "{:?}", terminal.screen);
        assert!(!terminal.screen.contains(['\u{7}', '\u{202e}', '\u{9b}']), "{:?}", terminal.screen);
    }
    let output = run().output();
    assert_eq!((output.stdout, output.stderr), (WRITTEN.into(), WRITTEN.into()), "a program gets exactly the bytes");
}
