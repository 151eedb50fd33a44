//! `skillcell demo`: a short session between a client and the server, on the bundled skills.

mod client;

use anyhow::Context as _;
use client::Client;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use terminal::{Output, Tone};

pub fn run() -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let library = folder.path().join("skills");
    unpack(&library).context("cannot unpack the bundled skills")?;
    Demo { client: Client::start(&library, folder.path())?, output: Output::standard() }.play()?;
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

/// The session, printed with colors on a terminal.
struct Demo {
    client: Client,
    output: Output,
}

impl Demo {
    fn play(&mut self) -> anyhow::Result<()> {
        self.title("skillcell: an MCP server and a client, talking over stdio")?;

        self.step("1. What is there?")?;
        let list = self.ask("skills_list", &json!({}))?;
        let skills = items(&list["skills"]);
        self.answer(&format!("{} skills, in folders with a SKILL.md and in a tree of Markdown files", skills.len()))?;
        for skill in skills.iter().take(8) {
            entry(text(&skill["skillPath"]), text(&skill["meta"]["description"]))?;
        }
        line(&format!("… and {} more", skills.len().saturating_sub(8)))?;

        self.step("2. The right skill for a task, with everything it inherits")?;
        let found = self.ask("get_skill", &json!({"context": "build a React login form component"}))?;
        let keywords: Vec<&str> = items(&found["matched_keywords"]).iter().map(text).collect();
        let (skill, score) = (text(&found["skill_path"]), &found["score"]);
        self.answer(&format!("{skill}, score {score}, for {}", keywords.join(", ")))?;
        text(&found["content"]).lines().filter(|line| line.starts_with("=== ")).try_for_each(line)?;
        entry("its own files", &files(&found["assets"]))?;
        entry("inherited", &[files(&found["inherited_assets"]), files(&found["inherited_scripts"])].join(", "))?;

        self.step("3. A question that two skills answer")?;
        let question = "add login with authentication";
        let found = self.ask("get_skill", &json!({"context": question}))?;
        self.answer("ambiguous, so the model is asked to choose:")?;
        for candidate in items(&found["candidates"]) {
            entry(text(&candidate["skill_path"]), text(&candidate["description"]))?;
        }
        let found = self.ask("get_skill", &json!({"context": question, "skill_path": "api/auth"}))?;
        let (skill, length) = (text(&found["skill_path"]), text(&found["content"]).len());
        self.answer(&format!("{skill}, with {length} characters of instructions"))?;

        self.step("4. A word that must occur")?;
        let found = self.ask("skills_search", &json!({"query": "index", "limit": 3}))?;
        self.answer(&format!("{} skills contain it, the best three first", found["total"]))?;
        for hit in items(&found["results"]) {
            entry(text(&hit["skillPath"]), text(&hit["excerpt"]))?;
        }

        self.step("5. Scripts, each in a fresh sandbox: no process is started")?;
        for (skill, file) in [
            ("csv-report", "scripts/summarise.py"),
            ("regex-helper", "scripts/test-pattern.js"),
            ("ops/incident", "scripts/timeline.ts"),
            ("_root", "scripts/check-commit.sh"),
        ] {
            let ran = self.ask("run_script", &json!({"skill_path": skill, "file": file, "args": {}}))?;
            let (time, memory) = (&ran["duration_ms"], mebibytes(&ran["peak_memory_bytes"]));
            self.answer(&format!("exit {} after {time} ms, with {memory} MiB of memory:", ran["exit_code"]))?;
            text(&ran["stdout"]).lines().filter(|line| !line.is_empty()).take(3).try_for_each(line)?;
        }

        self.step("6. What a script would get, and what it is refused")?;
        let policy = json!({"skill_path": "csv-report", "file": "scripts/summarise.py", "args": {}, "cwd": "/", "dry_run": true});
        let policy = self.ask("run_script", &policy)?;
        let (runtime, limits) = (text(&policy["runtime"]), &policy["limits"]);
        let (seconds, memory) = (&limits["timeout_seconds"], mebibytes(&limits["memory_bytes"]));
        self.answer(&format!("{runtime}, {seconds} s, {memory} MiB"))?;
        for refusal in items(&policy["refusals"]) {
            text(refusal).lines().try_for_each(line)?;
        }

        self.step("7. A path that tries to climb out")?;
        let refused =
            self.ask("get_asset", &json!({"skill_path": "ui/react/auth", "file": "../../../../etc/passwd"}))?;
        self.answer(&format!("refused: {}", text(&refused)))?;

        print("")?;
        self.title("Serve your own folder with `skillcell serve ./my-skills`.")
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        print(&format!("  {} {tool} {arguments}", self.output.paint(Tone::Warning, "->")))?;
        self.client.call(tool, arguments)
    }

    fn title(&self, text: &str) -> anyhow::Result<()> {
        print(&self.output.paint(Tone::Heading, text))
    }

    fn step(&self, text: &str) -> anyhow::Result<()> {
        print("")?;
        self.title(text)
    }

    fn answer(&self, text: &str) -> anyhow::Result<()> {
        print(&format!("  {} {}", self.output.paint(Tone::Good, "<-"), text.replace('\n', "\n     ")))
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    terminal::print_lines(&[text])
}

fn line(text: &str) -> anyhow::Result<()> {
    print(&format!("     {text}"))
}

/// Prints a name and its description, truncated to one line.
fn entry(name: &str, about: &str) -> anyhow::Result<()> {
    let max_length = 92;
    let end = about.char_indices().nth(max_length).map_or(about.len(), |(at, _)| at);
    let dots = if end < about.len() { "…" } else { "" };
    line(&format!("{name:<18} {}{dots}", &about[..end]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn mebibytes(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0) >> 20
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn files(entries: &Value) -> String {
    items(entries).iter().map(|entry| text(&entry["file"])).collect::<Vec<_>>().join(", ")
}
