//! `skillcell demo`: a short session between a client and the server, on the bundled skills.

mod client;

use anyhow::Context as _;
use client::Client;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use terminal::{self, Output, Tone};

pub fn run() -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let library = folder.path().join("skills");
    unpack(&library).context("cannot unpack the bundled skills")?;
    let mut demo = Demo { client: Client::start(&library, folder.path())?, show: Show { output: Output::standard() } };
    demo.play()?;
    Ok(ExitCode::SUCCESS)
}

fn unpack(folder: &Path) -> std::io::Result<()> {
    for (path, bytes) in skillcell_artifacts::BUNDLED_SKILLS {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::write(file, bytes)?;
    }
    Ok(())
}

struct Demo {
    client: Client,
    show: Show,
}

impl Demo {
    fn play(&mut self) -> anyhow::Result<()> {
        self.show.title("skillcell: an MCP server and a client, talking over stdio")?;

        self.show.step("1. What is there?")?;
        let list = self.ask("skills_list", &json!({}))?;
        let skills = list["skills"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.show
            .answer(&format!("{} skills, in folders with a SKILL.md and in a tree of Markdown files", skills.len()))?;
        for skill in skills.iter().take(8) {
            Show::entry(text(&skill["skillPath"]), text(&skill["meta"]["description"]))?;
        }
        Show::line(&format!("… and {} more", skills.len().saturating_sub(8)))?;

        self.show.step("2. The right skill for a task, with everything it inherits")?;
        let found = self.ask("get_skill", &json!({"context": "build a React login form component"}))?;
        self.show.answer(&format!(
            "{}, score {}, for {}",
            text(&found["skill_path"]),
            found["score"],
            joined(&found["matched_keywords"])
        ))?;
        for header in text(&found["content"]).lines().filter(|line| line.starts_with("=== ")) {
            Show::line(header)?;
        }
        Show::entry("its own files", &files(&found["assets"]))?;
        Show::entry("inherited", &[files(&found["inherited_assets"]), files(&found["inherited_scripts"])].join(", "))?;

        self.show.step("3. A question that two skills answer")?;
        let question = "add login with authentication";
        let found = self.ask("get_skill", &json!({"context": question}))?;
        self.show.answer("ambiguous, so the model is asked to choose:")?;
        for candidate in found["candidates"].as_array().into_iter().flatten() {
            Show::entry(text(&candidate["skill_path"]), text(&candidate["description"]))?;
        }
        let found = self.ask("get_skill", &json!({"context": question, "skill_path": "api/auth"}))?;
        self.show.answer(&format!(
            "{}, with {} characters of instructions",
            text(&found["skill_path"]),
            text(&found["content"]).len()
        ))?;

        self.show.step("4. A word that must occur")?;
        let found = self.ask("skills_search", &json!({"query": "index", "limit": 3}))?;
        self.show.answer(&format!("{} skills contain it, the best three first", found["total"]))?;
        for hit in found["results"].as_array().into_iter().flatten() {
            Show::entry(text(&hit["skillPath"]), text(&hit["excerpt"]))?;
        }

        self.show.step("5. Scripts, each in a fresh sandbox: no process is started")?;
        for (skill, file) in [
            ("csv-report", "scripts/summarise.py"),
            ("regex-helper", "scripts/test-pattern.js"),
            ("ops/incident", "scripts/timeline.ts"),
            ("_root", "scripts/check-commit.sh"),
        ] {
            let ran = self.ask("run_script", &json!({"skill_path": skill, "file": file, "args": {}}))?;
            let (time, memory) = (&ran["duration_ms"], ran["peak_memory_bytes"].as_u64().unwrap_or(0) >> 20);
            self.show.answer(&format!("exit {} after {time} ms, with {memory} MiB of memory:", ran["exit_code"]))?;
            for line in text(&ran["stdout"]).lines().filter(|line| !line.is_empty()).take(3) {
                Show::line(line)?;
            }
        }

        self.show.step("6. What a script would get, and what it is refused")?;
        let policy = json!({"skill_path": "csv-report", "file": "scripts/summarise.py", "args": {}, "cwd": "/", "dry_run": true});
        let policy = self.ask("run_script", &policy)?;
        self.show.answer(&format!(
            "{}, {} s, {} MiB",
            text(&policy["runtime"]),
            policy["limits"]["timeout_seconds"],
            policy["limits"]["memory_bytes"].as_u64().unwrap_or(0) >> 20
        ))?;
        for refusal in policy["refusals"].as_array().into_iter().flatten() {
            text(refusal).lines().try_for_each(Show::line)?;
        }

        self.show.step("7. A path that tries to climb out")?;
        let refused =
            self.ask("get_asset", &json!({"skill_path": "ui/react/auth", "file": "../../../../etc/passwd"}))?;
        self.show.answer(&format!("refused: {}", text(&refused)))?;

        Show::print("")?;
        self.show.title("Serve your own folder with `skillcell serve ./my-skills`.")
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.show.question(tool, arguments)?;
        self.client.call(tool, arguments)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn joined(value: &Value) -> String {
    value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ")
}

fn files(entries: &Value) -> String {
    entries.as_array().into_iter().flatten().map(|entry| text(&entry["file"])).collect::<Vec<_>>().join(", ")
}

/// Prints the session, with colours on a terminal.
struct Show {
    output: Output,
}

impl Show {
    fn title(&self, text: &str) -> anyhow::Result<()> {
        Self::print(&self.output.paint(Tone::Heading, text))
    }

    fn step(&self, text: &str) -> anyhow::Result<()> {
        Self::print(&format!("\n{}", self.output.paint(Tone::Heading, text)))
    }

    fn question(&self, tool: &str, arguments: &Value) -> anyhow::Result<()> {
        Self::print(&format!("  {} {tool} {arguments}", self.output.paint(Tone::Warning, "->")))
    }

    fn answer(&self, text: &str) -> anyhow::Result<()> {
        Self::print(&format!("  {} {}", self.output.paint(Tone::Good, "<-"), text.replace('\n', "\n     ")))
    }

    fn line(text: &str) -> anyhow::Result<()> {
        Self::print(&format!("     {text}"))
    }

    fn print(text: &str) -> anyhow::Result<()> {
        terminal::print_lines(&[text])
    }

    /// Prints a name and its description, truncated to one line.
    fn entry(name: &str, about: &str) -> anyhow::Result<()> {
        let max_length = 92;
        let end = about.char_indices().nth(max_length).map_or(about.len(), |(at, _)| at);
        let dots = if end < about.len() { "…" } else { "" };
        Self::line(&format!("{name:<18} {}{dots}", &about[..end]))
    }
}
